/*
 * Files of threads below /proc.  Those that are read of each in the stop are
 * opened before: to open and close one takes several times as long as to read
 * it.  The kernel has some five kilobytes for each that was read.  Where they
 * are too many, or may not be had, they are opened when they are read.
 */
#include "stop.h"

#include <sys/resource.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
	HELD_MOST = 8192,	/* files */
	HELD_PART = 8		/* of the descriptors that may be had */
};

static const char *const names[NHELD] = {
	[HELD_SCHEDSTAT] = "schedstat",
	[HELD_COMM] = "comm",
};

/*
 * Hold the directory of all threads of process p: 0, or -1 with errno.
 */
static int
tasks_open(struct lproc *p)
{
	if (p->taskdir == -1)
		p->taskdir = proc_open(p->pid, 0, "task",
		    O_RDONLY | O_DIRECTORY);
	return p->taskdir == -1 ? -1 : 0;
}

/*
 * Open a file of thread tid of process p to read it.  The directory of all
 * threads stays open until threads_close.  Return a descriptor, or -1 with
 * errno.
 */
int
thread_open(struct lproc *p, pid_t tid, const char *file)
{
	char name[64];

	if (tasks_open(p) == -1)
		return -1;
	snprintf(name, sizeof name, "%d/%s", tid, file);
	return openat(p->taskdir, name, O_RDONLY | O_CLOEXEC);
}

/*
 * Read where the link file of thread tid of process p leads into buf, of size
 * bytes, as readlink(2) does, and return as that.
 */
ssize_t
thread_link(struct lproc *p, pid_t tid, const char *file, char *buf,
    size_t size)
{
	char name[64];

	if (tasks_open(p) == -1)
		return -1;
	snprintf(name, sizeof name, "%d/%s", tid, file);
	return readlinkat(p->taskdir, name, buf, size);
}

/*
 * Hold no directory of process p any more.
 */
void
threads_close(struct lproc *p)
{
	if (p->taskdir != -1)
		close(p->taskdir);
	p->taskdir = -1;
}

/*
 * Open a file of thread t of process p: of the one that leads it without a
 * directory that is held open.  A descriptor, or -1 with errno.
 */
static int
file_open(struct lproc *p, const struct lthread *t, enum heldfile file)
{
	return t->tid == p->pid && p->taskdir == -1 ?
	    proc_open(p->pid, 0, names[file], O_RDONLY) :
	    thread_open(p, t->tid, names[file]);
}

/*
 * Open the files of thread t of process p that are read in the stop, and keep
 * them open until thread_letgo.
 */
void
thread_hold(struct lproc *p, struct lthread *t)
{
	struct rlimit rl;
	int i;

	for (i = 0; i < NHELD; i++) {
		if (t->held[i] != -1 ||
		    (t->held[i] = file_open(p, t, (enum heldfile)i)) == -1)
			continue;
		/* descriptors are given out from the lowest number on */
		if (t->held[i] < HELD_MOST &&
		    getrlimit(RLIMIT_NOFILE, &rl) == 0 &&
		    (rlim_t)t->held[i] < rl.rlim_cur / HELD_PART)
			continue;
		close(t->held[i]);
		t->held[i] = -1;
	}
}

/*
 * Read a file of thread t of process p, from its first byte on, into size bytes
 * at buf.  Return how many it has, or -1 with errno.
 */
ssize_t
thread_read(struct lproc *p, const struct lthread *t, enum heldfile file,
    char *buf, size_t size)
{
	ssize_t n;
	int fd;

	if (t->held[file] != -1)
		return pread(t->held[file], buf, size, 0);
	if ((fd = file_open(p, t, file)) == -1)
		return -1;
	n = read(fd, buf, size);
	close(fd);
	return n;
}
