/*
 * Any bytes as a compressed stream: it is refused, or its content is the same
 * from a file, from memory and with random access. The headers and checksums of
 * half of the inputs are corrected first, so that other code is reached.
 */
#include "fuzz_snap.h"
#include "io/io.h"

#include <zlib.h>

enum { MOST = 1 << 22 };	/* bytes that are compared */

#ifdef LIBFUZZER
#include "fuzz_mutate.h"
#include "io/gzip/gzip.h"

enum { MEMBERS = 200 };		/* of an input that are changed */

static struct {
	const uint8_t	*at[MEMBERS];
	struct gzhead	 h[MEMBERS];
	size_t		 n;
} members;

/*
 * Find the members of our stream. Return the offset of the bytes after them.
 */
static size_t
members_get(const uint8_t *p, size_t n)
{
	struct gzhead h;
	size_t at;

	members.n = 0;
	for (at = 0; members.n < MEMBERS && n - at >= MIN_GZIP &&
	    gzip_head(p + at, &h) == 1 && h.len <= n - at; at += h.len) {
		members.at[members.n] = p + at;
		members.h[members.n++] = h;
	}
	return at;
}

/*
 * Append the n bytes at raw to b as one or two members.
 */
static void
member_add(struct buf *b, const uint8_t *raw, size_t n)
{
	static uint8_t out[GZIP_ROOM];
	static z_stream z;
	size_t part;

	if (z.state == NULL && gzip_packer(&z) == -1)
		return;
	part = n > 1 && mutate_pick(3) == 0 ? 1 + mutate_pick(n - 1) : n;
	buf_add(b, out, gzip_pack(&z, raw, part, out));
	if (part < n)
		buf_add(b, out, gzip_pack(&z, raw + part, n - part, out));
}

/*
 * Append to b member i with other content, or empty.
 */
static void
member_change(struct buf *b, size_t i)
{
	static uint8_t raw[GZIP_RAW];
	static z_stream z;
	const struct gzhead *h = &members.h[i];
	size_t n = h->raw;

	if (z.state == NULL)
		inflateInit2(&z, -MAX_WBITS);
	if (h->head != GZIP_HEAD || gzip_unpack(&z, members.at[i], h, raw) ==
	    -1) {
		buf_add(b, members.at[i], h->len);
		return;
	}
	if (mutate_pick(2) == 0)
		n = mutate_text(raw, n, sizeof raw);
	else if (mutate_pick(8) == 0)	/* noise, which is stored */
		for (n = 0; n < 70000; n++)
			raw[n] = (uint8_t)mutate_random();
	member_add(b, raw, n);
}

/*
 * Append to b an empty member that lists the members in b, as in our streams.
 */
static void
list_add(struct buf *b)
{
	static uint8_t out[GZIP_TABLE + 4 * MEMBERS];
	struct buf lens = { 0 };
	uint8_t len[4];
	size_t i;

	(void)members_get(b->data, b->len);
	for (i = 0; i < members.n; i++) {
		num_put(len, members.h[i].len + (mutate_pick(200) == 0), 4);
		buf_add(&lens, len, sizeof len);
	}
	if (members.n >= GZIP_MANY)
		buf_add(b, out, gzip_list(&lens, out));
	buf_free(&lens);
}

/*
 * Change, drop or duplicate a member of the stream at p. Append all members and
 * the remaining bytes to b.
 */
static void
members_mutate(struct buf *b, const uint8_t *p, size_t n)
{
	size_t end = members_get(p, n), i, k, which, times, op;

	which = mutate_pick(members.n);
	op = mutate_pick(4);
	for (i = 0; i < members.n; i++) {
		times = i != which || op > 1 ? 1 : op == 0 ? 0 :
		    mutate_pick(4) == 0 ? 20 : 2;
		for (k = 0; k < times; k++)
			if (i == which && op == 2)
				member_change(b, i);
			else
				buf_add(b, members.at[i], members.h[i].len);
		if (i == which && op == 3 && !b->failed)
			num_put(b->data + b->len - members.h[i].len +
			    (mutate_pick(2) ? 16 : 20), members.h[i].len +
			    mutate_pick(65) - 32, 4);
		if (i + 2 == members.n && members.h[i + 1].raw == 0 &&
		    mutate_pick(2) == 0) {
			list_add(b);
			break;
		}
	}
	buf_add(b, p + end, n - end);
}

