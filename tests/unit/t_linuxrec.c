/*
 * The Linux record: record/archive.c
 */
#include "model.h"
#include "record/record.h"
#include "space.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Return a copy of text as a file for linuxrec_parse().
 */
static struct file
record(const char *text, size_t len)
{
	struct file f = { NULL, NULL, len };

	f.data = malloc(len + 1);
	assert_non_null(f.data);
	memcpy(f.data, text, len);
	return f;
}

static int
parse(const char *text, size_t len)
{
	struct linuxrec r;
	struct file rec;
	int rc;

	rec = record(text, len);
	rc = linuxrec_open(&r, &rec);
	linuxrec_close(&r);
	free(rec.data);
	return rc;
}

#define PARSE(text) parse(text, sizeof text - 1)

static void
test_parse(void **state)
{
	static const char text[] = "linux amd64 1\n"
	    "cmdline\n         11 cat\0/etc/fo"
	    "fd/3\n0           "
	    "regset/xstate\n 0000000003 abc"
	    "...\n          1 \n";
	struct linuxrec r;
	struct recfile f;
	struct file rec;

	(void)state;
	rec = record(text, sizeof text - 1);
	assert_int_equal(linuxrec_open(&r, &rec), 0);
	assert_int_equal(r.n, 4);
	linuxrec_get(&r, 1, &f);
	assert_int_equal(f.namelen, 7);
	assert_memory_equal(f.name, "cmdline", 7);
	assert_int_equal(f.len, 11);
	assert_memory_equal(f.data, "cat\0/etc/fo", 11);
	assert_true(linuxrec_find(&r, "fd/3", &f));
	assert_int_equal(f.len, 0);
	assert_true(linuxrec_find(&r, "regset/xstate", &f));
	assert_memory_equal(f.data, "abc", 3);
	assert_false(linuxrec_find(&r, "fd", &f));
	assert_null(f.data);
	linuxrec_close(&r);
	free(rec.data);
}

/*
 * Data that is not a Linux record has no files and is not an error.
 */
static void
test_others(void **state)
{
	struct linuxrec r;

	(void)state;
	assert_int_equal(linuxrec_open(&r, NULL), 0);
	assert_int_equal(r.n, 0);
	linuxrec_close(&r);
	assert_int_equal(PARSE(""), 0);
	assert_int_equal(PARSE("linux"), 0);
	assert_int_equal(PARSE("linuxes are many"), 0);
	assert_int_equal(PARSE("\0\0\0\0\0\0\0\0"), 0);
	assert_int_equal(PARSE("linux amd64 1\n"), 0);
}

static void
test_names(void **state)
{
	static const struct {
		const char	*name;
		bool		 ok;
	} want[] = {
		{ "a", true }, { "a/b/c", true }, { "...", true },
		{ "..a/.b", true }, { "a b", true }, { "\303\251", true },
		{ "", false }, { ".", false }, { "..", false },
		{ "/", false }, { "/a", false }, { "a/", false },
		{ "a//b", false }, { "./a", false }, { "a/.", false },
		{ "a/../b", false }, { "../a", false }, { "a/..", false },
		{ "fd/3/../../../etc/passwd", false }
	};
	char text[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		snprintf(text, sizeof text, "linux amd64 1\n%s\n          1 x",
		    want[i].name);
		assert_int_equal(parse(text, strlen(text)),
		    want[i].ok ? 0 : -1);
		if (!want[i].ok)
			assert_contains(snap_errstr(), "proc: byte 14: ");
	}
	assert_int_equal(PARSE("linux amd64 1\na\0b\n          1 x"), -1);
}

/*
 * Names of the maximum length on Linux, and longer ones.
 */
static void
test_longnames(void **state)
{
	static const struct {
		size_t	 component;
		size_t	 all;
		int	 rc;
	} want[] = {
		{ 255, 255, 0 }, { 256, 256, -1 },
		{ 1, 4095, 0 }, { 1, 4097, -1 }, { 100, 4096, -1 }
	};
	struct buf b;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		memset(&b, 0, sizeof b);
		buf_puts(&b, "linux amd64 1\n");
		for (k = 1; k <= want[i].all; k++)
			buf_puts(&b, k % (want[i].component + 1) == 0 ? "/" :
			    "x");
		buf_puts(&b, "\n          1 x");
		assert_int_equal(parse((char *)b.data, b.len), want[i].rc);
		buf_free(&b);
	}
}

