/*
 * Input streams: input.c, and the files and spools from which pages are read:
 * source.c
 */
#include "io/io.h"
#include "model.h"
#include "util.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 700000 };

static uint8_t data[SIZE];

static int
setup(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, "input", 90);
	rng_bytes(&r, data, sizeof data);
	return 0;
}

/*
 * Look at pieces of random sizes and skip them, up to the end.
 */
static void
check_stream(struct stream *st, bool pipe)
{
	struct input *in;
	struct rng r = { 91 };
	const uint8_t *p;
	size_t n, pos, skip;

	in = input_open(st->path);
	assert_non_null(in);
	assert_string_equal(in->name, st->path);
	assert_int_equal(in->size, pipe ? UINT64_MAX : SIZE);
	for (pos = 0; pos < SIZE; pos += skip) {
		n = rng_below(&r, rng_percent(&r, 5) ? 300000 : 3000);
		assert_int_equal(in->pos, pos);
		p = input_peek(in, n);
		if (n > SIZE - pos) {
			assert_null(p);
			assert_string_equal(snap_errstr(), "");
			assert_int_equal(input_fill(in, n), SIZE - pos);
			n = SIZE - pos;
			p = input_peek(in, n);
		}
		assert_non_null(p);
		assert_memory_equal(p, data + pos, n);
		skip = rng_percent(&r, 20) ? rng_below(&r, n + 1) : n;
		input_skip(in, skip);
	}
	assert_null(input_peek(in, 1));
	assert_int_equal(input_fill(in, 1), 0);
	input_close(in);
}

static void
test_file(void **state)
{
	struct stream st;

	(void)state;
	stream_file(&st, data, SIZE);
	check_stream(&st, false);
	stream_close(&st);
}

static void
test_pipe(void **state)
{
	static const size_t piece[] = { 97, 4096, 65536, SIZE };
	struct stream st;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof piece / sizeof *piece; i++) {
		stream_pipe(&st, data, SIZE, piece[i]);
		check_stream(&st, true);
		stream_close(&st);
	}
}

/*
 * Standard input after another program has read a part of it.
 */
static void
test_origin(void **state)
{
	struct stream st;
	struct input *in;
	int save;

	(void)state;
	stream_file(&st, data, SIZE);
	save = dup(STDIN_FILENO);
	assert_true(lseek(st.fd, 1000, SEEK_SET) == 1000);
	assert_int_equal(dup2(st.fd, STDIN_FILENO), STDIN_FILENO);
	in = input_open("-");
	dup2(save, STDIN_FILENO);
	close(save);
	assert_non_null(in);
	assert_string_equal(in->name, "standard input");
	assert_int_equal(in->origin, 1000);
	assert_int_equal(in->size, SIZE - 1000);
	assert_memory_equal(input_peek(in, 10), data + 1000, 10);
	assert_int_equal(in->pos, 0);
	input_close(in);
	stream_close(&st);
}

/*
 * The pages of such a snapshot are read from their places in the file.
 */
static void
test_snaporigin(void **state)
{
	struct stream st;
	struct snap *s, *t;
	struct buf b, shifted = { 0 };
	struct rng r;
	int save;

	(void)state;
	rng_init(&r, "origin", 92);
	s = snap_make(&r, false);
	snap_bytes(s, &b);
	buf_add(&shifted, data, 777);
	buf_add(&shifted, b.data, b.len);
	stream_file(&st, shifted.data, shifted.len);
	save = dup(STDIN_FILENO);
	assert_true(lseek(st.fd, 777, SEEK_SET) == 777);
	assert_int_equal(dup2(st.fd, STDIN_FILENO), STDIN_FILENO);
	t = snap_load(NULL, NULL);
	dup2(save, STDIN_FILENO);
	close(save);
	assert_non_null(t);
	assert_snaps_equal(s, t);
	snap_free(s);
	snap_free(t);
	buf_free(&b);
	buf_free(&shifted);
	stream_close(&st);
}

