/*
 * Determine what an address of a process held at a moment: bytes of its own, an
 * unmodified page of a file, nothing (zeros, or never touched), or something
 * not captured.
 */
#include "snapdiff.h"
#include "bisect.h"
#include "digits.h"
#include "model.h"

/*
 * Read the ranges of the process's own private pages from the file "pages" of
 * record r into m->own. Return 0, or -1 with errstr set.
 */
static int
own_get(struct memory *m, const struct linuxrec *r)
{
	struct pagespan p = { .kind = PAGES_RAW };
	const char *s, *end;
	struct recfile f;
	size_t off, n;

	if (!linuxrec_find(r, "pages", &f))
		return 0;
	m->own_known = true;
	for (off = 0; line_next(f.data, f.len, &off, &s, &n);) {
		end = s + n;
		s = digits_read(s, end, 16, &p.start);
		if (s == NULL || s == end || *s != ' ' ||
		    digits_read(s + 1, end, 16, &p.end) != end ||
		    p.end <= p.start || (m->own.n > 0 &&
		    m->own.v[m->own.n - 1].end > p.start))
			return errstr_set("pages: not a list of ascending "
			    "ranges");
		if (pagelist_add(&m->own, &p) == -1)
			return -1;
	}
	return 0;
}

/*
 * Set *m to the memory of process d. If d->proc is NULL, *m is empty. The
 * caller must call memory_close() even on failure. Return 0, or -1 with errstr
 * set.
 */
int
memory_open(struct memory *m, const struct side *d)
{
	struct linuxrec r;
	int rc;

	memset(m, 0, sizeof *m);
	m->side = d;
	if (d->proc == NULL)
		return 0;
	m->im = d->proc->mem;
	rc = linuxrec_open(&r, proc_file(d->proc, "proc"));
	if (rc == 0) {
		(void)linuxrec_line(&r, "exe", m->exe, sizeof m->exe);
		rc = own_get(m, &r);
	}
	linuxrec_close(&r);
	if (rc == 0 && ((rc = proc_vmas(d->proc, &m->vma)) == -1 ||
	    (rc = pages_snap(&m->page, m->im)) == -1))
		rc = -1;
	return rc == -1 ? errstr_wrap("process %" PRIu64, d->id.pid) : 0;
}

/*
 * Free the members that m owns.
 */
void
memory_close(struct memory *m)
{
	vmas_free(&m->vma);
	pagelist_free(&m->page);
	pagelist_free(&m->own);
}

/*
 * Return the range of l that contains addr, or NULL. Lower *end to where that
 * range ends or, if there is none, to where the next range begins.
 */
static const struct pagespan *
span_find(const struct pagelist *l, uint64_t addr, uint64_t *end)
{
	const struct pagespan *p;
	size_t i;

	i = BISECT(l->v, l->n, end, addr);
	if (i == l->n)
		return NULL;
	p = &l->v[i];
	if (p->start > addr) {
		if (p->start < *end)
			*end = p->start;
		return NULL;
	}
	if (p->end < *end)
		*end = p->end;
	return p;
}

/*
 * Describe in *h what m has at address addr of mapping v. v is NULL if nothing
 * is mapped there. Lower h->end to the address where the description changes.
 * Before the call, h->end must not exceed the end of v.
 */
void
memory_at(const struct memory *m, const struct vma *v, uint64_t addr,
    struct here *h)
{
	const struct missing *lost;
	bool isfile, own;

	h->content = CONTENT_NOTHING;
	h->data = false;
	h->span = NULL;
	if (v == NULL)		/* between mappings, images may contain zeros;
				   see snap(6) */
		return;
	/* pages that are not its own are pages of the file */
	isfile = class_of(v) == CLASS_FILE;
	own = isfile && m->own_known &&
	    span_find(&m->own, addr, &h->end) != NULL;
	h->span = span_find(&m->page, addr, &h->end);
	switch (h->span == NULL ? PAGES_NONE : h->span->kind) {
	case PAGES_RAW:
		h->data = true;
		h->content = isfile && m->own_known && !own ?
		    CONTENT_FILE : CONTENT_BYTES;
		break;
	case PAGES_MISSING:
		/* a span may be missing for several reasons */
		lost = image_missing(m->im, addr);
		if (lost->end < h->end)
			h->end = lost->end;
		if (strcmp(lost->reason, "file") == 0)
			h->content = CONTENT_FILE;
		else if (strcmp(lost->reason, "guard") != 0)
			h->content = CONTENT_LOST;
		break;
	default:
		if (isfile)
			h->content = own ? CONTENT_BYTES : CONTENT_FILE;
	}
}

