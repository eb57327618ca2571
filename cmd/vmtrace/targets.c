/*
 * Determine what to trace: a command, or live processes.
 *
 * As in strace(1) and perf(1), -p selects live processes, and operands are a
 * command. But a number is always a process ID, since it is not the name of a
 * command; and if all operands are names of live processes, ask which is meant.
 */
#include "vmtrace.h"

#include <err.h>

static int
name_found(void *arg, pid_t pid)
{
	*(bool *)arg |= !proc_ended(pid);
	return 0;
}

/*
 * If all operands are names of live processes, they may be meant as processes
 * or as a command. In this case, ask which is meant and exit with status 2.
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
	errx(2, "%s: a process has this name: use %s -p %s to trace it, or %s "
	    "-- %s to start the command", text_sanitize(*operand),
	    getprogname(), *operand, getprogname(), *operand);
}

/*
 * Find out what to trace, and store it in *targets. operand has the operands
 * and ends with NULL. If command is true, they followed "--" and are a command.
 * Return -1 if nothing was named, or if processes and a command were both
 * named. Otherwise return 0.
 */
int
targets_settle(struct targets *targets, char **operand, bool command)
{
	struct sources *s = &targets->sources;

	if (s->pick.n > 0 || sources_live(s) || *operand == NULL) {
		if (*operand != NULL)
			return -1;
		sources_operands(s, operand, SOURCES_LIVE);
		return sources_live(s) ? 0 : -1;
	}
	if (command || !program_isnumber(*operand)) {
		if (!command)
			names_ask(operand);
		targets->command = operand;
		return 0;
	}
	sources_operands(s, operand, SOURCES_LIVE);
	for (; *operand != NULL; operand++)
		if (!program_isnumber(*operand))
			errx(2, "%s: not a process ID", *operand);
	return 0;
}

struct adding {
	struct tracer	*t;
	struct stream	*s;
	size_t		 n;	/* number of processes being traced */
	bool		 failed;
};

/*
 * Trace process pid. If pid is the ID of a thread, trace its process. Return 0,
 * or -1 with errstr set.
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
		program_warn(
		    "%s: mappings are shown without names", snap_errstr());
	a->n++;
	return 0;
}

/*
 * Trace process pid. If this fails, print a message, unless the process has
 * ended and found is true, which means that it was found by name or cgroup.
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
 * Trace the live processes in targets with tracer t, and add them to s. If one
 * cannot be traced, print a message and set *failed. Return the number of
 * processes traced.
 */
size_t
targets_add(const struct targets *targets, struct tracer *t, struct stream *s,
    bool *failed)
{
	struct adding a = { t, s, 0, false };

	if (!sources_each(&targets->sources, target_add, &a) || a.failed)
		*failed = true;
	return a.n;
}