static void
test_cannot(void **state)
{
	struct input *in;

	(void)state;
	assert_null(input_open("/no/such/file"));
	assert_contains(snap_errstr(), "/no/such/file: ");
	assert_null(input_open("/"));
	assert_contains(snap_errstr(), "/: is a directory");
	input_close(NULL);
	in = input_open("/proc/self/mem");	/* reading byte 0 fails */
	assert_non_null(in);
	assert_int_equal(input_fill(in, 1), 0);
	assert_contains(snap_errstr(), strerror(EIO));
	input_close(in);
	assert_null(snap_load("/proc/self/mem", NULL));
	assert_contains(snap_errstr(), strerror(EIO));
}

static void
test_notsnap(void **state)
{
	static const struct {
		const char	*text;
		const char	*want;
	} bad[] = {
		{ "", "snapshot" },
		{ "\177ELF\2\1\1", "ELF" },
		{ "\037\213\10\1", "gzip" },
		{ "process snapsho", "snapshot" },
		{ "Process snapshot\n", "snapshot" }
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_null(stream_read(bad[i].text, strlen(bad[i].text),
		    i % 2));
		assert_contains(snap_errstr(), bad[i].want);
	}
}

static struct source *
file_source(struct snap *s, size_t size, uint32_t pitch)
{
	struct source *src;
	int fd;

	fd = memfd_create("source", MFD_CLOEXEC);
	assert_int_equal(write(fd, data, size), size);
	src = source_file(s, fd, "a file", pitch);
	assert_non_null(src);
	return src;
}

/*
 * Runs of a file, contiguous and with gaps; after the end of the file come
 * zeros.
 */
static void
test_filesource(void **state)
{
	static uint8_t got[300 * KB], zero[KB];
	struct run run[3];
	struct source *src;
	struct snap *s;
	size_t i, k;
	uint32_t pitch;

	(void)state;
	s = snap_new();
	for (pitch = KB; pitch <= KB + 1; pitch++) {
		if (pitch == KB + 1)
			for (i = 0; i < 250 * KB + 10; i++)
				data[i] = 'r';	/* before each page */
		src = file_source(s, 250 * KB + 10, pitch);
		run[0] = (struct run){ 17, 200 };
		run[1] = (struct run){ 5000, 1 };
		run[2] = (struct run){ 250 * KB - 100, pitch == KB ? 3 : 1 };
		assert_int_equal(source_read(src, run, 3, got), SOURCE_OK);
		for (i = 0; i < 200; i++)
			assert_memory_equal(got + i * KB, data + 17 +
			    i * pitch, KB);
		assert_memory_equal(got + 200 * KB, data + 5000, KB);
		assert_memory_equal(got + 201 * KB, data + 250 * KB - 100,
		    110);
		for (k = 201 * KB + 110; k < (201 + run[2].n) * KB; k++)
			assert_int_equal(got[k], 0);
		if (pitch == KB)
			assert_memory_equal(got + 203 * KB, zero, KB);
	}
	data[17 + 3 * (KB + 1) - 1] = 'z';
	src = file_source(s, 250 * KB + 11, KB + 1);
	assert_int_equal(source_read(src, run, 1, got), SOURCE_LOST);
	assert_contains(snap_errstr(),
	    "byte 3091: expected a page, found 0x7a");
	snap_free(s);
}

/*
 * A file is one source. Its parts are identical if their offsets are.
 */
