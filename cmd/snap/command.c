/*
 * Parse the command line of snap.
 */
#include "job.h"

#include <err.h>
#include <unistd.h>

enum { OPT_AT = OPT_LONG + 1, OPT_CORE, OPT_MEMORY, OPT_TO, OPT_WHEN };

static struct job job = { .live = { .warn = say } };
static uint64_t timeout;

/*
 * Handle the option with this letter, which is -m, --at, --memory or --when;
 * arg is its argument.
 */
static void
parse(int letter, char *arg)
{
	int rc;

	if (letter == 'm' && (job.note = note_check(arg)) == NULL)
		errx(2, "-m: %s", snap_errstr());
	if (letter == OPT_AT && (rc = at_parse(&job.at, arg)) != 0)
		errx(rc == 1 ? 1 : 2, "--at: %s", snap_errstr());
	if (letter == OPT_MEMORY && (!amount_bytes(arg, &job.live.memory) ||
	    job.live.memory == 0))
		errx(2, "--memory %s: not a size (such as 2G)", arg);
	if (letter == OPT_WHEN)
		when_add(arg);
}

static const struct opt opts[] = {
	{ 'a', "all", NULL, "include unmodified pages of mapped data files",
	    .flag = &job.live.datafiles },
	{ 'c', "cgroup", "group",
	    "processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'd', "dry-run", NULL,
	    "print what cannot be restored; write nothing",
	    .flag = &job.move.dry },
	{ 'f', "force", NULL,
	    "with -k: kill even if something cannot be restored",
	    .flag = &job.move.force },
	{ 'i', "interval", "seconds",
	    "take a series: add a moment to file at this interval",
	    .seconds = &job.every },
	{ 'N', "count", "count", "with -i: end after this many moments",
	    .number = &job.count, 1, 1000000 },
	{ 'k', "kill", NULL,
	    "kill the processes after writing the snapshot",
	    .flag = &job.move.kill },
	{ 'l', "let-go", NULL, NULL, .flag = NULL },
	{ 'm', "message", "text",
	    "record a reason in the snapshot", .call = parse },
	{ 'n', "no-inject", NULL, "execute nothing inside the processes",
	    .flag = &job.live.no_inject },
	{ 'o', "output", "file", "write to file, which appears when complete",
	    .outfile = &job.path },
	{ 'r', "descendants", NULL,
	    "include descendants and all data to restore them",
	    .flag = &job.live.descendants },
	{ 's', "stop", NULL,
	    "keep processes stopped until everything is written",
	    .flag = &job.stop },
	{ 't', "timeout", "seconds",
	    "maximum wait for file servers (default 5)",
	    .number = &timeout, 1, 86400 },
	{ 'u', "user", "user",
	    "only this user's processes; alone: all of them",
	    .source = sources_user },
	{ 'v', "verbose", NULL,
	    "print totals and how long processes were stopped",
	    .flag = &job.live.verbose },
	{ 'x', "exclude", "what", "leave out secrets, dontdump, "
	    "env=PATTERN, START-END", .exclude = &job.exclude },
	{ 'z', "compress", NULL, "compress, as gzip(1) does",
	    .flag = &job.compress },
	{ OPT_AT, "at", "time", "take the snapshot at this time of day",
	    .call = parse },
	{ OPT_CORE, "core", NULL, NULL, .flag = &job.core },
	{ OPT_MEMORY, "memory", "size",
	    "keep processes stopped if clones may need more",
	    .call = parse },
	{ OPT_TO, "to", "command",
	    "move to where command runs snapload --receive",
	    .word = &job.move.to },
	{ OPT_WHEN, "when", "condition",
	    "take the snapshot when this is true: snap-series(7)",
	    .call = parse },
	{ OPT_LONG, "most", "bytes", NULL, .number = &job.most, 1, INT64_MAX },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Write a snapshot of running processes, all at one instant.",
	.synopsis = (const char *const[]){
		"[-adfklnrsvz] [-ciNmotux argument] [--option ...] "
		    "[pid|name ...]",
		NULL
	},
	.opts = opts,
	.sources = &job.sources
};

/*
 * Parse the argc arguments at argv, and return the job they describe, which is
 * static. Exit with a message if the options are malformed or cannot be
 * combined.
 */
struct job *
job_parse(int argc, char *argv[])
{
	struct job *const j = &job;

	argv = options_take(&cmdline, argc, argv);
	j->live.timeout = (unsigned int)timeout;
	j->live.user = sources_uid(&j->sources);
	if (j->most != 0 && j->exclude == NULL)
		j->exclude = must(exclude_new());
	j->live.flags = j->exclude != NULL;
	if (j->core && *argv != NULL && program_isnumber(*argv))
		j->dumps = (pid_t)strtol(*argv++, NULL, 10);
	sources_operands(&j->sources, argv, SOURCES_LIVE);
	j->move.kill |= j->move.to != NULL;
	if ((!j->core && !sources_live(&j->sources)) ||
	    (j->move.force && !j->move.kill))
		options_misuse(&cmdline);
	if ((j->live.no_inject || j->exclude != NULL) && (j->move.dry ||
	    (j->move.kill && !j->move.force)))
		errx(2, "-%c cannot be combined with -d, or with -k without "
		    "-f: the processes could not be restored",
		    j->live.no_inject ? 'n' : 'x');
	if (j->most != 0 && !j->core)
		errx(2, "--most requires --core");
	if (j->core && (j->move.dry || j->move.kill || j->dumps == 0))
		errx(2, "--core requires the ID of the dumping process as "
		    "the first operand, and cannot be combined with -d or -k");
	if (when_given() && j->core)
		errx(2, "--when cannot be combined with --core");
	if (j->count != 0 && j->every == 0)
		errx(2, "-N requires -i");
	if (j->every > 0 && (j->core || j->move.dry || j->move.kill ||
	    j->path == NULL))
		errx(2, "-i requires -o, and cannot be combined with -d, -k or "
		    "--to");
	if (j->move.to != NULL && (j->move.dry || j->path != NULL))
		errx(2, "--to cannot be combined with -d or -o");
	/* a child that is not moved would get another parent */
	if (j->move.kill || j->move.dry)
		j->live.descendants = true;
	j->live.clone = !j->stop && !j->live.no_inject && !j->move.kill &&
	    !j->move.dry;
	/* while processes stay stopped, there is time to ask for everything */
	j->live.restore = j->live.descendants || !j->live.clone;
	if (j->move.dry)	/* -d overrides -k: nothing is killed */
		j->move.kill = j->move.force = false;
	j->live.move = j->move.kill;
	j->live.yield = !j->move.kill;
	return j;
}
