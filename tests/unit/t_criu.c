/*
 * CRIU images: criu/read/ and criu/write/, with small images that
 * tests/criu/criuasm.py makes and compares.
 */
#include "record/record.h"
#include "util.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* addresses of criuasm.py */
static const uint64_t CODE = 0x400000, DATA = 0x403000, HEAP = 0x500000,
    ANON = 0x600000, SHM = 0x700000, MEMFD = 0x710000, LIB = 0x720000,
    STACK = 0x7fff10000000, VVAR = 0x7fff00000000;

static char top[64];
static char warned[4096];

static void
note_warning(void *arg, const char *text)
{
	size_t n;

	(void)arg;
	n = strlen(warned);
	snprintf(warned + n, sizeof warned - n, "%s\n", text);
}

/*
 * Return the directory of a case; setup() made them all.
 */
static const char *
make(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", top, name);
	return path;
}

static struct snap *
try_read(const char *dir)
{
	static const struct readopts opts = { .warn = note_warning };

	*warned = '\0';
	return snap_load(dir, &opts);
}

static struct snap *
read_dir(const char *dir)
{
	struct snap *s;

	if ((s = try_read(dir)) == NULL)
		fail_msg("%s", snap_errstr());
	return s;
}

/*
 * Return a file of the Linux record, with | for NUL.
 */
static const char *
rec_string(const struct proc *p, const char *name)
{
	static char text[8192];
	struct linuxrec r;
	struct recfile f;
	size_t i;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	if (!linuxrec_find(&r, name, &f))
		snprintf(text, sizeof text, "(none)");
	else {
		for (i = 0; i < f.len && i + 1 < sizeof text; i++)
			text[i] = f.data[i] == '\0' ? '|' : (char)f.data[i];
		text[i] = '\0';
	}
	linuxrec_close(&r);
	return text;
}

static size_t
rec_bytes(const struct proc *p, const char *name, uint8_t *data, size_t n)
{
	struct linuxrec r;
	struct recfile f;
	size_t len;

	assert_int_equal(linuxrec_open(&r, proc_file(p, "proc")), 0);
	len = SIZE_MAX;
	if (linuxrec_find(&r, name, &f)) {
		len = f.len;
		memcpy(data, f.data, len < n ? len : n);
	}
	linuxrec_close(&r);
	return len;
}

static uint64_t
get(const uint8_t *p, size_t n)
{
	uint64_t v;

	for (v = 0; n > 0; n--)
		v = v << 8 | p[n - 1];
	return v;
}

/*
 * Return the start of a page of memory, which names its image; "" for zeros,
 * NULL if the page cannot be read.
 */
static const char *
page_at(struct proc *p, uint64_t addr)
{
	static char page[PAGE];
	size_t n;

	if (image_read(p->mem, addr, page, sizeof page) == -1)
		return NULL;
	n = strcspn(page, " ");
	n += page[n] == ' ' ? 1 + strcspn(page + n + 1, " ") : 0;
	page[n < PAGE ? n : PAGE - 1] = '\0';
	return page;
}

static void
assert_page(struct proc *p, uint64_t addr, const char *tag, uint64_t from)
{
	char want[64];
	const char *got;

	snprintf(want, sizeof want, "%s %" PRIx64, tag, from);
	if ((got = page_at(p, addr)) == NULL)
		fail_msg("%" PRIx64 ": %s", addr, snap_errstr());
	assert_string_equal(got, want);
}

static void
check_process(struct snap *s)
{
	struct proc *p = s->proc[0];

	assert_int_equal(s->nproc, 5);
	assert_int_equal(p->pid, 7);
	assert_contains(s->header, "process snapshot ");
	assert_contains(s->header, " 1001@unknown amd64 0 \"criu\"");
	assert_contains(rec_string(p, "stat"), "7 (prog) R 0 7 7 0 -1 ");
	assert_contains(rec_string(p, "stat"), " 15 -5 2 0 0 ");
	assert_contains(rec_string(p, "status"), "Name:\tprog\nUmask:\t0027\n"
	    "State:\tR\nTgid:\t7\nPid:\t7\nPPid:\t0\n"
	    "Uid:\t1001\t1003\t1005\t1007\nGid:\t1002\t1004\t1006\t1008\n"
	    "Threads:\t2\nSigPnd:\t0000000000000200\n"
	    "SigBlk:\t0000000000000011\n");
	assert_string_equal(rec_string(p, "comm"), "prog\n");
	assert_string_equal(rec_string(p, "cmdline"), "prog|-x|two arg|");
	assert_contains(rec_string(p, "environ"), "PATH=/bin|A=b|");
	assert_string_equal(rec_string(p, "exe"), "/no/such/program");
	assert_string_equal(rec_string(p, "cwd"), "/home/ann");
	assert_string_equal(rec_string(p, "root"), "/");
	assert_string_equal(rec_string(p, "oom_score_adj"), "-17\n");
	assert_string_equal(rec_string(p, "sigmask"), "\21|||||||");
	assert_string_equal(rec_string(p, "missing"),
	    "401000-403000 file\n720000-722000 file\n"
	    "7fff00000000-7fff00004000 kernel\n"
	    "ffffffffff600000-ffffffffff601000 kernel\n");
	assert_null(p->text);
	assert_non_null(proc_file(p, "regs"));
	assert_non_null(proc_file(p, "fpregs"));
}

