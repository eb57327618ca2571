/*
 * Extents that are made from the runs of an index on demand.
 *
 * When an index is opened, all of it is read and checked, but its runs are not
 * stored. Before every few runs a mark is set, from which they can be read
 * again:
 *
 *	runs	r z r z = = r z | = z = r z = r z | r z = r	segment
 *	marks	^                 ^                 ^
 *
 * References use the numbers of raw pages. The offset of such a page is found
 * by reading runs from the last mark before it on.
 */
#include "index.h"
#include "bisect.h"
#include "vec.h"

struct raws {			/* a run of raw pages */
	uint64_t	 ordinal; /* ordinal number of the first page */
	uint64_t	 n;
	uint64_t	 at;	/* byte offset of the run in the stream */
};

struct mark {
	uint64_t	 kb;	/* index in the segment of the kilobyte at which
				   the runs of this mark begin */
	uint64_t	 ordinal; /* number of raw pages before the runs */
	uint64_t	 at;	/* byte offset of the runs in the stream */
	uint64_t	 same;	/* value of cursor.same before the runs */
	const uint8_t	*p;	/* position of the runs in the index */
	unsigned int	 runs;
	atomic_uint	 next;	/* number of elements of "ext"; set before
				   "ext" */
	_Atomic(struct extent *) ext; /* owned; NULL: not made yet */
	_Atomic(struct raws *) raws; /* owned; runs of raw pages after the
					mark, ended by an empty one; NULL:
					not made yet */
};

struct range {			/* the parts of the shared arrays that belong
				   to a segment */
	size_t		 mark;	/* index of the segment's first mark */
	size_t		 nmark;	/* number of marks of the segment */
	size_t		 hole;
	size_t		 nhole;
};

struct indexed {
	struct outline	 o;
	uint8_t		*data;	/* owned; the trailer */
	const uint8_t	*end;	/* end of the index in "data" */
	struct source	*src;	/* borrowed; source of pages */
	uint64_t	 origin; /* location of the start of the stream in
				    src */
	struct mark	*mark;	/* owned; sorted by offset in the stream */
	size_t		 nmark;
	struct zeros	*hole;	/* owned; sorted by offset in the stream */
	size_t		 nhole;
	struct range	*range;	/* owned; indexed by the member "nth" of struct
				   segment */
	size_t		 nrange;
	uint64_t	*cut;	/* owned; sorted ordinal numbers of raw pages
				   shorter than a kilobyte */
	size_t		 ncut;
	atomic_ullong	 held;	/* number of bytes of memory in use; the limit
				   is in "most" */
	uint64_t	 most;
};

static struct cursor
mark_cursor(const struct indexed *x, const struct mark *m)
{
	return (struct cursor){ .p = m->p, .left = (size_t)(x->end - m->p),
	    .at = m->at, .same = m->same, .ordinal = m->ordinal };
}

/*
 * Read the next run into *r. c must come from mark_cursor(). The run is not
 * checked: that was done when the index was read.
 */
static int
run_again(struct cursor *c, struct pagesrun *r)
{
	return runs_get(c, UINT64_MAX, UINT64_MAX, 0, r, 1) == 1 ? 0 : -1;
}

/*
 * Count n more bytes of memory as needed to describe the segments of x. Return
 * 0, or -1 with errstr set if the sum is too much for a file of this size.
 */
static int
memory_hold(struct indexed *x, uint64_t n)
{
	n += atomic_fetch_add(&x->held, n);
	if (n <= x->most)
		return 0;
	return errstr_set("it would take %" PRIu64 " megabytes "
	    "of memory, too much for so small a file", n / (KB * KB));
}

/*
 * Append the next n pages to segment d, as segment_append() does, and count the
 * memory that describes them.
 */
static int
pages_describe(struct indexed *x, struct segment *d, uint64_t n,
    struct source *src, uint64_t at)
{
	const size_t cap = d->cap;

	if (segment_append(d, n, src, at) == -1)
		return -1;
	return memory_hold(x, (d->cap - cap) * sizeof *d->ext);
}

/*
 * Return the runs of raw pages after mark m, terminated by an empty run, or
 * NULL with errstr set.
 */