/*
 * Return true if the bytes at addr in a and b are stored in the same place, and
 * so are identical. x describes the bytes in a, and y those in b.
 */
bool
memory_stored(const struct memory *a, const struct here *x,
    const struct memory *b, const struct here *y, uint64_t addr)
{
	if (!x->data || !y->data || a->side->snap != b->side->snap ||
	    x->span->store == 0 || x->span->store != y->span->store ||
	    x->span->start % KB != 0 || y->span->start % KB != 0)
		return false;
	return x->span->at + (addr - x->span->start) / KB ==
	    y->span->at + (addr - y->span->start) / KB;
}

/*
 * Return the image with the contents of the file that v maps, or NULL.
 */
static struct image *
file_image(const struct memory *m, const struct vma *v)
{
	return mapped_file(m->side->snap, m->side->proc, m->exe, v);
}

/*
 * Find the contents of the file that v maps. Set *pc to the piece that has
 * them, and *off to the file offset of address addr. Return false if the
 * snapshot does not contain the whole file.
 */
static bool
file_piece(const struct memory *m, const struct vma *v, uint64_t addr,
    struct piece **pc, uint64_t *off)
{
	struct image *im;

	*off = v->off + (addr - v->start);
	return *off >= v->off && (im = file_image(m, v)) != NULL &&
	    im->nmissing == 0 && (*pc = image_first(im)) != NULL &&
	    piece_next(*pc) == NULL;
}

/*
 * If *h describes a page of a file, make the description more exact. *h must
 * describe what m has at address addr of mapping v. If the bytes there are
 * zeros, set h->content to CONTENT_NOTHING. Lower h->end to where the file
 * ends, or where zeros in the file begin or end. Return false if the file is
 * not in the snapshot.
 */
bool
memory_file(const struct memory *m, const struct vma *v, uint64_t addr,
    struct here *h)
{
	const struct extent *e;
	struct piece *pc;
	uint64_t off, base, left, n;

	if (h->content != CONTENT_FILE || h->data)
		return true;
	if (!file_piece(m, v, addr, &pc, &off))
		return false;
	if (off > pc->last - pc->first) {
		h->content = CONTENT_NOTHING;
		return true;
	}
	left = pc->last - pc->first - off + 1;
	base = pc->first + off - pc->seg->base;
	e = segment_extent(pc->seg, base / KB);
	n = e == NULL ? 0 : e->kb + e->n - base / KB;
	if (e != NULL && n <= (left - 1) / KB)
		left = n * KB - base % KB;
	if (e != NULL && e->src == NULL)
		h->content = CONTENT_NOTHING;
	if (h->end - addr > left)
		h->end = addr + left;
	return true;
}

/*
 * Read n bytes of m, at address addr of mapping v, into buf. memory_at() must
 * give the same description for all of these bytes. Return 0, 1 if they belong
 * to a file that is not in the snapshot, or -1 with errstr set on failure.
 */
int
memory_read(const struct memory *m, const struct vma *v, uint64_t addr,
    uint8_t *buf, size_t n)
{
	struct here h = { .end = addr + n };
	struct piece *pc;
	uint64_t off;

	memory_at(m, v, addr, &h);
	if (h.data)
		return program_read(m->im, addr, buf, n);
	if (h.content == CONTENT_LOST)
		return errstr_set("not captured");
	memset(buf, 0, n);
	if (h.content != CONTENT_FILE)
		return 0;
	if (!file_piece(m, v, addr, &pc, &off))
		return 1;
	/* zeros follow the end of the file */
	if (off > pc->last - pc->first)
		return 0;
	if (n - 1 > pc->last - pc->first - off)
		n = (size_t)(pc->last - pc->first - off) + 1;
	return program_read(file_image(m, v), pc->first + off, buf, n);
}
