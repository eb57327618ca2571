/*
 * Bytes removed from images: redact.c
 */
#include "model.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { N = 8 };			/* kilobytes in a file */

/*
 * Return a source in which each byte of kilobyte i, from 1 on, is i.
 */
static struct source *
numbered(struct snap *s)
{
	struct memsource *m = memsource_new(s, N, KB);
	size_t i;

	for (i = 0; i < N; i++)
		memset(memsource_kb(m, i), (int)i + 1, KB);
	return &m->src;
}

/*
 * Make an image with segments of len bytes at a and b, the second in a later
 * section.
 */
static struct image *
make(struct snap *s, struct proc *p, uint64_t a, uint64_t b, uint64_t len)
{
	struct source *src = numbered(s);
	struct segment *g;
	struct image *im;
	uint64_t base[2] = { a, b };
	size_t i;

	im = image_new(p, IMAGE_MEM);
	assert_non_null(im);
	for (i = 0; i < 2; i++) {
		g = segment_new(base[i], len);
		assert_non_null(g);
		assert_int_equal(segment_append(g, 2, src, 0), 0);
		assert_int_equal(segment_append(g, 1, NULL, 0), 0);
		assert_int_equal(segment_append(g, segment_kb(g) - 3, src,
		    3 * KB), 0);
		image_section(im);
		assert_int_equal(image_insert(im, g), 0);
	}
	return im;
}

/*
 * Return the first byte of kilobyte kb of a segment, hidden or not; -1 if it is
 * zero without a source.
 */
static int
byte(const struct segment *g, uint64_t kb)
{
	const struct extent *e = segment_extent(g, kb);
	uint8_t page[KB];
	struct run r;

	assert_non_null(e);
	if (e->src == NULL)
		return -1;
	r = (struct run){ e->loc + (kb - e->kb) * e->src->pitch, 1 };
	assert_int_equal(source_read(e->src, &r, 1, page), SOURCE_OK);
	return page[0];
}

static void
expect(const struct segment *g, const char *want)
{
	char got[N + 1];
	uint64_t i;
	int c;

	for (i = 0; i < segment_kb(g); i++) {
		c = byte(g, i);
		got[i] = c == -1 ? '-' : (char)('0' + c);
	}
	got[i] = '\0';
	assert_string_equal(got, want);
}

static void
leave(struct image *im, uint64_t start, uint64_t end, const char *why)
{
	struct missing m = { .start = start, .end = end };

	strlcpy(m.reason, why, sizeof m.reason);
	assert_int_equal(image_leave(im, &m, 1), 0);
}

/*
 * Unordered ranges that overlap and share a kilobyte.
 */
static void
test_many(void **state)
{
	struct missing m[] = { { 0x10000 + 5 * KB, 0x10000 + 6 * KB + 1, "c" },
	    { 0x10000 + 100, 0x10000 + 200, "a" },
	    { 0x10000 + 300, 0x10000 + KB, "b" },
	    { 0x10000 + 4 * KB, 0x10000 + 5 * KB + 5, "d" } };
	struct snap *s = snap_new();
	struct proc p = { .pid = 7 };
	struct image *im;

	(void)state;
	im = make(s, &p, 0x10000, 0x20000, N * KB);
	assert_int_equal(image_leave(im, m, 4), 0);
	expect(im->seg[0], "-2-4---8");
	expect(im->seg[1], "12-45678");
	assert_int_equal(im->nmissing, 3);
	assert_string_equal(im->missing[0].reason, "a");
	assert_int_equal(im->missing[0].end, 0x10000 + KB);
	assert_string_equal(im->missing[1].reason, "d");
	assert_int_equal(im->missing[1].start, 0x10000 + 4 * KB);
	assert_int_equal(im->missing[1].end, 0x10000 + 6 * KB);
	assert_string_equal(im->missing[2].reason, "c");
	assert_int_equal(im->missing[2].end, 0x10000 + 7 * KB);
	image_free(im);
	snap_free(s);
}

static void
test_leave(void **state)
{
	struct snap *s = snap_new();
	struct proc p = { .pid = 7 };
	struct image *im;
	uint8_t c;

	(void)state;
	/* the second covers 4 KiB of the first, shifted by half a kilobyte */
	im = make(s, &p, 0x10000, 0x10000 + 4 * KB + 512, N * KB - 100);
	expect(im->seg[0], "12-45678");
	leave(im, 0x10000 + 5 * KB, 0x10000 + 6 * KB, "why");
	expect(im->seg[0], "12-45-78");
	expect(im->seg[1], "---45678");
	assert_int_equal(im->nmissing, 1);
	assert_int_equal(im->missing[0].start, 0x10000 + 4 * KB + 512);
	assert_int_equal(im->missing[0].end, 0x10000 + 6 * KB + 512);
	assert_string_equal(im->missing[0].reason, "why");
	assert_int_equal(image_read(im, 0x10000 + 4 * KB + 511, &c, 1), 0);
	assert_int_equal(image_read(im, 0x10000 + 4 * KB + 512, &c, 1), -1);
	assert_int_equal(image_read(im, 0x10000 + 6 * KB + 511, &c, 1), -1);
	assert_int_equal(image_read(im, 0x10000 + 6 * KB + 512, &c, 1), 0);
	/* no memory; the short last kilobyte; everything */
	leave(im, 0, 0x10000, "no");
	leave(im, 0x20000, 0x30000, "no");
	assert_int_equal(im->nmissing, 1);
	leave(im, 0x10000 + 12 * KB, 0x20000, "end");
	assert_int_equal(im->missing[1].end, 0x10000 + 12 * KB + 412);
	leave(im, 0, UINT64_MAX, "all");
	expect(im->seg[0], "--------");
	expect(im->seg[1], "--------");
	leave(NULL, 0, 1, "none");
	image_free(im);
	snap_free(s);

	/* the last byte of a segment, and the next one */
	s = snap_new();
	im = make(s, &p, 0x10000, 0x20000, N * KB);
	leave(im, 0x10000 + N * KB, 0x10000 + N * KB + 1, "behind");
	assert_int_equal(im->nmissing, 0);
	leave(im, 0x10000 + N * KB - 1, 0x10000 + N * KB, "last");
	expect(im->seg[0], "12-4567-");
	assert_int_equal(im->missing[0].start, 0x10000 + (N - 1) * KB);
	image_free(im);
	snap_free(s);
}

