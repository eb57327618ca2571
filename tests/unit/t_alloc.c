/*
 * If an allocation fails, the reader and the writer return an error or work
 * without it. Nothing is leaked.
 *
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "io/io.h"
#include "model.h"
#include "record/record.h"
#include "snap/snap.h"
#include "space.h"
#include "failing.h"
#include "util.h"

#include <sys/stat.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char outfile[64];		/* output file */
static const char full[] = "tests/fuzz/corpus/core/full";

struct attempt {
	struct snap	*snap;
	struct buf	 bytes;	/* snap, as a stream */
	struct buf	 packed; /* bytes, compressed */
	bool		 pipe;
	bool		 compress;
};

static int
try_read(void *arg)
{
	struct attempt *a = arg;
	const struct buf *b;
	struct stream st;
	struct snap *s;

	b = a->compress ? &a->packed : &a->bytes;
	if (a->pipe)
		stream_pipe(&st, b->data, b->len, 65536);
	else
		stream_file(&st, b->data, b->len);
	armed = true;
	s = snap_load(st.path, NULL);
	armed = false;
	stream_close(&st);
	if (s == NULL)
		return -1;
	assert_snaps_equal(a->snap, s);
	snap_free(s);
	return 0;
}

static void
slurp(const char *path, struct buf *b)
{
	uint8_t part[4096];
	FILE *f;
	size_t n;

	f = fopen(path, "r");
	assert_non_null(f);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(b, part, n);
	fclose(f);
}

/*
 * A file is written completely or not at all.
 */
static int
try_file(void *arg)
{
	struct attempt *a = arg;
	struct output *o;
	struct stat st;
	int rc;

	unlink(outfile);
	armed = true;
	rc = -1;
	if ((o = output_begin(outfile, a->compress, NULL)) != NULL) {
		rc = snap6_write(a->snap, o, NULL, NULL);
		if (rc == -1)
			output_abort(o);
		else
			rc = output_commit(o);
	}
	armed = false;
	if (rc == 0) {
		assert_int_equal(stat(outfile, &st), 0);
		if (!a->compress)
			assert_int_equal(st.st_size, a->bytes.len);
		else if (a->packed.data == NULL)
			slurp(outfile, &a->packed);
		else
			assert_int_equal(st.st_size, a->packed.len);
		unlink(outfile);
	} else
		assert_int_equal(access(outfile, F_OK), -1);
	return rc;
}

static int
try_record(void *arg)
{
	static const char text[] = "linux amd64 1\na\n          1 x"
	    "b/c\n          0 missing\n         36 1000-2000 guard\n"
	    "3000-4000 unreadable";
	struct attempt *a = arg;
	struct file *f;
	struct file file = { (char *)(uintptr_t)"comm",
	    (uint8_t *)(uintptr_t)"cat\n", 4 };
	struct proc *p;
	struct snap *s;
	int rc;

	(void)a;
	s = snap_new();
	p = snap_add(s, 1);
	file_set(p, "proc", text, sizeof text - 1);
	segment_add(p, IMAGE_MEM, 0x1000, 0x4000, NULL, 0);
	armed = true;
	rc = linuxrec_apply(p);
	if (rc == 0)
		rc = image_miss(p->mem, 0x4000, 0x5000, "late");
	if (rc == 0)
		rc = linuxrec_update(p) == -1 ? -1 : 0;
	armed = false;
	if (rc == 0) {
		f = proc_file(p, "proc");
		assert_int_equal(f->len, sizeof text - 1 + 16);
		assert_memory_equal(f->data + f->len - 15,
		    "4000-5000 late\n", 15);
	}
	armed = true;
	if (rc == 0)
		rc = linuxrec_pack(p, plan9_cputype(), &file, 1);
	armed = false;
	snap_free(s);
	return rc;
}

static int
try_build(void *arg)
{
	struct attempt *a = arg;
	struct builder b = { 0 };
	uint64_t i;
	int rc;

	(void)a;
	b.image = image_new(NULL, IMAGE_MEM);
	assert_non_null(b.image);
	armed = true;
	for (rc = 0, i = 0; i < 40 && rc == 0; i++)
		rc = builder_run(&b, i * 40 * KB, 3, NULL, 0);
	if (builder_finish(&b) == -1)
		rc = -1;
	armed = false;
	image_free(b.image);
	return rc;
}

