/*
 * Declarations shared by the files about heaps: heapread.c (read words from
 * memory), heapfind.c (find arenas), heapfree.c (free chunks marked as used)
 * and heap.c (count chunks). The layouts are from malloc/malloc.c and
 * malloc/arena.c of glibc 2.26 and later on 64-bit machines.
 */
#ifndef HEAP_H
#define HEAP_H

#include "snapdiff.h"

enum {
	HEAP_BINS = 127,	/* number of pairs of pointers in an arena */
	MAX_HEAP = 4096,	/* maximum number of arenas, or of heaps; a
				   higher number means damaged memory */
	CHUNK_HEAD = 16,	/* offset of the user data in a chunk */
	MIN_CHUNK = 32
};

/* flags in the second word of a chunk */
enum { CHUNK_PREV_USED = 1, CHUNK_FLAGS = 7 };

struct heapread {		/* buffer for reading words from memory */
	const struct memory *m;	/* borrowed */
	uint64_t	 addr;	/* address of the memory that was read into
				   buf */
	size_t		 len;
	uint8_t		 buf[64 * KB];
};

struct arena {
	uint64_t	 addr;
	uint64_t	 bins;	/* address of the arena's first pair of
				   pointers */
	uint64_t	 top;	/* address of the chunk from which new chunks
				   are cut */
	uint64_t	 system; /* number of bytes obtained from the kernel */
	bool		 main;
};

struct arenas {
	struct arena	*v;	/* owned; the main arena first */
	size_t		 n;
	size_t		 steps;	/* arenas followed in the search for v */
};

struct addresses {
	uint64_t	*v;	/* owned */
	size_t		 n;
};

/* heapread.c: read words and chunks */
bool		 heap_word(struct heapread *, uint64_t, uint64_t *);
bool		 heap_chunk(struct heapread *, uint64_t, uint64_t *);

/* heapfind.c: find arenas */
void		 arenas_find(struct arenas *, struct heapread *);

/* heapclass.c: classes of chunk sizes */
size_t		 heap_class(uint64_t);
void		 heap_count(struct heap *, uint64_t, bool);

/* heapfree.c: free chunks that are marked as used */
bool		 heap_fastbins(struct heap *, struct heapread *,
		    const struct arena *);
uint64_t	 heap_caches(struct heap *, struct heapread *,
		    const struct addresses *);

#endif
