/*
 * Extents that are made of the runs of an index when they are asked for.
 *
 * When the index is opened all of it is looked through, and what it tells is
 * judged, but nothing is kept of a run.  At every few of them there is a mark,
 * from which they can be read once more:
 *
 *	runs	r z r z = = r z | = z = r z = r z | r z = r	segment
 *	marks	^                 ^                 ^
 *
 * References lead to raw pages by their numbers.  Where such a page is is read
 * from the last mark before it on.
 */
#include "index.h"
#include "bisect.h"
#include "vec.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { RUNS = 64 };		/* of pages between two marks, at most */

struct mark {
	uint64_t	 kb;	/* of the segment, where the runs begin */
	uint64_t	 ordinal; /* raw pages before them */
	uint64_t	 at;	/* in the stream */
	uint64_t	 same;	/* as in a cursor */
	const uint8_t	*p;	/* in the index */
	unsigned int	 runs;
	atomic_uint	 next;	/* how many extents; set before they are */
	_Atomic(struct extent *) ext; /* owned; NULL: nobody asked yet */
};

struct indexed {
	struct outline	 o;
	uint8_t		*data;	/* owned; the trailer, */
	const uint8_t	*end;	/* and where the index in it ends */
	struct source	*src;	/* borrowed; of pages */
	uint64_t	 origin; /* where the stream begins there */
	struct mark	*mark;	/* owned; by place in the stream */
	size_t		 nmark;
	uint64_t	*cut;	/* owned; ascending: numbers of raw pages that
				   are short */
	size_t		 ncut;
	atomic_ullong	 held;	/* bytes of memory, of most */
	uint64_t	 most;
};

static struct cursor
mark_cursor(const struct indexed *x, const struct mark *m)
{
	return (struct cursor){ .p = m->p, .left = (size_t)(x->end - m->p),
	    .at = m->at, .same = m->same, .ordinal = m->ordinal };
}

/*
 * Take the next run behind a mark, which was judged before.
 */
static int
run_again(struct cursor *c, struct pagesrun *r)
{
	return run_get(c, UINT64_MAX, UINT64_MAX, 0, r);
}

/*
 * Describe the next n pages of d, as segment_append.
 */
static int
pages_describe(struct indexed *x, struct segment *d, uint64_t n,
    struct source *src, uint64_t at)
{
	const size_t cap = d->cap;
	uint64_t held;

	if (segment_append(d, n, src, at) == -1)
		return -1;
	held = (d->cap - cap) * sizeof *d->ext;
	held += atomic_fetch_add(&x->held, held);
	if (held <= x->most)
		return 0;
	return errstr_set("what it tells of would take %" PRIu64 " megabytes "
	    "of memory, too much for so small a file", held / (KB * KB));
}

/*
 * Describe the next n pages of d, which are the same as the raw pages from one
 * on.
 */
static int
same_describe(struct indexed *x, struct segment *d, uint64_t n, uint64_t first)
{
	const struct mark *m;
	struct pagesrun r;
	struct cursor c;
	uint64_t skip, part;
	unsigned int i;

	m = x->mark + BISECT(x->mark, x->nmark, ordinal, first) - 1;
	for (; n > 0 && m < x->mark + x->nmark; m++) {
		c = mark_cursor(x, m);
		for (i = 0; i < m->runs && n > 0; i++) {
			if (run_again(&c, &r) == -1)
				return -1;
			skip = first - r.first;
			if (r.kind != KIND_RAW || skip >= r.n)
				continue;
			part = r.n - skip < n ? r.n - skip : n;
			if (pages_describe(x, d, part, x->src, x->origin +
			    r.at + 1 + skip * (KB + 1)) == -1)
				return -1;
			first += part;
			n -= part;
		}
	}
	return 0;
}

/*
 * Describe in d, which is empty, the kilobytes of a mark.  Return 0, or -1 with
 * errstr.
 */
static int
mark_describe(struct indexed *x, const struct mark *m, struct segment *d)
{
	struct pagesrun r;
	struct cursor c;
	unsigned int i;
	int rc;

	c = mark_cursor(x, m);
	d->kb = m->kb;
	for (i = 0, rc = 0; i < m->runs && rc == 0; i++) {
		if ((rc = run_again(&c, &r)) == -1)
			break;
		if (r.kind == KIND_RAW)
			rc = pages_describe(x, d, r.n, x->src, x->origin +
			    r.at + 1);
		else if (r.kind == KIND_SAME)
			rc = same_describe(x, d, r.n, r.first);
		else
			rc = pages_describe(x, d, r.n, NULL, 0);
	}
	return rc;
}

/*
 * Have the extents of a mark at hand: outline_ops.  Of several threads that
 * make them at once, those of one are taken.
 */
static const struct extent *
mark_extents(struct indexed *x, struct mark *m)
{
	struct segment d = { 0 };
	struct extent *e;

	if ((e = atomic_load(&m->ext)) != NULL)
		return e;
	if (mark_describe(x, m, &d) == -1) {
		atomic_fetch_sub(&x->held, d.cap * sizeof *d.ext);
		free(d.ext);
		return NULL;
	}
	atomic_store(&m->next, (unsigned int)d.next);
	if (atomic_compare_exchange_strong(&m->ext, &e, d.ext))
		return d.ext;
	atomic_fetch_sub(&x->held, d.cap * sizeof *d.ext);
	free(d.ext);
	return e;
}

/*
 * The extent in which a kilobyte of a segment lies: outline_ops.
 */
