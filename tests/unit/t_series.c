/*
 * Series: snap6/series.c writes them, moments.c finds their moments.
 */
#include "model.h"
#include "util.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOMENTS = 4, MEM = 0x1000, MEM_KB = 24 };

static char dir[] = "/tmp/t_series.XXXXXX";
static uint8_t want[MOMENTS][MEM_KB * KB];	/* memory of the moments */

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL || chdir(dir) == -1;
}

static int
teardown(void **state)
{
	(void)state;
	return chdir("/") == -1 || rmdir(dir) == -1;
}

/*
 * Make moment i of a process, counted from 0. Nothing has changed in moment 2.
 * In the others one page is new, and another has its original content again.
 */
static struct snap *
moment_make(struct rng *r, size_t i)
{
	struct buf rec = { 0 };
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	char header[64];

	s = snap_new();
	snprintf(header, sizeof header, "process snapshot %zu a@b amd64 1 "
	    "\"x\"", 1000 + i);
	s->header = strdup(header);
	m = memsource_new(s, MEM_KB, KB);
	if (i == 0)
		rng_bytes(r, want[0], 20 * KB);
	else {
		memcpy(want[i], want[i - 1], sizeof *want);
		if (i > 2)
			memcpy(want[i] + 2 * KB, want[0] + 2 * KB, KB);
		if (i != 2)
			rng_bytes(r, want[i] + (i + 1) * KB, KB);
	}
	memcpy(memsource_kb(m, 0), want[i], sizeof *want);
	assert_non_null(p = snap_add(s, i * EARLY_PID + 7));
	testrec_text(&rec, "comm", i % 2 == 0 ? "even\n" : "odd\n");
	testrec_give(&rec, p);
	segment_add(p, IMAGE_MEM, MEM, 20 * KB, &m->src, 0);
	segment_add(p, IMAGE_MEM, MEM + 40 * KB, 4 * KB, &m->src, 20 * KB);
	return s;
}

/*
 * Check that l has n moments, each with its header and memory.
 */
static void
check_moments(const struct momentset *l, size_t n)
{
	uint8_t got[MEM_KB * KB];
	struct header h;
	struct proc *p;
	size_t i;

	assert_int_equal(l->n, n);
	for (i = 0; i < n; i++) {
		header_parse(&h, l->v[i]->header);
		assert_int_equal(h.time, 1000 + i);
		assert_string_equal(h.cputype, "amd64");
		assert_int_equal(l->v[i]->moment, i + 1);
		assert_int_equal(l->v[i]->moments, n);
		assert_int_equal(l->v[i]->nproc, 1);
		p = l->v[i]->proc[0];
		assert_int_equal(p->count.raw, i == 0 ? 20 : i != 2);
		if (image_read(p->mem, MEM, got, 20 * KB) == -1 ||
		    image_read(p->mem, MEM + 40 * KB, got + 20 * KB, 4 * KB) ==
		    -1)
			fail_msg("%s", snap_errstr());
		assert_memory_equal(got, want[i], sizeof got);
	}
}

/*
 * Check that the file has n moments and is complete.
 */
static void
check_file(size_t n)
{
	struct readopts none = { 0 };
	struct momentset l;

	if (momentset_load(&l, "series", &none) == -1)
		fail_msg("%s", snap_errstr());
	if (l.whole->trailer_error != NULL)
		fail_msg("%s", l.whole->trailer_error);
	check_moments(&l, n);
	momentset_close(&l);
}

/*
 * Write a series. Check the file after each moment. If undo is true, remove the
 * last moment again.
 */
