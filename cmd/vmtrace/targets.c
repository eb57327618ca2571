/*
 * What is to be traced: a command, or processes that live.
 *
 * strace(1) and perf(1) take what lives by -p, and the rest as a command.  A
 * number is no name of a command, and so is a process without -p, too; but the
 * name of a process that lives may be meant for either, and is asked about.
 */
#include "vmtrace.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

static int
name_found(void *arg, pid_t pid)
{
	*(bool *)arg |= !proc_ended(pid);
	return 0;
}

/*
 * Exit 2 with a question where operands are nothing but names of processes
 * that live.
 */
static void
names_ask(char **operand)
{
	bool living;
	char **s;

	for (s = operand; *s != NULL; s++) {
		living = false;
		if (**s == '\0' || proc_named(*s, NULL, name_found, &living) ==
		    -1 || !living)
			return;
	}
	errx(2, "%s: trace the process of that name: %s -p %s; or start the "
	    "command: %s -- %s", text_harmless(*operand), getprogname(),
	    *operand, getprogname(), *operand);
}

/*
 * Find out what the operands at operand mean, which end in NULL, and add it to
 * to; command: they can be nothing else.  Return 0, or -1 if nothing is to be
 * traced, or both processes and a command.
 */
int
targets_settle(struct targets *to, char **operand, bool command)
{
	struct sources *s = &to->sources;

	if (s->pick.n > 0 || sources_live(s) || *operand == NULL) {
		if (*operand != NULL)
			return -1;
		sources_operands(s, operand, SOURCES_LIVE);
		return sources_live(s) ? 0 : -1;
	}
	if (command || !program_isnumber(*operand)) {
		if (!command)
			names_ask(operand);
		to->command = operand;
		return 0;
	}
	sources_operands(s, operand, SOURCES_LIVE);
	for (; *operand != NULL; operand++)
		if (!program_isnumber(*operand))
			errx(2, "%s: not a process id", *operand);
	return 0;
}

struct adding {
	struct tracer	*t;
	struct stream	*s;
	size_t		 n;	/* so many are traced */
	bool		 failed;
};

/*
 * Trace a process, or the one that a thread belongs to.  Return 0, or -1 with
 * errstr.
 */
static int
process_add(struct adding *a, pid_t pid)
{
	struct process *p;

	if ((pid = traced_process(pid)) == -1)
		return -1;
	if (tracer_addprocess(a->t, pid) == -1) {
		if (errno == ESRCH)
			return errstr_set("No such process");
		if (errno == EACCES || errno == EPERM)
			return proc_refused(pid);
		errx(1, "%d: %s", pid, snap_errstr());
	}
	p = process_new(&a->s->tasks, pid);
	if (process_read(p) == -1)
		program_warn("%s: mappings have no names", snap_errstr());
	a->n++;
	return 0;
}

/*
 * Trace process pid, unless it was found and has ended since.
 */
static int
target_add(void *arg, pid_t pid, bool found)
{
	struct adding *a = arg;

	if (process_add(a, pid) == -1 && !(found && proc_ended(pid))) {
		program_warn("%d: %s", pid, snap_errstr());
		a->failed = true;
	}
	return 0;
}

/*
 * Trace with t all processes of to that are to be, and tell s of them; *failed:
 * one could not be, which is told.  Return how many are traced.
 */
size_t
targets_add(const struct targets *to, struct tracer *t, struct stream *s,
    bool *failed)
{
	struct adding a = { t, s, 0, false };

	if (!sources_each(&to->sources, target_add, &a) || a.failed)
		*failed = true;
	return a.n;
}
