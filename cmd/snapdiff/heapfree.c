/*
 * Count free chunks that look used to the chunk after them: those in fast bins
 * and in thread caches (tcache).
 */
#include "heap.h"

/*
 * Count as free a chunk of the given size that was counted as used. Return
 * false if no chunk of its class is counted as used any longer. If a list is
 * circular, this makes the walk through it end.
 */
static bool
chunk_free(struct heap *h, uint64_t size)
{
	struct heapclass *c = &h->class[heap_class(size)];

	if (c->used == 0 || h->used < size)
		return false;
	c->used--;
	c->free++;
	h->used -= size;
	h->free += size;
	return true;
}

/*
 * Set *next to the pointer to the next chunk in a free list. The pointer is at
 * address addr. glibc 2.32 and newer XORs it with addr >> 12 (PROTECT_PTR). Try
 * both forms: the pointer must be NULL or point head bytes into a chunk of the
 * given size. Return false if neither fits.
 */
static bool
list_next(struct heapread *r, uint64_t addr, uint64_t head, uint64_t size,
    uint64_t *next)
{
	uint64_t plain, masked, found;

	if (!heap_word(r, addr, &plain))
		return false;
	masked = plain ^ addr >> 12;
	if (masked == 0 || (masked >= head && heap_chunk(r, masked - head,
	    &found) && found == size)) {
		*next = masked;
		return true;
	}
	*next = plain;
	return plain == 0 || (plain >= head && heap_chunk(r, plain - head,
	    &found) && found == size);
}

/*
 * Count the chunks in the fast bins of arena a as free in h. Fast bins are
 * lists of small free chunks; glibc 2.43 and newer has none. The list heads are
 * stored just before the arena's pointer to its top chunk. Return false if a
 * list is invalid.
 */
bool
heap_fastbins(struct heap *h, struct heapread *r, const struct arena *a)
{
	enum { FASTBINS = 10 };
	uint64_t at, c, next, size, found;
	size_t i;

	if (a->bins - a->addr < FASTBINS * 8)
		return true;
	for (i = 0; i < FASTBINS; i++) {
		at = a->bins - 16 - FASTBINS * 8 + i * 8;
		size = MIN_CHUNK + 16 * i;
		if (!heap_word(r, at, &c) || c == 0)
			continue;
		if (!heap_chunk(r, c, &found) || found != size)
			return false;
		for (; c != 0; c = next) {
			if (!list_next(r, c + CHUNK_HEAD, 0, size, &next) ||
			    !chunk_free(h, size))
				return false;
		}
	}
	return true;
}

struct cache {			/* layout of a tcache_perthread_struct */
	uint64_t	 chunk;	/* size of the chunk that contains the tcache */
	uint64_t	 width;	/* size of each count in bytes */
};

enum { LISTS = 64 };		/* number of lists in a tcache */

/*
 * Set *n to the length of list i of the tcache at address addr, and *chunk to
 * the first chunk in the list: its address as seen by the user of malloc(3).
 * Return false if they cannot be read.
 */
static bool
cache_list(struct heapread *r, uint64_t addr, const struct cache *t, size_t i,
    uint64_t *n, uint64_t *chunk)
{
	const uint64_t count = addr + i * t->width;

	if (!heap_word(r, count & ~(uint64_t)7, n))
		return false;
	*n = *n >> 8 * (count % 8) & ((1U << 8 * t->width) - 1);
	return heap_word(r, addr + LISTS * t->width + i * 8, chunk);
}

/*
 * Return true if there is a valid tcache of layout t at address addr.
 */
static bool
cache_is(struct heapread *r, uint64_t addr, const struct cache *t)
{
	uint64_t n, first, size;
	size_t i;

	for (i = 0; i < LISTS; i++)
		if (!cache_list(r, addr, t, i, &n, &first) ||
		    (n == 0) != (first == 0) || (n != 0 &&
		    (first < CHUNK_HEAD ||
		    !heap_chunk(r, first - CHUNK_HEAD, &size) ||
		    size != MIN_CHUNK + 16 * i)))
			return false;
	return true;
}

static bool
cache_count(struct heap *h, struct heapread *r, uint64_t at,
    const struct cache *t)
{
	uint64_t n, mem, next, size;
	size_t i;

	for (i = 0; i < LISTS; i++) {
		size = MIN_CHUNK + 16 * i;
		if (!cache_list(r, at, t, i, &n, &mem))
			return false;
		for (; n > 0 && mem != 0; n--, mem = next) {
			if (!list_next(r, mem, CHUNK_HEAD, size, &next) ||
			    !chunk_free(h, size))
				return false;
			h->cached += size;
		}
		if (n > 0 || mem != 0)
			return false;
	}
	return true;
}

/*
 * Count the chunks in thread caches as free in h. l has the addresses of chunks
 * that may contain such a cache. Return the address of a chunk whose cache is
 * invalid, or 0 if there is none.
 */
uint64_t
heap_caches(struct heap *h, struct heapread *r, const struct addresses *l)
{
	/* since 2.30, and before */
	static const struct cache caches[] = { { 0x290, 2 }, { 0x250, 1 } };
	uint64_t size, at;
	size_t i, k;

	for (i = 0; i < l->n; i++)
		for (k = 0; k < sizeof caches / sizeof *caches; k++) {
			at = l->v[i] + CHUNK_HEAD;
			if (heap_chunk(r, l->v[i], &size) &&
			    size == caches[k].chunk &&
			    cache_is(r, at, &caches[k]) &&
			    !cache_count(h, r, at, &caches[k]))
				return l->v[i];
		}
	return 0;
}
