/*
 * Who reads what we write.  If such a process were stopped, we would wait
 * for it, and it for us; and so in a pipeline for the filters behind it.
 *
 * Readers hold the other end of the pipe or fifo that is our output; of a
 * socket, the kernel tells who made it (SO_PEERCRED, unix(7)).
 * A filter has the one as its standard input, and writes its standard
 * output.  What a process might do with other descriptors is not guessed.
 */
#include "calls.h"
#include "clock.h"
#include "stopping.h"
#include "vec.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fifo {
	uint64_t	 dev;
	uint64_t	 ino;
};

struct pipeline {		/* who may be some */
	struct fifo	*fifo;		/* owned: that lead away from us */
	size_t		 nfifo;
	pid_t		 peer;		/* of a socket; or 0 */
	bool		 grew;
	pid_t		 pid;		/* being looked at */
	bool		 reads;		/* it does */
	bool		 filters;	/* from its standard input */
};

static bool
fifo_known(const struct pipeline *s, const struct statx *sx)
{
	uint64_t dev;
	size_t i;

	dev = makedev(sx->stx_dev_major, sx->stx_dev_minor);
	for (i = 0; i < s->nfifo; i++)
		if (s->fifo[i].dev == dev && s->fifo[i].ino == sx->stx_ino)
			return true;
	return false;
}

static void
fifo_add(struct pipeline *s, const struct statx *sx)
{
	if (fifo_known(s, sx) || VEC_ROOM(s->fifo, s->nfifo) == -1)
		return;
	s->fifo[s->nfifo].dev = makedev(sx->stx_dev_major, sx->stx_dev_minor);
	s->fifo[s->nfifo++].ino = sx->stx_ino;
	s->grew = true;
}

/*
 * Return how a descriptor is open, O_RDONLY and so on; -1 if that is not told.
 */
static int
fd_mode(pid_t pid, long fd)
{
	char name[32];
	struct fdinfo f;
	struct bytes b;

	snprintf(name, sizeof name, "fdinfo/%ld", fd);
	if (proc_read(pid, 0, name, &b) == -1)
		return -1;
	fdinfo_parse(&f, b.data, b.len);
	free(b.data);
	return f.told ? (int)(f.flags & ACCESS_MODE) : -1;
}

static bool
fd_fifo(pid_t pid, long fd, struct statx *sx)
{
	return fd_see(pid, fd, sx) == 0 && S_ISFIFO(sx->stx_mode);
}

static int
search_fd(void *arg, long fd)
{
	struct pipeline *s = arg;
	struct statx sx;

	if (fd_fifo(s->pid, fd, &sx) && fifo_known(s, &sx) &&
	    fd_mode(s->pid, fd) != O_WRONLY) {
		s->reads = true;
		if (fd == STDIN_FILENO)
			s->filters = true;
	}
	return 0;
}

static int
search_pid(void *arg, long pid)
{
	struct pipeline *s = arg;
	struct statx sx;

	s->pid = (pid_t)pid;
	s->reads = s->filters = false;
	if (s->pid == getpid())
		return 0;
	(void)proc_list(s->pid, "fd", search_fd, s);
	if (s->filters && fd_fifo(s->pid, STDOUT_FILENO, &sx))
		fifo_add(s, &sx);
	return 0;
}

static void
search_ours(struct pipeline *s, int out)
{
	struct ucred peer;
	struct statx sx;
	socklen_t len;

	if (statx(out, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO,
	    &sx) == -1)
		return;
	if (S_ISFIFO(sx.stx_mode))
		fifo_add(s, &sx);
	len = sizeof peer;
	if (S_ISSOCK(sx.stx_mode) && getsockopt(out, SOL_SOCKET,
	    SO_PEERCRED, &peer, &len) == 0 && peer.pid > 0)
		s->peer = peer.pid;
}

/*
 * Look through all processes for filters that lead on, until none is new.
 */
static void
search_all(struct pipeline *s)
{
	while (s->grew && s->nfifo > 0) {
		s->grew = false;
		(void)proc_list(0, NULL, search_pid, s);
	}
}

/*
 * Return true if process pid reads what we write now, perhaps through others.
 * Which filters there are is looked for once, and then of each process that is
 * asked for.
 */
static bool
reads_now(struct live *l, pid_t pid)
{
	struct pipeline *s = l->pipeline;

	if (s == NULL) {
		if ((s = l->pipeline = calloc(1, sizeof *s)) == NULL)
			return false;
		search_ours(s, l->opts.out);
		search_all(s);
	}
	if (pid == s->peer)
		return true;
	if (s->nfifo == 0)
		return false;
	s->grew = false;
	(void)search_pid(s, pid);
	if (s->grew) {
		search_all(s);
		(void)search_pid(s, pid);
	}
	return s->reads;
}

/*
 * Return true if process pid reads what we write, perhaps through others.
 * While nothing of set l is stopped, only who does for longer than the moment
 * in which a shell that begins a pipeline holds both ends of its pipe.
 */
bool
pipeline_reads(struct live *l, pid_t pid)
{
	const int looks = l->stopped ? 1 : 10;
	int i;

	for (i = 0; i < looks && reads_now(l, pid); i++)
		if (!l->stopped)
			nap_us(20000);
	return i == looks;
}

/*
 * Free the pipeline of set l.
 */
void
pipeline_free(struct live *l)
{
	if (l->pipeline != NULL)
		free(l->pipeline->fifo);
	free(l->pipeline);
}
