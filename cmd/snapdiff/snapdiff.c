/*
 * snapdiff: show what changed in processes from one snapshot to another.
 */
#include "snapdiff.h"

#include <err.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {				/* exit statuses, like those of diff(1) */
	EXIT_SAME,
	EXIT_DIFFER,
	EXIT_TROUBLE
};

struct command {
	struct options	 opts;
	struct momentset input;	/* owned; all moments of the only operand */
	struct moments	 moments;
	struct sources	 sources;
	uint64_t	 pid;	/* ID of the only process to compare; 0: all */
	uint64_t	 before; /* ID, in the old snapshot, of the only process
				    to compare */
	bool		 series; /* the moments are those of one series, and
				    more than two */
	bool		 headed; /* print_moments() was called */
	bool		 differs;
};

static struct command command;

/*
 * Handle -p: set the process to compare from s, which is "pid" or "before:pid".
 */
static void
parse_pids(int letter, char *s)
{
	char *now;

	if ((now = strchr(s, ':')) != NULL)
		*now++ = '\0';
	command.pid = command.before = options_number(letter, s, 1, INT32_MAX);
	if (now != NULL)
		command.pid = options_number(letter, now, 1, INT32_MAX);
}

static const struct opt opts[] = {
	MOMENT_OPTION(command.sources),
	TABLE_OPTIONS(command.opts.table),
	{ 'a', "all", NULL, "print all measures, even those that did not grow",
	    .flag = &command.opts.all },
	{ 'c', "cgroup", "group",
	    "live processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'l', "long", NULL, "also print the address ranges that changed",
	    .flag = &command.opts.runs },
	{ 'p', "pid", "pid[:pid]", "only this process; old:new if its ID "
	    "changed", .call = parse_pids },
	{ 's', "sums", NULL, "print one line per class of mappings",
	    .flag = &command.opts.sums },
	{ 'x', "hex", NULL, "also print the bytes that changed",
	    .flag = &command.opts.bytes },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Show what changed in processes between snapshots.",
	.synopsis = (const char *const[]){
		"[-bn] [-lx | -s] [-@ moment] [-c group] [-o list]",
		"         [-p pid[:pid]] old new",
		"[-bn] [-lx | -s] [-@ moment] [-o list] [-p pid[:pid]] file",
		"[-abj] [-@ moment] [-c group] [-p pid] file ...",
		"-j [-l | -s] [-@ moment] [-c group] [-p pid[:pid]] file ...",
		NULL
	},
	.opts = opts,
	.sources = &command.sources
};

static void
trouble(void)
{
	fflush(stdout);
	program_warn("%s", snap_errstr());
	exit(EXIT_TROUBLE);
}

/*
 * Compare a process and print what changed, or the error if the process cannot
 * be read. This is a couple_fn.
 */
static void
compare(void *arg, const struct couple *c)
{
	struct command *cmd = arg;
	struct factlist was = { 0 }, is = { 0 };
	struct changes changes = { 0 };
	struct memory before = { 0 }, now = { 0 };
	struct rows rows = { 0 };
	struct result res = { .couple = c, .changes = &changes,
	    .rows = &rows, .was = &before, .is = &now };
	bool both, known;
	size_t i;

	both = c->was.proc != NULL && c->is.proc != NULL;
	known = !both || (proc_facts(&was, c->was.snap, c->was.proc) == 0 &&
	    proc_facts(&is, c->is.snap, c->is.proc) == 0 &&
	    factlist_diff(&changes, &was, &is) == 0 &&
	    memory_open(&before, &c->was) == 0 &&
	    memory_open(&now, &c->is) == 0);
	if (!known)
		program_lose(NULL, snap_errstr());
	else
		rows_get(&rows, &before, &now, cmd->opts.runs ||
		    cmd->opts.bytes);
	res.differs = !both || changes.n > 0;
	for (i = 0; i < rows.n; i++)
		res.differs = res.differs || row_differs(&rows.v[i]);
	if (known && res.differs && cmd->opts.table.json)
		objects_result(&res, &cmd->opts);
	else if (known && res.differs) {
		if (!cmd->differs)
			print_moments(&cmd->moments);
		print_result(&res, &cmd->opts);
	}
	cmd->differs = cmd->differs || (known && res.differs);
	rows_free(&rows);
	memory_close(&before);
	memory_close(&now);
	free(changes.v);
	factlist_free(&was);
	factlist_free(&is);
}

/*
 * Compare the two moments of cmd.
 */
static void
compare_all(struct command *cmd)
{
	const struct moment *m = cmd->moments.v;
	struct couple c;

	if (cmd->opts.table.json)
		objects_head(&m[0], &m[1]);
	if (cmd->pid == 0)
		couples_each(&m[0], &m[1], compare, cmd);
	else if (couple_pids(&m[0], &m[1], cmd->before, cmd->pid, &c) == -1)
		trouble();
	else
		compare(cmd, &c);
}

