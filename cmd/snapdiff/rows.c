/*
 * Compare the mappings of a process at two moments, and count how many
 * kilobytes of each changed. Bytes stored in the same place are identical, and
 * are not read.
 */
#include "snapdiff.h"
#include "bisect.h"
#include "num.h"

enum { BLOCK = 64 * KB };	/* number of bytes read at once */

/*
 * Add the range from start to end to the counts of r. kind says how the range
 * changed. If runs is true, also append the range to r->run.
 */
static void
row_count(struct row *r, uint64_t start, uint64_t end, enum pagekind kind,
    bool runs)
{
	struct pagespan p = { .start = start, .end = end, .kind = kind };
	uint64_t kb = (end - start + KB - 1) / KB;

	if (kind == PAGES_SAME)
		return;
	if (kind == PAGES_CHANGED)
		r->kb.changed += kb;
	else if (kind == PAGES_NEW)
		r->kb.added += kb;
	else if (kind == PAGES_GONE)
		r->kb.removed += kb;
	else
		r->kb.unknown += kb;
	if (runs && pagelist_add(&r->run, &p) == -1)
		program_nomem();
}

/*
 * Add the counts in kb to those in sum.
 */
void
kbchange_add(struct kbchange *sum, const struct kbchange *kb)
{
	sum->changed += kb->changed;
	sum->added += kb->added;
	sum->removed += kb->removed;
	sum->unknown += kb->unknown;
}

/*
 * Return the kind of change from the n bytes at x to those at y. n is at most a
 * kilobyte.
 */
static enum pagekind
bytes_verdict(const uint8_t *x, const uint8_t *y, size_t n)
{
	if (memcmp(x, y, n) == 0)
		return PAGES_SAME;
	if (bytes_arezero(x, n))
		return PAGES_NEW;
	return bytes_arezero(y, n) ? PAGES_GONE : PAGES_CHANGED;
}

struct pairing {		/* a pair of mappings that share addresses */
	const struct memory *was;
	const struct memory *is;
	const struct vma *v;	/* mapping in "was"; NULL: not mapped there */
	const struct vma *w;	/* mapping in "is"; NULL: not mapped there */
	struct row	*row;	/* row to which the results are added */
	bool		 runs;
};

/*
 * Compare the addresses from start to end by reading their bytes.
 */
static void
pairing_read(const struct pairing *p, uint64_t start, uint64_t end)
{
	static uint8_t x[BLOCK], y[BLOCK];
	size_t i, n, step;
	int a, b;

	for (; start < end; start += n) {
		n = BLOCK - start % KB;
		if (end - start < n)
			n = (size_t)(end - start);
		a = memory_read(p->was, p->v, start, x, n);
		b = memory_read(p->is, p->w, start, y, n);
		if (a != 0 || b != 0) {
			/* one side is a file that is not at hand, or was not
			   captured */
			row_count(p->row, start, start + n, a == -1 ||
			    b == -1 ? PAGES_MISSING : PAGES_CHANGED, p->runs);
			continue;
		}
		if (memcmp(x, y, n) == 0)
			continue;
		for (i = 0; i < n; i += step) {
			step = KB - (start + i) % KB;
			if (step > n - i)
				step = n - i;
			row_count(p->row, start + i, start + i + step,
			    bytes_verdict(x + i, y + i, step), p->runs);
		}
	}
}

/*
 * Return how a range changed, judging by the descriptions of its contents
 * alone. a describes it at the first moment, and b at the second. Return
 * PAGES_KINDS if the bytes must be compared.
 */
static enum pagekind
content_verdict(const struct here *a, const struct here *b)
{
	if (a->content == CONTENT_LOST || b->content == CONTENT_LOST)
		return a->content == b->content ? PAGES_SAME : PAGES_MISSING;
	if (a->content != CONTENT_BYTES && b->content != CONTENT_BYTES)
		return a->data && b->data ? PAGES_KINDS : PAGES_SAME;
	return PAGES_KINDS;
}

/*
 * Try to find out how a range changed without reading its bytes, because it may
 * be very long. The range extends from start to b->end; a describes it at the
 * first moment, and b at the second. Lower b->end to the address where the
 * result changes. Return the kind of change. Return PAGES_KINDS if the bytes
 * must be read; this is so whenever an image has them.
 */
static enum pagekind
unread_verdict(const struct pairing *p, struct here *a, struct here *b,
    uint64_t start)
{
	if (a->data || b->data)
		return PAGES_KINDS;
	a->end = b->end;
	if (!memory_file(p->was, p->v, start, a))
		return PAGES_CHANGED;
	b->end = a->end;
	if (!memory_file(p->is, p->w, start, b))
		return PAGES_CHANGED;
	return a->content == CONTENT_FILE || b->content == CONTENT_FILE ?
	    PAGES_KINDS : PAGES_SAME;
}

/*
 * Compare the addresses from start to end. At each of the two moments, either
 * one mapping must contain all of them, or all of them must be unmapped.
 */