/*
 * A file cannot be a directory as well, wherever the two are.
 */
static void
test_nested(void **state)
{
	(void)state;
	assert_int_equal(PARSE("linux amd64 1\na/b\n          0 "
	    "a-b\n          0 a\n          0 "), -1);
	assert_contains(snap_errstr(), "a/b: its directory is also a file");
	assert_int_equal(PARSE("linux amd64 1\na\n          0 "
	    "a/b/c\n          0 "), -1);
	assert_int_equal(PARSE("linux amd64 1\na.b\n          0 "
	    "a/b\n          0 ab/c\n          0 "), 0);
}

static void
test_order(void **state)
{
	static const char *const want[] = { "a", "a/b", "a/b/c", "a/c", "a-b",
	    "a.b", "ab", "b", "\303\251" };
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof want / sizeof *want; i++)
		for (k = 0; k < sizeof want / sizeof *want; k++)
			assert_int_equal(path_cmp(want[i], strlen(want[i]),
			    want[k], strlen(want[k])), i < k ? -1 : i > k);
}

static void
test_duplicates(void **state)
{
	struct buf b = { 0 };
	int i;

	(void)state;
	assert_int_equal(PARSE("linux amd64 1\na\n          0 "
	    "b\n          0 a\n          0 "), -1);
	assert_contains(snap_errstr(), "a: duplicate name");
	buf_puts(&b, "linux amd64 1\n");
	for (i = 0; i < 5000; i++)
		buf_printf(&b, "fd/%d\n%11d %d", i, i < 10 ? 1 : i < 100 ? 2 :
		    i < 1000 ? 3 : 4, i);
	assert_int_equal(parse((char *)b.data, b.len), 0);
	buf_puts(&b, "fd/1234\n          0 ");
	assert_int_equal(parse((char *)b.data, b.len), -1);
	assert_contains(snap_errstr(), "fd/1234: duplicate name");
	buf_free(&b);
}

/*
 * Each has one error.
 */
static void
test_lengths(void **state)
{
	static const char *const bad[] = {	/* after "linux " */
		"amd64 2\n", "amd64 1", "1\n", "\n",
		"amd64 1\na", "amd64 1\na\n",
		"amd64 1\na\n          1", "amd64 1\na\n          1 ",
		"amd64 1\na\n          2 x", "amd64 1\na\n            x",
		"amd64 1\na\n         -1 x", "amd64 1\na\n        1 1 x",
		"amd64 1\na\n         1\t x", "amd64 1\na\n        0x1 x",
		"amd64 1\na\n99999999999 x", "amd64 1\na\n999999999999x",
		"amd64 1\na\n 4294967297 x",	/* 1 in 32 bits */
		"amd64 1\na\n          0 \n",
	};
	char text[100];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, "linux %s", bad[i]);
		if (parse(text, strlen(text)) != -1)
			fail_msg("\"%s\" was parsed", text);
		assert_contains(snap_errstr(), "proc: byte ");
	}
}

/*
 * Cut at each byte: between files there are fewer files, elsewhere it is an
 * error.
 */
static void
test_cut(void **state)
{
	static const char text[] = "linux amd64 1\n"
	    "comm\n          4 cat\nstat\n          3 abc";
	size_t i;

	(void)state;
	for (i = 6; i < sizeof text; i++)
		assert_int_equal(parse(text, i), i == 14 || i == 35 ||
		    i == sizeof text - 1 ? 0 : -1);
}

/*
 * Pack files and parse the record: all are unchanged.
 */