static void
check_maps(struct snap *s)
{
	assert_string_equal(rec_string(s->proc[0], "maps"),
	    "00400000-00403000 r-xp 00000000 00:00 0 "
	    "                                 /no/such/program\n"
	    "00403000-00405000 rw-p 00003000 00:00 0 "
	    "                                 /no/such/program\n"
	    "00500000-00508000 rw-p 00000000 00:00 0 "
	    "                                 [heap]\n"
	    "00600000-00610000 rw-p 00000000 00:00 0 \n"
	    "00700000-00702000 rw-s 00001000 00:01 62 "
	    "                                /dev/zero (deleted)\n"
	    "00710000-00714000 rw-s 00004000 00:01 61 "
	    "                                /memfd:my mem (deleted)\n"
	    "00720000-00722000 r--p 00000000 00:00 0 "
	    "                                 /no/such/library.so\n"
	    "7fff00000000-7fff00004000 r--p 00000000 00:00 0 "
	    "                         [vvar]\n"
	    "7fff00004000-7fff00006000 r-xp 00000000 00:00 0 "
	    "                         [vdso]\n"
	    "7fff10000000-7fff10004000 rw-p 00000000 00:00 0 "
	    "                         [stack]\n"
	    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
	    "                 [vsyscall]\n");
}

static void
check_files(struct snap *s)
{
	struct proc *p = s->proc[0];
	const struct file *f;
	char text[2048];

	assert_string_equal(rec_string(p, "fd/0"), "/dev/pts/3");
	assert_string_equal(rec_string(p, "fd/1"), "/tmp/log");
	assert_string_equal(rec_string(p, "fd/2"), "/tmp/log");
	assert_string_equal(rec_string(p, "fdinfo/2"),
	    "pos:\t77\nflags:\t0102001\n");
	assert_string_equal(rec_string(p, "fd/5"), "pipe:[5555]");
	assert_string_equal(rec_string(p, "fdinfo/5"),
	    "pos:\t0\nflags:\t02000001\n");
	assert_string_equal(rec_string(p, "fd/7"), "/memfd:my mem (deleted)");
	assert_string_equal(rec_string(p, "fd/8"), "anon_inode:[eventfd]");
	assert_string_equal(rec_string(p, "fd/9"), "socket:[4444]");
	/* two files with the same ID */
	assert_string_equal(rec_string(p, "fd/10"), "/dev/net/tun");
	assert_string_equal(rec_string(p, "fdinfo/10"),
	    "pos:\t0\nflags:\t0104002\n");
	assert_non_null(f = proc_file(p, "fd"));
	snprintf(text, sizeof text, "%.*s", (int)f->len,
	    (const char *)f->data);
	assert_contains(text, "/home/ann\n  0 rw c ");
	assert_contains(text, "\n  1 w  M ");
	assert_contains(text, "       77 /tmp/log\n");
	assert_contains(text, "\n  5 w  | ");
}

static void
check_others(struct snap *s)
{
	struct proc *p;
	uint8_t b[64];

	p = s->proc[1];
	assert_int_equal(p->pid, 8);
	assert_int_equal(p->leader, 7);
	assert_string_equal(rec_string(p, "thread"), "7\n");
	assert_string_equal(rec_string(p, "comm"), "worker\n");
	assert_string_equal(rec_string(p, "sigmask"), "\"|||||||");
	assert_int_equal(rec_bytes(p, "regset/xstate", b, 0), SIZE_MAX);
	assert_int_equal(rec_bytes(p, "criu/core-7.img", b, 0), SIZE_MAX);
	assert_true(rec_bytes(p, "criu/core-8.img", b, 0) < 5000);
	p = s->proc[2];
	assert_int_equal(p->pid, 9);
	assert_contains(rec_string(p, "stat"), "9 (dead) Z 7 7 7 ");
	assert_contains(rec_string(p, "stat"), " 1792\n");
	assert_null(p->mem);
	assert_int_equal(rec_bytes(s->proc[0], "criu/ghost-file-1f.img", b,
	    sizeof b), 256);
	assert_int_equal(b[63], 63);
	assert_string_equal(rec_string(s->proc[0], "criu/stats-dump"),
	    "numbers");
	assert_string_equal(rec_string(s->proc[0], "criu/dump.log"),
	    "(none)");
	assert_string_equal(rec_string(s->proc[0], "criu/pages-3.img"),
	    "(none)");
}