/*
 * Print the growth of a process. This is the callback of growth_each().
 */
static void
growth_show(void *arg, const struct growth *g)
{
	struct command *cmd = arg;

	if (cmd->opts.table.json)
		objects_growth(g);
	else {
		if (!cmd->headed)
			print_moments(&cmd->moments);
		cmd->headed = true;
		print_growth(g, cmd->opts.table.bytes);
	}
	cmd->differs = cmd->differs || g->grew;
}

/*
 * Return true if the options of cmd require exactly two moments.
 */
static bool
needs_two(const struct command *cmd)
{
	return cmd->opts.runs || cmd->opts.sums || cmd->opts.bytes ||
	    cmd->opts.table.list != NULL || cmd->before != cmd->pid;
}

/*
 * Find and print what grew from each moment of cmd to the next.
 */
static void
grow_all(struct command *cmd)
{
	if (needs_two(cmd))
		errx(EXIT_TROUBLE, "-l, -o, -s, -x and -p pid:pid require "
		    "exactly two moments");
	if (cmd->opts.table.json)
		objects_moments(&cmd->moments);
	if (growth_each(&cmd->moments, cmd->pid, cmd->opts.all, growth_show,
	    cmd) == -1)
		trouble();
}

/*
 * Compare the first moment of cmd with the last, and print what grew from each
 * to the next.
 */
static void
series_all(struct command *cmd)
{
	const struct moments all = cmd->moments;
	struct moment two[2] = { all.v[0], all.v[all.n - 1] };

	cmd->moments = (struct moments){ two, 2 };
	compare_all(cmd);
	cmd->moments = all;
	grow_all(cmd);
}

static void
snapshot_add(struct command *cmd, struct snap *s, const char *path, bool parts)
{
	if (s == NULL || moments_add(&cmd->moments, s, path, parts) == -1)
		trouble();
}

/*
 * Read the snapshot at path, and find its moments. If it is a series, these are
 * all of its moments, or the first and the last if the options require two.
 * Otherwise they are its parts.
 */
static void
read_one(struct command *cmd, const char *path)
{
	const struct readopts o = { .warn = program_lose, .note = program_say };
	struct momentset *l = &cmd->input;
	size_t i;

	if (momentset_load(l, path, &o) == -1)
		trouble();
	cmd->series = l->n > 2 && !needs_two(cmd);
	for (i = 0; i < l->n; i++)
		if (cmd->series || i == 0 || i == l->n - 1)
			snapshot_add(cmd, l->v[i], path, l->n == 1);
}

/*
 * Read the n snapshots named in path, and find their moments.
 */
static void
read_all(struct command *cmd, char *const *path, size_t n)
{
	const struct readopts o = { .warn = program_lose,
	    MOMENT_OF(cmd->sources) };
	size_t i;

	if (n == 1 && o.moment == NULL)
		read_one(cmd, path[0]);
	else
		for (i = 0; i < n; i++)
			snapshot_add(cmd, snap_load(path[i], &o), path[i],
			    n == 1);
}

/*
 * Exit with status EXIT_TROUBLE if standard input is named more than once.
 */
static void
check_input(char *const *path)
{
	unsigned int n;

	for (n = 0; *path != NULL; path++)
		n += strcmp(*path, "-") == 0;
	if (n > 1)
		errx(EXIT_TROUBLE, "standard input can be read only once");
}

int
main(int argc, char *argv[])
{
	struct command *const cmd = &command;
	struct confined need = { 0 };

	program_descriptors();
	signal(SIGUSR1, SIG_IGN);
	argv = options_take(&cmdline, argc, argv);
	if ((*argv == NULL && cmd->sources.cgroup.n == 0) ||
	    (cmd->opts.table.json && (cmd->opts.bytes ||
	    cmd->opts.table.list != NULL)) ||
	    (cmd->opts.sums && (cmd->opts.runs || cmd->opts.bytes)))
		options_misuse(&cmdline);
	columns_check(&cmd->opts);
	check_input(argv);
	sources_operands(&cmd->sources, argv, SOURCES_FILES);
	sources_capture(&cmd->sources);
	need.in = cmd->sources.file.v;
	need.nin = cmd->sources.file.n;
	program_files(); /* raise the limit on open files: CRIU images need a
			    file per process */
	if (confine(&need) == -1)
		trouble();
	read_all(cmd, need.in, need.nin);
	if (cmd->moments.n < 2 && !cmd->opts.all)
		errx(EXIT_TROUBLE,
		    "only one moment to compare (name another file)");
	if (cmd->series && !cmd->opts.all)
		series_all(cmd);
	else if (cmd->moments.n > 2 || cmd->opts.all)
		grow_all(cmd);
	else
		compare_all(cmd);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(EXIT_TROUBLE, "standard output");
	return program_lost() ? EXIT_TROUBLE : cmd->differs ? EXIT_DIFFER :
	    EXIT_SAME;
}