static void
test_pack(void **state)
{
	struct file in[40];
	struct linuxrec rec;
	struct recfile f;
	char name[40][24];
	struct snap *s;
	struct proc *p;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "pack", 70);
	s = snap_new();
	p = snap_add(s, 1);
	for (i = 0; i < 40; i++) {
		snprintf(name[i], sizeof name[i], "dir%zu/file%zu", i % 3, i);
		in[i].name = name[i];
		in[i].len = i % 5 == 0 ? 0 : rng_below(&r, 5000);
		in[i].data = malloc(in[i].len + 1);
		rng_bytes(&r, in[i].data, in[i].len);
	}
	assert_int_equal(linuxrec_pack(p, plan9_cputype(), in, 40), 0);
	assert_memory_equal(proc_file(p, "proc")->data, "linux ", 6);
	assert_int_equal(linuxrec_open(&rec, proc_file(p, "proc")), 0);
	assert_int_equal(rec.n, 40);
	for (i = 0; i < 40; i++) {
		assert_true(linuxrec_find(&rec, name[i], &f));
		assert_int_equal(f.len, in[i].len);
		if (in[i].len > 0)
			assert_memory_equal(f.data, in[i].data, in[i].len);
		free(in[i].data);
	}
	linuxrec_close(&rec);
	snap_free(s);
}

static struct proc *
proc_with(struct snap *s, uint64_t pid, const char *text)
{
	struct proc *p;

	p = snap_add(s, pid);
	assert_non_null(p);
	file_set(p, "proc", text, strlen(text));
	return p;
}

static void
test_thread(void **state)
{
	struct snap *s;
	struct proc *p;

	(void)state;
	s = snap_new();
	p = proc_with(s, 5, "linux amd64 1\nthread\n          4 812\n");
	assert_int_equal(linuxrec_apply(p), 0);
	assert_int_equal(p->leader, 812);
	p = proc_with(s, 6, "linux amd64 1\ncomm\n          4 812\n");
	assert_int_equal(linuxrec_apply(p), 0);
	assert_int_equal(p->leader, 0);
	p = proc_with(s, 7, "not of Linux");
	assert_int_equal(linuxrec_apply(p), 0);
	p = snap_add(s, 8);
	assert_int_equal(linuxrec_apply(p), 0);
	assert_int_equal(linuxrec_update(p), 0);
	snap_free(s);
}

/*
 * An embedded file is the same after its record is packed and applied.
 */
static void
test_carried(void **state)
{
	static const char *const bad[] = {
		"         13 8:1 77 /lib/x\n", "         0 ",
		"          7 8:1 77 ", "          8 8:1 /a/b",
		"          3 8:1", "         10 8:1 77 /a\0b"
	};
	struct vma v = { .dev = 0x801, .ino = 77, .name = strdup("/a b") };
	struct vma other = { .dev = 0x801, .ino = 78, .name = v.name };
	struct snap *s, *t;
	struct proc *p, *q;
	char text[100];
	size_t i;

	(void)state;
	s = snap_new();
	t = snap_new();
	assert_non_null(snap_add(s, 812));
	p = embedded_add(s, &v, source_nothing(s), 3000);
	assert_non_null(p);
	assert_int_equal(p->pid, 4194305);
	assert_int_equal(image_bytes(p->text), 3000);
	assert_ptr_equal(embedded_find(s, &v), p);
	assert_null(embedded_find(s, &other));
	assert_int_equal(embedded_add(s, &other, source_nothing(s), 1)->pid,
	    4194306);
	assert_int_equal(linuxrec_pack(p, "amd64", NULL, 0), 0);
	q = snap_add(t, p->pid);
	file_set(q, "proc", proc_file(p, "proc")->data,
	    proc_file(p, "proc")->len);
	assert_int_equal(linuxrec_apply(q), 0);
	assert_string_equal(q->embedded->path, "/a b");
	assert_ptr_equal(embedded_find(t, &v), q);
	v.dev = v.ino = 0;	/* only the path is known */
	assert_int_equal(embedded_set(q, 0, 0, "/a b"), 0);
	assert_ptr_equal(embedded_find(t, &v), q);
	v.name[1] = 'b';
	assert_null(embedded_find(t, &v));
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, "linux amd64 1\ncarried\n%s",
		    bad[i]);
		q = proc_with(t, i + 1, text);
		assert_int_equal(linuxrec_apply(q), -1);
	}
	free(v.name);
	snap_free(s);
	snap_free(t);
}