static void
test_identity(void **state)
{
	struct source *a, *b;
	uint64_t id[40], again[40];
	struct snap *s;
	size_t i, k;

	(void)state;
	s = snap_new();
	a = file_source(s, 100 * KB + 1, KB);
	b = file_source(s, 100 * KB, KB);
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(source_file(s, dup(source_fd(a)), "again", KB), a);
	assert_ptr_not_equal(source_file(s, dup(source_fd(a)), "again",
	    KB + 1), a);
	assert_int_equal(a->ops->identify(a, 0, 30, id), 0);
	assert_int_equal(a->ops->identify(a, 4096, 10, again), 0);
	assert_memory_equal(id + 1, again, 10 * sizeof *id);
	assert_int_equal(b->ops->identify(b, 0, 10, again), 0);
	for (i = 0; i < 25; i++) {
		assert_true(id[i] != 0);
		for (k = 0; k < i; k++)
			assert_true(id[i] != id[k]);
		for (k = 0; k < 10; k++)
			assert_true(id[i] != again[k]);
	}
	for (; i < 30; i++)
		assert_true(id[i] == 0);
	assert_int_equal(a->ops->identify(a, 1024, 1, id), 0);
	assert_true(id[0] == 0);
	snap_free(s);
}

static void
test_shrunk(void **state)
{
	struct run r = { 0, 4 };
	struct source *src;
	uint8_t got[4 * KB];
	struct snap *s;

	(void)state;
	s = snap_new();
	src = file_source(s, 4 * KB, KB);
	assert_int_equal(ftruncate(source_fd(src), 2 * KB), 0);
	assert_int_equal(source_read(src, &r, 1, got), SOURCE_LOST);
	assert_contains(snap_errstr(), "a file: byte 2048: ");
	snap_free(s);
}

/*
 * A spool returns its content, including short pages at the end.
 */
static void
test_spool(void **state)
{
	uint8_t got[KB];
	struct source *src;
	struct snap *s;
	int64_t loc[400];
	struct run r = { 0, 1 };
	size_t i, len;

	(void)state;
	s = snap_new();
	src = source_spool(s);
	if (src == NULL)
		fail_msg("%s", snap_errstr());
	for (i = 0; i < 400; i++) {
		len = i % 3 == 0 ? 5 + i : KB;
		loc[i] = spool_add(src, data + i * KB, len);
		assert_int_equal(loc[i], i * KB);
	}
	assert_int_equal(spool_finish(src), 0);
	for (i = 0; i < 400; i++) {
		len = i % 3 == 0 ? 5 + i : KB;
		r.loc = (uint64_t)loc[i];
		if (source_read(src, &r, 1, got) != SOURCE_OK)
			fail_msg("%s", snap_errstr());
		assert_memory_equal(got, data + i * KB, len);
		for (; len < KB; len++)
			assert_int_equal(got[len], 0);
	}
	snap_free(s);
	setenv("TMPDIR", "/no/such/directory", 1);
	s = snap_new();
	assert_null(source_spool(s));
	assert_contains(snap_errstr(), "/no/such/directory");
	unsetenv("TMPDIR");
	snap_free(s);
}

/*
 * A part of a stream may be empty and at its end.
 */
static void
test_part(void **state)
{
	struct input *in, *part;
	struct stream st;

	(void)state;
	stream_file(&st, data, SIZE);
	assert_non_null(in = input_open(st.path));
	assert_non_null(part = input_part(in, "part", 1000, 10));
	assert_int_equal(input_fill(part, 11), 10);
	assert_memory_equal(part->buf + part->start, data + 1000, 10);
	input_close(part);
	assert_non_null(part = input_part(in, "part", SIZE, 0));
	assert_int_equal(input_fill(part, 1), 0);
	assert_int_equal(input_end(part), 0);
	input_close(part);
	assert_null(input_part(in, "part", SIZE, 1));
	assert_null(input_part(in, "part", SIZE + 1, 0));
	assert_null(input_part(in, "part", 1, SIZE));
	assert_non_null(part = input_part(in, "part", 1, SIZE - 1));
	input_close(part);
	input_close(in);
	stream_close(&st);
	assert_non_null(in = input_memory("memory", data, 10));
	assert_null(input_part(in, "part", 0, 1));
	input_close(in);
}

/*
 * Bytes of a stream in memory can be read up to its end.
 */
