/*
 * Any bytes as a stream whose trailer has the right sums: by its index it is
 * refused, or is a model whose pages can be read or are refused; where it
 * says what a scan says, the pages are the same.  What is salvaged is sound.
 */
#include "fuzz_snap.h"
#include "../../fmt/snap6/trailer.h"
#include "../../lib/num.h"
#include "io/io.h"
#include "model.h"

/*
 * Give a stream the sums that it should have, as far as it has any: that of
 * its first megabyte, and that of the trailer.
 */
static void
sum_again(uint8_t *p, size_t n)
{
	uint8_t *sums;
	uint64_t len;
	size_t body;

	if (n < TRAILER_END || !trailer_ends(p, n))
		return;
	len = num_get(p + n - TRAILER_END, 8);
	if (len > n || len < TRAILER_END)
		return;
	body = n - (size_t)len;
	sums = memmem(p + body, n - body, "sums\n", 5);
	if (sums != NULL && sums + 25 <= p + n - TRAILER_END)
		num_put(sums + 17, sums_of(p, body), 8);
	num_put(p + n - TRAILER_SUMMED, sums_of(p + body, n - body -
	    TRAILER_SUMMED), 8);
}

/*
 * Read what can be read of an image: whether it was all.
 */
static bool
read_through(struct image *im)
{
	static uint8_t page[READMOST];
	struct piece *p;
	bool all;
	size_t n;

	all = true;
	for (p = image_first(im); p != NULL; p = piece_next(p)) {
		n = p->last - p->first < sizeof page ?
		    (size_t)(p->last - p->first) + 1 : sizeof page;
		if (image_read(im, p->first, page, n) == -1) {
			MUST(*snap_errstr() != '\0');
			all = false;
		}
	}
	return all;
}

static bool
read_images(struct snap *s)
{
	bool all;
	size_t i;

	for (i = 0, all = true; i < s->nproc; i++) {
		all &= read_through(s->proc[i]->text);
		all &= read_through(s->proc[i]->mem);
	}
	return all;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct readopts scan = { .scan = true };
	static const struct readopts salvage = { .salvage = true };
	struct snap *s, *t;
	uint8_t *copy;
	bool all;

	MUST((copy = malloc(n + 1)) != NULL);
	memcpy(copy, data, n);
	sum_again(copy, n);
	s = read_fd(memory_file(copy, n), NULL);
	all = s != NULL && read_images(s);
	t = read_fd(memory_file(copy, n), &scan);
	if (t != NULL && all && snap_compare(s, t) == 0)
		MUST(snap_sum(s) == snap_sum(t));
	snap_free(s);
	snap_free(t);
	if (n % 2 == 0)
		copy[n / 2] ^= 1;
	if ((s = read_fd(memory_file(copy, n), &salvage)) != NULL)
		(void)read_images(s);
	snap_free(s);
	free(copy);
	return 0;
}
