/*
 * Images: image.c, compared with arrays of bytes.
 */
#include "model.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 48 * KB };

struct naive {			/* one window of the address space */
	uint64_t	 base;
	uint8_t		 byte[WINDOW];
	bool		 mapped[WINDOW];
	bool		 taken[WINDOW];	/* in the current section */
};

static struct naive naive;
static uint8_t got[WINDOW + 64];

/*
 * Add a segment of random extents to an image, and to the window where the
 * section has nothing yet.
 */
static void
add_segment(struct rng *r, struct image *im, struct memsource *m)
{
	struct segment *s;
	uint64_t off, len, left, n, loc, kb, i;
	bool zero;

	off = rng_below(r, WINDOW);
	if (rng_percent(r, 50))
		off = off / KB * KB;
	len = 1 + rng_below(r, rng_percent(r, 80) ? 6 * KB : WINDOW);
	if (rng_percent(r, 60))
		len = (len + KB - 1) / KB * KB;
	if (len > WINDOW - off)
		len = WINDOW - off;
	s = segment_new(naive.base + off, len);
	assert_non_null(s);
	for (kb = 0, left = segment_kb(s); left > 0; left -= n) {
		n = 1 + rng_below(r, left < 5 ? left : 5);
		zero = rng_percent(r, 25);
		loc = rng_below(r, m->nkb - n);
		assert_int_equal(segment_append(s, n, zero ? NULL : &m->src,
		    loc * m->src.pitch), 0);
		for (i = kb * KB; i < (kb + n) * KB && i < len; i++) {
			if (naive.taken[off + i])
				continue;
			naive.mapped[off + i] = true;
			naive.byte[off + i] = zero ? 0 : memsource_kb(m,
			    loc + (i / KB - kb))[i % KB];
		}
		kb += n;
	}
	memset(naive.taken + off, true, len);
	assert_int_equal(image_insert(im, s), 0);
}

static void
punch(struct rng *r, struct image *im)
{
	uint64_t start, end;

	start = rng_below(r, WINDOW - 1);
	end = start + 1 + rng_below(r, 3 * KB);
	if (end > WINDOW || naive.base + end == UINT64_MAX)
		end = WINDOW;
	assert_int_equal(image_punch(im, naive.base + start,
	    memory_end(naive.base + start, end - start)), 0);
	memset(naive.mapped + start, 0, end - start);
	memset(naive.taken + start, 0, end - start);
}

/*
 * The pieces of the view cover exactly the mapped memory, each in one segment.
 */
static void
check_view(struct image *im)
{
	struct piece *p;
	uint64_t at, k;

	at = 0;
	for (p = image_first(im); p != NULL; p = piece_next(p)) {
		assert_true(p->first <= p->last);
		assert_true(p->first - naive.base >= at);
		for (; at < p->first - naive.base; at++)
			assert_false(naive.mapped[at]);
		for (; at <= p->last - naive.base; at++)
			assert_true(naive.mapped[at]);
		k = p->first - p->seg->base;
		assert_true(k < p->seg->len);
		assert_true(p->last - p->seg->base < p->seg->len);
		assert_ptr_equal(p->seg->image, im);
		assert_ptr_equal(image_find(im, p->first), p);
		assert_ptr_equal(image_find(im, p->last), p);
	}
	for (; at < WINDOW; at++)
		assert_false(naive.mapped[at]);
}

static void
check_read(struct rng *r, struct image *im)
{
	uint64_t off, len, i;
	bool whole;
	int rc;

	off = rng_below(r, WINDOW);
	len = rng_below(r, rng_percent(r, 50) ? 40 : 9 * KB);
	if (len > WINDOW - off)
		len = WINDOW - off;
	for (whole = true, i = 0; i < len; i++)
		whole &= naive.mapped[off + i];
	memset(got, 0xee, sizeof got);
	rc = image_read(im, naive.base + off, got, len);
	assert_int_equal(rc, whole ? 0 : -1);
	if (whole && len > 0)
		assert_memory_equal(got, naive.byte + off, len);
	assert_int_equal(got[len], 0xee);
	if (!whole)
		assert_contains(snap_errstr(), "is not in the snapshot");
}

