/*
 * Any bytes as a compressed stream: it is refused, or it is the same from a
 * file, from memory and at random.  Half of the inputs have their headers and
 * sums made right first, so that more than these is reached.
 */
#include "fuzz_snap.h"
#include "io/io.h"

#include <zlib.h>

enum { MOST = 1 << 22 };	/* bytes that are looked at */

/*
 * Read a stream to its end: its bytes, as many as are looked at.
 */
static int
gzip_read(struct input *in, struct buf *b)
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
 * The same at random, from behind.
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
	rc = gzip_read(in, &a);
	input_close(in);
	fd = memory_file(data, n);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	MUST((in = input_open(path)) != NULL);
	MUST(gzip_read(in, &b) == rc);
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
 * One member of ours around bytes that may be deflate's, the empty one behind
 * it.
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
