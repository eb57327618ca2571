/*
 * vmtrace: page faults and changes of mappings, as they happen.
 */
#include "clock.h"
#include "vmtrace.h"

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 50 };		/* what happens is told this late at most */

static volatile sig_atomic_t ended;

static const struct opt opts[] = {
	{ 'c', "count", NULL, "at the end, totals; no lines" },
	{ 'k', "kernel", NULL, "pages and slab objects of the kernel, too" },
	{ 'n', "lines", "count", "end after so many faults" },
	{ 't', "time", "seconds", "end after that time" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Show page faults of processes, and mappings, as they happen.",
	.synopsis = (const char *const[]){
		"[-ck] [-n count] [-t seconds] pid ... | command [arg ...]",
		NULL
	},
	.opts = opts,
	.ordered = true
};

static void
on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/*
 * A signal ends the trace, and a second one us: output may wait for whoever
 * reads it.  Those that are ignored stay so.
 */
static void
signals_begin(void)
{
	static const int sig[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = { .sa_handler = on_signal,
	    .sa_flags = SA_RESTART | (int)SA_RESETHAND };
	size_t i;

	for (i = 0; i < sizeof sig / sizeof *sig; i++)
		if (signal(sig[i], SIG_IGN) != SIG_IGN)
			sigaction(sig[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void
parse_count(struct options *o, const char *s)
{
	const char *why;

	o->count = (uint64_t)strtonum(s, 1, LLONG_MAX, &why);
	if (why != NULL)
		errx(2, "-n %s: %s", s, why);
}

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/*
 * Trace the process that name is the number of, or of a thread of.  Return
 * NULL, or why that cannot be.
 */
static const char *
process_add(struct tracer *t, struct stream *s, const char *name)
{
	const char *why;
	struct process *p;
	pid_t pid;

	pid = (pid_t)strtonum(name, 1, INT_MAX, &why);
	if (why != NULL)
		return "No such process";
	if ((pid = traced_process(pid)) == -1)
		return snap_errstr();
	if (tracer_addprocess(t, pid) == -1) {
		if (errno == ESRCH)
			return "No such process";
		if (errno == EACCES || errno == EPERM)
			return "it is not ours to trace";
		errx(1, "%s: %s", name, snap_errstr());
	}
	p = process_new(&s->tasks, pid);
	if (p == NULL || process_read(p) == -1)
		program_warn("%s: mappings have no names", snap_errstr());
	return NULL;
}

/*
 * Trace the processes that are named: how many there are.
 */
static size_t
processes_add(struct tracer *t, struct stream *s, char **argv, bool *failed)
{
	const char *why;
	size_t n;

	for (n = 0; *argv != NULL; argv++) {
		if ((why = process_add(t, s, *argv)) == NULL) {
			n++;
			continue;
		}
		program_warn("%s: %s", *argv, why);
		*failed = true;
	}
	return n;
}

/*
 * Return how many ms to wait for what happens; 0 if the time is over.
 */
static int
patience(const struct output_state *out)
{
	uint64_t gone = now_ns() - out->start, ns = out->opts->ns;

	if (ns == 0 || gone + WAIT_MS * 1000000ULL < ns)
		return WAIT_MS;
	return gone >= ns ? 0 : (int)((ns - gone) / 1000000) + 1;
}

/*
 * Tell of what happens until it is over; *over: all that is traced has
 * ended.
 */
static int
trace(struct tracer *t, struct stream *s, bool *over)
{
	int ms, rc;

	for (rc = 0; rc == 0 && !*over && !ended;) {
		if ((ms = patience(&s->out)) == 0)
			break;
		if (tracer_wait(t, ms) == 1)
			*over = true;
		else
			rc = stream_read(s, t, false);
		if (fflush(stdout) == EOF || ferror(stdout))
			return errstr_sys("standard output");
	}
	tracer_stop(t);
	if (rc == 0)
		rc = stream_read(s, t, true);
	if (s->nomem)
		return errstr_set("out of memory");
	if (rc == -1 && !s->out.full)
		return -1;
	stream_end(s);
	return 0;
}

static void
say_lacks(const struct tracer *t)
{
	char lacks[512];

	tracer_lacks(t, lacks, sizeof lacks);
	if (*lacks != '\0')
		program_warn("not shown: %s", lacks);
}

/*
 * Print what was counted, and say what was not seen.
 */
static void
finish(struct tracer *t, struct stream *s, bool *failed)
{
	uint64_t lost;

	if (s->out.opts->totals)
		total_print(&s->out);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	if ((lost = tracer_lost(t)) > 0) {
		program_warn("%ju events were lost", (uintmax_t)lost);
		*failed = true;
	}
}

static void
run(const struct options *o, char **argv, bool *failed)
{
	struct command c = { 0 };
	struct stream s = { 0 };
	struct tracer *t;
	bool over = false;

	if (!is_number(argv[0]))
		command_begin(&c, argv);
	signals_begin();
	program_files();
	if ((t = tracer_new(o->kernel)) == NULL)
		errx(1, "%s", snap_errstr());
	if (lines_begin(&s.out, o, now_ns()) == -1)
		errx(1, "%s", snap_errstr());
	say_lacks(t);
	if (c.pid == 0) {
		if (processes_add(t, &s, argv, failed) == 0)
			exit(1);
	} else if (tracer_add(t, c.pid, true) == -1 ||
	    process_new(&s.tasks, c.pid) == NULL)
		errx(1, "%s", snap_errstr());
	s.out.start = now_ns();
	if (c.pid != 0)
		command_go(&c, argv[0]);
	if (!o->totals)
		lines_heading();
	if (trace(t, &s, &over) == -1) {
		program_warn("%s", snap_errstr());
		*failed = true;
	} else
		finish(t, &s, failed);
	if (c.pid != 0 && command_end(&c, argv[0], over) == -1)
		*failed = true;
	tracer_free(t);
	tasks_free(&s.tasks);
	lines_end(&s.out);
}

int
main(int argc, char *argv[])
{
	struct options o = { 0 };
	bool failed = false;
	double t;
	int ch, i;

	program_descriptors();
	while ((ch = options_next(&cmdline, argc, argv)) != -1)
		switch (ch) {
		case 'c':
			o.totals = true;
			break;
		case 'k':
			o.kernel = true;
			break;
		case 'n':
			parse_count(&o, optarg);
			break;
		case 't':
			if ((t = program_seconds(optarg)) == -1)
				errx(2, "-t: \"%s\" is not a number of "
				    "seconds", optarg);
			o.ns = (uint64_t)(t * 1e9);
			break;
		}
	if (optind == argc)
		options_misuse(&cmdline);
	if (is_number(argv[optind]))
		for (i = optind; i < argc; i++)
			if (!is_number(argv[i]))
				errx(2, "%s: not a process id", argv[i]);
	run(&o, argv + optind, &failed);
	return failed ? 1 : 0;
}
