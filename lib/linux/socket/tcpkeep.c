/*
 * The keeper: a process of our own that locks connections (tcplock.c), and
 * undoes that when we say so, or are gone, whatever ended us.  It has
 * duplicates of their sockets, so that none is left in the state in which only
 * TCP_REPAIR leaves one.
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
 * Run a program in network namespace ns with what file has for a script.
 * Return whether it did all of that.
 */
static bool
program_run(const char *name, int ns, int file)
{
	static const char *const folder[] = { "/usr/sbin", "/sbin", "/usr/bin",
	    "/usr/local/sbin" };
	static const char *const nft[] = { "nft", "-f", "-", NULL };
	static const char *const xt[] = { "iptables-restore", "-w",
	    "--noflush", NULL };
	const char *const *argv = strcmp(name, "nft") == 0 ? nft : xt;
	char *environ_[] = { NULL };
	char path[64];
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
		for (i = 0; i < sizeof folder / sizeof *folder; i++) {
			snprintf(path, sizeof path, "%s/%s", folder[i], name);
			execve(path, (char *const *)(uintptr_t)argv,
			    environ_);
		}
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

static int
number_cmp(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Close all descriptors but those of h and the scripts, of which some may be
 * -1.
 */
static void
others_close(const struct tcphold *h, const int script[TCPLOCKS][2])
{
	enum { OWN = 2 + 2 * TCPLOCKS };
	size_t from, i, k;
	int keep[OWN] = { h->sock, h->ns }, t;

	for (i = 0; i < TCPLOCKS; i++)
		for (k = 0; k < 2; k++)
			keep[2 + 2 * i + k] = script[i][k];
	qsort(keep, OWN, sizeof *keep, number_cmp);
	for (from = i = k = 0; i < h->n || k < OWN;) {
		t = k == OWN || (i < h->n && h->v[i].fd < keep[k]) ?
		    h->v[i++].fd : keep[k++];
		if (t < 0)
			continue;
		if ((size_t)t > from)
			(void)syscall(SYS_close_range, from, t - 1, 0);
		from = (size_t)t + 1;
	}
	(void)syscall(SYS_close_range, from, ~0U, 0);
}

/*
 * Run the scripts of one kind, to lock or to undo that.  Return whether each
 * did all.
 */
static bool
scripts_run(const struct tcphold *h, const struct tcplock lock[TCPLOCKS],
    const int file[TCPLOCKS][2], size_t kind)
{
	bool all;
	size_t i;

	for (all = true, i = 0; i < TCPLOCKS; i++)
		if (lock[i].program != NULL)
			all &= program_run(lock[i].program, h->ns,
			    file[i][kind]);
	return all;
}

/*
 * The life of the keeper.
 */
static void __attribute__((noreturn))
keeper_main(const struct tcphold *h, const struct tcplock lock[TCPLOCKS],
    const int file[TCPLOCKS][2])
{
	char c;
	ssize_t n;
	size_t i;
	bool locked;

	(void)setpgid(0, 0);
	others_close(h, file);
	locked = scripts_run(h, lock, file, 0);
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
	(void)scripts_run(h, lock, file, 1);
	_exit(0);
}

/*
 * Set file to files that have the scripts, or -1.  Return 0, or -1 with errstr.
 */
static int
files_make(const struct tcplock lock[TCPLOCKS], int file[TCPLOCKS][2])
{
	size_t i, k;
	int rc;

	for (rc = 0, i = 0; i < TCPLOCKS; i++)
		for (k = 0; k < 2; k++) {
			file[i][k] = lock[i].program == NULL ? -1 :
			    script_file(lock[i].script[k].data,
			    lock[i].script[k].len);
			if (lock[i].program != NULL && file[i][k] == -1)
				rc = errstr_sys("a process that locks "
				    "connections");
		}
	return rc;
}

static void
files_close(const int file[TCPLOCKS][2])
{
	size_t i, k;

	for (i = 0; i < TCPLOCKS; i++)
		for (k = 0; k < 2; k++)
			if (file[i][k] != -1)
				close(file[i][k]);
}

/*
 * Start the keeper of connections h, which runs the scripts that lock them.
 * Return 0, or -1 with errstr, where nothing is locked.
 */
int
tcpkeep_begin(struct tcphold *h, struct tcplock lock[TCPLOCKS])
{
	sigset_t all, old;
	int file[TCPLOCKS][2], sock[2];
	ssize_t n;
	char c;

	if (h->n > 1)
		qsort(h->v, h->n, sizeof *h->v, held_cmp);
	if (files_make(lock, file) == -1) {
		files_close(file);
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) ==
	    -1) {
		files_close(file);
		return errstr_sys("a process that locks connections");
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if ((h->pid = fork()) == 0) {
		h->sock = sock[1];
		keeper_main(h, lock, file);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(sock[1]);
	files_close(file);
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
	return errstr_set("nft(8) or iptables(8) is needed to lock them, and "
	    "is not there or fails");
}

/*
 * End the keeper of h, which there may not be: have it undo all, or leave the
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