static void
random_image(uint64_t base, uint32_t pitch, uint64_t seed)
{
	struct memsource *m;
	struct image *im;
	struct snap *s;
	struct rng r;
	int i, k, round;

	rng_init(&r, "image", seed);
	for (round = 0; round < 20; round++) {
		memset(&naive, 0, sizeof naive);
		naive.base = base;
		s = snap_new();
		im = image_new(NULL, IMAGE_MEM);
		assert_true(s != NULL && im != NULL);
		m = memsource_new(s, 64, pitch);
		for (i = 0; i < 64; i++)
			rng_bytes(&r, memsource_kb(m, (size_t)i), KB);
		for (i = 0; i < 40; i++) {
			if (rng_percent(&r, 10)) {
				image_section(im);
				memset(naive.taken, 0, WINDOW);
			}
			if (rng_percent(&r, 75))
				add_segment(&r, im, m);
			else
				punch(&r, im);
			for (k = 0; k < 10; k++)
				check_read(&r, im);
			if (i % 4 == 0)
				check_view(im);
		}
		check_view(im);
		image_free(im);
		snap_free(s);
	}
}

static void
test_random(void **state)
{
	(void)state;
	random_image(0, KB, 10);
	random_image(0x7fff00000123, KB + 1, 11);
	random_image(-(uint64_t)WINDOW, KB, 12);
}

/*
 * A later section covers earlier ones; within a section, the first segment
 * covers later ones. A segment knows whether it is hidden, even in part.
 */
static void
test_front(void **state)
{
	struct segment *g[6];
	struct image *im;
	struct piece *pc;
	struct snap *s;
	struct proc *p;
	size_t i;

	(void)state;
	s = snap_new();
	p = snap_add(s, 1);
	g[0] = segment_add(p, IMAGE_MEM, 0x1000, 0x1000, NULL, 0);
	g[1] = segment_add(p, IMAGE_MEM, 0x1c00, 0x800, NULL, 0);
	g[2] = segment_add(p, IMAGE_MEM, 0x5000, 0x1000, NULL, 0);
	im = p->mem;
	assert_true(!g[0]->hidden && g[1]->hidden && im->overlaps);
	image_section(im);
	g[3] = segment_add(p, IMAGE_MEM, 0x1200, 0x100, NULL, 0);
	assert_true(g[0]->hidden && !g[2]->hidden && !g[3]->hidden);
	g[4] = segment_add(p, IMAGE_MEM, 0x1280, 0x1000, NULL, 0);
	g[5] = segment_add(p, IMAGE_MEM, 0x1000, 0x2000, NULL, 0);
	assert_true(!g[3]->hidden && g[4]->hidden && g[5]->hidden);
	{
		const struct piece want[] = {
			{ .first = 0x1000, .last = 0x11ff, .seg = g[5] },
			{ .first = 0x1200, .last = 0x12ff, .seg = g[3] },
			{ .first = 0x1300, .last = 0x227f, .seg = g[4] },
			{ .first = 0x2280, .last = 0x2fff, .seg = g[5] },
			{ .first = 0x5000, .last = 0x5fff, .seg = g[2] },
		};

		pc = image_first(im);
		for (i = 0; i < 5; i++, pc = piece_next(pc)) {
			assert_non_null(pc);
			assert_int_equal(pc->first, want[i].first);
			assert_int_equal(pc->last, want[i].last);
			assert_ptr_equal(pc->seg, want[i].seg);
		}
		assert_null(pc);
	}
	snap_free(s);
}

/*
 * Each pair of a start and an end in three kilobytes, the last of which is
 * short.
 */