static char *
with_missing(const char *lines)
{
	static char text[500];

	snprintf(text, sizeof text, "linux amd64 1\ncomm\n          2 a\n"
	    "missing\n%11zu %smaps\n          3 xyz", strlen(lines), lines);
	return text;
}

/*
 * Missing memory cannot be read, although the stream has zeros for it.
 */
static void
test_apply(void **state)
{
	struct image *im;
	struct snap *s;
	struct proc *p;
	uint8_t byte;

	(void)state;
	s = snap_new();
	p = proc_with(s, 5, with_missing("5000-6000 secret memory\n"
	    "1000-2000 guard\n2000-2400 guard"));
	segment_add(p, IMAGE_MEM, 0x1800, 0x5000, NULL, 0);
	assert_int_equal(linuxrec_apply(p), 0);
	im = p->mem;
	assert_int_equal(im->nmissing, 2);
	assert_int_equal(im->missing[0].start, 0x1000);
	assert_int_equal(im->missing[0].end, 0x2400);
	assert_string_equal(im->missing[0].reason, "guard");
	assert_string_equal(im->missing[1].reason, "secret memory");
	assert_int_equal(image_read(im, 0x1800, &byte, 1), -1);
	assert_int_equal(image_read(im, 0x23ff, &byte, 1), -1);
	assert_int_equal(image_read(im, 0x2400, &byte, 1), 0);
	assert_int_equal(image_read(im, 0x4fff, &byte, 1), 0);
	assert_int_equal(image_read(im, 0x5000, &byte, 1), -1);
	assert_int_equal(image_read(im, 0x6000, &byte, 1), 0);

	/* an image is made even without memory */
	p = proc_with(s, 6, with_missing("0-ffffffffffffffff all\n"));
	assert_int_equal(linuxrec_apply(p), 0);
	assert_int_equal(p->mem->nmissing, 1);
	snap_free(s);
}

static void
test_badmissing(void **state)
{
	static const char *const bad[] = {
		"\n", "1000\n", "1000-2000\n", "1000-2000 \n",
		"2000-1000 x\n", "1000-1000 x\n", "-1-2 x\n", "x-y z\n",
		"1000-2000 x\n\n", "1000 2000 x\n", "1000-2000x\n",
		"-1000-2000 x\n", "1000--1 x\n", "0x1000-0x2000 x\n",
		" 1000-2000 x\n", "1000- 2000 x\n",
		"10000000000000000-20000000000000000 x\n",
		"1-20000000000000000 x\n"
	};
	struct snap *s;
	size_t i;

	(void)state;
	s = snap_new();
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (linuxrec_apply(proc_with(s, i, with_missing(bad[i]))) !=
		    -1)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_contains(snap_errstr(), "proc: missing: ");
	}
	snap_free(s);
}

/*
 * The record lists the missing memory and keeps its other files.
 */
static void
test_update(void **state)
{
	static const char want[] = "linux amd64 1\ncomm\n          2 a\n"
	    "maps\n          3 xyzmissing\n         49 "
	    "1000-2000 guard\n2000-3000 unreadable\n4000-5000 x\n";
	struct snap *s;
	struct file *f;
	struct proc *p;

	(void)state;
	s = snap_new();
	p = proc_with(s, 5, with_missing("1000-2000 guard\n"));
	segment_add(p, IMAGE_MEM, 0x1000, 0x5000, NULL, 0);
	assert_int_equal(linuxrec_apply(p), 0);
	image_miss(p->mem, 0x4000, 0x5000, "x");
	image_miss(p->mem, 0x2000, 0x3000, "unreadable");
	assert_int_equal(linuxrec_update(p), 1);
	f = proc_file(p, "proc");
	assert_int_equal(f->len, sizeof want - 1);
	assert_memory_equal(f->data, want, f->len);

	p = proc_with(s, 6, "of another system");
	segment_add(p, IMAGE_MEM, 0x1000, 0x1000, NULL, 0);
	image_miss(p->mem, 0x1000, 0x2000, "unreadable");
	assert_int_equal(linuxrec_update(p), 0);
	assert_int_equal(proc_file(p, "proc")->len, 17);
	snap_free(s);
}

