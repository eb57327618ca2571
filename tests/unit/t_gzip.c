/*
 * Compressed streams: io/gzip/, as used by output.c and input.c, compared with
 * zlib's own functions for gzip.
 *
 * link with: -Wl,--wrap=pthread_create,--wrap=malloc
 */
#include "io/gzip/gzip.h"
#include "io/io.h"
#include "model.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MIB = 1 << 20, SIZE = 3 * MIB + 4567 };

static uint8_t data[SIZE];
static char dir[] = "/tmp/t_gzip.XXXXXX";

/*
 * If full is true, no thread can be created.
 */
static bool full;

int __real_pthread_create(pthread_t *, const pthread_attr_t *,
    void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *,
    void *(*)(void *), void *);

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *a,
    void *(*fn)(void *), void *arg)
{
	return full ? EAGAIN : __real_pthread_create(t, a, fn, arg);
}

/*
 * The largest allocation, and the number of allocations of a megabyte.
 */
static _Atomic size_t largest;
static _Atomic size_t megabytes;

void *__real_malloc(size_t);
void *__wrap_malloc(size_t);

void *
__wrap_malloc(size_t n)
{
	if (n > largest)
		largest = n;
	megabytes += n == MIB;
	return __real_malloc(n);
}

/*
 * Data of which some parts can be compressed.
 */
static int
setup(void **state)
{
	struct rng r;
	size_t i, n;

	(void)state;
	rng_init(&r, "gzip", 101);
	for (i = 0; i < SIZE; i += n) {
		n = rng_below(&r, 20000) + 1;
		if (n > SIZE - i)
			n = SIZE - i;
		if (rng_percent(&r, 50))
			rng_bytes(&r, data + i, n);
		else
			memset(data + i, (int)rng_below(&r, 256), n);
	}
	return mkdtemp(dir) == NULL || chdir(dir) == -1;
}

static int
teardown(void **state)
{
	(void)state;
	return chdir("/") == -1 || rmdir(dir) == -1;
}

static void
slurp(const char *path, struct buf *b)
{
	uint8_t part[4096];
	FILE *f;
	size_t n;

	memset(b, 0, sizeof *b);
	f = fopen(path, "r");
	assert_non_null(f);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(b, part, n);
	fclose(f);
}

/*
 * Compress bytes through an output, written in pieces.
 */
static void
pack(const uint8_t *p, size_t len, int threads, size_t piece, struct buf *b)
{
	struct output *o;
	size_t i, n;

	o = output_open("packed");
	assert_non_null(o);
	assert_int_equal(output_compress(o, threads), 0);
	for (i = 0; i < len; i += n) {
		n = len - i < piece ? len - i : piece;
		output_put(o, p + i, n);
		assert_int_equal(output_pos(o), i + n);
	}
	assert_int_equal(output_commit(o), 0);
	slurp("packed", b);
	unlink("packed");
}

/*
 * Compress bytes as one member with zlib, with the header head.
 */
static void
pack_other(const uint8_t *p, size_t len, gz_header *head, struct buf *b)
{
	z_stream z = { 0 };
	uint8_t *out;
	size_t room;

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 8,
	    Z_DEFAULT_STRATEGY), Z_OK);
	if (head != NULL)
		deflateSetHeader(&z, head);
	room = deflateBound(&z, len);
	out = malloc(room);
	assert_non_null(out);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)len;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	buf_add(b, out, z.total_out);
	deflateEnd(&z);
	free(out);
}

/*
 * Read a stream: return 0, or -1 with an error. If random is not NULL, store
 * there whether a regular file can be read at random.
 */
static int
unpack(const void *p, size_t n, bool pipe, struct buf *b, bool *random)
{
	struct stream st;
	struct input *in;
	size_t got;
	int rc;

	if (pipe)
		stream_pipe(&st, p, n, 5003);
	else
		stream_file(&st, p, n);
	memset(b, 0, sizeof *b);
	in = input_open(st.path);
	assert_non_null(in);
	assert_int_equal(input_gunzip(in, false), 0);
	if (random != NULL)
		*random = !input_plain(in) && in->size != UINT64_MAX;
	while ((got = input_fill(in, 1)) > 0) {
		buf_add(b, in->buf + in->start, got);
		input_skip(in, got);
		assert_int_equal(in->pos, b->len);
	}
	rc = input_end(in);
	if (rc == -1) {		/* the error stays */
		assert_int_equal(input_fill(in, 1), 0);
		assert_true(*snap_errstr() != '\0');
	}
	if (rc == 0 && in->size != UINT64_MAX)
		assert_int_equal(in->size, b->len);
	input_close(in);
	stream_close(&st);
	return rc;
}

