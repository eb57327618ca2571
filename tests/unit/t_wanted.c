/*
 * Reading a snapshot with some of its files only, and without finding equal
 * pages.
 */
#include "model.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

static const char *const wanted[] = { "status", "comm", NULL };

/*
 * Make a stream of a process with a thread. The process has a page, references
 * to it, and the environ env.
 */
static void
stream_make(struct buf *b, const char *env)
{
	struct buf rec = { 0 };
	struct memsource *src;
	struct segment *seg;
	struct snap *s;
	struct proc *p;

	memset(b, 0, sizeof *b);
	assert_non_null(s = snap_new());
	assert_non_null(s->header = strdup("process snapshot 1 a@b amd64"));
	assert_non_null(p = snap_add(s, 7));
	file_set(p, "status", "seven", 5);
	file_set(p, "ns", "mounts", 6);
	testrec_text(&rec, "comm", "seven\n");
	testrec_text(&rec, "environ", env);
	testrec_text(&rec, "maps", "Size: 4 kB\n");
	testrec_text(&rec, "smaps", "1000-3000 r--p 00000000 00:00 0 4 kB\n"
	    "Size:\t 8 kB\nKernelPageSize:        4 kB\nRss:                   "
	    "0 kB\nName:\tab 4 kB\nName: 4 kBs\nkB: 4\n\nVmFlags: rd ");
	testrec_text(&rec, "missing", "9000-a000 unreadable\n");
	testrec_give(&rec, p);
	src = memsource_new(s, 2, KB);
	memset(src->data, 1, 2 * KB);
	src->data[KB] = 2;
	seg = segment_new(0x1000, 8 * KB);
	assert_true(p->mem != NULL && seg != NULL);
	assert_int_equal(segment_append(seg, 2, &src->src, 0), 0);
	assert_int_equal(segment_append(seg, 3, NULL, 0), 0);
	assert_int_equal(segment_append(seg, 1, &src->src, 0), 0);
	assert_int_equal(segment_append(seg, 2, &src->src, 0), 0);
	assert_int_equal(image_insert(p->mem, seg), 0);
	assert_non_null(p = snap_add(s, 8));
	file_set(p, "status", "eight", 5);
	testrec_text(&rec, "thread", "7\n");
	testrec_text(&rec, "environ", env);
	testrec_give(&rec, p);
	snap_bytes(s, b);
	snap_free(s);
}

/*
 * Read a stream by its index, or to its end.
 */
static struct snap *
wanted_read(const struct buf *b, bool scan, bool brief,
    const char *const *files)
{
	struct readopts o = { .nodata = true, .scan = scan, .brief = brief,
	    .files = files };
	struct stream st;
	struct snap *s;

	stream_file(&st, b->data, b->len);
	if ((s = snap_load(st.path, &o)) == NULL)
		fail_msg("%s", snap_errstr());
	stream_close(&st);
	return s;
}

/*
 * Return whether the record of process p has a file.
 */
static bool
has_file(const struct proc *p, const char *name)
{
	struct linuxrec r;
	struct recfile f;
	bool has;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	has = linuxrec_find(&r, name, &f);
	linuxrec_close(&r);
	return has;
}

static void
test_files(void **state)
{
	struct proc *p, *t;
	struct snap *s;
	struct buf b;
	int scan;

	(void)state;
	stream_make(&b, "A=1");
	for (scan = 0; scan < 2; scan++) {
		s = wanted_read(&b, scan, false, wanted);
		assert_non_null(p = snap_find(s, 7));
		assert_non_null(t = snap_find(s, 8));
		assert_int_equal(proc_file(p, "status")->len, 5);
		assert_int_equal(proc_file(p, "ns")->len, 0);
		assert_true(has_file(p, "comm"));
		assert_false(has_file(p, "environ"));
		assert_false(has_file(t, "environ"));
		/* what they say about the memory is used */
		assert_int_equal(p->mem->nmissing, 1);
		assert_int_equal(t->leader, 7);
		snap_free(s);
	}
	buf_free(&b);
}

/*
 * Return a copy of the text of a file in p's record. The caller frees it.
 */
