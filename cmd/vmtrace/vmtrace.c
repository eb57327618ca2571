/*
 * vmtrace: print page faults and changes of mappings as they happen.
 */
#include "clock.h"
#include "vmtrace.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

enum { WAIT_MS = 50 };		/* maximum delay of output in milliseconds */

static volatile sig_atomic_t ended;
static const char *where = "standard output";	/* name of the output in
						   messages */

static struct options options;
static struct targets targets;
static const char *path;	/* output file, or NULL */
static double seconds;		/* -t: time limit; 0: none */

static const struct opt opts[] = {
	LIVE_OPTIONS,
	{ 'j', "json", NULL, "with -s: print JSON",
	    .flag = &options.table.json },
	{ 'J', "json", NULL, NULL, .flag = &options.table.json },
	{ 'k', "kernel", NULL,
	    "also trace kernel pages and slab objects",
	    .flag = &options.kernel },
	{ 'n', "lines", "count", "exit after count faults",
	    .number = &options.count, 1, INT64_MAX },
	{ 'o', "output", "file", "write to file instead of standard output",
	    .outfile = &path },
	{ 's', "sums", NULL, "print only totals, at the end",
	    .flag = &options.totals },
	{ 't', "time", "seconds", "exit after this time",
	    .seconds = &seconds },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Print page faults and mapping changes as they happen.",
	.synopsis = (const char *const[]){
		"[-k] [-s [-j]] [-n count] [-o file] [-t seconds] [-c group]",
		"        [-p pid|name] [-u user]",
		"[-k] [-s [-j]] [-n count] [-o file] [-t seconds] pid ... |",
		"        [--] command [arg ...]",
		NULL
	},
	.opts = opts,
	.sources = &targets.sources,
	.ordered = true
};

static void
on_signal(int sig)
{
	(void)sig;
	ended = 1;
}

/*
 * Return how many milliseconds to wait for events. Return 0 if the time limit
 * is reached.
 */
static int
timeout(const struct output_state *out)
{
	uint64_t gone = now_ns() - out->start, ns = out->opts->ns;

	if (ns == 0 || gone + WAIT_MS * 1000000ULL < ns)
		return WAIT_MS;
	return gone >= ns ? 0 : (int)((ns - gone) / 1000000) + 1;
}

/*
 * Create or truncate the output file, whose name is path. Exit with status 1 on
 * failure. Return its descriptor, or -1 if path is NULL, which means standard
 * output.
 */
static int
out_open(void)
{
	int fd;

	if (path == NULL)
		return -1;
	where = path;
	if ((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
	    0600)) == -1)
		err(1, "%s", path);
	return fd;
}

/*
 * Process events until a signal arrives, a limit is reached, or all processes
 * have ended. If all processes have ended, set *done to true. Return 0, or -1
 * with errstr set.
 */
static int
trace(struct tracer *t, struct stream *s, bool *done)
{
	int ms, rc;

	for (rc = 0; rc == 0 && !*done && !ended;) {
		if ((ms = timeout(&s->out)) == 0)
			break;
		if (tracer_wait(t, ms) == 1)
			*done = true;
		else
			rc = stream_read(s, t, false);
		if (fflush(stdout) == EOF || ferror(stdout))
			return errstr_sys("%s", where);
	}
	tracer_stop(t);
	if (rc == 0)
		rc = stream_read(s, t, true);
	if (rc == -1 && !s->out.full)
		return -1;
	stream_end(s);
	return 0;
}

/*
 * With -s, print the totals. If events were lost, print a message and set
 * *failed.
 */
static void
finish(struct tracer *t, struct stream *s, bool *failed)
{
	uint64_t lost;

	if (s->out.opts->totals)
		total_print(&s->out);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "%s", where);
	if ((lost = tracer_lost(t)) > 0) {
		program_warn("%ju events were lost", (uintmax_t)lost);
		*failed = true;
	}
}

/*
 * Trace the processes or the command in tg with options o. Print to descriptor
 * out or, if it is -1, to standard output. A command keeps our original
 * standard output. If something was not traced, print a message and set
 * *failed. Return the result of command_end(), or 0 if there is no command.
 */
static int
run(const struct options *o, const struct targets *tg, int out, bool *failed)
{
	struct command c = { 0 };
	static struct stream s;
	struct tracer *t;
	char lacks[512];
	bool over = false;
	int status;

	if (tg->command != NULL)
		command_begin(&c, tg->command);
	if (out != -1 && dup2(out, STDOUT_FILENO) == -1)
		err(1, "dup2");
	/* the first signal ends the trace, and a second one kills us; it is
	   needed if we are waiting for the reader of the output */
	program_catch(on_signal, SA_RESTART | (int)SA_RESETHAND);
	program_files();
	if ((t = tracer_new(o->kernel)) == NULL)
		errx(1, "%s", snap_errstr());
	s.out.opts = o;
	TAILQ_INIT(&s.out.held);
	tracer_lacks(t, lacks, sizeof lacks);
	if (*lacks != '\0')
		program_warn("not shown: %s", lacks);
	if (c.pid == 0) {
		if (targets_add(tg, t, &s, failed) == 0) {
			if (!*failed)
				program_warn(
				    "all matching processes have ended");
			exit(1);
		}
	} else if (tracer_add(t, c.pid, true) == -1)
		errx(1, "%s", snap_errstr());
	else
		(void)process_new(&s.tasks, c.pid);
	s.out.start = now_ns();
	if (c.pid != 0)
		command_go(&c, tg->command[0]);
	if (!o->totals)
		printf("%12s %7s %-7s %16s %-7s %16s %9s %s\n", "TIME ms",
		    "TID", "EVENT", "ADDRESS", "ACCESS", "INSTRUCTION", "us",
		    "WHERE");
	if (trace(t, &s, &over) == -1) {
		program_warn("%s", snap_errstr());
		*failed = true;
	} else
		finish(t, &s, failed);
	status = c.pid == 0 ? 0 : command_end(&c, tg->command[0], over);
	if (status == -1)
		*failed = true;
	tracer_free(t);
	return status;
}

int
main(int argc, char *argv[])
{
	bool failed = false;
	int status;

	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	options.ns = (uint64_t)(seconds * 1e9);
	if (options.table.json && !options.totals)
		options_misuse(&cmdline);
	if (targets_settle(&targets, argv, optind > 1 &&
	    strcmp(argv[-1], "--") == 0) == -1)
		options_misuse(&cmdline);
	status = run(&options, &targets, out_open(), &failed);
	return failed ? 1 : status;
}
