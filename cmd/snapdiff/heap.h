/*
 * What the files of heaps share: heapread.c (words of a memory), heapfind.c
 * (where arenas are), heapfree.c (chunks that are free and do not look so) and
 * heap.c (all chunks).  Layouts are those of malloc/malloc.c and malloc/arena.c
 * of glibc, from 2.26 on, on machines of 64 bits.
 */
#ifndef HEAP_H
#define HEAP_H

#include "snapdiff.h"

enum {
	HEAP_BINS = 127,	/* pairs of pointers in an arena */
	MAX_HEAP = 4096,	/* arenas, and heaps, that are believed */
	CHUNK_HEAD = 16,	/* from a chunk to what its owner has */
	MIN_CHUNK = 32
};

/* of the second word of a chunk */
enum { CHUNK_PREV_USED = 1, CHUNK_FLAGS = 7 };

struct heapread {		/* words of a memory, one near the other */
	const struct memory *m;	/* borrowed */
	uint64_t	 addr;	/* of buf */
	size_t		 len;
	uint8_t		 buf[64 * KB];
};

struct arena {
	uint64_t	 addr;
	uint64_t	 bins;	/* address of the first pair */
	uint64_t	 top;	/* chunk that the rest is cut from */
	uint64_t	 system; /* bytes it has from the kernel */
	bool		 main;
};

struct arenas {
	struct arena	*v;	/* owned; the main one first */
	size_t		 n;
};

struct addresses {
	uint64_t	*v;	/* owned */
	size_t		 n;
};

/* heapread.c */
bool		 heap_word(struct heapread *, uint64_t, uint64_t *);
bool		 heap_chunk(struct heapread *, uint64_t, uint64_t *);

/* heapfind.c */
void		 arenas_find(struct arenas *, struct heapread *);

/* heapclass.c */
size_t		 heap_class(uint64_t);
void		 heap_count(struct heap *, uint64_t, bool);

/* heapfree.c */
bool		 heap_fastbins(struct heap *, struct heapread *,
		    const struct arena *);
uint64_t	 heap_caches(struct heap *, struct heapread *,
		    const struct addresses *);

#endif