static void
check_memory(struct snap *s)
{
	struct proc *p = s->proc[0];
	uint64_t i;

	assert_page(p, CODE, "p", CODE);
	assert_null(page_at(p, CODE + PAGE));
	assert_page(p, DATA + PAGE, "p", DATA + PAGE);
	assert_page(p, HEAP, "p", HEAP);
	assert_string_equal(page_at(p, HEAP + PAGE), "");
	assert_page(p, HEAP + 5 * PAGE, "p", HEAP + 5 * PAGE);
	for (i = 1; i < 11; i++)
		assert_page(p, ANON + i * PAGE, "p", ANON + i * PAGE);
	assert_page(p, VVAR + 5 * PAGE, "p", VVAR + 5 * PAGE);
	assert_page(p, STACK + 3 * PAGE, "p", STACK + 3 * PAGE);
	/* mapped from the second page of an object of three pages */
	assert_page(p, SHM, "s62", PAGE);
	assert_page(p, SHM + PAGE, "s62", 2 * PAGE);
	assert_page(p, MEMFD, "s61", 4 * PAGE);
	assert_page(p, MEMFD + 2 * PAGE, "s61", 6 * PAGE);
	assert_page(p, MEMFD + 3 * PAGE, "s61", 7 * PAGE);
	assert_null(page_at(p, LIB));
	assert_int_equal(s->proc[3]->embedded->ino, 61);
	assert_int_equal(s->proc[3]->embedded->dev, 1);
	assert_string_equal(s->proc[3]->embedded->path,
	    "/memfd:my mem (deleted)");
	assert_page(s->proc[3], 7 * PAGE, "s61", 7 * PAGE);
	assert_null(s->proc[3]->text);
	assert_int_equal(s->proc[4]->embedded->ino, 62);
	assert_page(s->proc[4], 0, "s62", 0);
}

/*
 * All forms that versions of criu write.
 */
static void
test_read(void **state)
{
	static const char *const form[] = { "both", "old", "new", "bare",
#ifdef LZ4
	    "lz4-1", "lz4-2", "lz4-4", "lz4-1024"
#endif
	};
	struct snap *s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof form / sizeof *form; i++) {
		s = read_dir(make(form[i]));
		assert_string_equal(warned, "");
		check_process(s);
		check_maps(s);
		check_files(s);
		check_others(s);
		check_memory(s);
		snap_free(s);
	}
	assert_non_null(s = snap_load(make("both"), NULL));
	check_memory(s);
	snap_free(s);
}

static void
test_regs(void **state)
{
	struct snap *s;
	uint8_t b[1024];
	size_t i;

	(void)state;
	s = read_dir(make("both"));
	assert_int_equal(rec_bytes(s->proc[0], "regset/prstatus", b,
	    sizeof b), 216);
	for (i = 0; i < 27; i++)
		if (i < 16)
			assert_int_equal(get(b + 8 * i, 8), 1001 + i);
	assert_int_equal(get(b + 8 * 16, 8), CODE + 1000);
	assert_int_equal(get(b + 8 * 21, 8), 1022);	/* fs_base */
	assert_int_equal(rec_bytes(s->proc[0], "regset/fpregs", b, sizeof b),
	    512);
	assert_int_equal(get(b, 2), 0x37f);
	assert_int_equal(get(b + 24, 4), 0x1f80);
	assert_int_equal(get(b + 32, 4), 100);
	assert_int_equal(get(b + 160 + 63 * 4, 4), 263);
	assert_int_equal(rec_bytes(s->proc[0], "regset/xstate", b, sizeof b),
	    832);
	assert_int_equal(get(b + 160, 4), 200);
	assert_int_equal(get(b + 464, 8), 7);
	assert_int_equal(get(b + 512, 8), 7);
	assert_int_equal(get(b + 576, 4), 300);
	assert_int_equal(get(b + 828, 4), 363);
	snap_free(s);

	s = read_dir(make("compat"));
	assert_int_equal(rec_bytes(s->proc[0], "regset/prstatus", b,
	    sizeof b), 68);
	assert_int_equal(get(b, 4), 1006);		/* bx */
	assert_int_equal(get(b + 11 * 4, 4), 1016);	/* orig_ax */
	assert_int_equal(rec_bytes(s->proc[0], "regset/fpregs", b, sizeof b),
	    SIZE_MAX);
	snap_free(s);
}

/*
 * Images with parents, whose runs of pages may differ.
 */
