/*
 * Frames of a move: a letter, the length of the data in four bytes, the most
 * significant first, and the data. snap-internals(7) lists the letters.
 */
#include "full.h"
#include "io.h"

#include <sys/uio.h>

#include <poll.h>
#include <unistd.h>
#ifdef ZSTD
#include <zstd.h>
#endif

enum { HEAD = 5 };		/* length of a frame's header, in bytes */

/*
 * Return a buffer for the compressed data of a frame, or NULL if memory runs
 * out.
 */
static uint8_t *
packed_room(void)
{
	static uint8_t *room;

	if (room == NULL)
		room = malloc(MAX_FRAME);
	return room;
}

/*
 * Compress the n bytes at data, the contents of a frame, if a write to fd would
 * have to wait: the reader is then slower than the compression. Return the
 * compressed bytes, with their number in *len. Return data, with n in *len, if
 * they are to be sent uncompressed.
 */
static const uint8_t *
frame_pack(int fd, const uint8_t *data, size_t n, size_t *len)
{
#ifdef ZSTD
	enum { LEAST = 1024, LEVEL = 1 };
	static ZSTD_CCtx *z;
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	uint8_t *room = packed_room();
	size_t packed;

	if (z == NULL)
		z = ZSTD_createCCtx();
	if (n >= LEAST && z != NULL && room != NULL && poll(&p, 1, 0) == 0) {
		packed = ZSTD_compressCCtx(z, room, n - 1, data, n, LEVEL);
		if (!ZSTD_isError(packed)) {
			*len = packed;
			return room;
		}
	}
#else
	(void)fd;
#endif
	*len = n;
	return data;
}

/*
 * Decompress the n bytes in packed_room() to buf, which has room for MAX_FRAME
 * bytes. Set *n to the number of bytes there. Return 0, or -1 with errstr set.
 */
static int
frame_unpack(void *buf, size_t *n)
{
#ifdef ZSTD
	*n = ZSTD_decompress(buf, MAX_FRAME, packed_room(), *n);
	return !ZSTD_isError(*n) ? 0 : errstr_set("standard input: zstd: %s",
	    ZSTD_getErrorName(*n));
#else
	(void)buf;
	(void)n;
	return errstr_set("standard input: cannot decompress zstd");
#endif
}

/*
 * Write the head and the n bytes at data to fd, with one call if possible.
 * Return 0, or -1 with errno set.
 */
static int
write_both(int fd, uint8_t head[HEAD], const uint8_t *data, size_t n)
{
	struct iovec v[2] = { { head, HEAD },
	    { (void *)(uintptr_t)data, n } };
	size_t done;
	ssize_t rc;

	rc = writev(fd, v, 2);
	if (rc == -1 && errno != EINTR)
		return -1;
	done = rc == -1 ? 0 : (size_t)rc;
	if (done < HEAD && full_write(fd, head + done, HEAD - done) == -1)
		return -1;
	done = done < HEAD ? 0 : done - HEAD;
	return full_write(fd, data + done, n - done);
}

/*
 * Write the n bytes at data to fd, in frames whose type is letter. If n is 0,
 * write one empty frame. FRAME_DATA may become FRAME_PACKED. Return 0, or -1
 * with errno set.
 */
int
frame_write(int fd, char letter, const void *data, size_t n)
{
	uint8_t head[HEAD];
	const uint8_t *p = data, *from;
	size_t len, sent;

	do {
		len = sent = n < MAX_FRAME ? n : MAX_FRAME;
		from = p;
		if (letter == FRAME_DATA)
			from = frame_pack(fd, p, len, &sent);
		head[0] = (uint8_t)(from == p ? letter : FRAME_PACKED);
		head[1] = (uint8_t)(sent >> 24);
		head[2] = (uint8_t)(sent >> 16);
		head[3] = (uint8_t)(sent >> 8);
		head[4] = (uint8_t)sent;
		if (write_both(fd, head, from, sent) == -1)
			return -1;
		p += len;
		n -= len;
	} while (n > 0);
	return 0;
}

/*
 * Read n bytes from fd to buf. Return 1, or 0 at the end of the file, or -1
 * with errno set.
 */
static int
read_all(int fd, void *buf, size_t n)
{
	uint8_t *p = buf;
	ssize_t got;

	for (; n > 0; p += got, n -= (size_t)got) {
		got = read(fd, p, n);
		if (got == -1 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			return (int)got;
	}
	return 1;
}

/*
 * Read a frame from fd. Set *letter to its type, and *n to the length of its
 * data. Store the data in buf, which must have room for MAX_FRAME bytes;
 * decompress that of FRAME_PACKED, which becomes FRAME_DATA. Return 1, or 0 if
 * the file ends, or -1 with errstr set.
 */
int
frame_read(int fd, char *letter, void *buf, size_t *n)
{
	uint8_t head[HEAD];
	void *to = buf;
	int rc;

	if ((rc = read_all(fd, head, sizeof head)) != 1)
		return rc == 0 ? 0 : errstr_sys("standard input");
	*letter = (char)head[0];
	*n = (size_t)head[1] << 24 | (size_t)head[2] << 16 |
	    (size_t)head[3] << 8 | head[4];
	if (*n > MAX_FRAME)
		return errstr_set("standard input: invalid frame length: "
		    "%zu bytes", *n);
	if (*letter == FRAME_PACKED && (to = packed_room()) == NULL)
		return errstr_set("out of memory");
	if ((rc = read_all(fd, to, *n)) == -1)
		return errstr_sys("standard input");
	if (rc == 1 && *letter == FRAME_PACKED) {
		*letter = FRAME_DATA;
		rc = frame_unpack(buf, n) == -1 ? -1 : 1;
	}
	return rc;
}
