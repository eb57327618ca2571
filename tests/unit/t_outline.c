/*
 * Extents of a snapshot read by its index, which are made on demand:
 * fmt/snap6/outline.c.
 */
#include "model.h"
#include "util.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGES = 4000,		/* every second one is zero */
	THREADS = 4
};

/*
 * Make a snapshot of three processes. The first has pages alternating with
 * zeros. The second has some of them in another order, also with zeros. The
 * third has all pages in one run of references to the first.
 */
static void
make_runs(struct buf *b)
{
	struct memsource *m, *order, *row;
	struct snap *s;
	struct rng r;
	size_t i;

	rng_init(&r, "runs", 70);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"c\"");
	m = memsource_new(s, PAGES, KB);
	order = memsource_new(s, PAGES, KB);
	row = memsource_new(s, PAGES / 2, KB);
	rng_bytes(&r, row->data, PAGES / 2 * KB);
	memset(m->data, 0, PAGES * KB);
	memset(order->data, 0, PAGES * KB);
	for (i = 0; i < PAGES / 2; i++) {
		memcpy(memsource_kb(m, 2 * i), memsource_kb(row, i), KB);
		memcpy(memsource_kb(order, 2 * i + 1), memsource_kb(row,
		    rng_below(&r, PAGES / 2)), KB);
	}
	segment_add(snap_add(s, 12), IMAGE_MEM, 0x10000, PAGES * KB, &m->src,
	    0);
	segment_add(snap_add(s, 13), IMAGE_MEM, 0x10000, PAGES * KB,
	    &order->src, 0);
	segment_add(snap_add(s, 14), IMAGE_MEM, 0x10000, PAGES / 2 * KB,
	    &row->src, 0);
	snap_bytes(s, b);
	snap_free(s);
}

static struct snap *
read_runs(struct stream *st, const struct buf *b, bool scan)
{
	struct readopts o = { .scan = scan };
	struct snap *s;

	stream_file(st, b->data, b->len);
	s = snap_load(st->path, &o);
	assert_non_null(s);
	return s;
}

static struct segment *
segment_of(struct snap *s, uint64_t pid)
{
	struct proc *p;

	p = snap_find(s, pid);
	assert_true(p != NULL && p->mem != NULL && p->mem->nseg == 1);
	return p->mem->seg[0];
}

/*
 * Return the place of a kilobyte; 0 for zeros.
 */
static uint64_t
place_of(const struct segment *s, uint64_t kb)
{
	const struct extent *e;

	e = segment_extent(s, kb);
	assert_non_null(e);
	assert_true(e->kb <= kb && kb < e->kb + e->n);
	return e->src == NULL ? 0 : e->loc + (kb - e->kb) * e->src->pitch;
}

/*
 * Extents have the same places as after a scan, in whatever order they are
 * made.
 */
static void
in_any_order(void **state)
{
	struct stream by, over;
	struct snap *s, *t;
	struct buf b = { 0 };
	struct rng r;
	uint64_t pid, kb;
	int i;

	(void)state;
	make_runs(&b);
	s = read_runs(&by, &b, false);
	t = read_runs(&over, &b, true);
	assert_non_null(segment_of(s, 12)->outline);
	assert_null(segment_of(t, 12)->outline);
	rng_init(&r, "any order", 71);
	for (i = 0; i < 3 * PAGES; i++) {
		pid = 12 + rng_below(&r, 3);
		kb = rng_below(&r, segment_kb(segment_of(s, pid)));
		assert_int_equal(place_of(segment_of(s, pid), kb),
		    place_of(segment_of(t, pid), kb));
	}
	assert_int_equal(snap_compare(s, t), 0);
	snap_free(s);
	snap_free(t);
	stream_close(&by);
	stream_close(&over);
	buf_free(&b);
}

/*
 * After the end there are no extents, and an error says so.
 */
static void
behind_the_end(void **state)
{
	struct stream st;
	struct snap *s;
	struct buf b = { 0 };

	(void)state;
	make_runs(&b);
	s = read_runs(&st, &b, false);
	assert_null(segment_extent(segment_of(s, 12), PAGES));
	assert_contains(snap_errstr(), "address 3f8000 is not described");
	snap_free(s);
	stream_close(&st);
	buf_free(&b);
}

/*
 * Runs of many zeros are found as after a scan, from any place.
 */
