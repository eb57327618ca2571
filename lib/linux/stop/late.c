/*
 * Threads that were interrupted, and had not stopped when we gave up on them.
 * Once they stop, they must be released, although their set has been freed.
 */
#include "stopping.h"
#include "vec.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

static struct {			/* only the tracer uses it */
	pid_t	*v;		/* owned; thread IDs */
	size_t	 n;
} late;

/*
 * Remove thread tid from the late ones, if it is among them.
 */
void
late_forget(pid_t tid)
{
	size_t i;

	for (i = 0; i < late.n; i++)
		if (late.v[i] == tid)
			late.v[i--] = late.v[--late.n];
}

/*
 * Note that thread tid did not stop in time. If there is no memory for that,
 * the kernel releases the thread when our process ends.
 */
void
late_add(pid_t tid)
{
	late_forget(tid);
	(void)VEC_ADD(late.v, late.n, tid);
}

/*
 * Release the late threads that have stopped by now. Return how many have not.
 * A signal that one of them has stopped for is delivered.
 */
size_t
late_release(void)
{
	int status;
	size_t i;
	pid_t rc;

	for (i = 0; i < late.n; i++) {
		rc = waitpid(late.v[i], &status, WNOHANG | __WALL);
		if (rc == 0 || (rc == -1 && errno == EINTR))
			continue;
		if (rc > 0 && WIFSTOPPED(status))
			(void)thread_ptrace(PTRACE_DETACH, rc,
			    stop_signal(status));
		late.v[i--] = late.v[--late.n];
	}
	return late.n;
}