static void
test_unaligned(void **state)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	struct rng r;
	size_t i, from, to;

	(void)state;
	rng_init(&r, "unaligned", 13);
	s = snap_new();
	p = snap_add(s, 1);
	m = memsource_new(s, 4, KB + 1);
	for (i = 0; i < 4; i++)
		rng_bytes(&r, memsource_kb(m, i), KB);
	segment_add(p, IMAGE_MEM, 0x10007, 2 * KB + 100, &m->src, KB + 1);
	for (from = 0; from < 2 * KB + 100; from += 93)
		for (to = from; to <= 2 * KB + 101; to++) {
			memset(got, 0xee, to - from + 1);
			if (to > 2 * KB + 100) {
				assert_int_equal(image_read(p->mem,
				    0x10007 + from, got, to - from), -1);
				continue;
			}
			assert_int_equal(image_read(p->mem, 0x10007 + from,
			    got, to - from), 0);
			for (i = from; i < to; i++)
				assert_int_equal(got[i - from],
				    memsource_kb(m, 1 + i / KB)[i % KB]);
			assert_int_equal(got[to - from], 0xee);
		}
	snap_free(s);
}

/*
 * The address space ends with its last byte; it does not wrap around.
 */
static void
test_top(void **state)
{
	uint8_t buf[64];
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	p = snap_add(s, 1);
	segment_add(p, IMAGE_MEM, -(uint64_t)KB, KB, NULL, 0);
	segment_add(p, IMAGE_MEM, 0, KB, NULL, 0);
	assert_int_equal(image_read(p->mem, -(uint64_t)8, buf, 8), 0);
	assert_int_equal(image_read(p->mem, 0, buf, 8), 0);
	assert_int_equal(image_read(p->mem, -(uint64_t)8, buf, 16), -1);
	assert_int_equal(image_find(p->mem, UINT64_MAX)->last, UINT64_MAX);
	snap_free(s);
	assert_null(segment_new(-(uint64_t)KB, KB + 1));
	assert_contains(snap_errstr(), "beyond 2^64");
	assert_null(segment_new(5, UINT64_MAX - 3));
	assert_null(segment_new(5, 0));
}

static void
test_extents(void **state)
{
	struct memsource *m, *k;
	struct segment *g;
	struct snap *s;

	(void)state;
	s = snap_new();
	m = memsource_new(s, 20, KB + 1);
	k = memsource_new(s, 20, KB + 1);
	g = segment_new(0x1000, 20 * KB + 1);
	assert_int_equal(segment_kb(g), 21);
	assert_int_equal(segment_kblen(g, 0), KB);
	assert_int_equal(segment_kblen(g, 19), KB);
	assert_int_equal(segment_kblen(g, 20), 1);
	assert_null(segment_extent(g, 0));
	segment_append(g, 0, &m->src, 0);
	assert_int_equal(g->next, 0);
	segment_append(g, 2, &m->src, 0);
	segment_append(g, 3, &m->src, 2 * (KB + 1));
	assert_int_equal(g->next, 1);
	segment_append(g, 1, &m->src, 5 * KB);
	segment_append(g, 1, &k->src, 6 * (KB + 1));
	segment_append(g, 2, NULL, 77);
	segment_append(g, 3, NULL, 0);
	assert_int_equal(g->next, 4);
	assert_int_equal(g->ext[3].n, 5);
	assert_int_equal(g->kb, 12);
	assert_ptr_equal(segment_extent(g, 4), &g->ext[0]);
	assert_ptr_equal(segment_extent(g, 5), &g->ext[1]);
	assert_ptr_equal(segment_extent(g, 6), &g->ext[2]);
	assert_ptr_equal(segment_extent(g, 7), &g->ext[3]);
	assert_ptr_equal(segment_extent(g, 11), &g->ext[3]);
	assert_null(segment_extent(g, 12));
	segment_free(g);
	segment_free(NULL);
	snap_free(s);
}

/*
 * Data that a source cannot read is an error that names the source.
 */
static void
test_lost(void **state)
{
	uint8_t buf[4 * KB];
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	p = snap_add(s, 1);
	m = memsource_new(s, 4, KB);
	m->lost[2] = true;
	segment_add(p, IMAGE_MEM, 0x1000, 4 * KB, &m->src, 0);
	assert_int_equal(image_read(p->mem, 0x1000, buf, 2 * KB), 0);
	assert_int_equal(image_read(p->mem, 0x1000, buf, 4 * KB), -1);
	assert_string_equal(snap_errstr(),
	    "memory source: kilobyte 2 is lost");
	assert_int_equal(image_read(p->mem, 0x1000 + 2 * KB + 5, buf, 1), -1);
	m->broken = true;
	assert_int_equal(image_read(p->mem, 0x1000, buf, 1), -1);
	snap_free(s);
}