static const struct extent *
indexed_extent(struct outline *o, const struct segment *s, uint64_t kb)
{
	struct indexed *x = (struct indexed *)o;
	const struct extent *e;
	struct mark *m;

	m = x->mark + s->mark;
	m += BISECT(m, s->nmark, kb, kb) - 1;
	if ((e = mark_extents(x, m)) == NULL)
		return NULL;
	return &e[BISECT(e, atomic_load(&m->next), kb, kb) - 1];
}

static void
indexed_free(struct outline *o)
{
	struct indexed *x = (struct indexed *)o;
	size_t i;

	for (i = 0; i < x->nmark; i++)
		free(atomic_load(&x->mark[i].ext));
	free(x->mark);
	free(x->cut);
	free(x->data);
	free(x);
}

/*
 * Make what tells of extents of a stream that is read by its index, of which it
 * takes the trailer over.  It is used by the caller, too, who ends that with
 * indexed_end.  NULL with errstr for want of memory.
 */
struct indexed *
indexed_new(struct reader *r)
{
	static const struct outline_ops ops = { indexed_extent, indexed_free };
	struct trailer *t = &r->trailer;
	struct indexed *x;

	if ((x = calloc(1, sizeof *x)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	x->o.ops = &ops;
	x->o.users = 1;
	x->data = t->data;
	x->end = t->index + t->nindex;
	x->src = r->src;
	x->origin = (uint64_t)r->in->origin;
	x->most = input_room(r->in);
	t->data = NULL;
	return x;
}

/*
 * No more is read: held bytes of memory are taken by the snapshot so far.  What
 * is told of it later is counted with them.
 */
void
indexed_end(struct indexed *x, uint64_t held)
{
	atomic_store(&x->held, held);
	if (--x->o.users == 0)
		indexed_free(&x->o);
}

/*
 * Set a mark where the next runs of a segment begin.
 */
static int
mark_set(struct ixreader *r, struct segment *s)
{
	const struct cursor *c = &r->c;
	struct indexed *x = r->told;
	struct mark *m;

	if (VEC_ROOM(x->mark, x->nmark) == -1)
		return -1;
	if (s->outline == NULL) {
		segment_outline(s, &x->o);
		s->mark = x->nmark;
	}
	m = &x->mark[x->nmark++];
	*m = (struct mark){ .kb = s->kb, .ordinal = c->ordinal, .at = c->at,
	    .same = c->same, .p = c->p };
	s->nmark++;
	return reader_hold(r->r, sizeof *m);
}

/*
 * Return 0 if n raw pages from a number on can be referred to where there are
 * so many in all; or -1 with errstr.
 */
static int
same_check(const struct indexed *x, uint64_t first, uint64_t n, uint64_t all)
{
	uint64_t bad;
	size_t i;

	bad = first;
	if (first < all)
		bad = n <= all - first ? UINT64_MAX : all;
	if (x->ncut > 0) {
		i = BISECT_WHILE(k, x->ncut, x->cut[k] < first);
		if (i < x->ncut && x->cut[i] < bad && x->cut[i] - first < n)
			bad = x->cut[i];
	}
	if (bad == UINT64_MAX)
		return 0;
	return errstr_set("a reference to raw page %" PRIu64
	    ", which was not before it", bad);
}

/*
 * Judge a run, the pages of which the segment has, the last of them short by
 * cut bytes.
 */
static int
run_judge(struct ixreader *r, const struct pagesrun *p, size_t cut)
{
	struct indexed *x = r->told;

	x->mark[x->nmark - 1].runs++;
	if (p->kind == KIND_SAME)
		return same_check(x, p->first, p->n, r->c.ordinal);
	if (p->kind == KIND_ZERO || cut == 0)
		return 0;
	if (VEC_ROOM(x->cut, x->ncut) == -1)
		return -1;
	x->cut[x->ncut++] = r->c.ordinal - 1;
	return 0;
}

/*
 * In brief, describe the pages of a run so that all that are not zero are one
 * extent.
 */
static int
run_brief(struct ixreader *x, struct segment *s, const struct pagesrun *p)
{
	struct source *src;
	size_t cap;

	cap = s->cap;
	src = p->kind == KIND_ZERO ? NULL : x->r->src;
	if (segment_append(s, p->n, src, s->kb * x->r->src->pitch) == -1)
		return -1;
	return s->cap == cap ? 0 : reader_hold(x->r, (s->cap - cap) *
	    sizeof *s->ext);
}

/*
 * Read the runs of pages that fill a segment.  Return 0, or -1 with errstr.
 */
int
index_pages(struct ixreader *x, struct segment *s)
{
	const uint64_t kb = segment_kb(s);
	const size_t cut = KB - segment_kblen(s, kb - 1);
	const bool brief = x->r->o->brief;
	uint64_t count[] = { [KIND_RAW] = 0, [KIND_ZERO] = 0, [KIND_SAME] = 0 };
	struct pagesrun p;
	unsigned int n;
	int rc;

	for (n = 0, rc = 0; s->kb < kb && rc == 0; n++) {
		if (n % RUNS == 0 && !brief && mark_set(x, s) == -1)
			return -1;
		if (run_get(&x->c, x->r->trailer.bytes, kb - s->kb, cut,
		    &p) == -1)
			return -1;
		count[p.kind] += p.n;
		if (brief)
			rc = run_brief(x, s, &p);
		else {
			s->kb += p.n;
			rc = run_judge(x, &p, s->kb == kb ? cut : 0);
		}
	}
	x->r->proc->count.raw += count[KIND_RAW];
	x->r->proc->count.zero += count[KIND_ZERO];
	x->r->proc->count.same += count[KIND_SAME];
	return rc;
}