static void
test_stack(void **state)
{
	char path[PATH_MAX];
	struct proc *p;
	struct snap *s;
	uint64_t i;

	(void)state;
	snprintf(path, sizeof path, "%s/4", make("stack"));
	s = read_dir(path);
	p = s->proc[0];
	assert_page(p, CODE, "two", CODE);
	assert_page(p, DATA, "four", DATA);
	assert_page(p, DATA + PAGE, "one", DATA + PAGE);
	assert_page(p, HEAP + 2 * PAGE, "one", HEAP + 2 * PAGE);
	assert_page(p, HEAP + 5 * PAGE, "one", HEAP + 5 * PAGE);
	for (i = 2; i < 14; i++)
		assert_page(p, ANON + i * PAGE, i == 11 ? "four" : i == 13 ?
		    "three" : i == 6 || i == 7 ? "two" : "one",
		    ANON + i * PAGE);
	snap_free(s);
}

static void
test_missing(void **state)
{
	struct snap *s;

	(void)state;
	s = read_dir(make("lazy"));
	assert_string_equal(warned, "process 7: 10 pages are not in the "
	    "images: they were to be fetched later (lazy pages)\n");
	assert_contains(rec_string(s->proc[0], "missing"),
	    "\n601000-60b000 lazy\n");
	assert_null(page_at(s->proc[0], ANON + 3 * PAGE));
	snap_free(s);
	s = read_dir(make("guard"));
	assert_contains(rec_string(s->proc[0], "missing"),
	    "\n60c000-60e000 guard\n");
	snap_free(s);
	s = read_dir(make("oldshm"));
	assert_page(s->proc[0], SHM, "s62", 0);
	assert_contains(rec_string(s->proc[0], "maps"), " 00:01 62 ");
	snap_free(s);
}

/*
 * System V shared memory has the same name as its mappings, so that -x finds
 * it.
 */
static void
test_sysv(void **state)
{
	struct exclude *x = exclude_new();
	struct snap *s;

	(void)state;
	s = read_dir(make("sysv"));
	assert_page(s->proc[0], SHM, "s62", 0);
	assert_contains(rec_string(s->proc[0], "maps"),
	    " 00:01 62                                 "
	    "/SYSV00000000 (deleted)\n");
	assert_string_equal(s->proc[4]->embedded->path,
	    "/SYSV00000000 (deleted)");
	assert_int_equal(exclude_add(x, "700000-701000"), 0);
	assert_int_equal(exclude_snap(x, s, note_warning, NULL), 0);
	assert_string_equal(warned, "");
	assert_null(page_at(s->proc[4], 0));
	assert_page(s->proc[4], PAGE, "s62", PAGE);
	exclude_free(x);
	snap_free(s);
}

/*
 * Unknown fields are reported once and written back.
 */
static void
test_unknown(void **state)
{
	static const char want[] = "/core-7.img: entry 1: field 99 of Sas is "
	    "unknown: it is kept for criu, and not used otherwise\n";
	struct snap *s;

	(void)state;
	s = read_dir(make("unknown"));
	assert_contains(warned, want);
	assert_contains(warned, "/fs-7.img: entry 1: field 99 of Fs is");
	assert_contains(warned, "/fs-7.img: entry 1: field 100 of Fs is");
	assert_null(strstr(strstr(warned, want) + strlen(want), "of Sas"));
	snap_free(s);
}

/*
 * Write a snapshot to memory, read it from a file or through a pipe, and write
 * images of it to a directory.
 */
static int
to_images(struct snap *s, bool pipe, const char *dir, const char *parent,
    struct criustat *st)
{
	struct progress done = { 0 };
	struct criuopts o = { .parent = parent, .progress = &done };
	struct stream stream;
	struct buf b = { 0 };
	int rc;

	snap_bytes(s, &b);
	if (pipe)
		stream_pipe(&stream, b.data, b.len, 1000);
	else
		stream_file(&stream, b.data, b.len);
	memset(st, 0, sizeof *st);
	rc = images_write(stream.path, dir, &o, st);
	if (rc == 0)
		assert_int_equal(done.done, done.total);
	stream_close(&stream);
	buf_free(&b);
	return rc;
}

static void
assert_same(const char *a, const char *b)
{
	assert_int_equal(shell("PYTHONDONTWRITEBYTECODE=1 python3 "
	    "tests/criu/criuasm.py same %s %s", a, b), 0);
}

/*
 * Reading and writing images keeps all files and the same memory.
 */
