/*
 * Classify chunks by size: small sizes have a class each; large ones share a
 * class for each power of two.
 */
#include "heap.h"

enum { EXACT = 4096 }; /* number of classes that have one size each; sizes
			  are multiples of 16 bytes */

_Static_assert(EXACT + 64 - 16 == HEAP_CLASSES, "64 bits have that many");

/*
 * Return the class of chunks of the given size in bytes.
 */
size_t
heap_class(uint64_t size)
{
	if (size / 16 < EXACT)
		return (size_t)(size / 16);
	return EXACT + 63 - (size_t)__builtin_clzll(size) - 16;
}

/*
 * Return the smallest size in bytes of chunks of the given class.
 */
uint64_t
heapclass_size(size_t class)
{
	if (class < EXACT)
		return class * 16;
	return (uint64_t)1 << (class - EXACT + 16);
}

/*
 * Count a chunk of size bytes in h: as in use if used is true, and otherwise as
 * free.
 */
void
heap_count(struct heap *h, uint64_t size, bool used)
{
	struct heapclass *c = &h->class[heap_class(size)];

	if (used) {
		c->used++;
		h->used += size;
	} else {
		c->free++;
		h->free += size;
	}
}
