/*
 * snapcore: make ELF cores or minidumps of the processes of a snapshot. -r
 * makes a snapshot of ELF cores, as snapcat does.
 */
#include "snapcore.h"

#include <unistd.h>

static struct sources sources;
static struct joining joining = { .from = &sources };
static bool reverse, minidump, full;
static struct progress progress;

struct chosen {			/* a process for which a core is made */
	struct snap	*snap;	/* borrowed, as is "proc" */
	struct proc	*proc;
};

/*
 * Set errstr to say that -p matches no process, and list the IDs of the first
 * ten processes that exist. The array all has the n existing processes. Return
 * -1.
 */
static int
fail_process(const struct chosen *all, size_t n)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < n && i < 10; i++)
		buf_printf(&b, "%s%" PRIu64, i == 0 ? "" : ", ",
		    all[i].proc->pid);
	errstr_set("no process %s in the snapshot, which contains "
	    "%.*s%s", sources.pick.v[0], (int)b.len, b.len == 0 ? "" :
	    (const char *)b.data, n == 0 ? "none" : n > 10 ? ", ..." : "");
	buf_free(&b);
	return -1;
}

/*
 * Write the core or, with -m, the minidump of c to path, as core_write() does.
 */
static int
write_one(const struct chosen *c, const char *path)
{
	return core_write(full ? minidump_full : minidump ? minidump_new :
	    core_new, c->snap, c->proc, path, joining.verbose, &progress);
}

/*
 * Append process p of snapshot s to *all, an array of *n elements.
 */
static void
choose(struct chosen **all, size_t *n, struct snap *s, struct proc *p)
{
	MUST_ROOM(*all, *n);
	(*all)[(*n)++] = (struct chosen){ .snap = s, .proc = p };
}

/*
 * Write a core of each of the n processes in the array all. Each core becomes a
 * file of its own, PATH.PID. Later processes with the same ID get a number:
 * PATH.PID.2. If a core cannot be written, print the error and continue.
 */
static void
write_all(struct chosen *all, size_t n, const char *path)
{
	char *name, nth[24];
	size_t i, k, same;

	for (i = 0; i < n; i++) {
		/* earlier processes with this ID, from other snapshots */
		for (same = k = 0; k < i; k++)
			same += all[k].proc->pid == all[i].proc->pid;
		*nth = '\0';
		if (same > 0)
			snprintf(nth, sizeof nth, ".%zu", same + 1);
		name = must(str_printf("%s.%" PRIu64 "%s", path == NULL ?
		    "core" : path, all[i].proc->pid, nth));
		if (write_one(&all[i], name) == -1)
			program_lose(NULL, snap_errstr());
		else if (!joining.verbose)
			program_warn("%s: process %" PRIu64, name,
			    all[i].proc->pid);
		free(name);
	}
}

/*
 * Write cores of the processes in the nsnap snapshots at s. With -p, write only
 * cores of the selected processes. If there are several cores, path is the
 * prefix of their names. Return 0, or -1 with errstr set.
 */
static int
write_cores(struct snap *const s[], size_t nsnap, const char *path)
{
	struct chosen *all, *one;
	size_t i, k, n, nall;
	int rc;

	all = one = NULL;
	n = nall = 0;
	for (k = 0; k < nsnap; k++)
		for (i = 0; i < s[k]->nproc; i++) {
			if (!proc_isprocess(s[k]->proc[i]))
				continue;
			choose(&all, &nall, s[k], s[k]->proc[i]);
			if (sources_wants(&sources, s[k], s[k]->proc[i]))
				choose(&one, &n, s[k], s[k]->proc[i]);
		}
	rc = 0;
	if (nall == 0)
		rc = errstr_set("no process in the snapshot");
	else if (n == 0)
		rc = fail_process(all, nall);
	else if (n == 1)
		rc = write_one(one, path);
	else if (path != NULL && strcmp(path, "-") == 0)
		rc = errstr_set("cannot write %zu cores to standard output; "
		    "use -p pid%s", n, n == nall ? "" : " and one file");
	else
		write_all(one, n, path);
	if (n > 0)
		sources_check(&sources);
	free(all);
	free(one);
	return rc;
}

/*
 * Write cores of the processes in the snapshots named on the command line, as
 * write_cores() does. Return 0, or -1 with errstr set.
 */
static int
cores_of_snaps(const char *path)
{
	struct readopts o = { .warn = program_lose, .progress = &progress,
	    MOMENT_OF(sources) };
	struct snap **s = must(calloc(sources.file.n + 1, sizeof *s));
	size_t i, n;
	int rc;

	for (i = n = 0; i < sources.file.n; i++)
		if ((s[n] = snap_load(sources.file.v[i], &o)) != NULL)
			n++;
		else
			program_lose(NULL, snap_errstr());
	rc = n == 0 ? 0 : write_cores(s, n, path);
	while (n-- > 0)
		snap_free(s[n]);
	free(s);
	return rc;
}

static const struct opt opts[] = {
	MOMENT_OPTION(sources),
	{ 'a', "all", NULL, "with -m: all memory", .flag = &full },
	{ 'c', "cgroup", "group",
	    "live processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'e', "executable", "exe", "executable the cores came from",
	    .word = &joining.exe },
	{ 'm', "minidump", NULL, "write a minidump, with only the stacks",
	    .flag = &minidump },
	{ 'o', "output", "file", "write to file instead of core or core.PID",
	    .outfile = &joining.path },
	{ 'p', "pid", "pid|name", "only this process; without file: a live one",
	    .source = sources_pick },
	{ 'r', "reverse", NULL, "convert cores to a snapshot, as snapcat does",
	    .flag = &reverse },
	{ 'v', "verbose", NULL, "print what was written",
	    .flag = &joining.verbose },
	{ 'z', "compress", NULL, "compress the snapshot, as gzip(1) does",
	    .flag = &joining.compress },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Convert a snapshot to ELF cores, or back, or to minidumps.",
	.synopsis = (const char *const[]){
		"[-m [-a]] [-v] [-@ moment] [-c group] [-o core]",
		"         [-p pid|name] [file | pid | name ...]",
		"-r [-vz] [-@ moment] [-c group] [-e exe] [-o file]",
		"         [-p pid|name] [file | pid | name ...]",
		NULL
	},
	.opts = opts,
	.sources = &sources
};

int
main(int argc, char *argv[])
{
	struct confined need = { 0 };
	int rc;

	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	if ((full && !minidump) || (reverse ? minidump : joining.exe != NULL ||
	    joining.compress))
		options_misuse(&cmdline);
	sources_operands(&sources, argv, SOURCES_FILES);
	sources_capture(&sources);
	if (reverse)
		return join_run(&joining);
	program_signals();
	need.in = sources.file.v;
	need.nin = sources.file.n;
	need.out = joining.path == NULL ? "core" : joining.path;
	need.many = true;
	program_confine(&need, joining.verbose);
	progress_show(&progress);
	rc = cores_of_snaps(joining.path);
	progress_hide();
	if (rc == -1)
		program_warn("%s", snap_errstr());
	return rc == 0 && !program_lost() ? 0 : 1;
}
