/*
 * Find the signal that ended a thread, in a core or in the snapshot of a
 * process that was dumping one.
 */
#include "num.h"
#include "snapstack.h"
#include "model.h"

#include <signal.h>

/*
 * Return true if the siginfo of signal sig has an address (sigaction(2)). code
 * is its si_code; SI_KERNEL means that the kernel knows no address.
 */
static bool
has_address(unsigned int sig, int code)
{
	return (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL ||
	    sig == SIGFPE || sig == SIGTRAP) && code > 0 && code < SI_KERNEL;
}

/*
 * If a signal ended thread st, set st->signal to that signal. The caller must
 * have read the registers of st. In a core, the record of every thread has the
 * file cursig, so only a thread that also has a siginfo for the same signal
 * counts.
 */
void
fatal_find(struct stack *st)
{
	enum { CODE = 8, NARROW = 12, WIDE = 16, MIN_SIZE = 24 };
	const struct linuxrec *rec = proc_record(st->thread);
	struct recfile f;
	char line[32];
	unsigned long sig;

	if (linuxrec_line(rec, "cursig", line, sizeof line) &&
	    (sig = strtoul(line, NULL, 10)) > 0 && sig <= 64 &&
	    linuxrec_find(rec, "siginfo", &f) && f.len >= MIN_SIZE &&
	    num_get(f.data, 4) == sig) {
		st->signal = (unsigned int)sig;
		st->faulted = has_address(st->signal,
		    (int32_t)num_get(f.data + CODE, 4));
		/* A 32-bit siginfo has si_addr at 12; in a 64-bit one bytes
		   12 to 15 are 0. */
		st->fault = num_get(f.data + WIDE, st->regs.word);
		if (st->regs.word == 4 && num_get(f.data + NARROW, 4) != 0)
			st->fault = num_get(f.data + NARROW, 4);
	}
}

/*
 * Write the name of the signal that ended thread st to s, which has room for
 * size bytes.
 */
void
fatal_name(const struct stack *st, char *s, size_t size)
{
	const char *name = signal_name(st->signal);

	if (name == NULL)
		snprintf(s, size, "signal %u", st->signal);
	else
		snprintf(s, size, "SIG%s", name);
}
