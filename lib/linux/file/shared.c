/*
 * Copies of files that processes share and write to, mostly shared memory, as
 * they were when all processes were stopped. Each file is copied once, into an
 * unnamed temporary file, which is read in its place.
 */
#include "clock.h"
#include "file.h"
#include "io/io.h"
#include "vec.h"

#include <sys/resource.h>

#include <fcntl.h>
#include <unistd.h>

struct shmcopy {
	struct shmcopy	*next;	/* owned; next copy with the same inode, from
				   another IPC namespace */
	struct stat	 st;	/* status of the file when it was copied */
	uint64_t	 ipc;	/* IPC namespace, as ipc_space returns it */
	int		 fd;	/* owned; the copy */
};

/*
 * Return the number of the IPC namespace of process p if path belongs to System
 * V shared memory. Return 0 for other paths, and for NULL.
 */
uint64_t
ipc_space(const struct lproc *p, const char *path)
{
	return path == NULL || strncmp(path, "/SYSV", 5) != 0 ? 0 :
	    ns_number(p->mmtid, "ipc");
}

/*
 * Return the number of the IPC namespace of process p if descriptor fd refers
 * to System V shared memory. Return 0 for other files.
 */
static uint64_t
ipc_find(const struct lproc *p, int fd)
{
	char name[32], *path;
	uint64_t ipc;

	snprintf(name, sizeof name, "fd/%d", fd);
	path = proc_link(getpid(), 0, name);
	ipc = ipc_space(p, path);
	free(path);
	return ipc;
}

/*
 * Return true if f is a copy of the System V shared memory that st describes.
 * Process p must have that memory mapped. The same ID may exist in two IPC
 * namespaces, so the namespaces are also compared. A process that changed its
 * namespace keeps its mappings, so size and change time are compared as well,
 * if st has them.
 */
static bool
ipc_same(const struct shmcopy *f, const struct lproc *p, const struct stat *st)
{
	return f->ipc == ipc_space(p, "/SYSV") &&
	    (st->st_ctim.tv_sec == 0 || (f->st.st_size == st->st_size &&
	    timespec_ns(&f->st.st_ctim) == timespec_ns(&st->st_ctim)));
}

/*
 * Return the copy of a file of process p, or NULL if the file was not copied.
 * The file is the one that st describes; st needs only the device and inode.
 */
static const struct shmcopy *
shmcopy_find(struct live *l, const struct lproc *p, const struct stat *st)
{
	const struct setfile *s = setfile_find(l, st->st_dev, st->st_ino);
	const struct shmcopy *f = s == NULL ? NULL : s->shmcopy;

	while (f != NULL && f->ipc != 0 && !ipc_same(f, p, st))
		f = f->next;
	return f;
}

/*
 * Append the range of a file from offset start up to offset end to the array
 * *run, which has *n elements.
 */
static int
run_add(struct copyrun **run, size_t *n, off_t start, off_t end)
{
	return start >= end ? 0 : VEC_ADD(*run, *n, (struct copyrun){
	    (uint64_t)start, (uint64_t)start, (uint64_t)(end - start) });
}

/*
 * Find the parts of the file open as fd that are not holes. size is the size of
 * the file in bytes. Set *run to an array of the parts, which the caller frees,
 * and *n to its length.
 */
static int
data_find(int fd, off_t size, struct copyrun **run, size_t *n)
{
	off_t data, hole;

	for (hole = 0; hole < size;) {
		if ((data = lseek(fd, hole, SEEK_DATA)) == -1)
			return errno == ENXIO ? 0 : run_add(run, n, hole,
			    size);
		if ((hole = lseek(fd, data, SEEK_HOLE)) == -1)
			hole = size;
		if (hole > size)	/* the file grew */
			hole = size;
		if (run_add(run, n, data, hole) == -1)
			return -1;
	}
	return 0;
}

/*
 * Return true if the file appears to have no holes. This is so if a process had
 * all of it mapped and resident, and enough blocks are allocated for its size.
 * The caller then need not search for holes, which takes a fifth of the time of
 * copying the file.
 */
