/*
 * Fetch pages: blocks are the jobs of a ring. dedup.c plans a block (what to
 * read, into which slots) and submits it; a thread reads it, detects zero
 * pages, hashes the others and finds those described before; and dedup.c takes
 * the blocks back in order.
 */
#include "engine.h"
#include "num.h"
#include "xxh.h"

#include <sys/mman.h>

/*
 * Read the pages of w again, in smaller runs, after some of them could not be
 * read. Each run is one group of pages with an identity. Mark pages that still
 * cannot be read as lost. Return 0, or -1 with errstr set on other errors.
 */
static int
want_salvage(struct block *b, const struct want *w)
{
	struct run r;
	uint64_t i, k;
	int rc;

	for (i = 0; i < w->run.n; i += r.n) {
		r.loc = w->run.loc + i * w->src->pitch;
		r.n = IDENTITY_KB - r.loc / KB % IDENTITY_KB;
		if (r.n > w->run.n - i)
			r.n = w->run.n - i;
		rc = source_read(w->src, &r, 1,
		    b->data + (size_t)(b->slot[w->kb] + i) * KB);
		if (rc == -1)
			return -1;
		if (rc == SOURCE_OK)
			continue;
		for (k = 0; k < r.n; k++)
			b->state[w->kb + i + k] = PAGE_LOST;
		strlcpy(b->why, snap_errstr(), sizeof b->why);
	}
	return 0;
}

/*
 * Read the pages of b. Consecutive wants from the same source are read in one
 * call.
 */
static int
block_read(struct block *b)
{
	struct run run[BLOCK];
	size_t i, k, n;
	int rc;

	for (i = 0; i < b->nwant; i += n) {
		for (n = 0; i + n < b->nwant &&
		    b->want[i + n].src == b->want[i].src; n++)
			run[n] = b->want[i + n].run;
		rc = source_read(b->want[i].src, run, n,
		    b->data + (size_t)b->slot[b->want[i].kb] * KB);
		for (k = 0; k < n && rc == SOURCE_LOST; k++)
			if (want_salvage(b, &b->want[i + k]) == -1)
				return -1;
		if (rc == -1)
			return -1;
	}
	return 0;
}

/*
 * Read a block and examine its pages: detect zero pages, hash the others, and
 * find those that were described before. dedup is a struct dedup, and job a
 * struct block. On failure set the block's rc and why. This is the work
 * function of the ring.
 */
void
block_fetch(void *dedup, void *job)
{
	struct dedup *d = dedup;
	struct block *b = job;
	size_t i, len;
	const uint8_t *p;

	b->rc = block_read(b);
	if (b->rc == -1) {
		strlcpy(b->why, snap_errstr(), sizeof b->why);
		return;
	}
	for (i = 0; i < b->n; i++) {
		if (b->state[i] != PAGE_READ)
			continue;
		p = b->data + (size_t)b->slot[i] * KB;
		len = segment_kblen(b->seg, b->kb + i);
		if (bytes_arezero(p, len))
			b->state[i] = PAGE_ZERO;
		else if (len == KB)
			/* secret, so that nobody can construct collisions */
			b->hash[i] = XXH_BEST(XXH3_64bits_withSecret)(p, KB,
			    d->secret, SECRETSIZE);
	}
	block_find(d, b);
}

/*
 * Give block b its data, unless it has some. Children of this process do not
 * get that memory: its pages would be copied when the block is filled after a
 * fork. Return 0, or -1 with errstr set.
 */
int
block_room(struct block *b)
{
	void *p;

	if (b->data != NULL)
		return 0;
	p = mmap(NULL, BLOCK * KB, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return errstr_set("out of memory");
	(void)madvise(p, BLOCK * KB, MADV_DONTFORK);
	b->data = p;
	return 0;
}

/*
 * Free the memory that job, a struct block, owns.
 */
void
block_drop(void *job)
{
	struct block *b = job;

	if (b->data != NULL)
		munmap(b->data, BLOCK * KB);
}
