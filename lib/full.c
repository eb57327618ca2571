/*
 * Read and write completely: repeat read(2) and write(2) after short results
 * and interruptions. Close a descriptor that may be -1.
 */
#include "full.h"

#include <fcntl.h>
#include <unistd.h>

/*
 * Close descriptor fd, unless it is -1. Keep errno.
 */
void
fd_drop(int fd)
{
	const int e = errno;

	if (fd != -1)
		close(fd);
	errno = e;
}

/*
 * Read len bytes of file fd into buf. off is the offset of the first of them in
 * the file. Return the number of bytes read. If that is less than len, set
 * errno: 0 at the end of the file, otherwise the error that ended the read.
 */
size_t
full_pread(int fd, void *buf, size_t len, uint64_t off)
{
	uint8_t *p = buf;
	size_t done;
	ssize_t n;

	for (done = 0; done < len; done += (size_t)n) {
		n = pread(fd, p + done, len - done, (off_t)(off + done));
		if (n == -1 && errno == EINTR)
			n = 0;
		else if (n <= 0) {
			errno = n == 0 ? 0 : errno;
			break;
		}
	}
	return done;
}

/*
 * Append the rest of file fd to b. Return 0, or -1 with errno set. The caller
 * must free b, even on failure.
 */
static int
full_read(int fd, struct buf *b)
{
	enum { ROOM = 16384 };
	uint8_t *p;
	ssize_t n;

	for (;;) {
		if ((p = buf_room(b, ROOM)) == NULL) {
			errno = ENOMEM;
			return -1;
		}
		n = read(fd, p, b->cap - b->len);
		if (n == 0)
			return 0;
		if (n > 0)
			b->len += (size_t)n;
		else if (errno != EINTR)
			return -1;
	}
}

/*
 * Append to b the contents of the file at path. path is relative to dir, as for
 * openat(2). The caller must free b, even on failure. Return 0, or -1 with
 * errno set.
 */
int
full_readfile(int dir, const char *path, struct buf *b)
{
	int fd, rc;

	if ((fd = openat(dir, path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	rc = full_read(fd, b);
	fd_drop(fd);
	return rc;
}

/*
 * Write the len bytes at buf to fd. Return 0, or -1 with errno set.
 */
int
full_write(int fd, const void *buf, size_t len)
{
	const uint8_t *p;
	ssize_t n;

	for (p = buf; len > 0; p += n, len -= (size_t)n) {
		n = write(fd, p, len);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1)
			return -1;
	}
	return 0;
}

/*
 * Write the len bytes at buf to file fd at offset off. Return 0, or -1 with
 * errno set.
 */
int
full_pwrite(int fd, const void *buf, size_t len, uint64_t off)
{
	const uint8_t *p;
	ssize_t n;

	for (p = buf; len > 0; p += n, off += (uint64_t)n, len -= (size_t)n) {
		n = pwrite(fd, p, len, (off_t)off);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1)
			return -1;
	}
	return 0;
}
