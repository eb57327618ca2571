/*
 * The command line of snap.
 */
#include "job.h"

#include <err.h>
#include <stdlib.h>
#include <unistd.h>

enum { OPT_AT = OPT_LONG, OPT_CORE, OPT_MEMORY };

static const struct opt opts[] = {
	{ 'a', "all", NULL, "unmodified pages of mapped data files, too" },
	{ 'c', "cgroup", "group",
	    "processes of a unit, container, pod or cgroup" },
	{ 'd', "dry-run", NULL,
	    "tell what cannot be restored, and write nothing" },
	{ 'f', "force", NULL, "kill in spite of what cannot be restored" },
	{ 'k', "kill", NULL,
	    "kill them when all is written, to go on elsewhere" },
	{ 'l', "let-go", NULL, NULL },
	{ 'm', "message", "text", "note why it was taken" },
	{ 'n', "no-inject", NULL, "run nothing in the processes" },
	{ 'o', "output", "file", "write to file, when the snapshot is whole" },
	{ 'r', "descendants", NULL, "all descendants of the processes, too" },
	{ 's', "stop", NULL, "keep them stopped until all is written" },
	{ 't', "timeout", "seconds",
	    "wait so long for file servers, not 5 seconds" },
	{ 'u', "user", "user", "only processes of user; alone: all of them" },
	{ 'v', "verbose", NULL,
	    "tell what was written, and what was stopped how long" },
	{ 'x', "exclude", "what", "leave out secrets, dontdump, "
	    "env=PATTERN, START-END" },
	{ 'z', "compress", NULL, "compress, as gzip(1) does" },
	{ OPT_AT, "at", "time", "take it at that time of day" },
	{ OPT_CORE, "core", NULL,
	    "the first process dumps core to standard input" },
	{ OPT_MEMORY, "memory", "size",
	    "keep them stopped if clones may take more, as 2G" },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Write a snapshot of running processes, all at one instant.",
	.synopsis = (const char *const[]){
		"[-adfklnrsvz] [--at time] [--core] [--memory size] [-c group]",
		"     [-m text] [-o file] [-t seconds] [-u user] [-x what] "
		    "[pid|name ...]",
		NULL
	},
	.opts = opts
};

/*
 * Return what option c says yes to, or NULL.
 */
static bool *
job_flag(struct job *j, int c)
{
	switch (c) {
	case 'a':
		return &j->live.datafiles;
	case 'd':
		return &j->move.dry;
	case OPT_CORE:
		return &j->core;
	case 'f':
		return &j->move.force;
	case 'k':
		return &j->move.kill;
	case 'n':
		return &j->live.observe;
	case 'r':
		return &j->live.descendants;
	case 's':
		return &j->stop;
	case 'v':
		return &j->live.verbose;
	case 'z':
		return &j->compress;
	}
	return NULL;
}

/*
 * Take option c with its argument, getopt(3)'s optarg.
 */
static void
job_option(struct job *j, int c, char *argv[])
{
	const char *bad;
	int rc;

	switch (c) {
	case 'c':
		sources_cgroup(&j->who, optarg);
		break;
	case 'm':
		if ((j->note = note_check(optarg)) == NULL)
			errx(2, "-m: %s", snap_errstr());
		break;
	case 'o':
		j->path = program_outfile(argv, c, &cmdline);
		break;
	case 't':
		j->live.patience = (unsigned int)strtonum(optarg, 1, 86400,
		    &bad);
		if (bad != NULL)
			errx(2, "-t %s: %s", optarg, bad);
		break;
	case 'u':
		sources_user(&j->who, optarg);
		j->live.user = sources_whose(&j->who);
		break;
	case 'x':
		program_exclude(&j->exclude, optarg);
		j->live.flags = true;
		break;
	case OPT_AT:
		if ((rc = at_parse(&j->at, optarg)) != 0)
			errx(rc == 1 ? 1 : 2, "--at: %s", snap_errstr());
		break;
	case OPT_MEMORY:
		if (!amount_bytes(optarg, &j->live.memory) ||
		    j->live.memory == 0)
			errx(2, "--memory %s: not a size, as 2G", optarg);
		break;
	}
}

/*
 * Free what job j owns.
 */
void
job_free(struct job *j)
{
	exclude_free(j->exclude);
	buf_free(&j->taken);
	sources_free(&j->who);
}

/*
 * Set *j to what the command line argv, of argc words, asks for.  Where that is
 * nothing that can be done, say so, and exit.
 */
void
job_parse(struct job *j, int argc, char *argv[])
{
	bool *flag;
	int c;

	while ((c = options_next(&cmdline, argc, argv)) != -1)
		if ((flag = job_flag(j, c)) != NULL)
			*flag = true;
		else
			job_option(j, c, argv);
	if (j->core && optind < argc && program_isnumber(argv[optind]))
		j->dumps = (pid_t)strtol(argv[optind++], NULL, 10);
	sources_operands(&j->who, argv + optind, SOURCES_LIVE);
	if ((!j->core && !sources_live(&j->who)) ||
	    (j->move.force && !j->move.kill))
		options_misuse(&cmdline);
	if (j->live.observe && (j->move.dry || (j->move.kill &&
	    !j->move.force)))
		errx(2, "-n: what was only looked at cannot be restored");
	if (j->exclude != NULL && (j->move.dry || (j->move.kill &&
	    !j->move.force)))
		errx(2, "-x: what is left out cannot be restored");
	if (j->core && (j->move.dry || j->move.kill || j->dumps == 0))
		errx(2, "--core: the first operand is the number of a process "
		    "that dumps core; it cannot be restored");
	/* a child that stayed would have another parent */
	if (j->move.kill || j->move.dry)
		j->live.descendants = true;
	j->live.clone = !j->stop && !j->live.observe && !j->move.kill &&
	    !j->move.dry;
	if (j->move.dry)	/* with -k, too, nothing is killed */
		j->move.kill = j->move.force = false;
	j->live.move = j->move.kill;
}
