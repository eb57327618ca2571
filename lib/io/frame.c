/*
 * Frames of a move: a letter, the length of the data in four bytes, the most
 * significant first, and the data. snap-internals(7) lists the letters.
 */
#include "full.h"
#include "io.h"

#include <sys/uio.h>

#include <unistd.h>

enum { HEAD = 5 };		/* length of a frame's header, in bytes */

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
 * write one empty frame. Return 0, or -1 with errno set.
 */
int
frame_write(int fd, char letter, const void *data, size_t n)
{
	uint8_t head[HEAD] = { (uint8_t)letter };
	const uint8_t *p = data;
	size_t len;

	do {
		len = n < MAX_FRAME ? n : MAX_FRAME;
		head[1] = (uint8_t)(len >> 24);
		head[2] = (uint8_t)(len >> 16);
		head[3] = (uint8_t)(len >> 8);
		head[4] = (uint8_t)len;
		if (write_both(fd, head, p, len) == -1)
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
 * data. Store the data in buf, which must have room for MAX_FRAME bytes. Return
 * 1, or 0 if the file ends, or -1 with errstr set.
 */
int
frame_read(int fd, char *letter, void *buf, size_t *n)
{
	uint8_t head[HEAD];
	int rc;

	if ((rc = read_all(fd, head, sizeof head)) != 1)
		return rc == 0 ? 0 : errstr_sys("standard input");
	*letter = (char)head[0];
	*n = (size_t)head[1] << 24 | (size_t)head[2] << 16 |
	    (size_t)head[3] << 8 | head[4];
	if (*n > MAX_FRAME)
		return errstr_set("standard input: invalid frame length: "
		    "%zu bytes", *n);
	if ((rc = read_all(fd, buf, *n)) == -1)
		return errstr_sys("standard input");
	return rc;
}
