/*
 * Count the chunks of glibc's malloc in a process: all chunks of all heaps, in
 * use or free. Chunks are adjacent:
 *
 *	[ size before | size, flags | ... ] [ size before | size, flags | ...
 *
 * and the flags of a chunk say whether the one before it is in use. The memory
 * is untrusted, or may have been damaged by its program: at an invalid size,
 * counting ends with a warning.
 */
#include "heap.h"
#include "bisect.h"

enum {
	HEAP_SPACE = 64 * KB * KB, /* size and alignment of the address range of
				      a heap outside the main arena */
	MAX_OTHERS = 16 * KB * KB, /* number of bytes in which to look for
				      the first chunk of a heap; memory of
				      other users may precede it */
	START_TRIES = 64,
	MAX_CACHES = 1 << 16
};

struct walk {
	struct heap	*h;	/* borrowed; where chunks are counted; NULL: do
				   not count */
	struct heapread	 read;
	struct addresses cache;	/* owned; addresses of chunks that may hold a
				   tcache */
	struct addresses seen;	/* owned; addresses of heaps already counted */
};

static void
address_add(struct addresses *l, uint64_t addr)
{
	MUST_ROOM(l->v, l->n);
	l->v[l->n++] = addr;
}

/*
 * Count the chunk of size bytes at addr. It must not be a top chunk. used is
 * the flag, in the next chunk, that says whether this chunk is in use. If the
 * chunk may hold a tcache, record its address.
 */
static void
walk_count(struct walk *w, uint64_t addr, uint64_t size, bool used)
{
	if (w->h == NULL)
		return;
	heap_count(w->h, size, used);
	if (used && (size == 0x290 || size == 0x250) &&
	    w->cache.n < MAX_CACHES)
		address_add(&w->cache, addr);
}

/*
 * Walk the chunks of a heap from addr to the last chunk: the top chunk, at
 * address top, or the fencepost at the end of the heap. All chunks must be
 * below end. Return 0, or the address where the chunks become invalid.
 */
static uint64_t
walk_chunks(struct walk *w, uint64_t addr, uint64_t end, uint64_t top)
{
	uint64_t head, size, next;

	for (;; addr += size) {
		if (addr >= end || !heap_word(&w->read, addr + 8, &head))
			return addr;
		size = head & ~(uint64_t)CHUNK_FLAGS;
		if (addr == top) {
			if (w->h != NULL)
				w->h->top += size;
			return 0;
		}
		if ((top == 0 || top < addr || top >= end) && (size == 16 ||
		    head == CHUNK_PREV_USED))
			return 0;
		if (size < MIN_CHUNK || size % 16 != 0 || size > end - addr ||
		    !heap_word(&w->read, addr + size + 8, &next))
			return addr;
		walk_count(w, addr, size, (next & CHUNK_PREV_USED) != 0);
	}
}

/*
 * Find where the chunks of a heap begin: other memory may precede them. If
 * first is true, look for the first chunk of the heap, which is at address
 * start or holds the tcache of the first thread. Return the lowest address, not
 * below start, from which chunks lead to the top chunk, which is at address
 * top. Return 0 if there is none. All chunks must be below end.
 */
static uint64_t
main_start(struct walk *w, uint64_t start, uint64_t end, uint64_t top,
    bool first)
{
	struct heap *h = w->h;
	uint64_t at, size, found = 0;
	size_t tries = 0;

	w->h = NULL;
	for (at = start; at < end && at - start < MAX_OTHERS &&
	    tries < START_TRIES && found == 0; at += 16) {
		if (!heap_chunk(&w->read, at, &size) || (first && at != start &&
		    size != 0x290 && size != 0x250))
			continue;
		tries++;
		if (walk_chunks(w, at, end, top) == 0)
			found = at;
	}
	w->h = h;
	return found;
}

/*
 * Count the chunks of the main arena a, which are in the brk(2) heap. Where
 * other code has moved the break, two chunks of 16 bytes mark the place;
 * continue with the chunks that follow. Return 0, or the address where the
 * chunks become invalid.
 */
static uint64_t
walk_main(struct walk *w, const struct arena *a)
{
	const struct vma *v;
	uint64_t at, bad, head;

	if (a->system == 0)	/* nothing was allocated in arena a */
		return 0;
	/* cores do not name the heap */
	if ((v = vmas_find(&w->read.m->vma, a->top)) == NULL ||
	    (class_of(v) != CLASS_HEAP && class_of(v) != CLASS_ANONYMOUS))
		return a->top;
	at = main_start(w, v->start, v->end, a->top, true);
	bad = walk_chunks(w, at == 0 ? v->start : at, v->end, a->top);
	if (bad != 0 && heap_word(&w->read, bad + 8, &head) &&
	    (head & ~(uint64_t)CHUNK_PREV_USED) == 16 &&
	    (at = main_start(w, bad + 32, v->end, a->top, false)) != 0)
		bad = walk_chunks(w, at, v->end, a->top);
	return bad;
}

