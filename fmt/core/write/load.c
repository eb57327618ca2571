/*
 * Make the segments of an ELF core from the mappings and their captured memory.
 *
 *	mapping	|      captured  captured      captured   |
 *	PT_LOAD	| none | file ..........| mem | file .| mem |
 *
 * Memory that was never touched is zero. Between captured pages it is a hole
 * in the core, if it is not too large; after them only p_memsz includes it.
 * Missing memory must not be taken for zeros, so it gets segments of its own
 * with p_filesz 0. gdb reads these as zeros unless it finds the file that was
 * mapped. Therefore missing parts of files mapped read-only get no segment:
 * NT_FILE lists them, as in cores of gcore(1).
 */
#include "write.h"
#include "vec.h"

enum { GAP = 1024 * KB };	/* minimum size, in bytes, of a gap that is left
				   out of the core file */

enum kind { CAPTURED, MISSING, UNTOUCHED };

struct walk {			/* position in an image, moving towards higher
				   addresses */
	struct piece	*piece;	/* first piece that does not end before the
				   position */
	const struct missing *miss;
	const struct missing *end;
};

static int
load_add(struct coreloads *l, uint64_t addr, unsigned int flags)
{
	return VEC_ADD(l->load, l->nload, (struct coreload){ .addr = addr,
	    .flags = flags });
}

/*
 * Return the kind of the memory at addr. Lower *end to the address where the
 * kind changes, if that is lower.
 */
static enum kind
walk_look(struct walk *w, uint64_t addr, uint64_t *end)
{
	while (w->miss < w->end && w->miss->end <= addr)
		w->miss++;
	if (w->miss < w->end && w->miss->start <= addr) {
		if (w->miss->end < *end)
			*end = w->miss->end;
		return MISSING;
	}
	if (w->miss < w->end && w->miss->start < *end)
		*end = w->miss->start;
	while (w->piece != NULL && w->piece->last < addr)
		w->piece = piece_next(w->piece);
	if (w->piece == NULL)
		return UNTOUCHED;
	if (w->piece->first <= addr) {
		if (w->piece->last < *end - 1)
			*end = w->piece->last + 1;
		return CAPTURED;
	}
	if (w->piece->first < *end)
		*end = w->piece->first;
	return UNTOUCHED;
}

/*
 * Add the captured memory from address start up to address end to the last
 * segment of l. Begin a new segment instead if open is false, if the last
 * segment has no captured memory, or if at least GAP bytes at its end were not
 * captured.
 */
static int
captured_add(struct coreloads *l, uint64_t start, uint64_t end, bool open,
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
		if (load_add(l, start, flags) == -1)
			return -1;
		p = &l->load[l->nload - 1];
	}
	p->filesz = p->memsz = end - p->addr;
	return VEC_ADD(l->part, l->npart, (struct corepart){ .addr = start,
	    .len = end - start, .off = l->nload - 1 });
}

/*
 * Return true if v is a private read-only mapping of a file. For such a mapping
 * an entry in NT_FILE is enough: readers of a core assume that a mapping
 * without a segment is of this kind.
 */
static bool
mapping_isfile(const struct vma *v)
{
	return v->name[0] == '/' && (v->flags & (VMA_READ | VMA_WRITE |
	    VMA_EXEC | VMA_SHARED)) == VMA_READ;
}

/*
 * Add to l the segments of mapping v.
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
		/* missing memory needs a segment of its own */
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
 * Set *l, which must be all zero, to the segments of a core and their captured
 * parts. mem is the captured memory, or NULL, and v has the mappings in
 * ascending order. The caller frees the lists in *l, even on failure. Return 0,
 * or -1 with errstr set.
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
