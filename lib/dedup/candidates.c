/*
 * Candidates: places with the hash of a page, which may have the same contents.
 *
 * A hash only suggests candidates; comparing bytes decides. Candidates are
 * read together, since most of them are equal. The thread that fetches a block
 * looks for pages described before the block, whose reading takes as long as
 * the block's own; judging a block looks for pages described since.
 */
#include "engine.h"

enum { TOGETHER = 64 }; /* maximum number of kilobytes compared at a time */

/*
 * Return the bytes of page i of block b, which must have been read.
 */
const uint8_t *
block_page(const struct block *b, size_t i)
{
	return b->data + (size_t)b->slot[i] * KB;
}

/*
 * Compare pages of block b with the pages at their places in target. page lists
 * n pages of b. Compare the first of these, but at most TOGETHER, and stop
 * before a page whose target is in another source. Set the target of a page to
 * PLACE_NONE if the two differ or the target cannot be read. Return the number
 * of pages compared, or -1 with errstr set.
 */
static ssize_t
check_some(const struct dedup *d, size_t *last, const struct block *b,
    const uint16_t *page, size_t n, uint64_t *target)
{
	uint8_t there[TOGETHER * KB];
	struct run run[TOGETHER];
	struct source *src;
	uint64_t loc, rest;
	size_t i, k;
	int rc;

	src = place_source(d, target[page[0]], last, &loc, &rest);
	run[0] = (struct run){ .loc = loc, .n = 1 };
	for (i = k = 1; i < n && i < TOGETHER; i++) {
		if (place_source(d, target[page[i]], last, &loc, &rest) != src)
			break;
		if (run[k - 1].loc + run[k - 1].n * src->pitch == loc)
			run[k - 1].n++;
		else
			run[k++] = (struct run){ .loc = loc, .n = 1 };
	}
	if ((rc = source_read(src, run, k, there)) == -1)
		return -1;
	for (k = 0; k < i; k++)
		if (rc != SOURCE_OK || memcmp(block_page(b, page[k]),
		    there + k * KB, KB) != 0)
			target[page[k]] = PLACE_NONE;
	return (ssize_t)i;
}

/*
 * Compare each page of block b that l lists with the page at its place in
 * target, which was described before the block. Set the target of a page to
 * PLACE_NONE if the two differ or the target cannot be read. *last is as for
 * place_segment(). Return 0, or -1 with errstr set.
 */
int
candidates_check(const struct dedup *d, size_t *last, const struct block *b,
    const struct candidates *l, uint64_t *target)
{
	size_t i;
	ssize_t n;

	for (i = 0; i < l->n; i += (size_t)n) {
		n = check_some(d, last, b, l->page + i, l->n - i, target);
		if (n == -1)
			return -1;
	}
	return 0;
}

/*
 * Find the pages of block b, which has been read, that equal pages described
 * before the block: first their own copies, if there are any. Set their state
 * to PAGE_FOUND. Some such pages may be missed, for example after errors;
 * judge_block() looks for them again.
 */
void
block_find(struct dedup *d, struct block *b)
{
	struct candidates l;
	struct cursor c;
	uint64_t p;
	size_t i, last;

	index_hold(&d->content);
	for (i = 0; i < b->n; i++)
		if (b->state[i] == PAGE_READ)
			index_prefetch(&d->content, b->hash[i]);
	for (i = l.n = 0; i < b->n; i++) {
		if (b->state[i] != PAGE_READ ||
		    page_unshared(d, b->seg, b->kb + i))
			continue;
		if (b->same[i] == PLACE_NONE) {
			p = index_first(&d->content, b->hash[i], &c);
			b->same[i] = p < b->place ? p : PLACE_NONE;
		}
		if (b->same[i] != PLACE_NONE)
			l.page[l.n++] = (uint16_t)i;
	}
	index_release(&d->content);
	last = 0;
	if (candidates_check(d, &last, b, &l, b->same) == -1)
		return;
	for (i = 0; i < l.n; i++)
		if (b->same[l.page[i]] != PLACE_NONE)
			b->state[l.page[i]] = PAGE_FOUND;
}
