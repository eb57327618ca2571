/*
 * Snapshots as a tree of files: tree/tree.c, tree/dir.c, tree/read.c, member.c,
 * paths.c, sysroot.c
 */
#include "model.h"
#include "util.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char maps[] =
    "00400000-00402000 r-xp 00000000 08:01 77 /bin/what\n"
    "00500000-00600000 rw-p 00000000 00:00 0 [heap]\n"
    "7f0000000000-7f0000004000 rw-s 00000000 08:01 78 /tmp/a (deleted)\n"
    "7f0000010000-7f0000012000 rw-p 00000000 00:00 0 \n"
    "7f0000020000-7f0000021000 r--p 00000000 00:00 0 [anon:x/y\tz]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

/*
 * Process 10 and its thread 11:
 *	400000-401000	data, 401000-402000 nothing
 *	500000-520000	data, then 128 KiB of zeros, the rest untouched
 *	7f0000001000-2000 data, the rest unknown
 *	7f0000010000	missing, followed by a guard page
 */
static struct snap *
snap_sample(struct memsource **src)
{
	struct buf b = { 0 };
	struct memsource *m;
	struct snap *s;
	struct proc *p;

	s = snap_new();
	s->header = strdup("process snapshot 1735689600 a@b amd64");
	p = snap_add(s, 10);
	*src = m = memsource_new(s, 1024, KB);
	memset(m->data, 'd', 1024 * KB);
	file_set(p, "regs", "REGS", 4);
	file_set(p, "core", "an unknown record", 17);
	file_set(p, "a/b", "x", 1);
	file_set(p, "..", "x", 1);
	file_set(p, "other", "OTHER", 5);
	segment_add(p, IMAGE_TEXT, 0, 5000, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x400000, 0x1000, &m->src, 0);
	segment_add(p, IMAGE_MEM, 0x500000, 0x20000, &m->src, 0x1000);
	segment_add(p, IMAGE_MEM, 0x520000, 0x20000, NULL, 0);
	segment_add(p, IMAGE_MEM, 0x7f0000001000, 0x1000, &m->src, 0);
	testrec_text(&b, "maps", maps);
	testrec_text(&b, "exe", "/bin/what");
	testrec_text(&b, "fd/3", "/etc/passwd");
	testrec_text(&b, "fd/10", "");
	testrec_text(&b, "fdinfo/3", "pos: 1");
	testrec_text(&b, "missing", "7f0000010000-7f0000011000 unreadable\n"
	    "7f0000011000-7f0000012000 guard\n"
	    "ffffffffff600000-ffffffffff601000 kernel\n");
	testrec_give(&b, p);
	p = snap_add(s, 11);
	testrec_text(&b, "thread", "10\n");
	testrec_give(&b, p);
	p = snap_add(s, 12);
	p->embedded = calloc(1, sizeof *p->embedded);
	return s;
}

static void
snap_done(struct snap *s)
{
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		free(s->proc[i]->embedded);
		s->proc[i]->embedded = NULL;
	}
	snap_free(s);
}

static struct fstree *
tree_of(struct snap *s)
{
	struct fstree *t;

	t = fstree_new(NULL, NULL);
	assert_non_null(t);
	assert_int_equal(fstree_add(t, s, s), 0);
	return t;
}

/*
 * Return the file of a path, or 0 if there is none.
 */
static uint64_t
at(struct fstree *t, const char *path)
{
	char *copy, *save, *s;
	uint64_t ino;

	copy = strdup(path);
	ino = FSTREE_ROOT;
	for (s = strtok_r(copy, "/", &save); s != NULL && ino != 0;
	    s = strtok_r(NULL, "/", &save))
		if (fstree_lookup(t, ino, s, &ino) != 1)
			ino = 0;
	free(copy);
	return ino;
}

struct walk {
	struct fstree	*t;
	uint64_t	 dir;
	uint64_t	 up;
	size_t		 n;
	char		 names[4000];
	bool		 deep;
};

static void	 walk_dir(struct walk *, uint64_t, uint64_t);

/*
 * Lookup finds each listed file, with the same number and kind.
 */
