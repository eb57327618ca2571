/*
 * Find the processes that read our output. If such a process were stopped, we
 * would wait for it, and it for us. The same is true of the filters that follow
 * it in a pipeline.
 *
 * A reader has the other end of the pipe or fifo that is our output open. If
 * our output is a socket, SO_PEERCRED (unix(7)) gives the process that made it.
 * A filter is a process that reads such a pipe as its standard input; its
 * standard output, if a pipe, is searched for readers as well. Other
 * descriptors are ignored.
 */
#include "calls.h"
#include "stopping.h"
#include "clock.h"
#include "vec.h"

#include <sys/socket.h>

#include <fcntl.h>
#include <unistd.h>

struct pipeline {		/* how our output reaches other processes */
	struct live	*live;		/* borrowed; remembers the pipes and
					   fifos that carry our output */
	bool		 any;		/* there is such a pipe or fifo */
	pid_t		 peer;		/* process at the other end of our
					   socket; 0: none */
	bool		 grew;
	pid_t		 pid; /* process whose descriptors are searched */
	bool		 reads; /* process pid reads a pipe that carries our
				   output */
	bool		 filters; /* the standard input of process pid is a pipe
				     that carries our output */
};

/*
 * Return the place that is set if the fifo of sx carries our output, or NULL if
 * memory runs out.
 */
static void **
fifo_place(const struct pipeline *s, const struct statx *sx)
{
	return live_cell(s->live, "fifo %ju %ju", (uintmax_t)statx_dev(sx),
	    (uintmax_t)sx->stx_ino);
}

static void
fifo_add(struct pipeline *s, const struct statx *sx)
{
	if (cell_once(fifo_place(s, sx)))
		s->any = s->grew = true;
}

/*
 * Return the access mode (O_RDONLY and so on) of descriptor fd of process pid,
 * or -1 if it cannot be read.
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
	return f.has_flags ? (int)(f.flags & ACCESS_MODE) : -1;
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
	void **place;

	if (fd_fifo(s->pid, fd, &sx) &&
	    (place = fifo_place(s, &sx)) != NULL && *place != NULL &&
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
 * Search all processes for filters that pass our output on. Repeat this until a
 * search finds no new pipe.
 */
static void
search_all(struct pipeline *s)
{
	while (s->grew) {
		s->grew = false;
		(void)proc_list(0, NULL, search_pid, s);
	}
}

/*
 * Return true if process pid reads our output now, directly or through filters.
 * The first call searches all processes for filters. A later call looks only at
 * pid; if pid is a new filter, it searches all processes again.
 */
static bool
reads_now(struct live *l, pid_t pid)
{
	struct pipeline *s = l->pipeline;

	if (s == NULL) {
		if ((s = pool_new(&l->pool, 1, sizeof *s)) == NULL)
			return false;
		l->pipeline = s;
		s->live = l;
		search_ours(s, l->opts.out);
		search_all(s);
	}
	if (pid == s->peer)
		return true;
	if (!s->any)
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
 * Return true if process pid reads our output, directly or through filters. As
 * long as no process of set l is stopped, pid must do so for 200 ms. This
 * excludes a shell that is starting a pipeline: it holds both ends of the pipe
 * for a moment.
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