static void
assert_unpacks(const struct buf *packed, const uint8_t *want, size_t len,
    bool ours)
{
	struct buf b;
	bool random;
	int pipe;

	for (pipe = 0; pipe < 2; pipe++) {
		if (unpack(packed->data, packed->len, pipe, &b, &random) == -1)
			fail_msg("%s", snap_errstr());
		assert_int_equal(b.len, len);
		if (len > 0)
			assert_memory_equal(b.data, want, len);
		assert_int_equal(random, ours && !pipe);
		buf_free(&b);
	}
}

static void
assert_refused(const struct buf *packed, const char *why)
{
	struct buf b;
	bool random;
	int pipe;

	for (pipe = 0; pipe < 2; pipe++) {
		assert_int_equal(unpack(packed->data, packed->len, pipe, &b,
		    &random), -1);
		assert_false(random);
		assert_contains(snap_errstr(), why);
		buf_free(&b);
	}
}

/*
 * Store the offsets of the n members of our stream in at, and its length in
 * at[n]. Return n.
 */
static size_t
members(const struct buf *b, size_t *at)
{
	const uint8_t *p;
	size_t n, off;

	for (n = 0, off = 0; off < b->len; n++) {
		p = b->data + off;
		at[n] = off;
		off += p[16] | (size_t)p[17] << 8 | (size_t)p[18] << 16;
	}
	assert_int_equal(off, b->len);
	at[n] = off;
	return n;
}

/*
 * The bytes are as in snap(6), except for those that depend on zlib's deflate.
 */
static void
test_golden(void **state)
{
	static const uint8_t head[] = "\37\213\10\4\0\0\0\0\4\3\14\0SN\10\0";
	static const uint8_t end[] = "\37\213\10\4\0\0\0\0\4\3\14\0SN\10\0"
	    "\42\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0";
	/* zlib.crc32(b"process snapshot\n") in Python, and 17 */
	static const uint8_t tail[] = "\130\23\103\371\21\0\0";
	static const uint8_t text[] = "process snapshot\n";
	struct buf b;

	(void)state;
	pack(text, 17, 2, 100, &b);
	assert_true(b.len > 24 + 8 + 34);
	assert_memory_equal(b.data, head, 16);
	assert_int_equal(b.data[16], b.len - 34);
	assert_memory_equal(b.data + 17, "\0\0\0\21\0\0", 7);
	assert_memory_equal(b.data + b.len - 34 - 8, tail, 8);
	assert_memory_equal(b.data + b.len - 34, end, 34);
	buf_free(&b);
	pack(text, 0, 2, 100, &b);
	assert_int_equal(b.len, 34);
	assert_memory_equal(b.data, end, 34);
	buf_free(&b);
}

static void
test_roundtrip(void **state)
{
	static const size_t len[] = { 0, 1, 1000, MIB - 1, MIB, MIB + 1,
	    2 * MIB, SIZE };
	static const size_t piece[] = { 1, 777, 70000, SIZE };
	struct buf b;
	size_t i, at[16];

	(void)state;
	for (i = 0; i < sizeof len / sizeof *len; i++) {
		pack(data, len[i], (int)i % 4 + 1, piece[i % 4 == 0 &&
		    len[i] > 1000 ? 1 : i % 4], &b);
		assert_int_equal(members(&b, at),
		    (len[i] + MIB - 1) / MIB + 1);
		assert_unpacks(&b, data, len[i], true);
		buf_free(&b);
	}
}

/*
 * Members depend neither on the number of threads nor on the sizes of the
 * pieces.
 */
static void
test_threads(void **state)
{
	struct buf a, b;
	int i;

	(void)state;
	pack(data, SIZE, 1, SIZE, &a);
	for (i = 0; i < 6; i++) {
		full = i == 5;	/* no thread at all */
		pack(data, SIZE, i, 3000 + (size_t)i, &b);
		full = false;
		assert_int_equal(a.len, b.len);
		assert_memory_equal(a.data, b.data, a.len);
		buf_free(&b);
	}
	buf_free(&a);
}

/*
 * Interoperability: zlib reads our streams. We read zlib's, with one member or
 * several, and with all fields of a header.
 */
