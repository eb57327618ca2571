/*
 * Preloaded into a program that traces.  After the LATE_AT'th PTRACE_SYSCALL
 * request the program is delayed for longer than it waits for a thread
 * (START_MS of lib/linux/inject/run.h), as on a busy machine.  With LATE_FILE,
 * LATE_TEXT is written to that file before the request instead.  LATE_REQUEST
 * is the number of a request in place of PTRACE_SYSCALL.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LATE_NS = 600000000 };

static void
text_write(const char *name, const char *text)
{
	int fd;

	if ((fd = open(name, O_WRONLY)) == -1 ||
	    write(fd, text, strlen(text)) == -1)
		abort();
	close(fd);
}

long
ptrace(enum __ptrace_request request, ...)
{
	const struct timespec late = { 0, LATE_NS };
	const char *at = getenv("LATE_AT"), *file = getenv("LATE_FILE"),
	    *of = getenv("LATE_REQUEST");
	static int n;
	bool now;
	long arg[3], ret;
	va_list ap;
	int i, error;

	va_start(ap, request);
	for (i = 0; i < 3; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	now = (long)request == (of == NULL ? PTRACE_SYSCALL :
	    strtol(of, NULL, 0)) && at != NULL && ++n == strtol(at, NULL, 10);
	if (now && file != NULL)
		text_write(file, getenv("LATE_TEXT"));
	ret = syscall(SYS_ptrace, (long)request, arg[0], arg[1], arg[2]);
	error = errno;
	if (now && file == NULL)
		(void)nanosleep(&late, NULL);
	errno = error;
	return ret;
}
