/*
 * Compare two models of one snap(6) stream, one from a scan and one from its
 * index.
 */
#include "model.h"

/*
 * Return 1 if the extents of segments a and b refer to the same bytes of the
 * stream. Return 0 if not, or -1 with errstr set.
 */
static int
segment_same(const struct segment *a, const struct segment *b)
{
	const struct extent *x, *y;
	uint64_t kb, end;

	if (a->base != b->base || a->len != b->len)
		return 0;
	for (kb = 0; kb < segment_kb(a); kb = end) {
		if ((x = segment_extent(a, kb)) == NULL ||
		    (y = segment_extent(b, kb)) == NULL)
			return -1;
		if ((x->src == NULL) != (y->src == NULL) ||
		    (x->src != NULL && x->loc + (kb - x->kb) * x->src->pitch !=
		    y->loc + (kb - y->kb) * y->src->pitch))
			return 0;
		end = x->kb + x->n < y->kb + y->n ? x->kb + x->n :
		    y->kb + y->n;
	}
	return 1;
}

static int
image_compare(const char *kind, const struct image *a, const struct image *b)
{
	size_t i, n;
	int rc;

	n = a == NULL ? 0 : a->nseg;
	if (n != (b == NULL ? 0 : b->nseg))
		return errstr_set("%s: different numbers of segments", kind);
	for (i = 0; i < n; i++) {
		if ((rc = segment_same(a->seg[i], b->seg[i])) == 0)
			errstr_set("%s: the segment at %" PRIx64 " differs",
			    kind, a->seg[i]->base);
		if (rc != 1)
			return -1;
	}
	return 0;
}

static int
proc_compare(const struct proc *p, const struct proc *q)
{
	const struct file *f, *g;
	size_t i;

	if (p->pid != q->pid || p->nfile != q->nfile ||
	    p->filesum != q->filesum)
		return errstr_set("different records");
	for (i = 0; i < p->nfile; i++) {
		f = &p->file[i];
		g = &q->file[i];
		if (strcmp(f->name, g->name) != 0 || f->len != g->len ||
		    (f->len > 0 && memcmp(f->data, g->data, f->len) != 0))
			return errstr_set("%s", f->name);
	}
	if (image_compare("text", p->text, q->text) == -1)
		return -1;
	return image_compare("mem", p->mem, q->mem);
}

/*
 * Compare snapshots a and b: every process and every page. Return 0 if they are
 * identical, else -1 with errstr set to the first difference.
 */
int
snap_compare(struct snap *a, struct snap *b)
{
	size_t i;

	if (a->nproc != b->nproc)
		return errstr_set("different numbers of processes: %zu and %zu",
		    a->nproc, b->nproc);
	for (i = 0; i < a->nproc; i++)
		if (proc_compare(a->proc[i], b->proc[i]) == -1)
			return errstr_wrap("process %" PRIu64,
			    a->proc[i]->pid);
	return 0;
}