static bool
walk_entry(void *arg, const struct fsentry *e)
{
	struct walk *w = arg;
	struct fsattr a;
	uint64_t ino, dir, up;
	uint8_t buf[100];

	if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0) {
		assert_int_equal(e->ino, e->name[1] == '.' ? w->up : w->dir);
		return true;
	}
	w->n++;
	if (strlen(w->names) + strlen(e->name) + 2 < sizeof w->names) {
		strlcat(w->names, e->name, sizeof w->names);
		strlcat(w->names, e->dir ? "/ " : " ", sizeof w->names);
	}
	assert_int_equal(fstree_lookup(w->t, w->dir, e->name, &ino), 1);
	assert_int_equal(ino, e->ino);
	assert_int_equal(fstree_attr(w->t, ino, &a), 0);
	assert_int_equal(a.dir, e->dir);
	if (!e->dir) {
		assert_true(a.data <= a.size);
		(void)fstree_read(w->t, ino, buf, sizeof buf, 0);
		(void)fstree_seek(w->t, ino, 0, SEEK_DATA);
		(void)fstree_seek(w->t, ino, 0, SEEK_HOLE);
	} else if (w->deep) {
		dir = w->dir;
		up = w->up;
		walk_dir(w, e->ino, dir);
		w->dir = dir;
		w->up = up;
	}
	return true;
}

static void
walk_dir(struct walk *w, uint64_t dir, uint64_t up)
{
	w->dir = dir;
	w->up = up;
	assert_int_equal(fstree_list(w->t, dir, 0, walk_entry, w), 0);
}

static void
assert_names(struct fstree *t, uint64_t dir, uint64_t up, const char *want)
{
	struct walk w = { .t = t };

	walk_dir(&w, dir, up);
	assert_string_equal(w.names, want);
}

static void
test_names(void **state)
{
	struct walk w = { 0 };
	struct memsource *m;
	struct fstree *t;
	struct snap *s;
	uint64_t p, d;

	(void)state;
	s = snap_sample(&m);
	t = tree_of(s);
	assert_names(t, FSTREE_ROOT, FSTREE_ROOT, "10/ 11/ ");
	p = at(t, "10");
	/* a process without registers has no core */
	assert_names(t, p, FSTREE_ROOT, "ctl text mem map/ linux/ root/ "
	    "regs other proc ");
	assert_names(t, at(t, "11"), FSTREE_ROOT, "ctl text mem linux/ "
	    "proc ");
	assert_names(t, at(t, "10/linux"), p, "exe fd/ fdinfo/ maps missing ");
	d = at(t, "10/linux");
	assert_names(t, at(t, "10/linux/fd"), d, "10 3 ");
	assert_names(t, at(t, "10/map"), p,
	    "00400000-00402000.r-xp.what 00500000-00600000.rw-p.[heap] "
	    "7f0000000000-7f0000004000.rw-s.a (deleted) "
	    "7f0000010000-7f0000012000.rw-p "
	    "7f0000020000-7f0000021000.r--p.[anon:x_y_z] ");
	assert_names(t, at(t, "10/root"), p, "bin/ tmp/ ");
	w.t = t;
	w.deep = true;
	walk_dir(&w, FSTREE_ROOT, FSTREE_ROOT);
	assert_int_equal(w.n, 2 + 9 + 5 + 5 + 3 + 5 + 4 + 1);
	for (d = 0; d < 13; d++)
		assert_int_equal(at(t, ((const char *[]){ "12", "010", "10.1",
		    "10.2", "x", "11/core", "11/map", "10/a/b", "10/..",
		    "10/linux/f", "10/linux/fd/1", "10/map/00400000",
		    "10/map/00401000-00402000.r-xp.what" })[d]), 0);
	fstree_free(t);
	snap_done(s);
}

static void
clash_warn(void *arg, const char *what)
{
	strlcat(arg, what, 200);
}

