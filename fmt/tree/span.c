/*
 * What there is in a memory, as far as its process had it mapped, or in a
 * text: data, holes, and what is not there at all.
 *
 * A snapshot may have zeros between two mappings, where it was cheaper to
 * go on than to begin anew (man6/snap.6, WHAT SNAP WRITES).  They are no
 * memory.
 */
#include "tree.h"

/*
 * Return how many of the len bytes at address addr the process of m had mapped,
 * up to the first that it had not.  Where that is not known, all.
 */
size_t
member_mapped(const struct member *m, uint64_t addr, size_t len)
{
	const struct vma *v, *end;
	uint64_t to;

	if (!m->linux)
		return len;
	if ((v = vmas_find(&m->vmas, addr)) == NULL)
		return 0;
	end = m->vmas.v + m->vmas.n;
	for (to = v->end; to - addr < len && ++v < end && v->start == to;)
		to = v->end;
	return to - addr < len ? (size_t)(to - addr) : len;
}

/*
 * Set *sp to what lies at address addr of im, a memory, of which m is the
 * process, or a text, where m is NULL.
 */
static void
span_at(const struct member *m, struct image *im, uint64_t addr,
    struct span *sp)
{
	const struct vma *v;

	v = NULL;
	if (m != NULL && m->linux) {
		v = vmas_next(&m->vmas, addr);
		if (v == NULL || v->start > addr) {
			sp->last = v == NULL ? UINT64_MAX : v->start - 1;
			sp->mapped = sp->data = false;
			return;
		}
	}
	image_holes(im, addr, sp);
	if (v != NULL && sp->last >= v->end)
		sp->last = v->end - 1;
}

/*
 * Set *at to the next byte in first..last (inclusive) of im that is data, or
 * with data false the next that is none; m is as in span_at.  Return false
 * where there is none up to last.
 */
bool
span_seek(const struct member *m, struct image *im, uint64_t first,
    uint64_t last, bool data, uint64_t *at)
{
	struct span sp;

	for (;; first = sp.last + 1) {
		span_at(m, im, first, &sp);
		if (sp.data == data) {
			*at = first;
			return true;
		}
		if (sp.last >= last)
			return false;
	}
}