/*
 * Only the described part of a segment is removed.
 */
static void
test_described(void **state)
{
	struct snap *s = snap_new();
	struct proc p = { .pid = 7 };
	struct segment *g;
	struct image *im;

	(void)state;
	im = image_new(&p, IMAGE_MEM);
	g = segment_new(0x10000, N * KB);
	assert_int_equal(segment_append(g, 3, numbered(s), 0), 0);
	assert_int_equal(image_insert(im, g), 0);
	leave(im, 0x10000 + 3 * KB, 0x10000 + 5 * KB, "no");
	assert_int_equal(im->nmissing, 0);
	assert_int_equal(g->kb, 3);
	leave(im, 0x10000 + 2 * KB, 0x10000 + 5 * KB, "last");
	assert_int_equal(im->nmissing, 1);
	assert_int_equal(im->missing[0].end, 0x10000 + 3 * KB);
	assert_int_equal(g->kb, 3);
	assert_int_equal(byte(g, 1), 2);
	assert_int_equal(byte(g, 2), -1);
	image_free(im);
	snap_free(s);
}

struct edit {
	uint64_t	 at;	/* this byte becomes 9 */
	size_t		 calls;
	size_t		 bytes;
};

static void
edit(void *arg, uint64_t addr, uint8_t *buf, size_t n)
{
	struct edit *e = arg;

	e->calls++;
	e->bytes += n;
	assert_true(addr <= e->at && e->at - addr < n);
	buf[e->at - addr] = 9;
}

/*
 * A segment ends at the end of the address space.
 */
static void
test_top(void **state)
{
	struct snap *s = snap_new();
	struct proc p = { .pid = 7 };
	struct edit e = { .at = UINT64_MAX - 9 };
	struct memsource *m;
	struct image *im;

	(void)state;
	im = make(s, &p, 0, UINT64_MAX - N * KB + 1, N * KB);
	leave(im, UINT64_MAX - 1, UINT64_MAX, "top");
	expect(im->seg[1], "12-4567-");
	assert_int_equal(im->missing[0].end, UINT64_MAX);
	image_free(im);
	/* the kilobyte to edit cannot be read */
	im = make(s, &p, 0, UINT64_MAX - N * KB + 1, N * KB);
	m = (struct memsource *)segment_extent(im->seg[1], N - 1)->src;
	m->lost[N - 1] = true;
	assert_int_equal(image_rewrite(s, im, e.at, 1, edit, &e), 0);
	assert_true(im->missing[0].start == UINT64_MAX - KB + 1);
	assert_true(im->missing[0].end == UINT64_MAX);
	image_free(im);
	snap_free(s);
}

static void
test_rewrite(void **state)
{
	struct snap *s = snap_new();
	struct proc p = { .pid = 7 };
	struct edit e = { .at = 0x10000 + 3 * KB };
	struct image *im;
	uint8_t got[2 * KB];

	(void)state;
	im = make(s, &p, 0x10000, 0x20000, N * KB);
	assert_int_equal(image_rewrite(s, im, 0x10000 + 3 * KB - 1, 2, edit,
	    &e), 0);
	assert_int_equal(e.calls, 1);
	assert_int_equal(e.bytes, 2 * KB);
	expect(im->seg[0], "12095678");
	expect(im->seg[1], "12-45678");
	assert_int_equal(image_read(im, 0x10000 + 2 * KB, got, 2 * KB), 0);
	assert_int_equal(got[0], 0);
	assert_int_equal(got[KB], 9);
	assert_int_equal(got[KB + 1], 4);
	assert_int_equal(im->nmissing, 0);
	/* edit bytes that were edited before, and unmapped ones */
	e.at++;
	assert_int_equal(image_rewrite(s, im, e.at, 1, edit, &e), 0);
	assert_int_equal(image_read(im, 0x10000 + 3 * KB, got, 3), 0);
	assert_memory_equal(got, "\11\11\4", 3);
	assert_int_equal(image_rewrite(s, im, 0, 100, edit, &e), 0);
	assert_int_equal(image_rewrite(s, im, UINT64_MAX, 2, edit, &e), 0);
	assert_int_equal(image_rewrite(s, NULL, 0, 1, edit, &e), 0);
	assert_int_equal(e.calls, 2);
	image_free(im);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_described),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_rewrite)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
