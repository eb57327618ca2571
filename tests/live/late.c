/*
 * Preloaded into a program that traces: after its LATE_AT'th request to let a
 * thread run to a system call, it does not run for longer than it waits for a
 * thread (START_MS of lib/linux/inject/run.h), as on a busy machine.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LATE_NS = 600000000 };

long
ptrace(enum __ptrace_request request, ...)
{
	const struct timespec late = { 0, LATE_NS };
	const char *at = getenv("LATE_AT");
	static int n;
	long arg[3], ret;
	va_list ap;
	int i, error;

	va_start(ap, request);
	for (i = 0; i < 3; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	ret = syscall(SYS_ptrace, (long)request, arg[0], arg[1], arg[2]);
	error = errno;
	if (request == PTRACE_SYSCALL && at != NULL &&
	    ++n == strtol(at, NULL, 10))
		(void)nanosleep(&late, NULL);
	errno = error;
	return ret;
}
