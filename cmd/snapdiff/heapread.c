/*
 * Read words from the memory of a process through a buffer.
 */
#include "heap.h"
#include "num.h"

/*
 * Make r->buf contain at least the 8 bytes at addr, which is a multiple of 8.
 * Return false if they cannot be read.
 */
static bool
heap_fill(struct heapread *r, uint64_t addr)
{
	const struct vma *v;
	struct here h;
	size_t n, most;

	if (addr >= r->addr && addr - r->addr < r->len &&
	    r->len - (addr - r->addr) >= 8)
		return true;
	/* read less after a jump: lists lead anywhere, chunks to the next
	   one */
	most = addr - r->addr <= 2 * sizeof r->buf ? sizeof r->buf : KB;
	r->len = 0;
	r->addr = addr;
	if ((v = vmas_find(&r->m->vma, addr)) == NULL)
		return false;
	h.end = v->end;
	memory_at(r->m, v, addr, &h);
	n = h.end - addr < most ? (size_t)(h.end - addr) : most;
	if (n < 8 || memory_read(r->m, v, addr, r->buf, n) != 0)
		return false;
	r->len = n;
	return true;
}

/*
 * Set *v to the word at address addr. Return false if it cannot be read.
 */
bool
heap_word(struct heapread *r, uint64_t addr, uint64_t *v)
{
	*v = 0;
	if (addr % 8 != 0 || !heap_fill(r, addr))
		return false;
	*v = num_get(r->buf + (addr - r->addr), 8);
	return true;
}

/*
 * Set *size to the size of the chunk at address addr, without its flags. Return
 * false if no valid chunk is there.
 */
bool
heap_chunk(struct heapread *r, uint64_t addr, uint64_t *size)
{
	if (addr % 16 != 0 || !heap_word(r, addr + 8, size))
		return false;
	*size &= ~(uint64_t)CHUNK_FLAGS;
	return *size >= MIN_CHUNK && *size % 16 == 0;
}
