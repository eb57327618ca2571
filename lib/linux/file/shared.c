/*
 * Files that processes share and write to, as they were when all were
 * stopped: shared memory, for the most part.  Each is copied once, into a
 * temporary file without a name, which is read in its stead.
 */
#include "file.h"
#include "full.h"
#include "io/io.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct frozen {
	struct frozen	*next;	/* owned */
	struct stat	 st;	/* of the file, when it was frozen */
	int		 fd;	/* owned; the copy */
};

enum { BLOCK = 256 * KB };

static const struct frozen *
frozen_find(const struct live *l, const struct stat *st)
{
	const struct frozen *f;

	for (f = l->frozen; f != NULL; f = f->next)
		if (f->st.st_dev == st->st_dev && f->st.st_ino == st->st_ino)
			break;
	return f;
}

/*
 * Copy the bytes from..to of a file to another, at the same place, or up to
 * its end.  Return 0, or -1 with errstr.
 */
static int
copy_run(int in, int out, off_t from, off_t to)
{
	static uint8_t buf[BLOCK];
	size_t n, want;

	for (n = want = 0; from < to && n == want; from += (off_t)n) {
		want = to - from < BLOCK ? (size_t)(to - from) : BLOCK;
		n = full_pread(in, buf, want, (uint64_t)from);
		if (n < want && errno != 0)
			return errstr_sys("shared memory");
		if (full_pwrite(out, buf, n, (uint64_t)from) == -1)
			return errstr_sys("temporary file");
	}
	return 0;
}

/*
 * Copy what a file of size bytes has; where it has nothing, the copy has
 * nothing either.
 */
static int
copy_data(int in, int out, off_t size)
{
	off_t data, hole;

	if (ftruncate(out, size) == -1)
		return errstr_sys("temporary file");
	for (hole = 0; hole < size;) {
		if ((data = lseek(in, hole, SEEK_DATA)) == -1)
			return errno == ENXIO ? 0 : copy_run(in, out, hole,
			    size);
		if ((hole = lseek(in, data, SEEK_HOLE)) == -1)
			hole = size;
		if (hole > size)	/* it grows */
			hole = size;
		if (copy_run(in, out, data, hole) == -1)
			return -1;
	}
	return 0;
}

/*
 * Freeze a file that is open as fd, and of which st tells, unless that has
 * been done.  Return 0, or -1 with errstr.
 */
int
frozen_copy(struct live *l, int fd, const struct stat *st)
{
	struct frozen *f;
	int copy;

	if (frozen_has(l, st))
		return 0;
	if ((copy = spool_file()) == -1)
		return -1;
	if (copy_data(fd, copy, st->st_size) == -1) {
		close(copy);
		return -1;
	}
	if ((f = malloc(sizeof *f)) == NULL) {
		close(copy);
		return errstr_set("out of memory");
	}
	f->next = l->frozen;
	f->st = *st;
	f->fd = copy;
	l->frozen = f;
	return 0;
}

/*
 * Return true if a file, of which st tells, has been frozen.
 */
bool
frozen_has(const struct live *l, const struct stat *st)
{
	return frozen_find(l, st) != NULL;
}

/*
 * Open what is to be read for a file that is open as fd (or not: -1): fd,
 * unless it was frozen; then fd is closed.  Return a descriptor, or -1 with
 * errno, and set *st to what it was then.
 */
int
frozen_open(const struct live *l, int fd, struct stat *st)
{
	const struct frozen *f;

	if ((f = frozen_find(l, st)) == NULL)
		return fd;
	if (fd != -1)
		close(fd);
	*st = f->st;
	return fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
}

void
frozen_free(struct live *l)
{
	struct frozen *f;

	while ((f = l->frozen) != NULL) {
		l->frozen = f->next;
		close(f->fd);
		free(f);
	}
}
