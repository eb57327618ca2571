/*
 * Where a thread goes on that was stopped in a restartable sequence.
 */
#include "linux/machine/machine.h"
#include "stopping.h"

#include <sys/ptrace.h>

#include <errno.h>

/*
 * Read a word of the memory of a thread into *v.  Return false if there is
 * none.
 */
static bool
peek(pid_t tid, uint64_t at, uint64_t *v)
{
	long w;

	errno = 0;
	w = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)at, NULL);
	*v = (uint64_t)w;
	return errno == 0;
}

/*
 * A thread that stands in a restartable sequence goes on at its abort handler,
 * for it was interrupted: rseq(2), struct rseq_cs of <linux/rseq.h>.  The
 * kernel would send it there; but that it is in one is forgotten when it is
 * made to run something else.  Return true if it does.
 */
bool
regs_abort(pid_t tid)
{
	enum { RSEQ_CS = 8, START = 8, LENGTH = 16, ABORT = 24 };
	struct gregs r;
	struct rseqconf c;
	uint64_t cs, start, len, handler;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof c,
	    &c) != (long)sizeof c || c.area == 0 ||
	    !peek(tid, c.area + RSEQ_CS, &cs) || cs == 0 ||
	    !peek(tid, cs + START, &start) || !peek(tid, cs + LENGTH, &len) ||
	    !peek(tid, cs + ABORT, &handler) ||
	    gregs_read(tid, &r) == -1 || gregs_pc(&r) - start >= len)
		return false;
	gregs_jump(&r, handler);
	return gregs_write(tid, &r) == 0;
}