static void
pairing_compare(const struct pairing *p, uint64_t start, uint64_t end)
{
	struct here a, b;
	enum pagekind kind;

	for (; start < end; start = b.end) {
		a.end = end;
		memory_at(p->was, p->v, start, &a);
		b.end = a.end;
		memory_at(p->is, p->w, start, &b);
		kind = content_verdict(&a, &b);
		/* mapping or unmapping unmodified pages of a file changes no
		   memory */
		if ((p->v == NULL && b.content == CONTENT_FILE) ||
		    (p->w == NULL && a.content == CONTENT_FILE))
			kind = PAGES_SAME;
		if ((p->v == NULL || p->w == NULL) && kind == PAGES_MISSING)
			kind = PAGES_SAME;
		if (kind == PAGES_KINDS)
			kind = unread_verdict(p, &a, &b, start);
		if (kind != PAGES_KINDS)
			row_count(p->row, start, b.end, kind, p->runs);
		else if (!memory_stored(p->was, &a, p->is, &b, start))
			pairing_read(p, start, b.end);
	}
}

/*
 * Compare mapping i of memory new with memory old at the same addresses.
 */
static void
row_compare(struct rows *l, size_t i, const struct memory *old,
    const struct memory *new, bool runs)
{
	struct pairing p = { .was = old, .is = new, .w = &new->vma.v[i],
	    .row = &l->v[i], .runs = runs };
	uint64_t addr, end;

	for (addr = p.w->start; addr < p.w->end; addr = end) {
		end = p.w->end;
		p.v = vmas_next(&old->vma, addr);
		if (p.v != NULL && p.v->start > addr) {
			if (p.v->start < end)
				end = p.v->start;
			p.v = NULL;
		} else if (p.v != NULL && p.v->end < end)
			end = p.v->end;
		pairing_compare(&p, addr, end);
	}
}

/*
 * Compare the parts of old mapping v that are no longer mapped in memory new.
 * Add the result to the row of the first mapping in new that overlaps v or, if
 * there is none, to a new row.
 */
static void
row_gone(struct rows *l, const struct vma *v, const struct memory *old,
    const struct memory *new, bool runs)
{
	struct pairing p = { .was = old, .is = new, .v = v, .runs = runs };
	const struct vma *w;
	uint64_t addr, end;

	if ((w = vmas_next(&new->vma, v->start)) != NULL && w->start < v->end)
		p.row = &l->v[w - new->vma.v];
	else {
		MUST_ROOM(l->v, l->n);
		p.row = &l->v[l->n++];
		memset(p.row, 0, sizeof *p.row);
		p.row->how = CHANGE_REMOVED;
		p.row->was = *v;
	}
	for (addr = v->start; addr < v->end; addr = w->end) {
		w = vmas_next(&new->vma, addr);
		end = w == NULL || w->start > v->end ? v->end : w->start;
		if (end > addr)
			pairing_compare(&p, addr, end);
		if (w == NULL || w->start >= v->end)
			break;
	}
}

/*
 * Return the mapping of row r: the new mapping or, if it is gone, the old one.
 */
const struct vma *
row_vma(const struct row *r)
{
	return r->is.end != 0 ? &r->is : &r->was;
}

CMP_BY(row_cmp, struct row, ORDER(row_vma(x)->start, row_vma(y)->start))

/*
 * Return true if something changed in r.
 */
bool
row_differs(const struct row *r)
{
	return r->how != CHANGE_SAME || r->kb.changed != 0 ||
	    r->kb.added != 0 ||
	    r->kb.removed != 0 || r->kb.unknown != 0;
}

/*
 * Set *l to the mappings at moments old and new, and their changes. *l must be
 * all zero. If runs is true, include the address ranges that changed. The
 * caller frees *l before closing old and new.
 */
void
rows_get(struct rows *l, const struct memory *old, const struct memory *new,
    bool runs)
{
	const struct vma *o;
	struct row *r;
	size_t i;

	for (i = 0; i < new->vma.n; i++) {
		MUST_ROOM(l->v, l->n);
		r = &l->v[l->n++];
		memset(r, 0, sizeof *r);
		r->is = new->vma.v[i];
		r->how = CHANGE_ADDED;
		o = vmas_next(&old->vma, r->is.start);
		if (o != NULL && o->start < r->is.end) {
			r->was = *o;
			r->how = o->start == r->is.start &&
			    o->end == r->is.end &&
			    ((o->flags ^ r->is.flags) & VMA_MAPS) == 0 &&
			    strcmp(o->name, r->is.name) == 0 ? CHANGE_SAME :
			    CHANGE_CHANGED;
		}
	}
	for (i = 0; i < new->vma.n; i++)
		row_compare(l, i, old, new, runs);
	for (i = 0; i < old->vma.n; i++)
		row_gone(l, &old->vma.v[i], old, new, runs);
	SORT(l->v, l->n, row_cmp);
}

/*
 * Empty l, and free its rows.
 */
void
rows_free(struct rows *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		pagelist_free(&l->v[i].run);
	free(l->v);
	memset(l, 0, sizeof *l);
}