static void
test_others(void **state)
{
	static uint8_t got[SIZE + 1];
	struct buf b;
	gz_header h = { 0 };
	size_t i;
	gzFile f;

	(void)state;
	pack(data, SIZE, 2, SIZE, &b);
	assert_unpacks(&b, data, SIZE, true);
	i = (size_t)open("ours", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(write((int)i, b.data, b.len), b.len);
	close((int)i);
	f = gzopen("ours", "r");
	assert_int_equal(gzread(f, got, sizeof got), SIZE);
	assert_memory_equal(got, data, SIZE);
	assert_int_equal(gzclose(f), Z_OK);
	unlink("ours");
	buf_free(&b);

	memset(&b, 0, sizeof b);
	pack_other(data, SIZE, NULL, &b);
	assert_unpacks(&b, data, SIZE, false);
	buf_free(&b);

	memset(&b, 0, sizeof b);
	h.name = (Bytef *)(uintptr_t)"a name";
	h.comment = (Bytef *)(uintptr_t)"a comment";
	h.extra = (Bytef *)(uintptr_t)"XY\2\0zz";
	h.extra_len = 6;
	h.hcrc = 1;
	h.time = 12345;
	for (i = 0; i < SIZE; i += MIB / 2)
		pack_other(data + i, SIZE - i < MIB / 2 ? SIZE - i : MIB / 2,
		    i % MIB == 0 ? &h : NULL, &b);
	assert_unpacks(&b, data, SIZE, false);
	buf_add(&b, "x", 1);
	assert_refused(&b, "gzip member 8, at byte ");
	buf_free(&b);
}

/*
 * A stream cut anywhere is an error that names the member, for our streams and
 * those of others.
 */
static void
test_cut(void **state)
{
	struct buf b, got, other = { 0 };
	size_t i, at[16], n;

	(void)state;
	pack(data, 300, 1, 300, &b);
	for (i = 2; i < b.len; i++) {
		assert_int_equal(unpack(b.data, i, i % 2, &got, NULL), -1);
		assert_contains(snap_errstr(), i < b.len - 34 ?
		    "gzip member 1, at byte 0: " : "gzip member 2, at byte ");
		assert_contains(snap_errstr(), "cut off ");
		buf_free(&got);
	}
	buf_free(&b);
	pack_other(data, 300, NULL, &other);
	for (i = 2; i < other.len; i++) {
		assert_int_equal(unpack(other.data, i, i % 2, &got, NULL), -1);
		assert_contains(snap_errstr(), "gzip member 1, at byte 0: ");
		buf_free(&got);
	}
	buf_free(&other);
	pack(data, SIZE, 2, SIZE, &b);
	n = members(&b, at);
	assert_int_equal(n, 5);
	for (i = 1; i < n; i++) {
		assert_int_equal(unpack(b.data, at[i], i % 2, &got, NULL), -1);
		assert_contains(snap_errstr(), "was cut off");
		/* complete members were returned */
		assert_int_equal(got.len, i == 4 ? SIZE : i * MIB);
		buf_free(&got);
	}
	buf_free(&b);
}

/*
 * Flip each bit of a small stream: an error, or the same bytes.
 */
static void
test_flips(void **state)
{
	struct buf b, got;
	size_t i, harmless;
	int rc;

	(void)state;
	pack(data, 300, 1, 300, &b);
	for (i = 16, harmless = 0; i < b.len * 8; i++) {
		b.data[i / 8] ^= (uint8_t)(1 << i % 8);
		rc = unpack(b.data, b.len, i % 2, &got, NULL);
		if (rc == -1)
			assert_contains(snap_errstr(), "gzip member ");
		else {
			/* padding between the deflate data and the checksum */
			harmless++;
			assert_int_equal(got.len, 300);
			assert_memory_equal(got.data, data, 300);
		}
		b.data[i / 8] ^= (uint8_t)(1 << i % 8);
		buf_free(&got);
	}
	assert_true(harmless <= 14);
	buf_free(&b);
}

/*
 * A stream of many members ends with a list of them. It can be read like any
 * other stream and all damage is found. Damage to a single member does not
 * prevent random access to the others.
 */
static void
test_listed(void **state)
{
	enum { LISTED = 17, LEN = LISTED * MIB + 5 };
	size_t at[LISTED + 3], i, harmless;
	struct buf b, got;
	struct stream st;
	struct input *in;
	uint8_t *much;
	bool random;
	char word[5];

	(void)state;
	much = calloc(LISTED + 1, MIB);
	assert_non_null(much);
	for (i = 0; i < LISTED; i++)
		memset(much + i * MIB, (int)i + 1, 1000);
	pack(much, LEN, 2, SIZE, &b);
	assert_int_equal(members(&b, at), LISTED + 2);
	assert_int_equal(b.len - at[LISTED + 1], 42 + 4 * (LISTED + 1));
	assert_unpacks(&b, much, LEN, true);
	for (i = at[LISTED + 1], harmless = 0; i < b.len; i++) {
		b.data[i] ^= (uint8_t)(1 << i % 8);
		if (unpack(b.data, b.len, i % 2, &got, &random) == 0)
			harmless++;
		assert_true(got.len == LEN || got.len == 0);
		b.data[i] ^= (uint8_t)(1 << i % 8);
		buf_free(&got);
	}
	assert_true(harmless <= 2);
	for (i = 0; i < 2; i++) {	/* 1: damage the list, salvage */
		b.data[at[3] + 5] ^= 1;
		b.data[at[LISTED + 1] + 40] ^= (uint8_t)i;
		stream_file(&st, b.data, b.len);
		in = input_open(st.path);
		assert_int_equal(input_gunzip(in, i == 1), 0);
		assert_int_equal(in->size, LEN);
		assert_int_equal(input_pread(in, word, 4, 5 * MIB), 0);
		assert_memory_equal(word, much + 5 * MIB, 4);
		assert_int_equal(input_pread(in, word, 4, 3 * MIB), -1);
		input_close(in);
		stream_close(&st);
		b.data[at[3] + 5] ^= 1;
	}
	free(much);
	buf_free(&b);
}

/*
 * Streams of complete members in a wrong order, and false lengths.
 */
static void
test_lies(void **state)
{
	struct buf b, small, x;
	size_t at[16];

	(void)state;
	pack(data, SIZE, 1, SIZE, &b);
	assert_int_equal(members(&b, at), 5);
	pack(data, 300, 1, 300, &small);

	memset(&x, 0, sizeof x);	/* bytes after the end */
	buf_add(&x, small.data, small.len);
	buf_add(&x, "\0", 1);
	assert_refused(&x, "after the last member");
	x.len--;
	buf_add(&x, b.data, b.len);
	assert_refused(&x, "after the last member");
	buf_free(&x);

	memset(&x, 0, sizeof x);	/* a short one, then more */
	buf_add(&x, small.data, small.len - 34);
	buf_add(&x, b.data, b.len);
	assert_refused(&x, "the previous one is short");
	buf_free(&x);

	memset(&x, 0, sizeof x);	/* another's, ours, another's */
	pack_other(data, 300, NULL, &x);
	buf_add(&x, b.data, b.len);
	assert_refused(&x, "has the field SN");
	buf_free(&x);
	memset(&x, 0, sizeof x);
	buf_add(&x, b.data, at[2]);
	pack_other(data, 300, NULL, &x);
	assert_refused(&x, "lacks the field SN");
	buf_free(&x);

	b.data[at[1] + 16] ^= 1;	/* length of the second member */
	assert_refused(&b, "gzip member 2, at byte ");
	b.data[at[1] + 19] = 0x7f;
	assert_refused(&b, "bytes; expected 34 to 2097152");
	b.data[at[1] + 19] = 0;
	b.data[at[1] + 16] ^= 1;
	b.data[at[1] + 23] = 1;		/* its uncompressed length */
	assert_refused(&b, "expected at most 1048576");
	b.data[at[1] + 23] = 0;
	b.data[at[1] + 22] = 0xf;
	b.data[at[1] + 21] = 0xff;
	assert_refused(&b, "that its header claims");
	b.data[at[1] + 22] = 0;		/* as if it were the end */
	b.data[at[1] + 21] = 0;
	assert_refused(&b, "impossible with deflate");
	buf_free(&b);
	small.data[small.len - 34 + 22] = 1; /* last: 65536 bytes in 34 */
	assert_refused(&small, "impossible with deflate");
	buf_free(&small);
}

/*
 * A stream with a damaged second member: all others can be read.
 */
static void
assert_salvages(const char *path)
{
	static uint8_t got[MIB];
	struct input *in;
	size_t i, n;

	in = input_open(path);
	assert_non_null(in);
	assert_int_equal(input_gunzip(in, true), 0);
	assert_int_equal(in->size, SIZE);
	largest = megabytes = 0;
	for (i = 0; i < 300; i++) {
		assert_int_equal(input_pread(in, got, MIB, MIB), -1);
		assert_contains(snap_errstr(), "gzip member 2, at byte ");
	}
	/* repeated attempts take no more memory */
	assert_between(megabytes, 1, 2);
	for (i = 0; i < SIZE; i += n) {
		n = SIZE - i < MIB ? SIZE - i : MIB;
		if (i == MIB)
			continue;
		assert_int_equal(input_pread(in, got, n, i), 0);
		assert_memory_equal(got, data + i, n);
	}
	assert_between(largest, 1, 2 * MIB);
	input_close(in);
}

/*
 * Salvage with a member that is cut off, with one that claims to hold nothing,
 * and with one that is much longer than possible.
 */
static void
test_salvage(void **state)
{
	enum { LONG = 64 * MIB };
	struct input *in;
	struct stream st;
	struct buf b;
	size_t at[16];
	uint8_t c;
	int fd;

	(void)state;
	pack(data, SIZE, 1, SIZE, &b);
	assert_int_equal(members(&b, at), 5);
	stream_file(&st, b.data, at[2] - 1);
	in = input_open(st.path);
	assert_int_equal(input_gunzip(in, true), 0);
	assert_int_equal(input_pread(in, &c, 1, MIB), -1);
	assert_contains(snap_errstr(), "gzip member 2, at byte ");
	assert_contains(snap_errstr(), "cut off at byte ");
	input_close(in);
	stream_close(&st);

	b.data[at[1] + 22] ^= 0x10;	/* length: 1 MiB becomes 0 */
	stream_file(&st, b.data, b.len);
	assert_salvages(st.path);
	stream_close(&st);

	fd = open("long", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_int_equal(pwrite(fd, b.data, at[1], 0), at[1]);
	assert_int_equal(pwrite(fd, b.data + at[2], b.len - at[2], LONG),
	    b.len - at[2]);
	close(fd);
	assert_salvages("long");
	unlink("long");
	buf_free(&b);
}

/*
 * A damaged member is decompressed once: after the first attempt, its bytes are
 * not read again.
 */
static void
test_once(void **state)
{
	struct stream st;
	struct input *in;
	struct buf b;
	size_t at[16], middle;
	uint8_t c;
	int i;

	(void)state;
	pack(data, SIZE, 1, SIZE, &b);
	assert_int_equal(members(&b, at), 5);
	middle = at[1] + (at[2] - at[1]) / 2;
	b.data[middle] ^= 0x10;
	stream_file(&st, b.data, b.len);
	in = input_open(st.path);
	assert_non_null(in);
	assert_int_equal(input_gunzip(in, true), 0);
	b.data[middle] ^= 0x10;
	for (i = 0; i < 2; i++) {
		assert_int_equal(input_pread(in, &c, 1, MIB), -1);
		assert_contains(snap_errstr(), "gzip member 2, at byte ");
		assert_int_equal(input_pread(in, &c, 1, 0), 0);
		/* the file becomes sound */
		assert_int_equal(pwrite(st.fd, b.data + middle, 1,
		    (off_t)middle), 1);
	}
	input_close(in);
	stream_close(&st);
	buf_free(&b);
}

/*
 * A stream of headers without members: only a few are examined.
 */
static void
test_claims(void **state)
{
	enum { HEAD = 24, FAKE = 4 * MIB };
	struct input *in;
	struct stream st;
	struct buf b, fake = { 0 };
	size_t at[16];

	(void)state;
	pack(data, SIZE, 1, SIZE, &b);
	assert_int_equal(members(&b, at), 5);
	buf_add(&fake, b.data, at[1]);
	b.data[at[1] + 16] |= 1;	/* not a multiple of HEAD */
	while (fake.len < FAKE)
		buf_add(&fake, b.data + at[1], HEAD);
	assert_int_equal(buf_check(&fake), 0);
	stream_file(&st, fake.data, fake.len);
	assert_non_null(in = input_open(st.path));
	megabytes = 0;
	assert_int_equal(input_gunzip(in, true), 0);
	assert_between(megabytes, 1, 64 + 8 * 4 + 2);
	input_close(in);
	stream_close(&st);
	buf_free(&fake);
	buf_free(&b);
}

/*
 * Random access by several threads at once.
 */
struct seeker {
	struct input	*in;
	struct source	*src;
	uint64_t	 seed;
	bool		 bad;
};

static void *
seek(void *arg)
{
	static uint8_t zero[KB];
	struct seeker *s = arg;
	struct rng r = { s->seed };
	struct run run;
	uint8_t *buf;
	uint64_t pos, at;
	size_t i, k, n, len;

	buf = malloc(SIZE);
	for (i = 0; i < 300 && buf != NULL && !s->bad; i++) {
		pos = rng_below(&r, SIZE);
		n = rng_below(&r, i % 10 == 0 ? SIZE - pos + 1 :
		    (SIZE - pos) % 5000 + 1);
		s->bad = input_pread(s->in, buf, n, pos) == -1 ||
		    memcmp(buf, data + pos, n) != 0;
		run.loc = pos;
		run.n = rng_below(&r, 70) + 1;
		s->bad |= source_read(s->src, &run, 1, buf) != SOURCE_OK;
		for (k = 0; k < run.n && !s->bad; k++) {
			at = pos + k * (KB + 2);
			len = at >= SIZE ? 0 : SIZE - at < KB ?
			    (size_t)(SIZE - at) : KB;
			s->bad = memcmp(buf + k * KB, data + at, len) != 0 ||
			    memcmp(buf + k * KB + len, zero, KB - len) != 0;
		}
	}
	free(buf);
	return NULL;
}

/*
 * A page of a stream follows the letter r. Without it, there is no page.
 */
static void
check_tags(struct snap *snap, struct input *in)
{
	static uint8_t buf[KB];
	struct source *src;
	struct run run = { 0, 1 };
	uint64_t i;
	size_t n;

	src = input_source(snap, in, KB + 1);
	assert_int_equal(source_read(src, &run, 1, buf), SOURCE_LOST);
	for (i = 0, n = 0; n < 10; i++) {
		run.loc = i + 1;
		if (data[i] == 'r') {
			assert_int_equal(source_read(src, &run, 1, buf),
			    SOURCE_OK);
			assert_memory_equal(buf, data + i + 1, KB);
			n++;
		} else if (i < 3000) {
			assert_int_equal(source_read(src, &run, 1, buf),
			    SOURCE_LOST);
			assert_contains(snap_errstr(),
			    "expected a page, found");
		}
	}
}

static void
test_random(void **state)
{
	struct seeker s[4];
	struct stream st;
	struct input *in;
	struct snap *snap;
	struct buf b;
	pthread_t t[4];
	uint8_t c;
	size_t i;

	(void)state;
	pack(data, SIZE, 2, SIZE, &b);
	stream_file(&st, b.data, b.len);
	in = input_open(st.path);
	assert_non_null(in);
	assert_int_equal(input_gunzip(in, false), 0);
	assert_int_equal(in->size, SIZE);
	snap = snap_new();
	for (i = 0; i < 4; i++) {
		s[i] = (struct seeker){ in, input_source(snap, in, KB + 2),
		    200 + i, false };
		assert_non_null(s[i].src);
		assert_int_equal(pthread_create(&t[i], NULL, seek, &s[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		assert_false(s[i].bad);
	}
	assert_int_equal(input_pread(in, &c, 1, SIZE), -1);
	assert_int_equal(input_pread(in, &c, 1, UINT64_MAX), -1);
	assert_memory_equal(input_peek(in, 10), data, 10);
	check_tags(snap, in);
	input_close(in);	/* sources keep the stream open */
	assert_int_equal(source_read(s[0].src, &(struct run){ 5, 1 }, 1,
	    b.data), SOURCE_OK);
	assert_memory_equal(b.data, data + 5, KB);
	snap_free(snap);
	stream_close(&st);
	buf_free(&b);
}

/*
 * More members than are cached, and more threads that read them. Each kilobyte
 * contains its offset.
 */
enum { MANY = 100, READERS = 90 };

static void *
seek_many(void *arg)
{
	struct seeker *s = arg;
	struct rng r = { s->seed };
	uint64_t pos, i, *buf;
	size_t k, n;

	buf = malloc(MIB);
	for (i = 0; i < 8 && buf != NULL && !s->bad; i++) {
		n = rng_below(&r, MIB / KB) + 1;
		pos = rng_below(&r, MANY * MIB / KB - n);
		s->bad = input_pread(s->in, buf, n * KB, pos * KB) == -1;
		for (k = 0; k < n && !s->bad; k++)
			s->bad = buf[k * KB / 8] != pos + k;
	}
	free(buf);
	return NULL;
}

/*
 * Open a file of MANY members.
 */
static struct input *
many_open(struct stream *st)
{
	struct input *in;
	struct buf b;
	uint64_t *much;
	size_t i;

	much = calloc(MANY, MIB);
	assert_non_null(much);
	for (i = 0; i < MANY * MIB / KB; i++)
		much[i * KB / 8] = i;
	pack((uint8_t *)much, MANY * MIB, 4, SIZE, &b);
	free(much);
	stream_file(st, b.data, b.len);
	buf_free(&b);
	in = input_open(st->path);
	assert_int_equal(input_gunzip(in, false), 0);
	assert_int_equal(in->size, MANY * MIB);
	return in;
}

static void
test_many(void **state)
{
	struct seeker s[READERS];
	struct stream st;
	struct input *in;
	pthread_t t[READERS];
	size_t i;

	(void)state;
	in = many_open(&st);
	for (i = 0; i < READERS; i++) {
		s[i] = (struct seeker){ in, NULL, 300 + i, false };
		assert_int_equal(pthread_create(&t[i], NULL, seek_many,
		    &s[i]), 0);
	}
	for (i = 0; i < READERS; i++) {
		pthread_join(t[i], NULL);
		assert_false(s[i].bad);
	}
	input_close(in);
	stream_close(&st);
}

/*
 * Return the number of allocated MiB; 0 if the C library has no function for
 * it.
 */
static size_t
heap_size(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
	const struct mallinfo2 m = mallinfo2();

	return (m.uordblks + m.hblkhd) / MIB;
#else
	return 0;
#endif
}

/*
 * The cache keeps to its limit: the heap grows by less than twice the limit,
 * and by much more without one.
 */
static void
test_kept(void **state)
{
	static uint8_t buf[KB];
	const size_t keep[] = { 8, 0 };
	struct stream st;
	struct input *in;
	size_t i, k, n, before;

	(void)state;
	for (k = 0; k < 2; k++) {
		before = heap_size();
		in = many_open(&st);
		if (keep[k] > 0)
			input_keep(in, keep[k]);
		for (n = 0; n < 3; n++)
			for (i = 0; i < MANY; i++)
				assert_int_equal(input_pread(in, buf, KB,
				    i * MIB), 0);
		n = heap_size() - before;
		/* sanitizers have their own heap, whose size is not reported */
		if (keep[k] > 0)
			assert_between(n, 0, 2 * keep[k]);
		else if (n > 0)
			assert_between(n, 4 * keep[0], 2 * MANY);
		input_close(in);
		stream_close(&st);
	}
}

/*
 * Parts of any length. Long ones are decompressed by several threads.
 */
static void
test_long(void **state)
{
	static uint8_t got[SIZE];
	struct stream st;
	struct input *in;
	struct buf b;
	struct rng r;
	uint64_t pos;
	size_t i, n;

	(void)state;
	rng_init(&r, "long parts", 104);
	pack(data, SIZE, 2, SIZE, &b);
	stream_file(&st, b.data, b.len);
	in = input_open(st.path);
	assert_int_equal(input_gunzip(in, false), 0);
	for (i = 0; i < 100; i++) {
		pos = i == 0 ? 0 : rng_below(&r, SIZE);
		n = i == 0 ? SIZE : (size_t)rng_below(&r, SIZE - pos + 1);
		if (i % 3 == 1)		/* at the boundaries of members */
			pos -= pos % MIB;
		if (i % 3 == 2)
			n -= (pos + n) % MIB < n ? (pos + n) % MIB : 0;
		memset(got, 0xa5, sizeof got);
		assert_int_equal(input_pread(in, got, n, pos), 0);
		assert_memory_equal(got, data + pos, n);
		assert_true(n == SIZE || got[n] == 0xa5);
	}
	input_close(in);
	stream_close(&st);
	buf_free(&b);
}

/*
 * Read a stream at random, member by member, and all at once. Each read is
 * right or fails. Return the number of failures.
 */
static int
unpack_random(const struct buf *b)
{
	static uint8_t got[MIB], all[SIZE];
	struct stream st;
	struct input *in;
	uint64_t pos;
	size_t n;
	int bad;

	stream_file(&st, b->data, b->len);
	in = input_open(st.path);
	assert_int_equal(input_gunzip(in, false), 0);
	bad = in->size == UINT64_MAX ? -1 : 0;
	for (pos = 0; bad >= 0 && pos < in->size; pos += n) {
		n = in->size - pos < MIB ? (size_t)(in->size - pos) : MIB;
		if (input_pread(in, got, n, pos) == 0) {
			assert_true(n <= SIZE - pos);
			assert_memory_equal(got, data + pos, n);
		} else {
			assert_contains(snap_errstr(), "gzip member ");
			assert_contains(snap_errstr(), ", at byte ");
			bad++;
		}
	}
	if (bad >= 0 && in->size <= SIZE) {
		assert_int_equal(input_pread(in, all, (size_t)in->size, 0),
		    bad > 0 ? -1 : 0);
		if (bad > 0)
			assert_contains(snap_errstr(), "gzip member ");
		else
			assert_memory_equal(all, data, (size_t)in->size);
	}
	input_close(in);
	stream_close(&st);
	return bad;
}

static void
test_randomflips(void **state)
{
	struct buf b, got;
	struct rng r;
	size_t i, bit, at[16];
	int bad, n[3] = { 0, 0, 0 };

	(void)state;
	rng_init(&r, "random flips", 102);
	pack(data, SIZE, 2, SIZE, &b);
	members(&b, at);
	for (i = 0; i < 60; i++) {
		bit = 16 + rng_below(&r, b.len * 8 - 16);
		if (i % 3 == 0)	/* in a header */
			bit = (at[i / 3 % 5] + 2) * 8 + rng_below(&r, 22 * 8);
		if (i % 3 == 1)	/* in a trailer */
			bit = at[i / 3 % 5 + 1] * 8 - 1 - rng_below(&r, 64);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		bad = unpack_random(&b);
		assert_between(bad + 1, 0, 2);
		n[bad + 1]++;
		if (unpack(b.data, b.len, i % 2, &got, NULL) == 0) {
			assert_int_equal(got.len, SIZE);
			assert_memory_equal(got.data, data, SIZE);
		} else
			assert_memory_equal(got.data, data, got.len);
		buf_free(&got);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	/* found by the table, harmless, and found when the member is read */
	assert_true(n[0] >= 19 && n[2] >= 19 && n[1] <= 8);
	buf_free(&b);
}

/*
 * Holes are compressed like other bytes. A failed file is removed.
 */
static void
test_output(void **state)
{
	static uint8_t zero[300000], want[600010];
	struct output *o;
	struct buf b;
	int fd[2];
	char path[64];

	(void)state;
	o = output_open("packed");
	assert_int_equal(output_compress(o, 0), 0);
	output_put(o, data, 10);
	output_hole(o, sizeof zero);
	assert_int_equal(output_pos(o), 10 + sizeof zero);
	output_put(o, data, sizeof zero);
	assert_int_equal(output_commit(o), 0);
	slurp("packed", &b);
	memcpy(want, data, 10);
	memcpy(want + 10 + sizeof zero, data, sizeof zero);
	assert_unpacks(&b, want, sizeof want, true);
	buf_free(&b);
	unlink("packed");

	o = output_open("packed");
	assert_int_equal(output_compress(o, 3), 0);
	output_put(o, data, SIZE);
	output_abort(o);
	assert_int_equal(access("packed", F_OK), -1);

	o = output_open("/dev/full");
	assert_int_equal(output_compress(o, 2), 0);
	output_put(o, data, SIZE);
	assert_int_equal(output_commit(o), -1);
	assert_contains(snap_errstr(), strerror(ENOSPC));

	assert_int_equal(pipe(fd), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd[1]);
	o = output_open(path);
	close(fd[0]);
	close(fd[1]);
	assert_int_equal(output_compress(o, 2), 0);
	output_put(o, data, SIZE);
	output_put(o, data, SIZE);
	(void)output_flush(o);
	assert_int_equal(output_commit(o), -1);
	assert_contains(snap_errstr(), strerror(EPIPE));
}

/*
 * A published file has the bytes up to the mark, followed by "end".
 */
static void
assert_moments(size_t n, bool compress)
{
	static uint8_t want[2 * MIB + 3];
	struct buf b;

	memcpy(want, data, n);
	memcpy(want + n, "end", 3);
	slurp("moments", &b);
	if (compress)
		assert_unpacks(&b, want, n + 3, true);
	else {
		assert_int_equal(b.len, n + 3);
		assert_memory_equal(b.data, want, n + 3);
	}
	buf_free(&b);
}

/*
 * A file is complete several times; appending replaces its end.
 */
static void
test_marks(void **state)
{
	struct output *o;
	size_t i, n;
	bool compress;

	(void)state;
	for (i = 0; i < 2; i++) {
		compress = i == 1;
		o = output_open("moments");
		assert_int_equal(compress ? output_compress(o, 2) : 0, 0);
		output_put(o, data, 3);
		assert_int_equal(output_lacks(o, 0), compress ? MIB - 3 : 0);
		assert_int_equal(output_lacks(o, MIB - 3),
		    compress ? MIB - 3 : 0);
		assert_int_equal(output_lacks(o, MIB - 2),
		    compress ? 2 * MIB - 3 : 0);
		output_put(o, data + 3, MIB - 3);
		for (n = MIB;; n += MIB) {
			assert_int_equal(output_mark(o), 0);
			output_put(o, "end", 3);
			assert_int_equal(output_publish(o), 0);
			assert_moments(n, compress);
			assert_int_equal(output_rewind(o), 0);
			assert_int_equal(output_pos(o), n);
			output_put(o, data + n, MIB);
			if (n == 2 * MIB)
				break;
		}
		assert_int_equal(output_mark(o), 0);
		assert_int_equal(output_undo(o), 0);
		output_abort(o);
		assert_moments(n, compress);
		unlink("moments");
		o = output_open("/dev/full");
		assert_int_equal(compress ? output_compress(o, 2) : 0, 0);
		output_put(o, data, MIB);
		assert_int_equal(output_mark(o), -1);
		assert_contains(snap_errstr(), strerror(ENOSPC));
		output_abort(o);
	}
}

/*
 * Nothing behind the bytes of a member is read to compress them.
 */
static void
test_bounds(void **state)
{
	enum { LEN = 65536 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static uint8_t out[GZIP_ROOM];
	z_stream z = { 0 };
	uint8_t *p;

	(void)state;
	p = mmap(NULL, LEN + page, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	memcpy(p, data, LEN);
	assert_int_equal(mprotect(p + LEN, page, PROT_NONE), 0);
	assert_int_equal(gzip_packer(&z), 0);
	assert_between(gzip_pack(&z, p, LEN, out), 1, GZIP_ROOM);
	deflateEnd(&z);
	munmap(p, LEN + page);
}

static int
write_nothing(void *arg, const void *p, size_t n)
{
	(void)arg;
	(void)p;
	(void)n;
	return -1;
}

static void
test_unwritten(void **state)
{
	struct gzipout *g;

	(void)state;
	g = gzipout_new(2, write_nothing, NULL);
	assert_non_null(g);
	assert_int_equal(gzipout_put(g, "abc", 3), 0);
	assert_int_equal(gzipout_end(g), -1);
	gzipout_free(g);
}

/*
 * A snapshot in our gzip and another program's, from a file and from a pipe, is
 * read without keeping it in memory.
 */
static void
test_snapshot(void **state)
{
	struct snap *s, *t;
	struct buf b, z[2] = { { 0 }, { 0 } };
	struct rng r;
	int i;

	(void)state;
	rng_init(&r, "snapshot", 103);
	s = snap_make(&r, false);
	snap_bytes(s, &b);
	pack(b.data, b.len, 2, 4096, &z[0]);
	pack_other(b.data, b.len, NULL, &z[1]);
	for (i = 0; i < 4; i++) {
		t = stream_read(z[i / 2].data, z[i / 2].len, i % 2);
		if (t == NULL)
			fail_msg("%s", snap_errstr());
		assert_snaps_equal(s, t);
		snap_free(t);
	}
	z[0].data[z[0].len / 2] ^= 16;
	for (i = 0; i < 2; i++) {
		assert_null(stream_read(z[0].data, z[0].len, i % 2));
		assert_contains(snap_errstr(), "gzip member 1, at byte 0: ");
	}
	snap_free(s);
	buf_free(&b);
	buf_free(&z[0]);
	buf_free(&z[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_roundtrip),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_listed),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_salvage),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_randomflips),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_unwritten),
		cmocka_unit_test(test_snapshot),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, setup, teardown);
}
