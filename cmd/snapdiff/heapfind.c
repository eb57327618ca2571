/*
 * Find the arenas of glibc's malloc without symbols. An arena has 127 pairs of
 * pointers, the heads of lists of free chunks. An empty list points to itself,
 * and nothing else has so many of these in a row. The main arena is in the
 * data of the C library or of a static program; each arena points to the next,
 * in a circle.
 *
 *	[ lock ... fast bins | top | last remainder | 127 pairs | binmap (16) |
 *	  next | next free | threads | system memory | its maximum ]
 */
#include "heap.h"

enum {
	TRIES = 64,		/* maximum number of places examined closely */
	MIN_EMPTY = 16,	/* minimum number of empty lists in an arena */
	MAX_DATA = 64 * KB * KB, /* maximum size in bytes of a mapping
				    that is searched */
	MOST_DATA = 4 * MAX_DATA, /* maximum total size of these mappings */
	STEPS = 16 * MAX_HEAP,	/* maximum number of arenas followed */
	TOP = -16, /* offset of the top pointer from the first list */
	NEXT = HEAP_BINS * 16 + 16,
	SYSTEM = NEXT + 24
};

/*
 * Return true if the head of an empty list is at address addr.
 */
static bool
list_empty(struct heapread *r, uint64_t addr)
{
	uint64_t first, last;

	return heap_word(r, addr, &first) && first == addr - 16 &&
	    heap_word(r, addr + 8, &last) && last == first;
}

/*
 * Return true if the heads of the 127 free lists of an arena seem to begin at
 * address bins. Enough of the lists must be empty, and the other heads must
 * point to mapped memory.
 */
static bool
lists_are(struct heapread *r, uint64_t bins)
{
	uint64_t first, last, at;
	size_t i, empty;

	for (i = empty = 0; i < HEAP_BINS; i++) {
		at = bins + i * 16;
		if (list_empty(r, at)) {
			empty++;
			continue;
		}
		if (!heap_word(r, at, &first) || !heap_word(r, at + 8, &last) ||
		    first % 16 != 0 || last % 16 != 0 || first == at - 16 ||
		    last == at - 16 ||
		    vmas_find(&r->m->vma, first) == NULL ||
		    vmas_find(&r->m->vma, last) == NULL)
			return false;
	}
	return empty >= MIN_EMPTY;
}

static void
arena_add(struct arenas *l, struct heapread *r, uint64_t addr, uint64_t bins)
{
	struct arena *a;

	MUST_ROOM(l->v, l->n);
	a = &l->v[l->n];
	a->addr = addr;
	a->bins = bins;
	a->main = l->n == 0;
	l->n++;
	(void)heap_word(r, bins + (uint64_t)TOP, &a->top);
	(void)heap_word(r, bins + SYSTEM, &a->system);
}

/*
 * Follow the circular list of the arenas of a process, and set *l to these
 * arenas. One arena should be at address bins - off, with its free lists at
 * address bins. Return false if no such list is found there.
 */
static bool
circle_add(struct arenas *l, struct heapread *r, uint64_t bins, uint64_t off)
{
	uint64_t addr = bins - off;

	for (l->n = 0; l->n < MAX_HEAP;) {
		if (l->steps++ >= STEPS ||
		    !heap_word(r, addr + off + NEXT, &addr) || addr == 0)
			return false;
		if (addr == bins - off)
			break;
		if (l->n == 0)
			arena_add(l, r, bins - off, bins);
		arena_add(l, r, addr, addr + off);
	}
	if (l->n == MAX_HEAP)
		return false;
	if (l->n == 0)
		arena_add(l, r, bins - off, bins);
	return true;
}

/*
 * Try to find the arenas of a process from an empty free list at address list.
 * Try each position that the list may have in its arena. If a position fits,
 * set *l to all arenas in the circle of this arena, and return true.
 */
static bool
arenas_at(struct arenas *l, struct heapread *r, uint64_t list)
{
	/*
	 * offset of the lists in an arena: since 2.27; before; and since 2.43,
	 * without fast bins
	 */
	static const uint64_t offs[] = { 112, 104, 24 };
	uint64_t bins;
	size_t i, k;

	for (i = 0; i < HEAP_BINS; i++) {
		bins = list - i * 16;
		if (!lists_are(r, bins))
			continue;
		for (k = 0; k < sizeof offs / sizeof *offs; k++)
			if (circle_add(l, r, bins, offs[k]))
				return true;
	}
	l->n = 0;
	return false;
}

/*
 * Return true if mapping i may contain the C library's data. It must be
 * writable, private and at most MAX_DATA bytes long. It must map a file, or be
 * anonymous and directly follow a mapping of a file.
 */
static bool
vma_hasdata(const struct vmas *l, size_t i)
{
	const struct vma *v = &l->v[i];

	if ((v->flags & (VMA_WRITE | VMA_SHARED)) != VMA_WRITE ||
	    v->end - v->start > MAX_DATA)
		return false;
	return class_of(v) == CLASS_FILE || (i > 0 &&
	    l->v[i - 1].end == v->start && class_of(v) == CLASS_ANONYMOUS &&
	    class_of(&l->v[i - 1]) == CLASS_FILE);
}

/*
 * Find the malloc(3) arenas of the process that r reads, and store them in *l.
 * *l must be all zero. If there are none, l->n stays 0. The caller frees l->v.
 */
void
arenas_find(struct arenas *l, struct heapread *r)
{
	const struct vmas *vma = &r->m->vma;
	uint64_t at, sum = 0;
	size_t i, tries;

	for (i = tries = 0; i < vma->n && tries < TRIES; i++) {
		if (!vma_hasdata(vma, i))
			continue;
		if ((sum += vma->v[i].end - vma->v[i].start) > MOST_DATA)
			return;
		for (at = vma->v[i].start; at < vma->v[i].end && tries < TRIES;
		    at += 8) {
			if (!list_empty(r, at))
				continue;
			tries++;
			if (arenas_at(l, r, at))
				return;
			at += (HEAP_BINS - 1) * 16;
		}
	}
}