static bool
is_dense(struct live *l, const struct stat *st)
{
	enum { BLOCK = 512 };	/* unit of st_blocks in bytes: stat(3type) */
	const struct setfile *f = setfile_find(l, st->st_dev, st->st_ino);
	const uint64_t size = (uint64_t)st->st_size;

	return size > 0 && (uint64_t)st->st_blocks >= (size + BLOCK - 1) /
	    BLOCK && f != NULL && f->bytes >= size;
}

/*
 * Copy the file with descriptor src and status st to descriptor dest. Its holes
 * stay holes.
 */
static int
copy_data(struct live *l, int src, int dest, const struct stat *st)
{
	const off_t size = st->st_size;
	struct copyjob j = { .in = src, .out = dest, .shorter = true,
	    .sparse = true };
	struct copyrun *run = NULL;
	int rc;

	if (ftruncate(dest, size) == -1)
		return errstr_sys("temporary file");
	rc = is_dense(l, st) ? run_add(&run, &j.n, 0, size) :
	    data_find(src, size, &run, &j.n);
	j.run = run;
	if (rc == 0 && (rc = prepared_copy(l, &j)) == -1)
		errstr_wrap("shared memory");
	free(run);
	return rc;
}

static void
shmcopy_drop(struct shmcopy *f)
{
	fd_drop(f->fd);
	free(f);
}

/*
 * Return a descriptor of a new file for a copy of size bytes, or -1 with errstr
 * set. A small file is created in memory: a process may have thousands, and
 * creating one on disk takes longer than copying it.
 */
static int
copy_file(struct live *l, off_t size)
{
	enum { SMALL = 16 * KB };
	int fd;

	fd = size > SMALL ? -1 : spool_memory("snap", 0);
	return fd != -1 ? fd : prepared_file(l);
}

/*
 * Return 0 if one more file can be copied, else -1 with errstr set. Each copy
 * needs two descriptors, one of them only while the file is copied. A third of
 * the limit on descriptors is left for other uses.
 */
static int
shmcopy_hasroom(const struct live *l)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1 || l->nshm < rl.rlim_cur / 3)
		return 0;
	return errstr_set("cannot copy more shared files than a third of "
	    "RLIMIT_NOFILE (%ju)", (uintmax_t)rl.rlim_cur);
}

/*
 * Copy a file of process p, unless it is already copied. fd is its descriptor,
 * and st describes it. Return 0, or -1 with errstr set.
 */
int
shmcopy_make(struct live *l, const struct lproc *p, int fd,
    const struct stat *st)
{
	struct setfile *s;
	struct shmcopy *f;

	if (shmcopy_has(l, p, st))
		return 0;
	if (shmcopy_hasroom(l) == -1 ||
	    (s = setfile_get(l, st->st_dev, st->st_ino)) == NULL ||
	    (f = mem_new(1, sizeof *f)) == NULL)
		return -1;
	f->ipc = ipc_find(p, fd);
	f->st = *st;
	if ((f->fd = copy_file(l, st->st_size)) == -1 ||
	    copy_data(l, fd, f->fd, st) == -1) {
		shmcopy_drop(f);
		return -1;
	}
	f->next = s->shmcopy;
	s->shmcopy = f;
	l->nshm++;
	return 0;
}

/*
 * Return true if capture l has a copy of the file of process p that st
 * describes.
 */
bool
shmcopy_has(struct live *l, const struct lproc *p, const struct stat *st)
{
	return shmcopy_find(l, p, st) != NULL;
}

/*
 * Return a descriptor for reading a file of process p, which *st describes. fd
 * is a descriptor of the file itself, or -1. If capture l has no copy of the
 * file, return fd. If it has one, close fd, return a descriptor of the copy,
 * and set *st to the status of the file when it was copied. Return -1 with
 * errno set if that fails.
 */
int
shmcopy_open(struct live *l, const struct lproc *p, int fd,
    struct stat *st)
{
	const struct shmcopy *f;

	if ((f = shmcopy_find(l, p, st)) == NULL)
		return fd;
	fd_drop(fd);
	*st = f->st;
	return fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
}

/*
 * Free all file copies of capture l.
 */
void
shmcopies_free(struct live *l)
{
	struct setfile *s;
	struct shmcopy *f;

	for (s = NULL; (s = setfile_next(l, s)) != NULL;)
		while ((f = s->shmcopy) != NULL) {
			s->shmcopy = f->next;
			shmcopy_drop(f);
		}
	l->nshm = 0;
}