static void
test_clashes(void **state)
{
	char warned[200] = "";
	struct memsource *m;
	struct snap *s[3];
	struct fstree *t;
	struct fsattr a;
	int i;

	(void)state;
	t = fstree_new(clash_warn, warned);
	for (i = 0; i < 3; i++) {
		s[i] = snap_sample(&m);
		assert_int_equal(fstree_add(t, s[i], s[i]), 0);
		if (i == 0)
			assert_string_equal(warned, "");
	}
	assert_string_equal(warned, "process 10 is in another snapshot as "
	    "well: here it is 10.2; and 1 othersprocess 10 is in another "
	    "snapshot as well: here it is 10.3; and 1 others");
	assert_names(t, FSTREE_ROOT, FSTREE_ROOT,
	    "10/ 10.2/ 10.3/ 11/ 11.2/ 11.3/ ");
	assert_int_equal(fstree_attr(t, at(t, "10.2/mem"), &a), 0);
	assert_ptr_equal(a.tag, s[1]);
	assert_int_equal(fstree_attr(t, FSTREE_ROOT, &a), 0);
	assert_null(a.tag);
	assert_int_equal(at(t, "10.02"), 0);
	assert_int_equal(at(t, "10.4"), 0);
	fstree_free(t);
	for (i = 0; i < 3; i++)
		snap_done(s[i]);
}

static ssize_t
read_at(struct fstree *t, const char *path, uint64_t off, size_t len,
    char *buf)
{
	memset(buf, 'X', len);
	return fstree_read(t, at(t, path), buf, len, off);
}

static void
test_read(void **state)
{
	char buf[0x3000], zero[0x1000] = "", data[0x1000];
	struct memsource *m;
	struct fstree *t;
	struct snap *s;

	(void)state;
	memset(data, 'd', sizeof data);
	s = snap_sample(&m);
	t = tree_of(s);
	assert_int_equal(read_at(t, "10/ctl", 0, 9, buf), 0);
	assert_int_equal(read_at(t, "10/regs", 1, 9, buf), 3);
	assert_memory_equal(buf, "EGS", 3);
	assert_int_equal(read_at(t, "10/linux/fd/3", 5, 3, buf), 3);
	assert_memory_equal(buf, "pas", 3);
	assert_int_equal(read_at(t, "10/text", 4990, 100, buf), 10);
	assert_int_equal(read_at(t, "11/text", 5000, 1, buf), 0);
	assert_int_equal(read_at(t, "10/root/bin/what", 0, 6000, buf), 5000);
	/* a file that is not in the snapshot */
	assert_int_equal(read_at(t, "10/root/tmp/a (deleted)", 0, 1, buf), 0);

	assert_int_equal(read_at(t, "10/mem", 0x3fffff, 10, buf), -1);
	assert_int_equal(read_at(t, "10/mem", 0x400800, 0x1000, buf), 0x800);
	assert_memory_equal(buf, data, 0x800);
	assert_int_equal(buf[0x800], 'X');
	assert_int_equal(read_at(t, "11/mem", 0x401000, 1, buf), -1);
	assert_int_equal(read_at(t, "10/mem", UINT64_MAX, 1, buf), -1);
	assert_int_equal(read_at(t, "10/mem", 0x7f0000010000, 1, buf), -1);

	/* uncaptured pages of a file are not zeros */
	assert_int_equal(read_at(t, "10/map/00400000-00402000.r-xp.what", 0,
	    0x2000, buf), 0x1000);
	assert_int_equal(read_at(t, "10/map/00400000-00402000.r-xp.what",
	    0x1000, 1, buf), -1);
	/* untouched anonymous memory is zeros */
	assert_int_equal(read_at(t, "10/map/00500000-00600000.rw-p.[heap]",
	    0x3f000, 0x2000, buf), 0x2000);
	assert_memory_equal(buf, zero, 0x1000);
	assert_memory_equal(buf + 0x1000, zero, 0x1000);
	assert_int_equal(read_at(t, "10/map/00500000-00600000.rw-p.[heap]",
	    0xff800, 0x2000, buf), 0x800);
	assert_int_equal(read_at(t, "10/map/00500000-00600000.rw-p.[heap]",
	    0x100000, 1, buf), 0);
	/* missing memory cannot be read; a guard page reads as zeros */
	assert_int_equal(read_at(t, "10/map/7f0000010000-7f0000012000.rw-p",
	    0, 1, buf), -1);
	assert_int_equal(read_at(t, "10/map/7f0000010000-7f0000012000.rw-p",
	    0x1000, 1, buf), 1);
	/* a source that fails */
	m->lost[2] = true;
	assert_int_equal(read_at(t, "10/text", 0, 5000, buf), -1);
	fstree_free(t);
	snap_done(s);
}