static int
try_files(void *arg)
{
	static char name[] = "[stack]", cwd[] = "/a b", path[] = "/x",
	    mounts[] = "29 1 254:1 / / rw - ext4 /dev/vda1 rw\n"
	    "30 1 254:1 / /x rw - ext4 /dev/vda1 rw\n";
	static struct vma v = { 1, 2, 0, 0, 0, VMA_READ, name };
	static struct openfile f = { 1, 0, 0, 0, 0, 0, false, path };
	static uint8_t regs[512];
	struct task t = { .vma = { &v, 1 }, .open = &f, .nopen = 1,
	    .cwd = cwd, .comm = "cat", .user = "ann" };
	struct attempt *a = arg;
	struct snap *s;
	struct proc *p;
	int rc;

	(void)a;
	t.mounts.data = (uint8_t *)mounts;
	t.mounts.len = sizeof mounts - 1;
	t.reg[REGSET_PRSTATUS].data = regs;
	t.reg[REGSET_PRSTATUS].len = 216;
	t.reg[REGSET_FPREGS].data = regs;
	t.reg[REGSET_FPREGS].len = 512;
	s = snap_new();
	p = snap_add(s, 1);
	armed = true;
	rc = plan9_files(p, "amd64", &t);
	armed = false;
	if (rc == 0) {
		assert_non_null(proc_file(p, "ns"));
		assert_true(memcmp(proc_file(p, "ns")->data +
		    proc_file(p, "ns")->len - 10, "cd '/a b'\n", 10) == 0);
	}
	snap_free(s);
	return rc;
}

static int
try_core(void *arg)
{
	struct snap *whole = arg, *s;

	armed = true;
	s = snap_load(full, NULL);
	armed = false;
	if (s == NULL)
		return -1;
	assert_snaps_equal(whole, s);
	snap_free(s);
	return 0;
}

/*
 * The facts of the first process, as a text.
 */
static int
try_facts(void *arg)
{
	struct snap *s = arg;
	struct factlist l = { 0 };
	struct buf b = { 0 };
	static struct buf first;
	size_t i;
	int rc;

	armed = true;
	rc = proc_facts(&l, s, s->proc[0]);
	armed = false;
	for (i = 0; i < l.n && rc == 0; i++)
		buf_printf(&b, "%d %s=%s\n", (int)l.v[i].subject, l.v[i].key,
		    l.v[i].value);
	factlist_free(&l);
	if (rc == 0 && first.len == 0) {
		first = b;
		return 0;
	}
	if (rc == 0) {
		assert_int_equal(b.len, first.len);
		assert_memory_equal(b.data, first.data, b.len);
	}
	buf_free(&b);
	return rc;
}

static struct attempt attempt;

static int
setup(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, "alloc", 100);
	do {
		snap_free(attempt.snap);
		attempt.snap = snap_make(&r, false);
	} while (attempt.snap->nproc < 3);
	file_set(attempt.snap->proc[0], "proc", "linux amd64 1\n"
	    "missing\n         16 1000-2000 guard\n", 50);
	snap_bytes(attempt.snap, &attempt.bytes);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	snap_free(attempt.snap);
	buf_free(&attempt.bytes);
	buf_free(&attempt.packed);
	return 0;
}

static void
test_core(void **state)
{
	struct snap *whole;

	(void)state;
	whole = snap_load(full, NULL);
	assert_non_null(whole);
	assert_int_equal(whole->nproc, 2);
	each_failure(try_core, whole);
	each_failure(try_facts, whole);
	snap_free(whole);
}

static void
test_read(void **state)
{
	(void)state;
	attempt.pipe = false;
	each_failure(try_read, &attempt);
}

static void
test_pipe(void **state)
{
	(void)state;
	attempt.pipe = true;
	each_failure(try_read, &attempt);
}

static void
test_write(void **state)
{
	(void)state;
	each_failure(try_file, &attempt);
}

/*
 * The same with a compressed stream: write it, read it from a file and from a
 * pipe.
 */
static void
test_compressed(void **state)
{
	(void)state;
	attempt.compress = true;
	each_failure(try_file, &attempt);
	attempt.pipe = false;
	each_failure(try_read, &attempt);
	attempt.pipe = true;
	each_failure(try_read, &attempt);
	attempt.compress = false;
}

/*
 * Salvage a compressed file of four members without its second and third one.
 * The bytes that are returned are right.
 */
static int
try_widen(void *arg)
{
	const uint8_t *last = arg;
	struct input *in;
	uint8_t c;
	int rc;

	in = input_open(outfile);
	assert_non_null(in);
	armed = true;
	rc = input_gunzip(in, true);
	if (rc == 0 && in->size != UINT64_MAX) {
		rc = input_widen(in, 4 * 1024 * KB);
		if (input_pread(in, &c, 1, in->size - 1) == -1)
			rc = -1;
		else
			assert_int_equal(c, *last);
	}
	armed = false;
	input_close(in);
	return rc;
}

static void
test_salvage(void **state)
{
	static uint8_t raw[4 * 1024 * KB];
	struct buf b = { 0 };
	struct output *o;
	uint8_t *p;
	FILE *f;
	size_t i;

	(void)state;
	memset(raw, 'x', sizeof raw);
	raw[sizeof raw - 1] = 'y';
	o = output_open(outfile);
	assert_non_null(o);
	assert_int_equal(output_compress(o, 1), 0);
	output_put(o, raw, sizeof raw);
	assert_int_equal(output_commit(o), 0);
	slurp(outfile, &b);
	for (i = 0, p = b.data; i < 3; i++) {
		if (i > 0)
			*p = 0;
		p += p[16] | p[17] << 8;
	}
	f = fopen(outfile, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b.data, 1, b.len, f), b.len);
	assert_int_equal(fclose(f), 0);
	each_failure(try_widen, &raw[sizeof raw - 1]);
	unlink(outfile);
	buf_free(&b);
}

