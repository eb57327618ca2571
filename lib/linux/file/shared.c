/*
 * Files that processes share and write to, as they were when all were
 * stopped: shared memory, for the most part.  Each is copied once, into a
 * temporary file without a name, which is read in its stead.
 */
#include "clock.h"
#include "file.h"
#include "io/io.h"
#include "vec.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct shmcopy {
	struct shmcopy	*next;	/* owned; another: memory of System V */
	struct stat	 st;	/* of the file, when it was frozen */
	uint64_t	 ipc;	/* as ipc_space tells of who has it */
	int		 fd;	/* owned; the copy */
};

/*
 * Return the number of the IPC namespace of process p if path, or NULL, is that
 * of memory of System V; 0 for other files.
 */
uint64_t
ipc_space(const struct lproc *p, const char *path)
{
	return path == NULL || strncmp(path, "/SYSV", 5) != 0 ? 0 :
	    ns_number(p->mmtid, "ipc");
}

/*
 * Return the same of the file that is open as fd.
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
 * Return true if memory of System V that was frozen is that which process p
 * has, and st tells of: each namespace has its own of each number, and they
 * are on one device.  Who changes its namespace keeps the memory.
 */
static bool
ipc_same(const struct shmcopy *f, const struct lproc *p, const struct stat *st)
{
	return f->ipc == ipc_space(p, "/SYSV") &&
	    (st->st_ctim.tv_sec == 0 || (f->st.st_size == st->st_size &&
	    timespec_ns(&f->st.st_ctim) == timespec_ns(&st->st_ctim)));
}

/*
 * Return what was frozen of a file that process p has, of which st tells at
 * least device and inode; or NULL.
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
 * Add what lies at from..to of a file (exclusive) to *run, of *n.  Return 0, or
 * -1 with errstr.
 */
static int
run_add(struct copyrun **run, size_t *n, off_t from, off_t to)
{
	if (from >= to)
		return 0;
	if (VEC_ROOM(*run, *n) == -1)
		return -1;
	(*run)[(*n)++] = (struct copyrun){ (uint64_t)from, (uint64_t)from,
	    (uint64_t)(to - from) };
	return 0;
}

/*
 * Set *run, which the caller frees, to what a file of size bytes has that is no
 * hole, and *n to how many runs that are.  Return 0, or -1 with errstr.
 */
static int
data_find(int in, off_t size, struct copyrun **run, size_t *n)
{
	off_t data, hole;

	for (hole = 0; hole < size;) {
		if ((data = lseek(in, hole, SEEK_DATA)) == -1)
			return errno == ENXIO ? 0 : run_add(run, n, hole,
			    size);
		if ((hole = lseek(in, data, SEEK_HOLE)) == -1)
			hole = size;
		if (hole > size)	/* it grows */
			hole = size;
		if (run_add(run, n, data, hole) == -1)
			return -1;
	}
	return 0;
}

/*
 * Return true if a file has no holes, as far as can be told: all of it was
 * mapped and resident in a process, and as many blocks are taken now.  To look
 * for holes takes a fifth of the time that it takes to copy it.
 */
static bool
is_dense(struct live *l, const struct stat *st)
{
	enum { BLOCK = 512 };	/* of st_blocks: stat(3type) */
	const struct setfile *f = setfile_find(l, st->st_dev, st->st_ino);
	const uint64_t size = (uint64_t)st->st_size;

	return size > 0 && (uint64_t)st->st_blocks >= (size + BLOCK - 1) /
	    BLOCK && f != NULL && f->bytes >= size;
}

/*
 * Copy what a file has, of which st tells; where it has nothing, the copy has
 * nothing either.
 */
static int
copy_data(struct live *l, int in, int out, const struct stat *st)
{
	const off_t size = st->st_size;
	struct copyjob j = { .in = in, .out = out, .shorter = true,
	    .sparse = true };
	struct copyrun *run = NULL;
	int rc;

	if (ftruncate(out, size) == -1)
		return errstr_sys("temporary file");
	rc = is_dense(l, st) ? run_add(&run, &j.n, 0, size) :
	    data_find(in, size, &run, &j.n);
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
 * Return a file for a copy of size bytes, or -1 with errstr.  A small one is in
 * memory: on a disk it takes longer to make the file than to copy it, and a
 * process may have thousands of them.
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
 * Return 0 if one more file can be frozen, else -1 with errstr.  Each takes a
 * descriptor, and another where it is read; others need some, too.
 */
static int
shmcopy_hasroom(const struct live *l)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1 || l->nshm < rl.rlim_cur / 3)
		return 0;
	return errstr_set("more files are shared than a third of "
	    "RLIMIT_NOFILE (%ju)", (uintmax_t)rl.rlim_cur);
}

/*
 * Freeze, in set l, a file of process p that is open as fd, and of which st
 * tells, unless that has been done.  Return 0, or -1 with errstr.
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
 * Return true if a file of process p of set l, of which st tells, has been
 * frozen.
 */
bool
shmcopy_has(struct live *l, const struct lproc *p, const struct stat *st)
{
	return shmcopy_find(l, p, st) != NULL;
}

/*
 * Open what is to be read for a file of process p of set l that is open as fd
 * (or not: -1): fd, unless it was frozen; then fd is closed.  Return a
 * descriptor, or -1 with errno, and set *st to what it was then.
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
 * Free what was frozen in set l.
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
