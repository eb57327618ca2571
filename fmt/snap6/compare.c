/*
 * Comparing two models of one snap(6) stream, that of a scan and that of its
 * index.
 */
#include "model.h"

#include <inttypes.h>
#include <string.h>

/*
 * Extents are the same if they lead to the same bytes of the stream.
 */
static bool
segment_same(const struct segment *a, const struct segment *b)
{
	const struct extent *x, *y;
	size_t i;

	if (a->base != b->base || a->len != b->len || a->next != b->next)
		return false;
	for (i = 0; i < a->next; i++) {
		x = &a->ext[i];
		y = &b->ext[i];
		if (x->kb != y->kb || x->n != y->n || x->loc != y->loc ||
		    (x->src == NULL) != (y->src == NULL))
			return false;
	}
	return true;
}

static int
image_compare(const char *kind, const struct image *a, const struct image *b)
{
	size_t i, n;

	n = a == NULL ? 0 : a->nseg;
	if (n != (b == NULL ? 0 : b->nseg))
		return errstr_set("%s: not as many segments", kind);
	for (i = 0; i < n; i++)
		if (!segment_same(a->seg[i], b->seg[i]))
			return errstr_set("%s: the segment at %" PRIx64, kind,
			    a->seg[i]->base);
	return 0;
}

static int
proc_compare(const struct proc *p, const struct proc *q)
{
	const struct file *f, *g;
	size_t i;

	if (p->pid != q->pid || p->nfile != q->nfile ||
	    p->filesum != q->filesum)
		return errstr_set("not the same records");
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
 * Return 0 if two models are the same, process for process and page for page;
 * else -1, and errstr tells where they differ first.
 */
int
snap_compare(struct snap *a, struct snap *b)
{
	size_t i;

	if (a->nproc != b->nproc)
		return errstr_set("%zu processes, and %zu", a->nproc,
		    b->nproc);
	for (i = 0; i < a->nproc; i++)
		if (proc_compare(a->proc[i], b->proc[i]) == -1)
			return errstr_wrap("process %" PRIu64,
			    a->proc[i]->pid);
	return 0;
}