static void
test_round_trip(void **state)
{
	static const char *const name[] = { "both", "old", "new", "lazy",
	    "guard", "compat", "oldshm", "sysv", "stack", "large", "arm4",
	    "arm64k", "arm64kupon", "unknown" };
	char in[PATH_MAX], out[PATH_MAX];
	struct buf command = { 0 };
	struct criustat st;
	struct snap *s;
	struct stat sb;
	size_t i;
	int pipe;

	(void)state;
	buf_puts(&command, "PYTHONDONTWRITEBYTECODE=1 python3 "
	    "tests/criu/criuasm.py same");
	for (i = 0; i < 2 * sizeof name / sizeof *name; i++) {
		pipe = i % 2;
		snprintf(in, sizeof in, "%s%s", make(name[i / 2]),
		    strcmp(name[i / 2], "stack") == 0 ? "/4" :
		    strcmp(name[i / 2], "arm64kupon") == 0 ? "/2" : "");
		snprintf(out, sizeof out, "%s/%s.%d", top, name[i / 2], pipe);
		s = read_dir(in);
		if (to_images(s, pipe, out, NULL, &st) == -1)
			fail_msg("%s: %s", in, snap_errstr());
		snap_free(s);
		buf_printf(&command, " %s %s", in, out);
		assert_int_equal(stat(out, &sb), 0);
		assert_int_equal(sb.st_mode & 0777, 0700);
		assert_int_equal(st.parentkb, 0);
		assert_int_equal(st.bytes, st.kb * KB);
	}
	buf_add(&command, "", 1);
	assert_int_equal(buf_check(&command), 0);
	assert_int_equal(system((char *)command.data), 0);
	buf_free(&command);
}

#ifdef LZ4
/*
 * Compressed images become uncompressed ones. Pages in a damaged block are
 * missing; the other blocks are read.
 */
static void
test_lz4(void **state)
{
	const struct extent *e;
	struct criustat st;
	char out[PATH_MAX], want[PATH_MAX + 64];
	struct piece *piece;
	struct snap *s;

	(void)state;
	s = read_dir(make("lz4-4"));
	snprintf(out, sizeof out, "%s/lz4.out", top);
	if (to_images(s, true, out, NULL, &st) == -1)
		fail_msg("%s", snap_errstr());
	assert_same(make("lz4pages"), out);
	snap_free(s);

	snprintf(out, sizeof out, "%s/3", make("lz4upon"));
	s = read_dir(out);
	assert_page(s->proc[0], ANON + PAGE, "two", ANON + PAGE);
	assert_page(s->proc[0], ANON + 6 * PAGE, "p", ANON + 6 * PAGE);
	snap_free(s);

	/* 4 GiB of zeros are one extent, which is not read */
	s = read_dir(make("blocks-zeros"));
	piece = image_find(s->proc[0]->mem, CODE);
	e = segment_extent(piece->seg, 0);
	assert_null(e->src);
	assert_int_equal(e->n, 4096 * KB);
	snap_free(s);

	s = read_dir(make("blocks-noise"));
	assert_page(s->proc[0], CODE, "p", CODE);
	assert_null(page_at(s->proc[0], STACK + PAGE));
	assert_contains(snap_errstr(), "LZ4 does not decompress them to");
	snap_free(s);

	/* an error in a pages image names it once */
	snprintf(out, sizeof out, "%s/lz4.cut", top);
	assert_int_equal(shell("cp -r %s %s", make("lz4-4"), out), 0);
	s = read_dir(out);
	assert_int_equal(shell("truncate -s 0 %s/pages-3.img", out), 0);
	assert_null(page_at(s->proc[0], CODE));
	snprintf(want, sizeof want, "%s/pages-3.img: byte 0: the file became "
	    "shorter", out);
	assert_string_equal(snap_errstr(), want);
	snap_free(s);
}
#endif

/*
 * Arm64 with pages of 4 KB and of 64 KB: registers as arm64() in criuasm.py
 * sets them, and pages that name their addresses.
 */
