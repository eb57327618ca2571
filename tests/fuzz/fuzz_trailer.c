/*
 * Any bytes as a stream whose trailer gets its right checksums. By its index it
 * is refused, or is a snapshot whose pages can be read or are refused. If index
 * and scan describe the same stream, the pages are the same. A salvaged
 * snapshot is valid.
 */
#include "fuzz_snap.h"
#include "../../fmt/snap6/trailer.h"
#include "../../lib/num.h"
#include "io/io.h"
#include "model.h"

#ifdef LIBFUZZER
#define FUZZ_OWN_MUTATOR
#include "fuzz_items.h"

/*
 * Change a file of a trailer. The index consists of numbers.
 */
static void
file_mutate(struct items *l, struct item *it)
{
	uint8_t *room;
	size_t i;

	if (it->namelen != 5 || memcmp(it->name, "index", 5) != 0) {
		item_bytes(l, &it->data, &it->n);
		return;
	}
	if ((room = items_room(l, it->n + 64)) == NULL)
		return;
	memcpy(room, it->data, it->n);
	it->data = room;
	for (i = mutate_pick(3) + 1; i > 0; i--)
		it->n = mutate_varint(room, it->n, it->n + 64);
}

/*
 * Append to b the changed trailer of the len bytes at p. Its end has its new
 * length. moved is the growth of the stream before it.
 */
static void
trailer_mutate(struct buf *b, const uint8_t *p, size_t len, size_t moved)
{
	static struct items l;
	struct buf files = { 0 };
	const size_t start = b->len;
	char before[80];
	uintmax_t records, bytes;
	size_t at = 0, i;

	l.n = l.used = 0;
	if (!stream_record(&l, p, len, &at) || l.v[0].kind != ITEM_LINUX ||
	    l.n < 2) {
		buf_add(b, p, len);
		return;
	}
	if (moved == 0)
		file_mutate(&l, &l.v[1 + mutate_pick(l.n - 1)]);
	else {
		snprintf(before, sizeof before, "%.*s", (int)l.v[1].n,
		    l.v[1].data);
		if (sscanf(before, "%ju %ju", &records, &bytes) != 2)
			records = bytes = 0;
		l.v[1].n = (size_t)snprintf(before, sizeof before,
		    "%ju %ju\n", records, bytes + moved);
		l.v[1].data = (const uint8_t *)before;
	}
	if (mutate_pick(16) == 0)
		items_move(&l, 1 + mutate_pick(l.n - 1));
	buf_add(&files, l.v[0].data, l.v[0].n);
	buf_puts(&files, "\n");
	(void)items_parts(&l, 0, &files);
	buf_printf(b, "%11d proc\n%11zu ", 0, files.len);
	buf_add(b, files.data, files.len);
	i = b->len - start;
	if (!b->failed && i >= TRAILER_END)
		num_put(b->data + b->len - TRAILER_END, i, 8);
	buf_free(&files);
}

/*
 * Change the trailer of a stream, or what precedes it. sum_again() corrects the
 * checksums.
 */
size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	struct buf b = { 0 };
	size_t len, body, r;
	uint8_t *s;

	mutate_seed(seed);
	if (n < TRAILER_END || !trailer_ends(p, n) ||
	    (len = (size_t)num_get(p + n - TRAILER_END, 8)) > n ||
	    mutate_pick(16) == 0 || (s = malloc(max)) == NULL)
		return LLVMFuzzerMutate(p, n, max);
	r = body = n - len;
	memcpy(s, p, body);
	if (mutate_pick(4) == 0 && (r = stream_mutate(s, body, max)) == 0)
		r = body;
	buf_add(&b, s, r);
	free(s);
	trailer_mutate(&b, p + body, len, r - body);
	r = mutate_finish(p, &b, max);
	return r > 0 ? r : LLVMFuzzerMutate(p, n, max);
}
#endif

/*
 * Correct the checksums of a stream: of its first megabyte and of the trailer.
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
 * Read all of an image that can be read. Return true if that is all of it.
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
