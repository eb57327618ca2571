/*
 * The segments of an ELF core: what is there of each mapping.
 *
 *	mapping	|      captured  captured      captured   |
 *	PT_LOAD	| none | file ..........| mem | file .| mem |
 *
 * Memory that was never touched is zero.  Between captured pages it lies in
 * the core as a hole, if it is not too large; behind them p_memsz alone
 * tells of it.  Memory that is missing must not be taken for zeros: it has
 * segments of its own, with p_filesz 0.  gdb reads zeros there, unless it
 * finds the file that was mapped, and so what is missing of files that were
 * mapped to be read only has none: NT_FILE tells of it, as in cores of
 * gcore(1).
 */
#include "core.h"
#include "vec.h"

#include <stdlib.h>

enum { GAP = 1024 * KB };	/* from here on a gap is not in the file */

enum kind { CAPTURED, MISSING, UNTOUCHED };

struct walk {			/* along an image, by address */
	struct piece	*piece;	/* the first that is not behind us */
	const struct missing *miss;
	const struct missing *end;
};

static int
load_add(struct coreloads *l, uint64_t addr, unsigned int flags)
{
	return VEC_ADD(l->load, l->nload, (struct coreload){ .addr = addr,
	    .flags = flags });
}

static int
part_add(struct coreloads *l, uint64_t addr, uint64_t len)
{
	return VEC_ADD(l->part, l->npart, (struct corepart){ .addr = addr,
	    .len = len, .off = l->nload - 1 });
}

/*
 * What lies at an address, and up to where: end at the most.
 */
static enum kind
walk_look(struct walk *w, uint64_t at, uint64_t *end)
{
	while (w->miss < w->end && w->miss->end <= at)
		w->miss++;
	if (w->miss < w->end && w->miss->start <= at) {
		if (w->miss->end < *end)
			*end = w->miss->end;
		return MISSING;
	}
	if (w->miss < w->end && w->miss->start < *end)
		*end = w->miss->start;
	while (w->piece != NULL && w->piece->last < at)
		w->piece = piece_next(w->piece);
	if (w->piece == NULL)
		return UNTOUCHED;
	if (w->piece->first <= at) {
		if (w->piece->last < *end - 1)
			*end = w->piece->last + 1;
		return CAPTURED;
	}
	if (w->piece->first < *end)
		*end = w->piece->first;
	return UNTOUCHED;
}

/*
 * Add captured memory to the segment that is open, or to a new one.
 */
static int
captured_add(struct coreloads *l, uint64_t at, uint64_t end, bool open,
    unsigned int flags)
{
	struct coreload *p;
	uint64_t gap;

	p = open ? &l->load[l->nload - 1] : NULL;
	gap = p == NULL || p->filesz == 0 ? 0 : p->memsz - p->filesz;
	if (gap >= GAP) {
		p->memsz = p->filesz;
		if (load_add(l, p->addr + p->filesz, flags) == -1)
			return -1;
		p = &l->load[l->nload - 1];
		p->memsz = gap;
	}
	if (p == NULL || p->filesz == 0) {
		if (load_add(l, at, flags) == -1)
			return -1;
		p = &l->load[l->nload - 1];
	}
	p->filesz = p->memsz = end - p->addr;
	return part_add(l, at, end - at);
}

/*
 * Return whether a mapping is one that NT_FILE alone tells of, with the
 * permissions that a reader assumes.
 */
static bool
mapping_isfile(const struct vma *v)
{
	return v->name[0] == '/' && (v->flags & (VMA_READ | VMA_WRITE |
	    VMA_EXEC | VMA_SHARED)) == VMA_READ;
}

/*
 * The segments of one mapping.
 */
static int
mapping_add(struct coreloads *l, struct walk *w, const struct vma *v)
{
	struct coreload *p;
	uint64_t at, end;
	enum kind kind;
	bool open;

	open = false;
	for (at = v->start; at < v->end; at = end) {
		end = v->end;
		kind = walk_look(w, at, &end);
		if (kind == MISSING && mapping_isfile(v)) {
			open = false;
			continue;
		}
		if (kind == CAPTURED) {
			if (captured_add(l, at, end, open, v->flags) == -1)
				return -1;
			open = true;
			continue;
		}
		/* what is missing is not the tail of what is there */
		p = open ? &l->load[l->nload - 1] : NULL;
		if (p == NULL || (p->filesz > 0 && kind == MISSING)) {
			if (load_add(l, at, v->flags) == -1)
				return -1;
			p = &l->load[l->nload - 1];
		}
		p->memsz = end - p->addr;
		open = true;
	}
	return 0;
}

/*
 * Set *l to the segments of a core and what is captured of them, of memory mem
 * (NULL: none) and the sorted mappings v.  *l is all zero; the caller frees it,
 * after a failure too.  Return 0, or -1 with errstr.
 */
int
coreloads_make(struct coreloads *l, struct image *mem, const struct vmas *v)
{
	struct walk w = { 0 };
	size_t i;

	if (mem != NULL) {
		w.piece = image_first(mem);
		w.miss = mem->missing;
		w.end = mem->missing == NULL ? NULL :
		    mem->missing + mem->nmissing;
	}
	for (i = 0; i < v->n; i++)
		if (mapping_add(l, &w, &v->v[i]) == -1)
			return -1;
	return 0;
}
