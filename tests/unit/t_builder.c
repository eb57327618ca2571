/*
 * Images made from runs: builder.c, by the rules of snap(6) for segments.
 */
#include "model.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };		/* segments that every reader accepts */

static const uint64_t top = (uint64_t)1 << 39;

static struct image *
built(struct builder *b)
{
	assert_int_equal(builder_finish(b), 0);
	assert_null(b->seg);
	assert_int_equal(b->nseg, 0);
	return b->image;
}

static struct builder
begin(void)
{
	struct builder b = { 0 };

	b.image = image_new(NULL, IMAGE_MEM);
	assert_non_null(b.image);
	return b;
}

static void
run(struct builder *b, uint64_t addr, uint64_t kb)
{
	assert_int_equal(builder_run(b, addr, kb, NULL, 0), 0);
}

/*
 * Gaps up to 24 KiB are joined. Larger ones are not while there are few
 * segments.
 */
static void
test_gaps(void **state)
{
	static const struct {
		uint64_t	 gap;
		size_t		 nseg;
	} want[] = {
		{ 0, 1 }, { KB, 1 }, { 24 * KB, 1 }, { 25 * KB, 2 },
		{ 24 * KB + 1, 2 }, { 512, 2 }, { 3 * KB + 1, 2 }
	};
	struct builder b;
	struct image *im;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		b = begin();
		run(&b, 0x10000, 4);
		run(&b, 0x10000 + 4 * KB + want[i].gap, 4);
		im = built(&b);
		assert_int_equal(im->nseg, want[i].nseg);
		assert_int_equal(image_bytes(im), want[i].nseg == 1 ?
		    8 * KB + want[i].gap : 8 * KB);
		image_free(im);
	}
}

/*
 * A gap that contains missing memory is not joined.
 */
static void
test_missing(void **state)
{
	struct builder b;
	struct image *im;
	int i;

	(void)state;
	b = begin();
	run(&b, 0x10000, 4);
	image_miss(b.image, 0x12000, 0x13000, "guard");
	run(&b, 0x14000, 4);
	im = built(&b);
	assert_int_equal(im->nseg, 2);
	assert_null(image_find(im, 0x12000));
	assert_null(image_find(im, 0x11000));
	image_free(im);

	b = begin();
	for (i = 0; i < 40; i++) {
		run(&b, 0x10000 + (uint64_t)i * 0x4000, 4);
		image_miss(b.image, 0x11000 + (uint64_t)i * 0x4000,
		    0x12000 + (uint64_t)i * 0x4000, i % 2 ? "a" : "b");
	}
	im = built(&b);
	assert_int_equal(im->nseg, 40);
	image_free(im);
}

/*
 * More than sixteen pieces, 28 KiB apart: the cheapest gaps are joined until
 * sixteen segments are left.
 */
static void
test_sixteen(void **state)
{
	struct builder b;
	struct image *im;
	uint64_t addr;
	int i, n;

	(void)state;
	for (n = 15; n <= 18; n++) {
		b = begin();
		for (i = 0; i < n; i++)
			run(&b, 0x100000 + (uint64_t)i * 32 * KB, 4);
		im = built(&b);
		assert_int_equal(im->nseg, n < MOST ? n : MOST);
		image_free(im);
	}
	b = begin();
	for (i = 0, addr = 0; i < 17; i++) {
		run(&b, addr, 1);
		addr += KB + (uint64_t)(i == 9 ? 30 : 200) * KB;
	}
	im = built(&b);
	assert_int_equal(im->nseg, MOST);
	assert_int_equal(image_bytes(im), 17 * KB + 30 * KB);
	assert_int_equal(im->seg[9]->len, 32 * KB);
	image_free(im);
}

/*
 * Zeros cost a byte per kilobyte. At most 64 KiB or 1% of the image is spent on
 * them. Fifty mappings a megabyte apart, as of a program's libraries, fit into
 * sixteen segments. 1% of the larger image is 70,000 KiB.
 */
static void
test_cheap(void **state)
{
	struct builder b;
	struct image *im;
	uint64_t kb, n;
	int i;

	(void)state;
	b = begin();
	for (i = 0; i < 50; i++)
		run(&b, (uint64_t)i << 20, 4);
	im = built(&b);
	assert_int_equal(im->nseg, MOST);
	image_free(im);
	for (kb = 70000; kb <= 70001; kb++) {
		b = begin();
		run(&b, 0, n = 7000000 - MOST);
		for (i = 0; i < MOST; i++, n += 1 << 20)
			run(&b, (n + kb) * KB, 1);
		im = built(&b);
		assert_int_equal(im->nseg, kb == 70000 ? MOST : MOST + 1);
		image_free(im);
	}
}

/*
 * Gaps of a terabyte are not joined, even if many segments are left.
 */
static void
test_dear(void **state)
{
	struct builder b;
	struct image *im;
	int i;

	(void)state;
	b = begin();
	for (i = 0; i < 30; i++)
		run(&b, (uint64_t)i << 36, 4);
	im = built(&b);
	assert_int_equal(im->nseg, 30);
	assert_int_equal(image_bytes(im), 30 * 4 * KB);
	image_free(im);
}

/*
 * No segment has 2^39 bytes or more, and no byte at the splits is lost.
 */