/*
 * Set pl from a record of process 812 with these n files.
 */
static void
place_of(struct place *pl, const struct file *f, size_t n)
{
	struct snap *s = snap_new();
	struct proc *p;

	assert_non_null(s);
	assert_non_null(p = snap_add(s, 812));
	assert_int_equal(linuxrec_pack(p, "amd64", f, n), 0);
	memset(pl, 'x', sizeof *pl);
	proc_place(pl, p);
	snap_free(s);
}

#define FILE_OF(name, text) { (char *)(uintptr_t)(name), \
	(uint8_t *)(uintptr_t)(text), sizeof(text) - 1 }

static void
test_place(void **state)
{
	static const struct file told[] = {
		FILE_OF("cgroup", "0::/system.slice/other.service\n"),
		FILE_OF("container", "c0ffee\n"),
		FILE_OF("nspid", "7\n"),
		FILE_OF("pod", "p0d"),
		FILE_OF("status", "NSpid:\t812\t9\n"),
		FILE_OF("unit", "web.service\n")
	};
	static const struct file old[] = {
		FILE_OF("cgroup", "0::/lxc/web/system.slice/old.service\n"),
		FILE_OF("status", "NSpid:\t812\t9\n")
	};
	static const struct file none[] = { FILE_OF("comm", "x\n") };
	struct place pl;

	(void)state;
	place_of(&pl, told, sizeof told / sizeof *told);
	assert_int_equal(pl.pid, 7);
	assert_string_equal(pl.unit, "web.service");
	assert_string_equal(pl.container, "c0ffee");
	assert_string_equal(pl.pod, "p0d");
	/* a snapshot of a version that did not record them */
	place_of(&pl, old, sizeof old / sizeof *old);
	assert_int_equal(pl.pid, 9);
	assert_string_equal(pl.unit, "old.service");
	assert_string_equal(pl.container, "web");
	assert_string_equal(pl.pod, "");
	place_of(&pl, none, 1);
	assert_int_equal(pl.pid, 812);
	assert_string_equal(pl.unit, "");
	assert_string_equal(pl.container, "");
}

enum { SHARED_PROCS = 2000, SHARED_THREADS = 2 };

struct sharing {
	struct snap	*snap;
	pthread_barrier_t each;	/* before each process */
	atomic_ulong	 wrong;
};

static void *
state_ask(void *arg)
{
	struct sharing *g = arg;
	const struct taskstate *st;
	size_t i;

	for (i = 0; i < SHARED_PROCS; i++) {
		pthread_barrier_wait(&g->each);
		st = state_get(g->snap->proc[i]);
		if (st == NULL || st->pid != i + 1 || !st->has_cursig)
			g->wrong++;
	}
	return NULL;
}

/*
 * Threads that ask for the same process at once get its complete state.
 */
static void
test_threads(void **state)
{
	struct sharing g = { .snap = snap_new() };
	pthread_t t[SHARED_THREADS];
	struct buf b;
	char text[64];
	uint64_t i;

	(void)state;
	assert_non_null(g.snap);
	for (i = 1; i <= SHARED_PROCS; i++) {
		b = (struct buf){ 0 };
		snprintf(text, sizeof text, "%" PRIu64 " (x) S 1 1 1\n", i);
		testrec_text(&b, "cursig", "5\n");
		testrec_text(&b, "stat", text);
		assert_int_equal(buf_check(&b), 0);
		assert_int_equal(proc_setfile(snap_add(g.snap, i), "proc",
		    b.data, b.len), 0);
	}
	pthread_barrier_init(&g.each, NULL, SHARED_THREADS);
	for (i = 0; i < SHARED_THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, state_ask, &g), 0);
	for (i = 0; i < SHARED_THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(g.wrong, 0);
	pthread_barrier_destroy(&g.each);
	snap_free(g.snap);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_longnames),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_carried),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_badmissing),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