static void
test_memory(void **state)
{
	struct input *in;
	uint8_t got[10];

	(void)state;
	assert_non_null(in = input_memory("memory", data, 10));
	assert_int_equal(input_pread(in, got, 10, 0), 0);
	assert_memory_equal(got, data, 10);
	assert_int_equal(input_pread(in, got, 1, 9), 0);
	assert_int_equal(got[0], data[9]);
	assert_int_equal(input_pread(in, got, 2, 9), -1);
	input_close(in);
}

/*
 * The size of a file, or of its blocks if it has holes.
 */
static void
test_real(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	fd = memfd_create("real", MFD_CLOEXEC);
	assert_int_equal(write(fd, data, 10000), 10000);
	assert_int_equal(fstat(fd, &st), 0);
	st.st_blocks = 0;
	assert_int_equal(room_real(fd, &st, 7), 10000);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 7);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	st.st_size = 1 << 20;
	st.st_blocks = 9;
	assert_int_equal(room_real(fd, &st, 8), 9 * 512);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 8);
	close(fd);
}

/*
 * Each phase of the work counts from 0.
 */
static void
test_progress(void **state)
{
	struct progress p = { 0 };

	(void)state;
	progress_phase(&p, 9);
	progress_read(&p, 5);
	progress_read(&p, 4);
	progress_count(&p, 1, 2, 3);
	progress_count(&p, 10, 20, 30);
	assert_int_equal(p.total, 9);
	assert_int_equal(p.done, 9);
	assert_int_equal(p.raw, 11);
	assert_int_equal(p.zero, 22);
	assert_int_equal(p.same, 33);
	progress_phase(&p, 0);
	assert_true(p.total == 0 && p.done == 0 && p.raw == 0 && p.zero == 0 &&
	    p.same == 0);
	progress_phase(NULL, 0);
	progress_read(NULL, 1);
	progress_count(NULL, 1, 1, 1);
}

#ifdef ZSTD
/*
 * A zstd frame of three blocks, each one byte repeated. If it is cut after the
 * second block, the first two are returned.
 */
static void
test_zstd(void **state)
{
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58,
	    0x54, 0x00, 0x00, 0x10, 0x61, 0x61, 0x01, 0x00, 0xfb, 0xff, 0x39,
	    0xc0, 0x02, 0x02, 0x00, 0x10, 0x61, 0x03, 0x9f, 0x04, 0x61 };
	enum { BLOCK = 131072, LAST = 300000 - 2 * BLOCK, PIECE = 1000 };
	struct input *in;
	size_t i, cut, n, all;
	int pair[2];

	(void)state;
	for (cut = 0; cut <= 4; cut += 4) {
		assert_non_null(in = input_memory("zstd", frame, sizeof frame -
		    cut));
		assert_int_equal(input_gunzip(in, false), 0);
		for (all = 0; (n = input_fill(in, PIECE)) > 0; all += n) {
			for (i = 0; i < n; i++)
				assert_int_equal(in->buf[in->start + i], 'a');
			input_skip(in, n);
		}
		assert_int_equal(input_end(in), cut == 0 ? 0 : -1);
		assert_int_equal(all, 2 * BLOCK + (cut == 0 ? LAST : 0));
		assert_int_equal(input_taken(in), sizeof frame - cut);
		input_close(in);
	}
	/* a peer that ends before it has read everything is an error */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(write(pair[0], "", 1), 1);
	assert_int_equal(write(pair[1], frame, 20), 20);
	close(pair[1]);
	assert_non_null(in = input_fd("socket", pair[0]));
	assert_int_equal(input_gunzip(in, false), 0);
	while ((n = input_fill(in, 1)) > 0)
		input_skip(in, n);
	assert_int_equal(input_end(in), -1);
	assert_contains(snap_errstr(), strerror(ECONNRESET));
	input_close(in);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_origin),
		cmocka_unit_test(test_snaporigin),
		cmocka_unit_test(test_cannot),
		cmocka_unit_test(test_notsnap),
		cmocka_unit_test(test_filesource),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_shrunk),
		cmocka_unit_test(test_spool),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_progress),
#ifdef ZSTD
		cmocka_unit_test(test_zstd),
#endif
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