static const struct raws *
mark_raws(struct indexed *x, struct mark *m)
{
	struct raws v[RUNS + 1], *made, *had;
	struct pagesrun r;
	struct cursor c;
	unsigned int i, n;

	if ((had = atomic_load(&m->raws)) != NULL)
		return had;
	c = mark_cursor(x, m);
	for (i = n = 0; i < m->runs; i++) {
		if (run_again(&c, &r) == -1)
			return NULL;
		if (r.kind == KIND_RAW)
			v[n++] = (struct raws){ r.first, r.n, r.at };
	}
	v[n++] = (struct raws){ .ordinal = UINT64_MAX };
	if (memory_hold(x, n * sizeof *made) == -1 ||
	    (made = mem_dup(v, n * sizeof *made)) == NULL)
		return NULL;
	if (atomic_compare_exchange_strong(&m->raws, &had, made))
		return made;
	atomic_fetch_sub(&x->held, n * sizeof *made);
	free(made);
	return had;
}

/*
 * Describe the next n pages of segment d as identical to n consecutive raw
 * pages. first is the ordinal number of the first of these raw pages.
 */
static int
same_describe(struct indexed *x, struct segment *d, uint64_t n, uint64_t first)
{
	const struct raws *r;
	struct mark *m;
	uint64_t skip, part, left;

	for (left = 0; n > 0 && n != left;) {
		left = n;
		m = x->mark + BISECT(x->mark, x->nmark, ordinal, first) - 1;
		if ((r = mark_raws(x, m)) == NULL)
			return -1;
		for (; r->n > 0 && n > 0; r++) {
			skip = first - r->ordinal;
			if (skip >= r->n)
				continue;
			part = r->n - skip < n ? r->n - skip : n;
			if (pages_describe(x, d, part, x->src, x->origin +
			    r->at + 1 + skip * (KB + 1)) == -1)
				return -1;
			first += part;
			n -= part;
		}
	}
	return 0;
}

/*
 * Describe the pages after mark m in d, an empty segment.
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
 * Return the extents after mark m, a place in the index; make them on first
 * use. Several threads may call this at the same time; all get the same result.
 * Return NULL with errstr set on failure.
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
 * Return the extent that contains kilobyte kb of segment s, or NULL with errstr
 * set. This implements extent() of struct outline_ops.
 */
static const struct extent *
indexed_extent(struct outline *o, const struct segment *s, uint64_t kb)
{
	struct indexed *x = (struct indexed *)o;
	const struct range *r = &x->range[s->nth];
	const struct extent *e;
	struct mark *m;

	m = x->mark + r->mark;
	m += BISECT(m, r->nmark, kb, kb) - 1;
	if ((e = mark_extents(x, m)) == NULL)
		return NULL;
	return &e[BISECT(e, atomic_load(&m->next), kb, kb) - 1];
}

/*
 * Set *h to the first hole of segment s that ends after kilobyte kb. Return
 * false if there is none. This implements hole() of struct outline_ops.
 */
static bool
indexed_hole(const struct outline *o, const struct segment *s, uint64_t kb,
    struct zeros *h)
{
	const struct indexed *x = (const struct indexed *)o;
	const struct range *r = &x->range[s->nth];
	size_t i;

	i = BISECT(x->hole + r->hole, r->nhole, end, kb);
	if (i == r->nhole)
		return false;
	*h = x->hole[r->hole + i];
	return true;
}

static void
indexed_free(struct outline *o)
{
	struct indexed *x = (struct indexed *)o;
	size_t i;

	for (i = 0; i < x->nmark; i++) {
		free(atomic_load(&x->mark[i].ext));
		free(atomic_load(&x->mark[i].raws));
	}
	free(x->mark);
	free(x->hole);
	free(x->range);
	free(x->cut);
	free(x->data);
	free(x);
}

/*
 * Return a new outline for the segments of a stream that is read with its
 * index. It takes over the data of r's trailer. The segments use the outline
 * too; the caller ends its own use with indexed_end(). Return NULL with errstr
 * set if memory runs out.
 */
