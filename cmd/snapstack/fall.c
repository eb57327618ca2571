/*
 * The signal by which a thread fell, of cores and of what was taken of a
 * process as it dumped one.
 */
#include "num.h"
#include "snapstack.h"
#include "model.h"

#include <signal.h>
#include <stdlib.h>

/*
 * Return whether a signal tells of an address, where the kernel sent it:
 * sigaction(2).  The kernel gives SI_KERNEL where it knows none.
 */
static bool
has_address(unsigned int sig, int code)
{
	return (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL ||
	    sig == SIGFPE || sig == SIGTRAP) && code > 0 && code < SI_KERNEL;
}

/*
 * Set the signal that thread st fell by, whose registers are known, if it did
 * by one.  All threads of a core have cursig; that is the one's which has a
 * siginfo of the same signal.
 */
void
fall_find(struct stack *st)
{
	enum { CODE = 8, NARROW = 12, WIDE = 16, LEAST = 24 };
	const struct linuxrec *rec = proc_record(st->thread);
	struct recfile f;
	char line[32];
	unsigned long sig;

	if (linuxrec_line(rec, "cursig", line, sizeof line) &&
	    (sig = strtoul(line, NULL, 10)) > 0 && sig <= 64 &&
	    linuxrec_find(rec, "siginfo", &f) && f.len >= LEAST &&
	    num_get(f.data, 4) == sig) {
		st->signal = (unsigned int)sig;
		st->faulted = has_address(st->signal,
		    (int32_t)num_get(f.data + CODE, 4));
		/* cores of 32 bits have no gap before it, which is 0 */
		st->fault = num_get(f.data + WIDE, st->regs.word);
		if (st->regs.word == 4 && num_get(f.data + NARROW, 4) != 0)
			st->fault = num_get(f.data + NARROW, 4);
	}
}

/*
 * Put the name of the signal that thread st fell by into s, of size bytes.
 */
void
fall_name(const struct stack *st, char *s, size_t size)
{
	const char *name = signal_name(st->signal);

	if (name == NULL)
		snprintf(s, size, "signal %u", st->signal);
	else
		snprintf(s, size, "SIG%s", name);
}