static char *
text_of(const struct proc *p, const char *name)
{
	struct linuxrec r;
	struct recfile f;
	char *s;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	assert_true(linuxrec_find(&r, name, &f));
	assert_non_null(s = strndup((const char *)f.data, f.len));
	linuxrec_close(&r);
	return s;
}

/*
 * Unused files and sizes are left out. Everything else is unchanged.
 */
static void
test_unused(void **state)
{
	static const char *const unused[] = { "ns", "environ", "missing",
	    "thread", NULL };
	struct readopts o = { .nodata = true, .unused = unused,
	    .nosizes = true };
	struct stream st;
	struct proc *p;
	struct snap *s;
	struct buf b;
	char *text;
	int scan;

	(void)state;
	stream_make(&b, "Size: 4 kB\n");
	for (scan = 0; scan < 2; scan++) {
		o.scan = scan == 1;
		stream_file(&st, b.data, b.len);
		if ((s = snap_load(st.path, &o)) == NULL)
			fail_msg("%s", snap_errstr());
		stream_close(&st);
		assert_non_null(p = snap_find(s, 7));
		assert_int_equal(proc_file(p, "status")->len, 5);
		assert_null(proc_file(p, "ns"));
		assert_true(has_file(p, "comm"));
		assert_false(has_file(p, "environ"));
		text = text_of(p, "smaps");
		assert_string_equal(text, "1000-3000 r--p 00000000 00:00 0 4 "
		    "kB\nKernelPageSize:        4 kB\nName:\tab 4 kB\n"
		    "Name: 4 kBs\nkB: 4\n\nVmFlags: rd ");
		free(text);
		text = text_of(p, "maps");
		assert_string_equal(text, "Size: 4 kB\n");
		free(text);
		/* what they say about the memory is used */
		assert_int_equal(p->mem->nmissing, 1);
		assert_int_equal(snap_find(s, 8)->leader, 7);
		snap_free(s);
	}
	buf_free(&b);
}

/*
 * Files that are not kept are compared nevertheless.
 */
static void
test_compared(void **state)
{
	struct snap *s, *t;
	struct buf b, c;

	(void)state;
	stream_make(&b, "A=1");
	stream_make(&c, "A=2");
	s = wanted_read(&b, true, false, wanted);
	t = wanted_read(&b, false, false, wanted);
	assert_int_equal(snap_compare(s, t), 0);
	snap_free(t);
	t = wanted_read(&c, false, false, wanted);
	assert_int_equal(snap_compare(s, t), -1);
	assert_contains(snap_errstr(), "process 7: different records");
	snap_free(t);
	snap_free(s);
	buf_free(&b);
	buf_free(&c);
}

static size_t
segment_extents(const struct segment *seg)
{
	const struct extent *e;
	uint64_t kb;
	size_t n;

	for (n = 0, kb = 0; kb < segment_kb(seg); kb = e->kb + e->n, n++) {
		e = segment_extent(seg, kb);
		assert_non_null(e);
	}
	return n;
}

/*
 * In brief form all nonzero memory is one extent, of the same size as
 * otherwise.
 */
static void
test_brief(void **state)
{
	const struct segment *seg;
	const struct proc *p;
	struct snap *s;
	struct buf b;
	size_t n;
	int i;

	(void)state;
	stream_make(&b, "A=1");
	for (i = 0; i < 4; i++) {
		s = wanted_read(&b, i % 2 == 0, i < 2, NULL);
		p = snap_find(s, 7);
		assert_true(p != NULL && p->mem != NULL);
		assert_int_equal(p->mem->nseg, 1);
		seg = p->mem->seg[0];
		n = segment_extents(seg);
		if (i < 2)
			assert_int_equal(n, 3);
		else
			assert_true(n > 3);
		assert_int_equal(segment_kb(seg), 8);
		assert_int_equal(p->count.raw + p->count.same, 5);
		assert_int_equal(p->count.zero, 3);
		assert_true(p->count.same > 0);
		snap_free(s);
	}
	buf_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_unused),
		cmocka_unit_test(test_compared),
		cmocka_unit_test(test_brief),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
