/*
 * The minimum time of the kernel to stop processes: floor PID ... seizes all
 * their threads while they run; then it interrupts all, waits for all, reads
 * three register sets of each, and releases all.  It prints the microseconds
 * from the first interruption to the last release.
 */
#include "bench.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <dirent.h>
#include <elf.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 32768, ROOM = 16384 };

static pid_t tid[MOST];
static size_t n;

static void
process_seize(const char *pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%s/task", pid);
	if ((d = opendir(path)) == NULL)
		err(1, "%s", path);
	while ((e = readdir(d)) != NULL) {
		if (*e->d_name == '.')
			continue;
		if (n == MOST)
			errx(1, "more than %d threads", MOST);
		tid[n] = (pid_t)strtol(e->d_name, NULL, 10);
		if (ptrace(PTRACE_SEIZE, tid[n], NULL, NULL) == -1)
			err(1, "%d: seize", tid[n]);
		n++;
	}
	closedir(d);
}

static void
registers_read(pid_t t)
{
	static const unsigned long set[] = { NT_PRSTATUS, NT_PRFPREG,
	    NT_X86_XSTATE };
	static char room[ROOM];
	struct iovec iov;
	size_t i;

	for (i = 0; i < sizeof set / sizeof *set; i++) {
		iov = (struct iovec){ room, sizeof room };
		(void)ptrace(PTRACE_GETREGSET, t, set[i], &iov);
	}
}

int
main(int argc, char *argv[])
{
	uint64_t start;
	size_t i;
	int s;

	if (argc < 2)
		errx(2, "usage: floor pid ...");
	while (*++argv != NULL)
		process_seize(*argv);
	start = now_us();
	for (i = 0; i < n; i++)
		if (ptrace(PTRACE_INTERRUPT, tid[i], NULL, NULL) == -1)
			err(1, "%d: interrupt", tid[i]);
	for (i = 0; i < n; i++)
		if (waitpid(tid[i], &s, __WALL) == -1 || !WIFSTOPPED(s))
			err(1, "%d: wait", tid[i]);
	for (i = 0; i < n; i++)
		registers_read(tid[i]);
	for (i = 0; i < n; i++)
		if (ptrace(PTRACE_DETACH, tid[i], NULL, NULL) == -1)
			err(1, "%d: detach", tid[i]);
	printf("%ju\n", (uintmax_t)(now_us() - start));
	return 0;
}