/*
 * Count the chunks of arena a, which is not the main arena. Its heaps are
 * aligned to their maximum size of 64 MB, and the first of them contains the
 * arena itself. Return 0, or the address where something is invalid.
 */
static uint64_t
walk_other(struct walk *w, const struct arena *a)
{
	const uint64_t mask = ~(uint64_t)(HEAP_SPACE - 1);
	/* bytes from the lists to the end of the arena */
	const uint64_t rest = HEAP_BINS * 16 + 16 + 40;
	uint64_t at, start, bad, heap = a->top & mask, first = a->addr & mask;
	const struct vma *v;

	for (; heap != 0; heap = at) {
		if (w->seen.n == MAX_HEAP || SEEK(w->seen.v, w->seen.n,
		    *x == heap) != NULL)
			return heap;
		address_add(&w->seen, heap);
		start = heap == first ? a->bins + rest :
		    heap + (a->addr - first);
		start = (start + 15) & ~(uint64_t)15;
		if ((v = vmas_find(&w->read.m->vma, heap)) == NULL)
			return heap;
		bad = walk_chunks(w, start, v->end < heap + HEAP_SPACE ?
		    v->end : heap + HEAP_SPACE, a->top);
		if (bad != 0)
			return bad;
		/* heap_info.prev of malloc/arena.c */
		if (!heap_word(&w->read, heap + 8, &at))
			return heap;
	}
	return 0;
}

static void
heap_warn(const struct memory *m, uint64_t addr)
{
	char text[120];

	snprintf(text, sizeof text, "process %" PRIu64 ": invalid heap data "
	    "at %" PRIx64 "; not all of the heap is counted",
	    m->side->id.pid, addr);
	program_lose(NULL, text);
}

/*
 * Warn if process m uses glibc and has a heap that is not recognized. An
 * unknown version of glibc or another malloc(3) may have created the heap.
 */
static void
heap_unknown(const struct memory *m)
{
	static const char libc[] = "/libc.so.6";
	const struct vmas *l = &m->vma;
	bool heap = false, glibc = false;
	size_t i, n;

	for (i = 0; i < l->n; i++) {
		n = strlen(l->v[i].name);
		heap |= class_of(&l->v[i]) == CLASS_HEAP;
		glibc |= n >= sizeof libc - 1 &&
		    strcmp(l->v[i].name + n - (sizeof libc - 1), libc) == 0;
	}
	if (heap && glibc)
		program_warn("process %" PRIu64 ": heap not counted: its "
		    "layout is not that of a known glibc", m->side->id.pid);
}

/*
 * Return true if process m ran on one of the 64-bit little-endian machines
 * whose heaps are known.
 */
static bool
machine_isknown(const struct memory *m)
{
	static const char *const known[] = { "amd64", "arm64", "riscv64" };
	char word[32];

	(void)linuxrec_cputype(proc_file(m->side->proc, "proc"), word,
	    sizeof word);
	return SEEK_IN(known, strcmp(word, *x) == 0) != NULL;
}

/*
 * Set *h to the contents of the heaps of process m. If no glibc heap was found,
 * h->arenas is 0. Print a warning if the data is invalid.
 */
void
heap_get(struct heap *h, const struct memory *m)
{
	struct arenas l = { 0 };
	struct walk *w;
	uint64_t at, bad;
	size_t i;

	memset(h, 0, sizeof *h);
	if (!machine_isknown(m))
		return;
	w = must(calloc(1, sizeof *w));
	w->h = h;
	w->read.m = m;
	arenas_find(&l, &w->read);
	if (l.n == 0)
		heap_unknown(m);
	for (i = 0, bad = 0; i < l.n; i++) {
		h->arenas++;
		h->system += l.v[i].system;
		at = l.v[i].main ? walk_main(w, &l.v[i]) :
		    walk_other(w, &l.v[i]);
		bad = bad == 0 ? at : bad;
	}
	for (i = 0; bad == 0 && i < l.n; i++)
		if (!heap_fastbins(h, &w->read, &l.v[i]))
			bad = l.v[i].addr;
	if (bad == 0)
		bad = heap_caches(h, &w->read, &w->cache);
	if (bad != 0)
		heap_warn(m, bad);
	free(w->cache.v);
	free(w->seen.v);
	free(w);
	free(l.v);
}