static void
test_arm64(void **state)
{
	static const struct {
		const char *name;
		uint64_t page, tag;
	} t[] = { { "arm4", 4096, 1 }, { "arm64k", 65536, 16 } };
	uint8_t regs[272], fp[528], key[64];
	const struct taskstate *st;
	struct snap *s;
	struct proc *p;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof t / sizeof *t; i++) {
		s = read_dir(make(t[i].name));
		p = s->proc[0];
		assert_contains(s->header, "@unknown arm64 0 \"criu\"");
		assert_int_equal(rec_bytes(p, "regset/prstatus", regs,
		    sizeof regs), 272);
		for (k = 0; k < 31; k++)
			assert_int_equal(get(regs + 8 * k, 8), 1000 + k);
		assert_true(get(regs + 248, 8) == STACK * t[i].tag +
		    0x1800);
		assert_true(get(regs + 256, 8) == CODE * t[i].tag + 1000);
		assert_int_equal(get(regs + 264, 8), 0x80001000);
		assert_int_equal(rec_bytes(p, "regset/fpregs", fp, sizeof fp),
		    528);
		for (k = 0; k < 64; k++)
			assert_true(get(fp + 8 * k, 8) ==
			    ((uint64_t)(500 + k) << 32 | 1000));
		assert_int_equal(get(fp + 512, 4), 0x10);
		assert_int_equal(get(fp + 516, 4), 0x3000000);
		assert_int_equal(rec_bytes(p, "regset/401", key, 8), 8);
		assert_true(get(key, 8) == 0xffff00000000 + 1000);
		assert_int_equal(rec_bytes(p, "regset/407", key, 64), 64);
		assert_int_equal(get(key + 56, 8), 16008);
		assert_int_equal(rec_bytes(p, "regset/40a", key, 8), 8);
		assert_int_equal(get(key, 8), 16009);
		assert_int_equal(rec_bytes(p, "regset/408", key, 16), 16);
		assert_int_equal(get(key + 8, 8), 32001);
		assert_int_equal(proc_file(p, "regs")->len, 280);
		assert_int_equal(proc_file(p, "fpregs")->len, 520);
		assert_non_null(st = state_get(p));
		assert_int_equal(st->page, t[i].page);
		assert_int_equal(snap_page(s, p), t[i].page);
		assert_int_equal(snap_page(s, s->proc[s->nproc - 1]),
		    t[i].page);
		assert_true(st->stat.v[STAT_RSS] == image_bytes(p->mem) /
		    t[i].page);
		/* the eleventh page of a run is at its place */
		assert_page(p, ANON * t[i].tag + 10 * t[i].page, "p",
		    ANON * t[i].tag + 10 * t[i].page);
		snap_free(s);
	}
}

static void
assert_memory_same(const char *a, const char *b)
{
	struct snap *s, *t;

	s = read_dir(a);
	t = read_dir(b);
	assert_int_equal(s->nproc, t->nproc);
	assert_images_equal(s->proc[0]->mem, t->proc[0]->mem);
	snap_free(s);
	snap_free(t);
}

/*
 * Images with a parent, which has a parent itself.
 */
static void
test_parent(void **state)
{
	char in[PATH_MAX], one[256], two[256], three[256];
	char link[PATH_MAX] = "";
	struct criustat st;
	struct snap *s;

	(void)state;
	snprintf(one, sizeof one, "%s/one", top);
	snprintf(two, sizeof two, "%s/deep/two", top);
	snprintf(three, sizeof three, "%s/three", top);
	assert_int_equal(shell("mkdir %s/deep", top), 0);
	s = read_dir(make("both"));
	assert_int_equal(to_images(s, true, one, NULL, &st), 0);
	assert_int_equal(to_images(s, true, two, one, &st), 0);
	assert_int_equal(st.parentkb, st.kb);
	assert_int_equal(st.bytes, 0);
	snap_free(s);
	snprintf(in, sizeof in, "%s/parent", two);
	assert_int_equal(readlink(in, link, sizeof link - 1), 9);
	assert_string_equal(link, "../../one");
	assert_same(make("both"), two);
	snprintf(in, sizeof in, "%s/4", make("stack"));
	s = read_dir(in);
	assert_int_equal(to_images(s, false, three, two, &st), 0);
	snap_free(s);
	assert_true(st.parentkb > 0);
	assert_true(st.bytes == (st.kb - st.parentkb) * KB);
	assert_same(in, three);
	assert_memory_same(in, three);
	s = read_dir(make("large"));
	snprintf(three, sizeof three, "%s/four", top);
	assert_int_equal(to_images(s, true, three, one, &st), 0);
	assert_int_equal(st.kb - st.parentkb, 220 * PAGE / KB);
	snap_free(s);
	assert_same(make("large"), three);
	/* a parent that does not exist */
	s = read_dir(in);
	snprintf(three, sizeof three, "%s/none", top);
	assert_int_equal(to_images(s, false, three, "/no/such", &st), -1);
	assert_contains(snap_errstr(), "/no/such: No such file");
	assert_int_equal(access(three, F_OK), -1);
	snap_free(s);
}