static void
test_seek(void **state)
{
	static const struct {
		const char	*path;
		uint64_t	 off;
		int64_t		 data;
		int64_t		 hole;
	} want[] = {
		{ "10/regs", 0, 0, 4 },
		{ "10/regs", 4, -1, -1 },
		{ "10/ctl", 0, -1, -1 },
		{ "10/mem", 0, 0x400000, 0 },
		{ "10/mem", 0x400010, 0x400010, 0x401000 },
		{ "10/mem", 0x401000, 0x500000, 0x401000 },
		{ "10/mem", 0x510000, 0x510000, 0x520000 },
		{ "10/mem", 0x520000, 0x7f0000001000, 0x520000 },
		{ "10/mem", 0x7f0000001fff, 0x7f0000001fff, 0x7f0000002000 },
		{ "10/mem", 0x7f0000002000, -1, -1 },
		{ "10/map/00500000-00600000.rw-p.[heap]", 0, 0, 0x20000 },
		{ "10/map/00500000-00600000.rw-p.[heap]", 0x20000, -1,
		    0x20000 },
		{ "10/map/7f0000000000-7f0000004000.rw-s.a (deleted)", 0,
		    0x1000, 0 },
		{ "10/map/7f0000010000-7f0000012000.rw-p", 0, -1, 0 },
	};
	struct memsource *m;
	struct fstree *t;
	struct fsattr a;
	struct snap *s;
	size_t i;

	(void)state;
	s = snap_sample(&m);
	t = tree_of(s);
	for (i = 0; i < sizeof want / sizeof *want; i++) {
		assert_int_equal(fstree_seek(t, at(t, want[i].path),
		    want[i].off, SEEK_DATA), want[i].data);
		assert_int_equal(fstree_seek(t, at(t, want[i].path),
		    want[i].off, SEEK_HOLE), want[i].hole);
	}
	assert_int_equal(fstree_attr(t, at(t, "10/mem"), &a), 0);
	assert_int_equal(a.size, 0x7f0000002000);
	assert_int_equal(a.data, 0x22000);
	assert_int_equal(fstree_attr(t, at(t,
	    "10/map/00500000-00600000.rw-p.[heap]"), &a), 0);
	assert_int_equal(a.size, 0x100000);
	assert_int_equal(a.data, 0x20000);
	assert_int_equal(fstree_attr(t, at(t, "10/text"), &a), 0);
	assert_true(a.exec && a.size == 5000 && !a.memory);
	fstree_free(t);
	snap_done(s);
}

/*
 * A path of the maximum depth.
 */
static void
test_deep(void **state)
{
	char name[4096];
	struct buf b = { 0 };
	struct walk w = { 0 };
	struct fstree *t;
	struct snap *s;
	uint64_t ino;
	size_t i, n;

	(void)state;
	s = snap_new();
	for (i = 0; i < 4095; i++)
		name[i] = i % 2 == 0 ? 'a' : '/';
	name[4095] = '\0';
	testrec_text(&b, name, "bottom");
	name[4094] = 'b';
	testrec_text(&b, name, "too");
	testrec_give(&b, snap_add(s, 1));
	t = tree_of(s);
	w.t = t;
	w.deep = true;
	walk_dir(&w, FSTREE_ROOT, FSTREE_ROOT);
	assert_int_equal(w.n, 1 + 4 + 2047 + 2);
	ino = at(t, "1/linux");
	for (n = 0; fstree_lookup(t, ino, "a", &ino) == 1; n++)
		continue;
	assert_int_equal(n, 2048);
	fstree_free(t);
	snap_free(s);
}

static bool
count_entry(void *arg, const struct fsentry *e)
{
	(void)e;
	++*(size_t *)arg;
	return true;
}