struct indexed *
indexed_new(struct reader *r)
{
	static const struct outline_ops ops = { indexed_extent, indexed_hole,
	    indexed_free };
	struct trailer *t = &r->trailer;
	struct indexed *x;

	if ((x = mem_new(1, sizeof *x)) == NULL)
		return NULL;
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
 * End the caller's use of x, after the index has been read. used is the number
 * of bytes of memory that the snapshot has used so far. Memory that x allocates
 * later is added to that number.
 */
void
indexed_end(struct indexed *x, uint64_t used)
{
	atomic_store(&x->held, used);
	if (--x->o.users == 0)
		indexed_free(&x->o);
}

/*
 * Set a mark before the next runs of segment s. Return 0, or -1 with errstr
 * set.
 */
int
indexed_mark(struct ixreader *r, const struct segment *s)
{
	const struct cursor *c = &r->c;
	struct indexed *x = r->indexed;

	if (VEC_ADD(x->mark, x->nmark, (struct mark){ .kb = s->kb,
	    .ordinal = c->ordinal, .at = c->at, .same = c->same,
	    .p = c->p }) == -1)
		return -1;
	x->range[s->nth].nmark++;
	return reader_hold(r->r, sizeof *x->mark);
}

/*
 * Begin to record the pages of segment s in the outline. Return 0, or -1 with
 * errstr set.
 */
int
indexed_begin(struct ixreader *r, struct segment *s)
{
	struct indexed *x = r->indexed;

	if (VEC_ADD(x->range, x->nrange, (struct range){ .mark = x->nmark,
	    .hole = x->nhole }) == -1)
		return -1;
	s->outline = &x->o;
	s->nth = x->nrange - 1;
	x->o.users++;
	return reader_hold(r->r, sizeof *x->range);
}

/*
 * Record the last n kilobytes of segment s as a hole. If it is adjacent to the
 * previous hole, the two are merged.
 */
static int
hole_note(struct ixreader *r, const struct segment *s, uint64_t n)
{
	struct indexed *x = r->indexed;
	struct range *of = &x->range[s->nth];

	if (of->nhole > 0 && x->hole[x->nhole - 1].end == s->kb - n) {
		x->hole[x->nhole - 1].end = s->kb;
		return 0;
	}
	if (VEC_ADD(x->hole, x->nhole, (struct zeros){ s->kb - n,
	    s->kb }) == -1)
		return -1;
	of->nhole++;
	return reader_hold(r->r, sizeof *x->hole);
}

/*
 * Check a reference to n raw pages. first is the ordinal number of the first of
 * them, and all is the number of raw pages before the reference. A page shorter
 * than a kilobyte cannot be referred to. Return 0 if the reference is valid,
 * else -1 with errstr set.
 */
static int
same_check(const struct indexed *x, uint64_t first, uint64_t n, uint64_t all)
{
	uint64_t bad;	/* the next page that cannot be referred to */
	size_t i;

	bad = first < all ? all : first;
	if (x->ncut > 0) {
		i = BISECT_WHILE(k, x->ncut, x->cut[k] < first);
		if (i < x->ncut && x->cut[i] < bad)
			bad = x->cut[i];
	}
	if (n <= bad - first)
		return 0;
	return errstr_set("a reference to raw page %" PRIu64
	    ", which is not an earlier full page", bad);
}

/*
 * Check run p of segment s; s->kb already includes p. cut is the number of
 * bytes by which the last page of p is shorter than a kilobyte.
 */
static int
indexed_run(struct ixreader *r, const struct segment *s,
    const struct pagesrun *p, size_t cut)
{
	struct indexed *x = r->indexed;

	if (p->kind == KIND_SAME)
		return same_check(x, p->first, p->n, p->before);
	if (p->kind == KIND_ZERO)
		return p->n < HOLE_KB ? 0 : hole_note(r, s, p->n);
	if (cut == 0)
		return 0;
	return VEC_ADD(x->cut, x->ncut, p->before + p->n - 1);
}

/*
 * Check the n runs at p, which follow the last mark of segment s. cut is the
 * number of bytes by which the segment's last page is shorter than a kilobyte.
 * Return 0, or -1 with errstr set.
 */
int
indexed_runs(struct ixreader *r, struct segment *s, const struct pagesrun *p,
    int n, size_t cut)
{
	const uint64_t kb = segment_kb(s);
	int i, rc;

	r->indexed->mark[r->indexed->nmark - 1].runs = (unsigned int)n;
	for (i = 0, rc = 0; i < n && rc == 0; i++) {
		s->kb += p[i].n;
		rc = indexed_run(r, s, &p[i], s->kb == kb ? cut : 0);
	}
	return rc;
}