static void
test_refused(void **state)
{
	static const struct {
		const char	*name;
		const char	*why;
	} bad[] = {
		{ "no-inventory", "not a checkpoint of criu: " },
		{ "no-inventory", "/inventory.img: No such file" },
		{ "no-pstree", "/pstree.img: No such file" },
		{ "no-files", "/files.img: No such file" },
		{ "no-core-7", "/core-7.img: No such file" },
		{ "no-core-8", "/core-8.img: No such file" },
		{ "no-core-9", "/core-9.img: No such file" },
		{ "no-ids-7", "/ids-7.img: No such file" },
		{ "no-mm-7", "/mm-7.img: No such file" },
		{ "no-fs-7", "/fs-7.img: No such file" },
		{ "no-pagemap-7", "/pagemap-7.img: No such file" },
		{ "no-pages-3", "/pages-3.img: No such file" },
		{ "no-pagemap-shmem-62", "mm-7.img: mapping 5 at 700000: "
		    "pagemap-shmem-62.img is missing" },
		{ "version-0", "/inventory.img: entry 1: a pre-dump" },
		{ "version-1", "the layout of criu 1" },
		{ "version-9", "version 9" },
		{ "magic", "/mm-7.img: not a CRIU image of this kind: begins "
		    "with 54564319 00000000, expected 57492820" },
		{ "words", "/core-7.img: too short" },
		{ "inventory-common", "/inventory.img: not a CRIU image" },
		{ "cut-frame", "/files.img: entry 14: message truncated: "
		    "expected 29 bytes, read 26" },
		{ "cut-length", "/pstree.img: entry 3: image ends in "
		    "the middle of a message length" },
		{ "cut-message", "/core-7.img: entry 1: cannot parse a Core" },
		{ "short", "/pagemap-7.img: entry 8: pages end at byte "
		    "90112 of the pages image, which is only 86016" },
		{ "odd", "/pages-3.img: size of 90113 bytes is not a "
		    "multiple of the page size" },
		{ "machine", "/core-7.img: machine 4" },
		{ "no-tc", "/core-7.img: not the core image of a" },
		{ "no-regs", "/core-8.img: no registers" },
		{ "state", "/core-7.img: unknown process state 6" },
		{ "st", "/core-7.img: st_space: found 31 words" },
		{ "twice", "/pstree.img: process or thread 8 is listed "
		    "twice" },
		{ "zero-pid", "/pstree.img: process or thread 0" },
		{ "no-process", "/pstree.img: no process" },
		{ "no-file", "/fdinfo-70.img: descriptor 1: no file 444" },
		{ "file-twice", "/files.img: duplicate file 3 of type 1" },
		{ "no-parent", "/pagemap-7.img: entry 3: pages should be in "
		    "the parent, but there is no " },
		{ "loop", "the parent links form a loop" },
		{ "both-flags", "/pagemap-7.img: entry 2: pages are both "
		    "present" },
		{ "no-flags", "/pagemap-7.img: entry 2: pages are neither "
		    "present" },
		{ "high-flags", "entry 2: unsupported kind of pages" },
		{ "aligned-parent", "entry 2: unsupported kind of pages" },
		{ "blocks", "entry 2: cannot parse a PagemapBlocks" },
		{ "blocks-lazy", "entry 2: unsupported kind of pages" },
		{ "blocks-few", "entry 2: sizes of 1 blocks for 2 pages" },
		{ "blocks-many", "entry 2: sizes of 2 blocks for 2 pages" },
		{ "blocks-large", "entry 2: block 2 has 4097 bytes for "
		    "4096" },
		{ "blocks-small", "entry 2: block 2 has 16 bytes for 4096" },
		{ "blocks-total", "entry 2: blocks have 154 bytes together, "
		    "not 155" },
		{ "blocks-none", "entry 2: blocks of 0 pages" },
		{ "blocks-huge", "entry 2: blocks of 1025 pages" },
		{ "blocks-older", "entry 2: compressed as in versions of "
		    "criu-dev before August 2026" },
		{ "blocks-unknown", "entry 2: a field of PagemapBlocks is "
		    "unknown" },
		{ "entry-unknown", "/pagemap-7.img: entry 2: field 9 of "
		    "PagemapEntry is unknown" },
		{ "blocks-how", "/inventory.img: entry 1: pages are "
		    "compressed in an unknown way (3)" },
#ifdef LZ4
		{ "blocks-cut", "/pagemap-7.img: entry 8: pages end at byte "
		    "25056 of the pages image, which is only 25055" },
#endif
		{ "unaligned", "entry 2: address 400001 is not a multiple" },
		{ "descending", "entry 3: pages at 400000 overlap or "
		    "precede those at 403000" },
		{ "overlapping", "entry 3: pages at 401000 overlap or "
		    "precede those at 400000" },
		{ "huge", "entry 2: 1152921504606846976 pages at 400000 end "
		    "beyond 2^64" },
		{ "vma-order", "/mm-7.img: mapping 2 at 400000: begins "
		    "below the end of the mapping at 403000" },
		{ "vma-empty", "mapping 1 at 400000: empty or not "
		    "page-aligned" },
		{ "vma-unaligned", "mapping 1 at 400000: empty or not "
		    "page-aligned" },
		{ "vma-file", "mapping 1 at 400000: no file 999" },
		{ "vma-shm", "mapping 1 at 400000: pagemap-shmem-999" },
		{ "no-exe", "/mm-7.img: the executable, file 999, is not in" },
		{ "many_shm", "mm-7.img: mapping 1026 at 840000000: more than "
		    "4194304 pieces of shared memory in all processes" },
		{ "many_fds", "/fdinfo-70.img: more than 262144 descriptors "
		    "in processes that share them" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (try_read(make(bad[i].name)) != NULL)
			fail_msg("%s is taken", bad[i].name);
		assert_contains(snap_errstr(), bad[i].why);
		assert_contains(snap_errstr(), bad[i].name);
		assert_null(strchr(snap_errstr(), '\n'));
	}
}

/*
 * A directory that is not empty is refused without overwrite. Old images are
 * removed from it, other files are kept.
 */
static void
test_directory(void **state)
{
	struct criuopts o = { .overwrite = true };
	struct criustat st = { 0 };
	char dir[256], file[PATH_MAX];
	struct snap *s, *live;

	(void)state;
	s = read_dir(make("both"));
	snprintf(dir, sizeof dir, "%s/both.f", top);
	snprintf(file, sizeof file, "%s/stale.img", dir);
	assert_int_equal(shell("mkdir %s && echo x >%s && echo y >%s/kept && "
	    "ln -s /no/such %s/parent", dir, file, dir, dir), 0);
	assert_int_equal(to_images(s, false, dir, NULL, &st), -1);
	assert_contains(snap_errstr(), "/both.f: directory is not empty; "
	    "use -O to write into it");
	assert_int_equal(images_write(make("both"), dir, &o, &st), 0);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(shell("rm %s/kept", dir), 0);
	assert_same(make("both"), dir);
	o.parent = dir;
	assert_int_equal(images_write(make("both"), dir, &o, &st), -1);
	assert_contains(snap_errstr(), "cannot be its own parent");
	o.parent = NULL;

	/* a snapshot without images */
	live = snap_new();
	assert_non_null(live);
	live->header = strdup("process snapshot 1 a@b amd64 0 \"x\"");
	assert_non_null(snap_add(live, 1));
	file_set(live->proc[0], "noteid", "          1 ", 12);
	snprintf(dir, sizeof dir, "%s/fresh", top);
	assert_int_equal(to_images(live, true, dir, NULL, &st), -1);
	assert_contains(snap_errstr(), "neither CRIU images nor the records");
	assert_int_equal(access(dir, F_OK), -1);
	snap_free(live);

	/* pages that the pagemap lists are not in the snapshot */
	image_free(s->proc[0]->mem);
	s->proc[0]->mem = NULL;
	assert_int_equal(to_images(s, true, dir, NULL, &st), -1);
	assert_contains(snap_errstr(), "process 7: pagemap-7.img: page 400000 "
	    "is marked as present, but is not in the snapshot");
	assert_int_equal(access(dir, F_OK), -1);
	snap_free(s);
}

/*
 * A library on this machine is embedded if it is the same.
 */
static void
test_hand(void **state)
{
	char exe[PATH_MAX] = "";
	struct proc *p;
	struct snap *s;
	struct stat st;
	uint8_t got[64], want[64];
	int fd;

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
	assert_int_equal(stat(exe, &st), 0);
	assert_int_equal(shell("PYTHONDONTWRITEBYTECODE=1 python3 "
	    "tests/criu/criuasm.py elf %s %s/hand %s/other", exe, top, top),
	    0);
	s = read_dir(make("hand"));
	p = s->proc[0];
	assert_non_null(p->text);
	assert_int_equal(image_bytes(p->text), st.st_size);
	assert_int_equal(s->nproc, 5);
	assert_true((fd = open(exe, O_RDONLY)) != -1);
	assert_int_equal(pread(fd, want, 64, PAGE), 64);
	close(fd);
	assert_int_equal(image_read(p->mem, CODE + PAGE, got, 64), 0);
	assert_memory_equal(got, want, 64);
	assert_null(strstr(rec_string(p, "missing"), "401000"));
	snap_free(s);
	s = read_dir(make("other"));
	assert_null(s->proc[0]->text);
	assert_contains(rec_string(s->proc[0], "missing"), "401000-403000");
	snap_free(s);
}

static int
setup(void **state)
{
	(void)state;
	/* prefer /dev/shm, where fsync(2) is fast */
	snprintf(top, sizeof top, "%s/t_criu.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (mkdtemp(top) == NULL)
		return -1;
	return shell("PYTHONDONTWRITEBYTECODE=1 python3 tests/criu/criuasm.py "
	    "all %s", top) == 0 ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	return shell("rm -rf %s", top);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_regs),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_sysv),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_arm64),
#ifdef LZ4
		cmocka_unit_test(test_lz4),
#endif
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_hand),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