static void
test_record(void **state)
{
	(void)state;
	each_failure(try_record, &attempt);
}

static void
test_build(void **state)
{
	(void)state;
	each_failure(try_build, &attempt);
}

static void
test_files(void **state)
{
	(void)state;
	each_failure(try_files, &attempt);
}

/*
 * A moment that could not be opened for lack of memory can be opened later, and
 * then has all its tasks.
 */
static void
test_moment(void **state)
{
	struct snap_file *f, *m;
	struct snap_task *p;
	bool ended;

	(void)state;
	forever = false;
	for (nth = 1, ended = false; !ended; nth++) {
		f = snap_open("tests/fuzz/corpus/series/three");
		assert_non_null(f);
		calls = 0;
		armed = true;
		m = snap_moment_get(f, 1);
		armed = false;
		ended = calls < nth;
		if (m == NULL)
			assert_non_null(m = snap_moment_get(f, 1));
		assert_non_null(p = snap_process_next(m, NULL));
		assert_non_null(snap_thread_next(p, p));
		snap_close(f);
	}
	assert_true(nth > 2);
}

/*
 * The same bytes are written without threads.
 */
static void
test_nothreads(void **state)
{
	struct buf b;

	(void)state;
	nothreads = true;
	snap_bytes(attempt.snap, &b);
	nothreads = false;
	assert_int_equal(b.len, attempt.bytes.len);
	assert_memory_equal(b.data, attempt.bytes.data, b.len);
	buf_free(&b);
}

/*
 * The core of a process of two threads, with notes, parts and holes.
 */
static int
try_coreread(void *arg)
{
	struct snap *s = arg;
	struct core *c;

	armed = true;
	c = core_new(s, s->proc[0]);
	armed = false;
	if (c == NULL)
		return -1;
	assert_int_equal(core_size(c), 0x15000);
	core_free(c);
	return 0;
}

static void
test_coreread(void **state)
{
	static const char maps[] =
	    "10000-50000 rw-p 0 08:01 9 /file\n60000-61000 rw-p 0 0:0 0 \n",
	    thread[] = "thread\n          2 7\n";
	struct buf b = { 0 };
	struct snap *s;
	struct proc *p;
	int i;

	(void)state;
	s = snap_new();
	for (i = 0; i < 2; i++) {
		b.len = 0;
		buf_printf(&b, "linux amd64 1\nregset/prstatus\n%11d %0216d",
		    216, 0);
		buf_printf(&b, "maps\n%11zu %s%s", sizeof maps - 1, maps,
		    i == 0 ? "" : thread);
		p = snap_add(s, 7 + (uint64_t)i);
		file_set(p, "proc", b.data, b.len);
		assert_int_equal(linuxrec_apply(p), 0);
	}
	segment_add(s->proc[0], IMAGE_MEM, 0x20000, 0x14000, NULL, 0);
	each_failure(try_coreread, s);
	buf_free(&b);
	snap_free(s);
}

/*
 * Count the pages that two processes share.
 */
static int
try_sharing(void *arg)
{
	static const uint64_t pid[] = { 7, 8 };
	const struct pagelist *had = arg;
	struct pagelist l = { 0 };
	struct sharing *s;
	uint64_t kb[4], repeated[2];
	size_t i;
	int rc;

	for (i = 0; i < had->n; i++)
		assert_int_equal(pagelist_add(&l, &had->v[i]), 0);
	armed = true;
	if ((s = sharing_new()) == NULL)
		rc = -1;
	else if ((rc = sharing_add(s, had, 7)) == 0 &&
	    (rc = sharing_add(s, had, 8)) == 0 &&
	    (rc = sharing_record(s, &l, 8)) == 0)
		rc = sharing_matrix(s, pid, 2, kb, repeated);
	armed = false;
	if (rc == 0) {
		assert_int_equal(l.n, 2);
		assert_int_equal(l.v[0].with, 7);
		assert_int_equal(kb[1], 3);
	}
	sharing_free(s);
	pagelist_free(&l);
	return rc;
}

static void
test_sharing(void **state)
{
	struct pagespan p[] = {
		{ 0, 2 * KB, PAGES_RAW, 0, 1, 100 },
		{ 4 * KB, 5 * KB, PAGES_RAW, 0, 2, 100 },
	};
	struct pagelist l = { p, 2 };

	(void)state;
	each_failure(try_sharing, &l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_salvage),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_coreread),
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_moment),
		cmocka_unit_test(test_nothreads),
	};

	snprintf(outfile, sizeof outfile, "/tmp/t_alloc.%d", (int)getpid());
	return cmocka_run_group_tests(tests, setup, teardown);
}