static void
series_write(bool compress, bool undo)
{
	struct snap *s[MOMENTS];
	struct output *o;
	struct snap6 *w = NULL;
	struct rng r;
	size_t i;

	rng_init(&r, "series", 12);
	memset(want, 0, sizeof want);
	assert_non_null(o = output_begin("series", compress, NULL));
	for (i = 0; i < MOMENTS; i++) {
		s[i] = moment_make(&r, i);
		if (i == 0) {
			w = snap6_begin(o, s[0]->header, NULL, NULL);
			assert_non_null(w);
			assert_int_equal(snap6_series(w), 0);
		} else
			assert_int_equal(snap6_resume(w, true), 0);
		assert_int_equal(snap6_put(w, s[i]->proc[0]), 0);
		if (snap6_pause(w, i + 1, s[i]->header, "amd64") == -1)
			fail_msg("%s", snap_errstr());
		check_file(i + 1);
		if (i > 0)
			assert_int_equal(snap6_retire(w, s[i - 1]), 0);
	}
	if (undo) {
		assert_int_equal(snap6_undo(w), 0);
		check_file(MOMENTS - 1);
	}
	(void)snap6_end(w, false);
	assert_int_equal(output_commit(o), 0);
	for (i = 0; i < MOMENTS; i++)
		snap_free(s[i]);
}

static void
test_written(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		series_write(i & 1, i & 2);
		check_file(i & 2 ? MOMENTS - 1 : MOMENTS);
		unlink("series");
	}
}

static void
keep_note(void *arg, const char *text)
{
	snprintf(arg, 300, "%s", text);
}

/*
 * A file that ends within a moment has the moments before it.
 */
static void
test_cut(void **state)
{
	char note[300] = "", tail[64];
	struct readopts o = { .note = keep_note, .arg = note };
	struct momentset l;
	struct stat st;
	size_t n, least = MOMENTS;

	(void)state;
	series_write(false, false);
	assert_int_equal(stat("series", &st), 0);
	for (;;) {
		st.st_size -= 500;
		assert_true(st.st_size > 0);
		assert_int_equal(truncate("series", st.st_size), 0);
		*note = '\0';
		if (momentset_load(&l, "series", &o) == -1)
			break;
		n = l.n;
		assert_true(n > 0 && n <= least);
		check_moments(&l, n);
		momentset_close(&l);
		snprintf(tail, sizeof tail, "; the %zu moment%s before that "
		    "%s whole", n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
		assert_contains(note, tail);
		least = n;
	}
	assert_int_equal(least, 1);
	unlink("series");
}

/*
 * A moment is found by its number or by the nearest time of day.
 */
static void
test_found(void **state)
{
	static const char *const times[] = { "09:00", "23:50", "00:20" };
	static const struct {
		const char *moment;
		ssize_t	 want;
	} t[] = {
		{ "first", 0 }, { "last", 2 }, { "1", 0 }, { "3", 2 },
		{ "0", -1 }, { "4", -1 }, { "", -1 }, { "x", -1 },
		{ "09:00", 0 }, { "09:00:30", 0 }, { "00:02", 1 },
		{ "00:05", 2 }, { "00:06", 2 }, { "23:59:59", 1 },
		{ "04:39", 2 }, { "04:41", 0 }, { "16:24", 0 },
		{ "16:26", 1 }, { "24:00", -1 }, { "23:60", -1 },
		{ "23:59:60", 1 }, { "23:59:61", -1 }, { "1:2:", -1 },
		{ "09:00x", -1 }
	};
	struct snap *s[3];
	struct momentset l = { .v = s, .n = 3 };
	char header[64];
	int h, m;
	size_t i;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	for (i = 0; i < 3; i++) {
		assert_int_equal(sscanf(times[i], "%d:%d", &h, &m), 2);
		snprintf(header, sizeof header, "process snapshot %d a@b "
		    "amd64 1 \"x\"", 86400 * 1000 + h * 3600 + m * 60);
		assert_non_null(s[i] = snap_new());
		s[i]->header = strdup(header);
	}
	for (i = 0; i < sizeof t / sizeof *t; i++)
		assert_int_equal(momentset_find(&l, t[i].moment), t[i].want);
	assert_int_equal(momentset_find(&l, NULL), 2);
	for (i = 0; i < 3; i++)
		snap_free(s[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