/*
 * Change the members of a stream, and correct lengths and checksums.
 */
size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	struct buf b = { 0 };
	size_t r;

	mutate_seed(seed);
	if (mutate_pick(8) == 0 || (members_get(p, n), members.n == 0))
		return LLVMFuzzerMutate(p, n, max);
	members_mutate(&b, p, n);
	r = mutate_finish(p, &b, max);
	return r > 0 ? r : LLVMFuzzerMutate(p, n, max);
}
#endif

/*
 * Read a stream to its end. Append its bytes to b, up to about MOST.
 */
static int
gzip_all(struct input *in, struct buf *b)
{
	size_t n;

	MUST(in != NULL);
	MUST(input_gunzip(in, false) == 0);
	while (b->len < MOST && (n = input_fill(in, 1)) > 0) {
		buf_add(b, in->buf + in->start, n);
		input_skip(in, n);
	}
	return b->len >= MOST || input_end(in) == 0 ? 0 : -1;
}

/*
 * Read it at random, from the end to the start.
 */
static void
check_random(struct input *in, const struct buf *want)
{
	static uint8_t got[70000];
	uint64_t pos, n;

	for (pos = want->len; pos > 0; pos -= n) {
		n = pos < sizeof got ? pos : sizeof got;
		MUST(input_pread(in, got, (size_t)n, pos - n) == 0);
		MUST(memcmp(got, want->data + pos - n, (size_t)n) == 0);
	}
}

static void
check_gzip(const uint8_t *data, size_t n)
{
	struct buf a = { 0 }, b = { 0 };
	struct input *in;
	char path[64];
	int fd, rc;

	MUST((in = input_memory("memory", data, n)) != NULL);
	rc = gzip_all(in, &a);
	input_close(in);
	fd = memory_file(data, n);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	MUST((in = input_open(path)) != NULL);
	MUST(gzip_all(in, &b) == rc);
	MUST(a.len == b.len);
	MUST(a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
	if (rc == 0 && a.len < MOST && in->size != UINT64_MAX &&
	    !input_plain(in)) {
		MUST(in->size == a.len);
		check_random(in, &a);
	}
	input_close(in);
	close(fd);
	buf_free(&a);
	buf_free(&b);
}

static void
put32(uint8_t *p, size_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/*
 * Check a member with data as its deflate data, followed by our empty last
 * member.
 */
static void
check_member(const uint8_t *data, size_t n)
{
	static const uint8_t end[34] = "\37\213\10\4\0\0\0\0\4\3\14\0SN\10\0"
	    "\42\0\0\0\0\0\0\0\3";
	static uint8_t raw[1 << 20];
	z_stream z = { 0 };
	uint8_t *p;

	MUST((p = malloc(24 + n + 8 + sizeof end)) != NULL);
	memcpy(p, end, 16);
	memcpy(p + 24, data, n);
	MUST(inflateInit2(&z, -MAX_WBITS) == Z_OK);
	z.next_in = p + 24;
	z.avail_in = (uInt)n;
	z.next_out = raw;
	z.avail_out = sizeof raw;
	(void)inflate(&z, Z_FINISH);
	put32(p + 16, 24 + n + 8);
	put32(p + 20, z.total_out);
	put32(p + 24 + n, crc32(0, raw, (uInt)z.total_out));
	put32(p + 24 + n + 4, z.total_out);
	inflateEnd(&z);
	memcpy(p + 24 + n + 8, end, sizeof end);
	check_gzip(p, 24 + n + 8 + sizeof end);
	free(p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (n > 0 && *data == 'm')
		check_member(data + 1, n - 1);
	else
		check_gzip(data, n);
	return 0;
}