/*
 * Return the number of allocated bytes; 0 if the C library has no function for
 * it.
 */
static size_t
bytes_used(void)
{
#ifdef __GLIBC__
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
#else
	return 0;
#endif
}

/*
 * Looking up 300000 names needs no memory except their index.
 */
static void
test_many(void **state)
{
	enum { NAMES = 300000 };
	struct buf b = { 0 };
	struct fstree *t;
	struct snap *s;
	uint64_t ino;
	size_t n, used, i;
	char name[40];

	(void)state;
	s = snap_new();
	buf_puts(&b, "linux amd64 1\n");
	for (i = 0; i < NAMES / 2; i++)
		buf_printf(&b, "flat/%07zu\n          1 xd/%07zu/f\n"
		    "          1 y", i, i);
	testrec_give(&b, snap_add(s, 1));
	used = bytes_used();
	t = tree_of(s);
	n = 0;
	assert_int_equal(fstree_list(t, at(t, "1/linux/flat"), 0, count_entry,
	    &n), 0);
	assert_int_equal(fstree_list(t, at(t, "1/linux/d"), 0, count_entry,
	    &n), 0);
	assert_int_equal(n, NAMES + 4);
	for (i = 0; i < NAMES / 2; i += 997) {
		snprintf(name, sizeof name, "1/linux/d/%07zu/f", i);
		assert_true((ino = at(t, name)) != 0);
		assert_int_equal(fstree_read(t, ino, name, 2, 0), 1);
		assert_int_equal(*name, 'y');
	}
	used = bytes_used() - used;
	if (used > 16 * NAMES + 100000)
		fail_msg("%zu bytes for %d names", used, NAMES);
	fstree_free(t);
	snap_free(s);
}

/*
 * Any number is a file or an error.
 */
static void
test_numbers(void **state)
{
	uint64_t seed[12], ino, out;
	struct memsource *m;
	struct fstree *t;
	struct fsattr a;
	struct snap *s;
	struct rng r;
	char buf[64];
	size_t i, n;

	(void)state;
	rng_init(&r, "numbers", 11);
	s = snap_sample(&m);
	t = tree_of(s);
	n = 0;
	seed[n++] = at(t, "10");
	seed[n++] = at(t, "11/linux/thread");
	seed[n++] = at(t, "10/linux/fd");
	seed[n++] = at(t, "10/linux/fd/3");
	seed[n++] = at(t, "10/map");
	seed[n++] = at(t, "10/map/7f0000010000-7f0000012000.rw-p");
	seed[n++] = at(t, "10/root/bin");
	seed[n++] = at(t, "10/root/bin/what");
	seed[n++] = at(t, "10/other");
	for (i = 0; i < 200000; i++) {
		ino = seed[rng_below(&r, n)];
		do
			ino ^= UINT64_C(1) << rng_below(&r, 64);
		while (rng_percent(&r, 60));
		if (fstree_attr(t, ino, &a) == -1) {
			assert_int_equal(fstree_read(t, ino, buf, 1, 0), -1);
			assert_int_equal(fstree_seek(t, ino, 0, SEEK_HOLE),
			    -1);
		}
		(void)fstree_read(t, ino, buf, sizeof buf, rng_below(&r, 99));
		(void)fstree_lookup(t, ino, "fd", &out);
		(void)fstree_list(t, ino, rng_below(&r, 20), count_entry,
		    &out);
	}
	fstree_free(t);
	snap_done(s);
}

/*
 * An empty snapshot is an empty tree.
 */
static void
test_nothing(void **state)
{
	struct fstree *t;
	struct snap *s;
	struct fsattr a;
	uint64_t ino;

	(void)state;
	assert_non_null(t = fstree_new(NULL, NULL));
	assert_non_null(s = snap_new());
	assert_int_equal(fstree_add(t, s, s), 0);
	assert_int_equal(fstree_attr(t, FSTREE_ROOT, &a), 0);
	assert_true(a.dir);
	assert_int_equal(fstree_lookup(t, FSTREE_ROOT, "1", &ino), 0);
	fstree_free(t);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_clashes),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
