/*
 * The spool: an unlinked temporary file for pages that come through a pipe, or
 * that will be gone when they are needed.
 */
#include "full.h"
#include "io.h"
#include "source.h"
#include "vec.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	8U	/* from linux/memfd.h; Linux 6.3 */
#endif

enum { SPOOLBUF = 256 * KB };

static const struct source_ops spool_ops = {
	.read = file_read, .free = file_free
};

static bool inmemory;		/* temporary files are made in memory */

/*
 * If memory is true, spool_file() makes files in memory from now on, and else
 * in TMPDIR. A process that decides which files may be opened (fanotify(7))
 * could hold up the other kind while it is stopped.
 */
void
spool_inmemory(bool memory)
{
	inmemory = memory;
}

/*
 * Return the directory for temporary files: TMPDIR, or else /tmp.
 */
static const char *
spool_dir(void)
{
	const char *dir;

	dir = getenv("TMPDIR");
	return dir == NULL || *dir == '\0' ? "/tmp" : dir;
}

/*
 * Create a temporary file without a name. Return its descriptor, or -1 with
 * errstr set.
 */
int
spool_file(void)
{
	const char *dir;
	char *name;
	int fd, rc;

	if (helper_there())
		return helper_ask('S', NULL, &rc);
	if (inmemory)
		return (fd = spool_memory("snap", 0)) == -1 ?
		    errstr_sys("temporary file in memory") : fd;
	dir = spool_dir();
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd == -1 && asprintf(&name, "%s/snap.XXXXXX", dir) != -1) {
		/* file system without O_TMPFILE */
		if ((fd = mkostemp(name, O_CLOEXEC)) != -1)
			(void)unlink(name);
		free(name);
	}
	return fd == -1 ? errstr_sys("temporary file in %s", dir) : fd;
}

/*
 * Create a file in memory with memfd_create(2). flags are for that call; name
 * is the name that /proc shows. The file is never executable, since
 * vm.memfd_noexec may forbid executable ones
 * (Documentation/userspace-api/mfd_noexec.rst of Linux). Return its descriptor,
 * or -1 with errno set.
 */
int
spool_memory(const char *name, unsigned int flags)
{
	int fd;

	flags |= MFD_CLOEXEC;
	fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd == -1 && errno == EINVAL)	/* MFD_NOEXEC_SEAL is new in
						   Linux 6.3 */
		fd = memfd_create(name, flags);
	return fd;
}

/*
 * Make an empty spool, a source of snapshot s. Return it, or NULL with errstr
 * set.
 */
struct source *
source_spool(struct snap *s)
{
	struct source *src;
	int fd;

	if ((fd = spool_file()) == -1)
		return NULL;
	if ((src = file_new(s, fd, "spool", KB, &spool_ops)) == NULL) {
		close(fd);
		return NULL;
	}
	((struct filesource *)src)->buf = mem_new(1, SPOOLBUF);
	return ((struct filesource *)src)->buf == NULL ? NULL : src;
}

/*
 * Write the n bytes at p to temporary file fd. Return 0, or -1 with errstr
 * set.
 */
int
spool_write(int fd, const void *p, size_t n)
{
	return full_write(fd, p, n) == -1 ? errstr_sys("temporary file in "
	    "%s", spool_dir()) : 0;
}

/*
 * Write the buffered bytes of spool src, so that they can be read. Return 0, or
 * -1 with errstr set.
 */
int
spool_flush(struct source *src)
{
	struct filesource *f = (struct filesource *)src;
	size_t n;

	n = f->nbuf;
	f->nbuf = 0;
	return spool_write(f->fd, f->buf, n);
}

/*
 * Append a page of len bytes, at most KB, to spool src. Pad it with zeros to
 * KB. It can be read after spool_flush(). Return its location, or -1 with
 * errstr set.
 */
int64_t
spool_add(struct source *src, const void *page, size_t len)
{
	struct filesource *f = (struct filesource *)src;

	if (f->nbuf == SPOOLBUF && spool_flush(src) == -1)
		return -1;
	memcpy(f->buf + f->nbuf, page, len);
	memset(f->buf + f->nbuf + len, 0, KB - len);
	f->nbuf += KB;
	f->size += KB;
	return (int64_t)(f->size - KB);
}

/*
 * Reserve len bytes at the end of spool src. The caller must write them to the
 * spool's file (source_fd()) before calling spool_finish(), and must not use
 * spool_add() on the same spool. Return the location of the bytes.
 */
uint64_t
spool_room(struct source *src, uint64_t len)
{
	struct filesource *f = (struct filesource *)src;
	uint64_t at;

	at = f->size;
	f->size += len;
	return at;
}

/*
 * Write the buffered bytes of spool src, after all bytes were added. Return 0,
 * or -1 with errstr set.
 */
int
spool_finish(struct source *src)
{
	struct filesource *f = (struct filesource *)src;
	int rc;

	rc = spool_flush(src);
	free(f->buf);
	f->buf = NULL;
	return rc;
}