static void
test_huge(void **state)
{
	struct builder b;
	struct image *im;
	struct memsource *m;
	struct snap *s;
	uint64_t kb, at;
	size_t i;

	(void)state;
	kb = 5 * (top / KB) / 2;
	s = snap_new();
	m = memsource_new(s, 1, KB);
	b = begin();
	assert_int_equal(builder_run(&b, 0x1000, kb, &m->src, 0x1000), 0);
	run(&b, 0x1000 + kb * KB, 7);
	im = built(&b);
	assert_int_equal(image_bytes(im), (kb + 7) * KB);
	for (i = 0, at = 0x1000; i < im->nseg; i++) {
		assert_int_equal(im->seg[i]->base, at);
		assert_true(im->seg[i]->len < top);
		assert_ptr_equal(im->seg[i]->ext[0].src, &m->src);
		assert_int_equal(im->seg[i]->ext[0].loc, at);
		at += im->seg[i]->len;
	}
	assert_int_equal(im->nseg, 3);
	image_free(im);

	b = begin();		/* small gaps that add up */
	for (i = 0; i < 60; i++)
		run(&b, i * (top / 20), top / 20 / KB - 20);
	im = built(&b);
	for (i = 0; i < im->nseg; i++)
		assert_true(im->seg[i]->len < top);
	assert_true(im->nseg >= 3);
	image_free(im);

	b = begin();		/* a gap of exactly the limit */
	run(&b, 0, top / KB - 3);
	run(&b, top - KB, 4);
	im = built(&b);
	for (i = 0; i < im->nseg; i++)
		assert_true(im->seg[i]->len < top);
	image_free(im);
	snap_free(s);
}

/*
 * Segments reach the last byte of the address space.
 */
static void
test_top(void **state)
{
	struct builder b;
	struct image *im;

	(void)state;
	b = begin();
	run(&b, -(uint64_t)16 * KB, 4);
	run(&b, -(uint64_t)4 * KB, 4);
	im = built(&b);
	assert_int_equal(im->nseg, 1);
	assert_int_equal(image_find(im, UINT64_MAX)->first,
	    -(uint64_t)16 * KB);
	image_free(im);
}

static void
test_nothing(void **state)
{
	struct builder b;
	struct image *im;

	(void)state;
	b = begin();
	run(&b, 4096, 0);
	im = built(&b);
	assert_int_equal(im->nseg, 0);
	assert_null(image_first(im));
	image_free(im);
}

struct part {
	uint64_t	 addr;
	uint64_t	 kb;
	uint64_t	 loc;
};

/*
 * Random runs and random missing ranges: captured memory reads as written, gaps
 * read as zeros or not at all, missing memory does not read.
 */
static void
check_parts(struct image *im, struct memsource *m, const struct part *part,
    size_t n)
{
	uint8_t page[KB], zero[KB] = { 0 };
	struct piece *pc;
	uint64_t a, k;
	size_t i;

	for (i = 0; i < im->nmissing; i++)
		for (a = im->missing[i].start; a < im->missing[i].end; a += KB)
			assert_null(image_find(im, a));
	for (i = 0; i < n; i++) {
		for (k = 0; k < part[i].kb; k++) {
			assert_int_equal(image_read(im, part[i].addr + k * KB,
			    page, KB), 0);
			assert_memory_equal(page, memsource_kb(m,
			    part[i].loc / KB + k), KB);
		}
		a = part[i].addr + part[i].kb * KB;
		pc = image_find(im, a);
		if (pc == NULL || (i + 1 < n && a == part[i + 1].addr))
			continue;
		assert_true(i + 1 < n && pc->last >= part[i + 1].addr);
		assert_int_equal(image_read(im, a, page, KB), 0);
		assert_memory_equal(page, zero, KB);
	}
}

static void
test_random(void **state)
{
	static struct part part[60];
	struct memsource *m;
	struct builder b;
	struct snap *s;
	struct rng r;
	uint64_t at, gap;
	size_t i, n;
	int round;

	(void)state;
	rng_init(&r, "builder", 20);
	s = snap_new();
	m = memsource_new(s, 64, KB);
	for (i = 0; i < 64; i++)
		rng_bytes(&r, memsource_kb(m, i), KB);
	for (round = 0; round < 300; round++) {
		b = begin();
		n = 1 + rng_below(&r, sizeof part / sizeof *part);
		for (i = 0, at = 0x400000; i < n; i++) {
			gap = rng_percent(&r, 20) ? 0 :
			    rng_below(&r, rng_percent(&r, 80) ? 60 : 900) * KB;
			if (gap > 4 * KB && rng_percent(&r, 20))
				image_miss(b.image, at + KB, at + 3 * KB,
				    "test");
			at += gap;
			part[i].addr = at;
			part[i].kb = 1 + rng_below(&r, 8);
			part[i].loc = rng_below(&r, 50) * KB;
			assert_int_equal(builder_run(&b, at, part[i].kb,
			    &m->src, part[i].loc), 0);
			at += part[i].kb * KB;
		}
		check_parts(built(&b), m, part, n);
		image_free(b.image);
	}
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_sixteen),
		cmocka_unit_test(test_cheap),
		cmocka_unit_test(test_dear),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
