/*
 * The looker: a process that looks at what waits in UNIX sockets, for which one
 * must set what is the socket's and not ours.  It goes through with that
 * whatever happens to us and sets back what it found.  It is begun for the
 * first socket, is sent one after another, and ends when we close the other
 * end of its own.
 *
 * The descriptors that waited with what it saw are its own until then, so that
 * they can be told of.  It closes them, not we: to close a file may be to wait
 * for who serves it, and is stopped by us.
 */
#include "calls.h"
#include "io/io.h"
#include "looker.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {				/* ms that it has for that */
	CLOSING = 100,		/* while all are stopped */
	ENDING = 1000,		/* after that */
	STEP = 10		/* between two looks at it */
};

struct looker {			/* on our side */
	pid_t		 pid;
	int		 pidfd;	/* owned; of it */
	int		 fd;	/* owned; -1: it is to end */
	struct queue	*q;	/* owned */
};

/*
 * The life of the looker, which has no descriptor but the one through which it
 * hears, and those that it finds; signals do not reach it.
 */
static void __attribute__((noreturn))
looker_main(const int sock[2], struct queue *q)
{
	struct order o;
	const struct iovec v = { &o, sizeof o };
	struct rlimit rl;
	int fd;

	(void)setpgid(0, 0);
	/* it ends when nobody has that one, which Linux before 5.9 leaves */
	close(sock[0]);
	(void)dup2(sock[1], 0);
	(void)call_closefrom(1);
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	while (passfd_receive(0, &v, 1, &fd) == sizeof o) {
		queue_look(fd, &o, q);
		close(fd);
		if (send(0, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

/*
 * Start the looker.  Return NULL with errstr if that fails.
 */
struct looker *
looker_begin(void)
{
	struct looker *k;
	sigset_t all, old;
	int sock[2];

	if ((k = calloc(1, sizeof *k)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	k->q = mmap(NULL, sizeof *k->q, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (k->q == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET |
	    SOCK_CLOEXEC, 0, sock) == -1) {
		errstr_sys("a process that looks at packets");
		goto fail;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((k->pid = fork()) == 0)
		looker_main(sock, k->q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(sock[1]);
	k->fd = sock[0];
	if (k->pid != -1) {
		k->pidfd = (int)syscall(SYS_pidfd_open, k->pid, 0);
		return k;
	}
	errstr_sys("fork");
	close(k->fd);
fail:
	if (k->q != MAP_FAILED)
		munmap(k->q, sizeof *k->q);
	free(k);
	return NULL;
}

/*
 * Tell looker k, which may be NULL, to end, and wait for that, but not long.
 */
void
looker_leave(struct looker *k)
{
	struct pollfd p = { .events = POLLIN };

	if (k == NULL || k->fd == -1)
		return;
	close(k->fd);
	k->fd = -1;
	p.fd = k->pidfd;
	(void)poll(&p, 1, CLOSING);
}

/*
 * End looker k, which may be NULL, and free it.  One that still waits for who
 * serves a file ends when it can, and is nobody's then, as we have ended.
 */
void
looker_end(struct looker *k)
{
	struct pollfd p = { .events = POLLIN };
	int ms;

	if (k == NULL)
		return;
	looker_leave(k);
	p.fd = k->pidfd;
	for (ms = 0; waitpid(k->pid, NULL, WNOHANG) == 0 && ms < ENDING;
	    ms += STEP)
		(void)poll(&p, 1, STEP);
	if (k->pidfd != -1)
		close(k->pidfd);
	munmap(k->q, sizeof *k->q);
	free(k);
}

/*
 * Have looker k look at the socket that is open as fd, as order o says.  Return
 * 0 when it has seen all, or -1 with errstr.
 */
int
looker_ask(struct looker *k, int fd, const struct order *o)
{
	const struct iovec v = { (struct order *)(uintptr_t)o, sizeof *o };
	struct queue *q = k->q;
	ssize_t n;
	char c;

	memset(q, 0, offsetof(struct queue, data));
	if (passfd_send(k->fd, &v, 1, fd) == -1)
		return errstr_sys("a process that looks at packets");
	do
		n = recv(k->fd, &c, 1, 0);
	while (n == -1 && errno == EINTR);
	if (n == 1 && q->done == 1)
		return 0;
	if (n == 1 && q->done == EMSGSIZE)
		return errstr_set("more than %zu packets, %zu bytes",
		    q->npacket, q->nbyte);
	errno = n != 1 || q->done == 0 ? EIO : q->done;
	return errstr_sys("SO_PEEK_OFF");
}

/*
 * Return what looker k saw last.
 */
const struct queue *
looker_queue(const struct looker *k)
{
	return k->q;
}

/*
 * Return the process that looker k is, of which *pidfd is a pidfd, borrowed, or
 * -1.
 */
pid_t
looker_process(const struct looker *k, int *pidfd)
{
	*pidfd = k->pidfd;
	return k->pid;
}
