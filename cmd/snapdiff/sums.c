/*
 * Sums of mappings that are of one class.
 */
#include "snapdiff.h"

#include <string.h>

/*
 * Return how many kilobytes mapping v has.
 */
uint64_t
vma_kb(const struct vma *v)
{
	return (v->end - v->start) / KB;
}

/*
 * Set sum, one of each class, to what the mappings of the process of res have
 * together, and what changed in them: rows.
 */
void
class_sums(struct classum sum[CLASS_COUNT], const struct result *res)
{
	const struct vmas *was = &res->was->vma, *is = &res->is->vma;
	const struct row *r;
	struct classum *c;
	size_t i;

	memset(sum, 0, CLASS_COUNT * sizeof *sum);
	for (i = 0; i < was->n; i++) {
		c = &sum[class_of(&was->v[i])];
		c->nwas++;
		c->was += vma_kb(&was->v[i]);
	}
	for (i = 0; i < is->n; i++) {
		c = &sum[class_of(&is->v[i])];
		c->nis++;
		c->is += vma_kb(&is->v[i]);
	}
	for (i = 0; i < res->rows->n; i++) {
		r = &res->rows->v[i];
		kbchange_add(&sum[class_of(row_vma(r))].kb, &r->kb);
	}
}

/*
 * Return true if the mappings of class c, or what is in them, differ.
 */
bool
class_differs(const struct classum *c)
{
	return c->nwas != c->nis || c->was != c->is || c->kb.changed != 0 ||
	    c->kb.added != 0 || c->kb.removed != 0 || c->kb.unknown != 0;
}
