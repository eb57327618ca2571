/*
 * Where a thread goes on that was stopped in a restartable sequence.
 */
#include "linux/machine/machine.h"
#include "rseq.h"
#include "stopping.h"

#include <sys/ptrace.h>

#include <errno.h>
#include <string.h>

/*
 * Read len bytes at an address of a thread's memory, whole words, into buf.
 * Return false if they are not there.
 */
static bool
peek(pid_t tid, uint64_t at, void *buf, size_t len)
{
	long w;
	size_t i;

	for (i = 0; i < len; i += sizeof w) {
		errno = 0;
		w = ptrace(PTRACE_PEEKDATA, tid, (void *)(uintptr_t)(at + i),
		    NULL);
		if (errno != 0)
			return false;
		memcpy((char *)buf + i, &w, sizeof w);
	}
	return true;
}

/*
 * Have thread tid, if it stands in a restartable sequence, go on at its abort
 * handler, for it was interrupted.  The kernel would send it there; but that it
 * is in one is forgotten when it is made to run something else.  Return true if
 * it does.
 */
bool
regs_abort(pid_t tid)
{
	uint8_t sequence[RSEQ_CS_SIZE];
	struct gregs r;
	struct rseqconf c;
	uint64_t cs, pc;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof c,
	    &c) != (long)sizeof c || c.area == 0 ||
	    !peek(tid, c.area + RSEQ_CS, &cs, sizeof cs) || cs == 0 ||
	    !peek(tid, cs, sequence, sizeof sequence) ||
	    gregs_read(tid, &r) == -1)
		return false;
	pc = gregs_pc(&r);
	if (!rseq_abort(sequence, &pc))
		return false;
	gregs_jump(&r, pc);
	return gregs_write(tid, &r) == 0;
}
