/*
 * Record pipes and FIFOs and the data in them, which tee(2) copies without
 * consuming it. The proxy does this: a thread of a target that reads from the
 * pipe into memory whose pages never arrive holds the lock of the pipe, and
 * these calls wait for it.
 */
#include "calls.h"
#include "opened.h"

#include <sys/ioctl.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/*
 * Append to b a copy of the n bytes in the pipe open as fd, without waiting.
 * capacity is the size of the pipe in bytes.
 */
static int
pipe_copy(int fd, int capacity, size_t n, struct buf *b)
{
	uint8_t *to = NULL;
	ssize_t got;
	int p[2], rc = 0;

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return errstr_sys("pipe");
	if (fcntl(p[1], F_GETPIPE_SZ) < capacity &&
	    fcntl(p[1], F_SETPIPE_SZ, capacity) == -1)
		rc = errstr_sys("cannot create a pipe of %d bytes", capacity);
	else if ((got = tee(fd, p[1], INT_MAX, SPLICE_F_NONBLOCK)) == -1)
		rc = errstr_sys("tee");
	else if ((size_t)got != n)
		rc = errstr_set("copied %zd bytes instead of %zu", got, n);
	else if ((to = buf_room(b, n)) == NULL)
		rc = -1;
	while (rc == 0 && b->len < n) {
		got = read(p[0], to + b->len, n - b->len);
		if (got <= 0 && (got == 0 || errno != EINTR))
			rc = errstr_sys("read");
		b->len += got > 0 ? (size_t)got : 0;
	}
	close(p[0]);
	close(p[1]);
	return rc;
}

/*
 * Return the resource that represents the inode of pipe t. FIFOs of two file
 * systems may have the same inode number, but only the first of them can be
 * recorded. For the other, return NULL with the reason set in t. Also return
 * NULL if memory runs out.
 */
static struct resource *
pipe_inode(struct filerec *t)
{
	struct resource key = { .kind = RESOURCE_INODE, .dev = t->dev,
	    .ino = t->ino };
	struct resource *inode, *owner;

	inode = resource_get(t->live->files, &key);
	key.dev = 0;
	key.id = t->dev;
	owner = inode == NULL ? NULL : resource_get(t->live->files, &key);
	if (owner == NULL)
		t->out.failed = true;
	else if (owner->id == t->dev)
		return inode;
	else
		tell_why(t, "a FIFO on another file system has the same inode "
		    "number");
	return NULL;
}

/*
 * Return true if the other end of the pipe open as fd has been closed.
 */
static bool
pipe_isalone(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) == 1 && p.revents & (POLLHUP | POLLERR);
}

/*
 * Return true if the data in pipe t should be recorded. That is so if t is the
 * first reading end of the pipe that was seen.
 */
bool
pipe_isread(struct filerec *t)
{
	struct resource *seen;

	if ((seen = pipe_inode(t)) == NULL || seen->recorded ||
	    (t->flags & ACCESS_MODE) == O_WRONLY)
		return false;
	seen->recorded = true;
	return true;
}

/*
 * Record the data in pipe t as the file pipe/INO. capacity is the size of the
 * pipe in bytes.
 */
static void
pipe_data(struct filerec *t, int capacity)
{
	struct buf b = { 0 };
	char name[48];
	int n;

	if (ioctl(t->dup, FIONREAD, &n) == -1 || n == 0)
		return;
	if (queue_spend(&t->live->files->budget, (uint64_t)n) == -1 ||
	    pipe_copy(t->dup, capacity, (size_t)n, &b) == -1) {
		tell_why(t, "cannot read the data in it: %s", snap_errstr());
		buf_free(&b);
		return;
	}
	snprintf(name, sizeof name, "pipe/%ju", (uintmax_t)t->ino);
	filelist_buf(t->data, name, &b);
}

/*
 * Append to the record of t, duplicated in t->dup, the lines that only pipes
 * have.
 */
void
pipe_record(struct filerec *t)
{
	int capacity;

	if ((capacity = fcntl(t->dup, F_GETPIPE_SZ)) == -1) {
		tell_why(t, "cannot read its capacity");
		return;
	}
	buf_printf(&t->out, "capacity %d\n", capacity);
	if (pipe_isalone(t->dup))
		buf_puts(&t->out, "alone 1\n");
	if (t->reads)
		pipe_data(t, capacity);
}
