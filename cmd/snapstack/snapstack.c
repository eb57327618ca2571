/*
 * snapstack: print the stack of each thread of a snapshot or of live processes,
 * and what it waits for.
 */
#include "snapstack.h"

#include <err.h>
#include <signal.h>
#include <unistd.h>

enum {
	KEPT = 8		/* maximum size of unpacked data kept, in MiB;
				   low, as most stacks are read only once */
};

static struct asked asked = { .tid = UINT64_MAX };
static struct sources sources;

static struct progress progress;

/*
 * Return true if the user selected process p of snapshot s.
 */
static bool
is_asked(struct snap *s, const struct proc *p)
{
	return sources_wants(&sources, s, p) && (asked.tid == UINT64_MAX ||
	    snap_process(s, asked.tid) == p);
}

/*
 * Print the processes of snapshot s that the user selected.
 */
static int
print_snap(struct snap *s, const char *path)
{
	struct process ps;
	size_t i, n;
	int rc;

	for (i = n = 0, rc = 0; i < s->nproc; i++) {
		if (!is_asked(s, s->proc[i]))
			continue;
		if (n++ > 0 && !asked.json && !asked.folded)
			printf("\n");
		failure_blame(s->proc[i]->pid);
		if (process_gather(&ps, s, s->proc[i], &asked,
		    false) == -1) {
			program_warn("%s", snap_errstr());
			rc = -1;
		} else
			process_print(&ps, &asked, path);
		process_close(&ps);
		elfimage_tidy();
	}
	if (n == 0 && (sources.pick.n == 0 || asked.tid != UINT64_MAX)) {
		program_warn("%s: %s", path, asked.tid == UINT64_MAX ?
		    "it has no processes" :
		    "it has no such process or thread");
		rc = -1;
	}
	return rc;
}

static int
print_file(const char *path)
{
	struct readopts o = { .warn = program_lose, .progress = &progress,
	    .unpacked = KEPT, MOMENT_OF(sources) };
	struct snap *s;
	int rc;

	if ((s = snap_load(path, &o)) == NULL) {
		program_warn("%s", snap_errstr());
		return -1;
	}
	rc = print_snap(s, path);
	elfimage_forget();
	snap_free(s);
	return rc;
}

/*
 * Print the live processes in l.
 */
static int
print_live(struct living *l)
{
	size_t i, n;

	for (i = n = 0; i < l->n; i++) {
		if (!is_asked(l->snap, l->ps[i].t.proc))
			continue;
		if (n++ > 0 && !asked.json && !asked.folded)
			printf("\n");
		process_print(&l->ps[i], &asked, "-");
		process_close(&l->ps[i]);
	}
	elfimage_forget();
	if (n > 0 || l->n == 0)
		return 0;
	program_warn("no live process matches -p or -T");
	return -1;
}

/*
 * Add dir, the argument of -d, to the directories searched for symbols. Exit if
 * it cannot be read, because symbols would otherwise be missing without
 * explanation.
 */
static void
check_dir(int letter, char *dir)
{
	struct stat st;

	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	else if (access(dir, R_OK | X_OK) == 0) {
		words_add(&debugfile_dirs, dir);
		return;
	}
	err(1, "-%c: %s", letter, dir);
}

static const struct opt opts[] = {
	MOMENT_OPTION(sources),
	{ 'a', "all", NULL, "print threads with the same stack one by one",
	    .flag = &asked.all },
	{ 'c', "cgroup", "group",
	    "live processes of a unit, container, pod or cgroup",
	    .source = sources_cgroup },
	{ 'd', "debug", "dir", "also search dir for debugging information",
	    .call = check_dir },
	{ 'f', "folded", NULL, "one line for each stack, for flame graphs",
	    .flag = &asked.folded },
	{ 'J', "json", NULL, NULL, .flag = &asked.json },
	{ 'j', "json", NULL, "print JSON, one object for each thread",
	    .flag = &asked.json },
	{ 'l', "locals", NULL, "also print the local variables of Python code",
	    .flag = &asked.locals },
	{ 'p', "pid", "pid|name", "only this process; without file: a live one",
	    .source = sources_pick },
	{ 't', "timeout", "seconds",
	    "live: seconds to wait for file servers (default 5)",
	    .number = &asked.timeout, 1, 86400 },
	{ 'T', "thread", "tid", "only this thread", .number = &asked.tid,
	    0, INT64_MAX },
	{ 0 }
};

static const struct cmdline cmdline = {
	.about = "Print the stacks of processes, in a snapshot or live.",
	.synopsis = (const char *const[]){
		"[-a | -f | -j] [-l] [-@ moment] [-c group] [-d dir]",
		"         [-p pid|name] [-t seconds] [-T tid] "
		    "[file | pid | name ...]",
		NULL
	},
	.opts = opts,
	.sources = &sources
};

/*
 * Confine the program to the given snapshot files and to directories with
 * debugging information.
 */
static void
confine_all(const struct words *file)
{
	struct confined need = { 0 };
	struct words in = { 0 };
	size_t i;

	for (i = 0; i < file->n; i++)
		words_add(&in, file->v[i]);
	for (i = 0; i < debugfile_dirs.n; i++)
		words_add(&in, debugfile_dirs.v[i]);
	need.in = in.v;
	need.nin = in.n;
	need.far = sources_now(&sources);
	program_confine(&need, false);
	free(in.v);
}

int
main(int argc, char *argv[])
{
	static char system_dir[] = "/usr/lib/debug";
	static struct living live;
	size_t i;
	int rc;

	/* other programs of ours send it to ask for progress */
	signal(SIGUSR1, SIG_IGN);
	program_descriptors();
	argv = options_take(&cmdline, argc, argv);
	if (asked.all + asked.folded + asked.json > 1)
		options_misuse(&cmdline);
	words_add(&debugfile_dirs, system_dir);
	fetch_begin();
	sources_operands(&sources, argv, SOURCES_FILES);
	/* live processes first; they need privileges that are dropped
	   afterwards */
	rc = living_take(&live, &sources, &asked);
	if (rc == -1 && !program_lost()) /* the error was not reported yet */
		program_warn("%s", snap_errstr());
	failure_begin();
	memory_limit();
	confine_all(&sources.file);
	progress_show(&progress);
	if (print_live(&live) == -1)
		rc = -1;
	for (i = 0; i < sources.file.n; i++)
		if (print_file(sources.file.v[i]) == -1)
			rc = -1;
	progress_hide();
	sources_check(&sources);
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	return rc == 0 && !program_lost() ? 0 : 1;
}
