/*
 * Chunks that are free though the one behind them says that they are in use:
 * those in fast bins, and in caches of threads.
 */
#include "heap.h"

/*
 * Count a chunk of a list as free that was counted as in use.  Return false if
 * there is none, so that no list is followed without an end.
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
 * Set *next to where the pointer at an address leads, which since 2.32 is
 * exclusive-ored with the upper bits of that address (PROTECT_PTR).  Of the two
 * readings that one is right which is 0 or leads to a chunk of the size, head
 * bytes before it.
 */
static bool
list_next(struct heapread *r, uint64_t at, uint64_t head, uint64_t size,
    uint64_t *next)
{
	uint64_t plain, masked, found;

	if (!heap_word(r, at, &plain))
		return false;
	masked = plain ^ at >> 12;
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
 * Count in h the chunks in fast bins, which arena a that r reads has in front
 * of its top, as free.  From glibc 2.43 on it has none.  Return false at
 * nonsense.
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

struct cache {			/* of a thread: tcache_perthread_struct */
	uint64_t	 chunk;	/* bytes of the chunk that it is in */
	uint64_t	 width;	/* bytes of a count */
};

enum { LISTS = 64 };		/* of a cache */

/*
 * Set *n to how many chunks list i of the cache at an address has, and *first
 * to the first one, as its owner has it.
 */
static bool
cache_list(struct heapread *r, uint64_t at, const struct cache *t, size_t i,
    uint64_t *n, uint64_t *first)
{
	const uint64_t count = at + i * t->width;

	if (!heap_word(r, count & ~(uint64_t)7, n))
		return false;
	*n = *n >> 8 * (count % 8) & ((1U << 8 * t->width) - 1);
	return heap_word(r, at + LISTS * t->width + i * 8, first);
}

/*
 * Return true if there is a cache at an address.
 */
static bool
cache_is(struct heapread *r, uint64_t at, const struct cache *t)
{
	uint64_t n, first, size;
	size_t i;

	for (i = 0; i < LISTS; i++)
		if (!cache_list(r, at, t, i, &n, &first) ||
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
 * Count in h the chunks in caches of threads that r reads as free; a cache is
 * in one of the chunks at l.  Return the address of one that makes no sense, or
 * 0.
 */
uint64_t
heap_caches(struct heap *h, struct heapread *r, const struct addresses *l)
{
	/* from 2.30 on, and before */
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