static void
zeros(void **state)
{
	static const struct zeros want[] = { { 65, 129 }, { 130, 330 },
	    { 800, 900 } };
	struct stream by, over;
	struct memsource *m;
	struct zeros z, y;
	struct snap *s, *t;
	struct buf b = { 0 };
	struct rng r;
	uint64_t kb;
	size_t i;

	(void)state;
	rng_init(&r, "zeros", 72);
	s = snap_new();
	s->header = strdup("process snapshot 1 a@b amd64 2 \"c\"");
	m = memsource_new(s, 900, KB);
	rng_bytes(&r, m->data, 900 * KB);
	memset(memsource_kb(m, 1), 0, 63 * KB);
	for (i = 0; i < 3; i++)
		memset(memsource_kb(m, want[i].kb), 0, (want[i].end -
		    want[i].kb) * KB);
	segment_add(snap_add(s, 12), IMAGE_MEM, 0x10000, 900 * KB, &m->src, 0);
	segment_add(snap_add(s, 13), IMAGE_MEM, 0x10000, 600 * KB, &m->src, 0);
	snap_bytes(s, &b);
	snap_free(s);
	s = read_runs(&by, &b, false);
	t = read_runs(&over, &b, true);
	assert_non_null(segment_of(s, 12)->outline);
	for (i = kb = 0; kb < 900; kb++) {
		i += i < 3 && want[i].end <= kb;
		assert_int_equal(segment_zeros(segment_of(s, 12), kb,
		    UINT64_MAX, &z), i < 3);
		assert_int_equal(segment_zeros(segment_of(t, 12), kb,
		    UINT64_MAX, &y), i < 3);
		if (i == 3)
			continue;
		assert_memory_equal(&z, &want[i], sizeof z);
		assert_memory_equal(&y, &want[i], sizeof y);
	}
	assert_true(segment_zeros(segment_of(s, 13), 200, UINT64_MAX, &z));
	assert_memory_equal(&z, &want[1], sizeof z);
	assert_false(segment_zeros(segment_of(s, 13), 200, want[1].kb, &z));
	assert_true(segment_zeros(segment_of(s, 13), 200, want[1].kb + 1, &z));
	assert_false(segment_zeros(segment_of(s, 13), 330, UINT64_MAX, &z));
	snap_free(s);
	snap_free(t);
	stream_close(&by);
	stream_close(&over);
	buf_free(&b);
}

struct asker {
	struct snap	*s;
	uint64_t	 seed;
	const struct extent *told[PAGES];
};

static void *
ask(void *arg)
{
	struct asker *a = arg;
	const struct segment *seg = segment_of(a->s, 13);
	uint64_t kb;
	size_t i;

	for (i = 0; i < PAGES; i++) {
		/* 4000 and 1201 are coprime, so each kilobyte is visited */
		kb = (a->seed + i * 1201) % PAGES;
		a->told[kb] = segment_extent(seg, kb);
	}
	return NULL;
}

/*
 * Threads that ask at once get the same extents.
 */
static void
by_threads(void **state)
{
	static struct asker a[THREADS];
	pthread_t thread[THREADS];
	struct stream st;
	struct snap *s;
	struct buf b = { 0 };
	size_t i, kb;

	(void)state;
	make_runs(&b);
	s = read_runs(&st, &b, false);
	for (i = 0; i < THREADS; i++) {
		a[i].s = s;
		a[i].seed = i;
		assert_int_equal(pthread_create(&thread[i], NULL, ask, &a[i]),
		    0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (kb = 0; kb < PAGES; kb++)
		for (i = 0; i < THREADS; i++) {
			assert_non_null(a[i].told[kb]);
			assert_ptr_equal(a[i].told[kb], a[0].told[kb]);
		}
	snap_free(s);
	stream_close(&st);
	buf_free(&b);
}

/*
 * A segment from which memory is removed gets its own extents. Other segments
 * are unchanged.
 */
static void
with_a_hole(void **state)
{
	static uint8_t was[PAGES * KB], is[PAGES * KB];
	struct missing r = { .start = 0x10000 + 8 * KB,
	    .end = 0x10000 + 1000 * KB, .reason = "excluded" };
	struct segment *seg;
	struct stream st;
	struct snap *s;
	struct buf b = { 0 };

	(void)state;
	make_runs(&b);
	s = read_runs(&st, &b, false);
	seg = segment_of(s, 13);
	segment_bytes(seg, was);
	assert_int_equal(image_leave(seg->image, &r, 1), 0);
	assert_null(seg->outline);
	assert_non_null(segment_of(s, 12)->outline);
	segment_bytes(seg, is);
	memset(was + 8 * KB, 0, 992 * KB);
	assert_memory_equal(was, is, sizeof was);
	snap_free(s);
	stream_close(&st);
	buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_any_order),
		cmocka_unit_test(behind_the_end),
		cmocka_unit_test(zeros),
		cmocka_unit_test(by_threads),
		cmocka_unit_test(with_a_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
