/*
 * The keeper: a process of our own that locks connections by a table of
 * nft(8), and removes it when we say so, or are gone, whatever ended us.  It
 * has duplicates of their sockets, so that none is left in the state in which
 * only TCP_REPAIR leaves one.
 */
#include "tcphold.h"
#include "calls.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DONE = 'd', FAILED = 'f', KEEP = 'k' };	/* what is sent */

/*
 * Run nft in network namespace ns with what file has for a script.  Return
 * whether it did all of that.
 */
static bool
nft_run(int ns, int file)
{
	static const char *const path[] = { "/usr/sbin/nft", "/sbin/nft",
	    "/usr/bin/nft", "/usr/local/sbin/nft" };
	char *argv[] = { (char *)(uintptr_t)"nft", (char *)(uintptr_t)"-f",
	    (char *)(uintptr_t)"-", NULL };
	char *environ_[] = { NULL };
	size_t i;
	pid_t pid;
	int status;

	if ((pid = fork()) == 0) {
		if (setns(ns, CLONE_NEWNET) == -1 ||
		    lseek(file, 0, SEEK_SET) == -1 || dup2(file, 0) == -1)
			_exit(1);
		(void)dup2(open("/dev/null", O_WRONLY), 1);
		(void)dup2(1, 2);
		(void)call_closefrom(3);
		for (i = 0; i < sizeof path / sizeof *path; i++)
			execve(path[i], argv, environ_);
		_exit(127);
	}
	if (pid == -1)
		return false;
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * Return a file without a name that has these bytes, or -1.
 */
static int
script_file(const void *data, size_t len)
{
	int fd;

	fd = memfd_create("snap-lock", MFD_CLOEXEC);
	if (fd != -1 && write(fd, data, len) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int
held_cmp(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->fd < y->fd ? -1 : x->fd > y->fd;
}

/*
 * Close all descriptors but those of h and the two scripts.
 */
static void
others_close(const struct tcphold *h, const int script[2])
{
	size_t from, i, k;
	int keep[4] = { h->sock, h->ns, script[0], script[1] }, t;

	for (i = 0; i < 4; i++)
		for (k = i + 1; k < 4; k++)
			if (keep[k] < keep[i]) {
				t = keep[i];
				keep[i] = keep[k];
				keep[k] = t;
			}
	for (from = i = k = 0; i < h->n || k < 4;) {
		t = k == 4 || (i < h->n && h->v[i].fd < keep[k]) ?
		    h->v[i++].fd : keep[k++];
		if ((size_t)t > from)
			(void)syscall(SYS_close_range, from, t - 1, 0);
		from = (size_t)t + 1;
	}
	(void)syscall(SYS_close_range, from, ~0U, 0);
}

/*
 * The life of the keeper.
 */
static void __attribute__((noreturn))
keeper_main(const struct tcphold *h, const int script[2])
{
	char c;
	ssize_t n;
	size_t i;
	bool locked;

	(void)setpgid(0, 0);
	others_close(h, script);
	locked = nft_run(h->ns, script[0]);
	c = locked ? DONE : FAILED;
	if (send(h->sock, &c, 1, MSG_NOSIGNAL) == 1 && locked) {
		do
			n = recv(h->sock, &c, 1, 0);
		while (n == -1 && errno == EINTR);
		if (n == 1 && c == KEEP)
			_exit(0);
	}
	for (i = 0; i < h->n; i++)
		repair_off(&h->v[i]);
	(void)nft_run(h->ns, script[1]);
	_exit(0);
}

/*
 * Start the keeper of connections h, which runs the script that locks them.
 * Return 0, or -1 with errstr, where nothing is locked.
 */
int
tcpkeep_begin(struct tcphold *h, struct buf *script)
{
	struct buf undo = { 0 };
	sigset_t all, old;
	int file[2], sock[2];
	size_t i;
	ssize_t n;
	char c;

	buf_printf(&undo, "delete table inet %s\n", h->name);
	if (buf_check(script) == -1 || buf_check(&undo) == -1)
		return -1;
	qsort(h->v, h->n, sizeof *h->v, held_cmp);
	file[0] = script_file(script->data, script->len);
	file[1] = script_file(undo.data, undo.len);
	buf_free(&undo);
	if (file[0] == -1 || file[1] == -1 || socketpair(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) == -1) {
		errstr_sys("a process that locks connections");
		for (i = 0; i < 2; i++)
			if (file[i] != -1)
				close(file[i]);
		return -1;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((h->pid = fork()) == 0) {
		h->sock = sock[1];
		keeper_main(h, file);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(sock[1]);
	close(file[0]);
	close(file[1]);
	h->sock = sock[0];
	if (h->pid == -1) {
		h->pid = 0;
		close(h->sock);
		return errstr_sys("fork");
	}
	do
		n = recv(h->sock, &c, 1, 0);
	while (n == -1 && errno == EINTR);
	if (n == 1 && c == DONE)
		return 0;
	tcpkeep_end(h, true);
	return errstr_set("nft(8) is needed to lock them, and is not there or "
	    "fails");
}

/*
 * End the keeper, which there may not be: have it undo all, or leave the
 * connections locked.
 */
void
tcpkeep_end(struct tcphold *h, bool undo)
{
	const char keep = KEEP;

	if (h->pid == 0)
		return;
	if (!undo)
		(void)send(h->sock, &keep, 1, MSG_NOSIGNAL);
	close(h->sock);
	while (waitpid(h->pid, NULL, 0) == -1 && errno == EINTR)
		continue;
	h->pid = 0;
}
