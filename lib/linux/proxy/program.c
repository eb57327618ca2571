/*
 * Run other programs in the proxy, and return lists of files as answers.
 */
#include "calls.h"
#include "clock.h"
#include "proxy.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum { MAX_OUTPUT = 16 * 1024 * 1024 };	/* maximum length of a program's output,
					   in bytes */

/*
 * Execute the program argv[0] with the arguments argv. PATH is its only
 * environment variable. Descriptor in becomes its standard input, and out its
 * standard output; it gets no other descriptor of ours. Unless ns is -1, the
 * program runs in that network namespace.
 */
static void __attribute__((noreturn))
program_become(const char *const argv[], int ns, int in, int out)
{
	sigset_t none;
	int null;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDWR);
	if ((ns != -1 && setns(ns, CLONE_NEWNET) == -1) || null == -1 ||
	    dup2(in, 0) == -1 || dup2(out, 1) == -1 || dup2(null, 2) == -1)
		_exit(127);
	(void)call_closefrom(3);
	(void)clearenv();
	if (setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin",
	    1) == 0)
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/*
 * Append to b the output that can be read from fd, up to its end. Return false
 * if some output is missing: there is too much, the other end of sock was
 * closed, or ms milliseconds have passed. If ms is -1, there is no time limit.
 */
static bool
output_read(int fd, int sock, int ms, struct buf *b)
{
	const uint64_t start = now_ms();
	struct pollfd p[2] = { { fd, POLLIN, 0 }, { sock, 0, 0 } };
	uint64_t passed;
	char part[16384];
	ssize_t n;

	while (b->len < MAX_OUTPUT) {
		passed = now_ms() - start;
		if (ms != -1 && passed >= (uint64_t)ms)
			return false;
		if (poll(p, 2, ms == -1 ? -1 : ms - (int)passed) <= 0)
			continue;
		if (p[1].revents != 0)
			return false;
		n = read(fd, part, sizeof part);
		if (n > 0)
			buf_add(b, part, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return n == 0;
	}
	return false;
}

/*
 * Return an unnamed file that contains the len bytes at data, positioned at its
 * start, or -1 on failure.
 */
static int
input_file(const void *data, size_t len)
{
	int fd;

	fd = memfd_create("snap-input", MFD_CLOEXEC);
	if (fd != -1 && (write(fd, data, len) != (ssize_t)len ||
	    lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * In the proxy, run the program argv, which ends with NULL. Its standard input
 * is a copy of *in, which has len bytes. It runs in network namespace ns,
 * unless that is -1. Append its output to *out. The program is killed when the
 * proxy dies, when the other end of sock is closed, or after ms milliseconds;
 * sock and ms may be -1. Return its exit status, or -1 if it did not exit or
 * output is missing.
 */
int
program_run(const char *const argv[], int ns, int sock, int ms, const void *in,
    size_t len, struct buf *out)
{
	int fd, status, p[2];
	bool whole;
	pid_t pid;

	if ((fd = input_file(in, len)) == -1)
		return -1;
	if (pipe2(p, O_CLOEXEC) == -1) {
		close(fd);
		return -1;
	}
	if ((pid = fork()) == 0)
		program_become(argv, ns, fd, p[1]);
	close(fd);
	close(p[1]);
	whole = pid != -1 && output_read(p[0], sock, ms, out);
	close(p[0]);
	if (pid == -1)
		return -1;
	if (!whole)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	return whole && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * In the proxy, answer with the files of l. For each file, the answer has the
 * name with a terminating zero byte, the length in 8 bytes, and the contents.
 * Return 0, or -1 with errstr set if l is incomplete.
 */
int
serve_files(struct serving *s, const struct filelist *l)
{
	uint64_t len;
	size_t i;

	if (l->failed)
		return errstr_set("out of memory");
	for (i = 0; i < l->n; i++) {
		len = l->file[i].len;
		serve_put(s, l->file[i].name, strlen(l->file[i].name) + 1);
		serve_put(s, &len, sizeof len);
		serve_put(s, l->file[i].data, (size_t)len);
	}
	return 0;
}

/*
 * Make the proxy run fn, which must answer with serve_files(), and append the
 * files of the answer to *files. The other arguments are those of
 * proxy_fetch(). Return 0, or -1 with errstr set.
 */
int
proxy_files(const struct proxy_key *k, proxy_fn fn, const void *arg,
    size_t n, int fd, struct filelist *files)
{
	struct bulk b = { .full = true };	/* keep the data in memory */
	const uint8_t *p, *data;
	const char *name;
	uint64_t len;

	if (proxy_fetch(k, fn, arg, n, fd, &b) == -1 ||
	    buf_check(&b.b) == -1) {
		bulk_free(&b);
		return -1;
	}
	for (p = b.b.data; p < b.b.data + b.b.len; p = data + len) {
		name = (const char *)p;
		data = p + strlen(name) + 1 + sizeof len;
		memcpy(&len, data - sizeof len, sizeof len);
		filelist_copy(files, name, data, (size_t)len);
	}
	bulk_free(&b);
	return 0;
}