static void
test_missing(void **state)
{
	static const struct missing want[] = {
		{ 0x1000, 0x3000, "secret" },
		{ 0x3000, 0x4000, "guard" },
		{ 0x5000, 0x6000, "guard" },
		{ 0x6000, 0x7000, "secret" },
		{ 0x8000, 0x9000, "a reason that is much t" },
	};
	struct image *im;
	size_t i;

	(void)state;
	im = image_new(NULL, IMAGE_MEM);
	image_miss(im, 0x5000, 0x6000, "guard");
	image_miss(im, 0x8000, 0x9000, "a reason that is much too long");
	image_miss(im, 0x1000, 0x2000, "secret");
	image_miss(im, 0x2000, 0x3000, "secret");
	image_miss(im, 0x3000, 0x4000, "guard");
	image_miss(im, 0x5800, 0x7000, "secret");
	image_miss(im, 0x8100, 0x8200, "guard");
	assert_int_equal(im->nmissing, 6);
	image_sortmissing(im);
	assert_int_equal(im->nmissing, 5);
	for (i = 0; i < 5; i++) {
		assert_int_equal(im->missing[i].start, want[i].start);
		assert_int_equal(im->missing[i].end, want[i].end);
		assert_string_equal(im->missing[i].reason, want[i].reason);
	}
	image_free(im);
}

static void
test_small(void **state)
{
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	p = snap_add(s, 1);
	assert_null(image_first(NULL));
	assert_int_equal(image_bytes(NULL), 0);
	image_free(NULL);
	segment_add(p, IMAGE_TEXT, 0x400, 10, NULL, 0);
	segment_add(p, IMAGE_TEXT, 0x0, KB, NULL, 0);
	segment_add(p, IMAGE_MEM, 0x400, 10, NULL, 0);
	assert_int_equal(image_origin(p->text), 0x400);
	assert_int_equal(image_origin(p->mem), 0);
	assert_int_equal(image_bytes(p->text), KB + 10);
	assert_null(image_find(p->mem, 0x3ff));
	assert_null(image_find(p->mem, 0x40a));
	snap_free(s);
}

/*
 * Zeros are a hole if at least HOLE_KB of them are visible.
 */
static void
test_span(void **state)
{
	static const struct {
		uint64_t	 at, len;
		bool		 mapped, data, zero;
	} want[] = {
		{ 3 * KB, KB, false, false, true },
		{ 4 * KB, KB, true, true, false },
		{ 5 * KB, 63 * KB, true, true, true },
		{ 68 * KB, 64 * KB, true, true, false },
		{ 132 * KB, 64 * KB, true, false, true },
		{ 196 * KB, KB, true, true, false },
		{ 197 * KB, 64 * KB - 1, true, true, true },
		{ 261 * KB - 1, KB + 1, false, false, true },
		{ 262 * KB, KB, true, true, false }
	};
	const uint64_t base = 4 * KB;
	struct memsource *m;
	struct segment *g;
	struct image *im;
	struct span span;
	struct snap *s;
	size_t i;

	(void)state;
	s = snap_new();
	im = image_new(NULL, IMAGE_MEM);
	m = memsource_new(s, 64, KB);
	g = segment_new(base, 259 * KB);
	segment_append(g, 1, &m->src, 0);
	segment_append(g, 63, NULL, 0);
	segment_append(g, 64, &m->src, 0);
	segment_append(g, 64, NULL, 0);
	segment_append(g, 1, &m->src, 0);
	segment_append(g, 64, NULL, 0);
	assert_int_equal(image_insert(im, g), 0);
	assert_int_equal(image_punch(im, 261 * KB - 1, 262 * KB), 0);
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		image_span(im, want[i].at, &span);
		assert_int_equal(span.last, want[i].at + want[i].len - 1);
		assert_true(span.mapped == want[i].mapped &&
		    span.data == want[i].data && span.zero == want[i].zero);
	}
	image_free(im);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_front),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
