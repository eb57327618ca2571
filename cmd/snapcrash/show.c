/*
 * Show crashes: as a table, in detail, their stacks, or in gdb.
 */
#include "crash.h"
#include "model.h"

#include <err.h>
#include <signal.h>
#include <unistd.h>

enum {
	/* maximum number of arguments for snapstack and gdb: both get a list
	   of 64 words, with the words that are added to the arguments */
	STACK_WORDS = 61,
	GDB_WORDS = 54
};

/*
 * Write the local time of crash c to s, which has room for size bytes. Return
 * s.
 */
static const char *
when_text(const struct crash *c, char *s, size_t size)
{
	struct tm tm;

	if (localtime_r(&c->when, &tm) == NULL ||
	    strftime(s, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strlcpy(s, "-", size);
	return s;
}

enum { C_TIME, C_PID, C_USER, C_SIGNAL, C_UNIT, C_SIZE, C_NAME, C_FILE, C_EXE,
	C_THREADS, C_PATH, COLUMNS };

static const struct column columns[COLUMNS] = {
	[C_TIME] = { "TIME", "time", SHOW },
	[C_PID] = { "PID", "pid", RIGHT | SHOW },
	[C_USER] = { "USER", "user", SHOW },
	[C_SIGNAL] = { "SIGNAL", "signal", SHOW },
	[C_UNIT] = { "UNIT", "unit", SHOW },
	[C_SIZE] = { "SIZE", "size", RIGHT | SHOW },
	[C_NAME] = { "PROGRAM", "name", SHOW },
	[C_FILE] = { "FILE", "id", SHOW },
	[C_EXE] = { "EXE", "executable", CUT },
	[C_THREADS] = { "THREADS", "threads", RIGHT },
	[C_PATH] = { "PATH", "file", CUT }
};

/*
 * Add a line for crash c to t. json is true if t is JSON.
 */
static void
crash_line(struct table *t, const struct crash *c, bool json)
{
	const struct crashed *f = c->facts;
	char when[32];

	table_line(t);
	table_text(t, C_FILE, c->id);
	table_text(t, C_PATH, c->file);
	if (json)
		table_number(t, C_TIME, (uint64_t)c->when);
	else
		table_text(t, C_TIME, when_text(c, when, sizeof when));
	table_bytes(t, C_SIZE, c->size);
	table_number(t, C_PID, c->pid);
	table_text(t, C_NAME, f == NULL ? NULL : f->name);
	table_text(t, C_EXE, f == NULL ? NULL : f->exe);
	table_text(t, C_USER, f == NULL ? NULL : f->user);
	if (json && f != NULL)
		table_number(t, C_SIGNAL, f->signal);
	else
		table_text(t, C_SIGNAL, f == NULL ? NULL :
		    signal_name(f->signal));
	table_text(t, C_UNIT, f == NULL || strcmp(f->place, "-") == 0 ? NULL :
	    f->place);
	if (f != NULL)
		table_number(t, C_THREADS, f->threads);
}

/*
 * List the crashes of l that ls selects, one per line, oldest first unless ls
 * says otherwise. Return the exit status, which is 1 if a crash cannot be read
 * or a word matches no crash.
 */
int
show_list(const struct crashes *l, const struct listing *ls)
{
	struct table *t = table_new(columns, COLUMNS, &ls->table, "crash");
	const uint64_t most = ls->most == 0 ? UINT64_MAX : ls->most;
	char *const *word;
	size_t i, n, *chosen;
	int rc;

	crashes_confine(l->v, l->n);
	chosen = must(calloc(l->n + 1, sizeof *chosen));
	/* with words, read all crashes, to find the words that match none */
	for (rc = 0, n = 0, i = l->n; i-- > 0 && (*ls->words != NULL ||
	    n < most);) {
		/* list snapshots that we may not read by their names */
		if (access(l->v[i].file, R_OK) == -1 && errno == EACCES)
			;
		else if (crash_facts(&l->v[i]) == -1) {
			program_warn("%s", snap_errstr());
			rc = 1;
		}
		if (crash_isone(&l->v[i], ls->words) && n < most)
			chosen[n++] = i;
	}
	for (word = ls->words; *word != NULL; word++)
		if (!crashes_have(l, *word)) {
			program_warn("%s: no such crash; see snapcrash list",
			    *word);
			rc = 1;
		}
	for (i = 0; i < n; i++)
		crash_line(t, &l->v[chosen[ls->reverse ? i : n - 1 - i]],
		    ls->table.json);
	table_print(t);
	free(chosen);
	return rc;
}

/*
 * Exit with status 2 if args, which ends with NULL, has more than most words.
 */
static void
args_check(char *const args[], size_t most)
{
	size_t n;

	for (n = 0; args[n] != NULL; n++)
		if (n == most)
			errx(2, "too many arguments");
}

/*
 * Run snapstack on the snapshot of crash c. args has options for snapstack and
 * ends with NULL. Return the exit status of snapstack, or 127 if snapstack is
 * missing.
 */
static int
stack_run(const struct crash *c, char *const args[])
{
	char *argv[64] = { NULL };
	size_t n = 0;
	int rc;

	if ((argv[n++] = program_beside("snapstack")) == NULL)
		return 127;
	args_check(args, STACK_WORDS);
	for (; *args != NULL; args++)
		argv[n++] = *args;
	argv[n] = c->file;
	fflush(stdout);
	if ((rc = program_wait(program_start(argv, NULL, false), 0)) == -1)
		errx(1, "%s", snap_errstr());
	free(argv[0]);
	return rc;
}

/*
 * Confine this process, and print the facts of crash c, as JSON if json is
 * true.
 */
static void
facts_print(struct crash *c, bool json)
{
	const struct tableopts o = { .json = true };
	const struct crashed *f;
	struct table *t;
	char when[32];

	crashes_confine(c, 1);
	if (crash_facts(c) == -1)
		errx(1, "%s", snap_errstr());
	f = c->facts;
	if (json) {
		t = table_new(columns, COLUMNS, &o, "crash");
		crash_line(t, c, true);
		json_number("others", f->others);
		json_text("lacks", f->missing > 0 ? "memory was left out" :
		    NULL);
		json_number("missing", f->missing);
		table_print(t);
		return;
	}
	printf("   program  %s\nexecutable  %s\n       pid  %" PRIu64 ", with "
	    "%zu thread%s\n      user  %s\n    signal  %u, %s\n      unit  %s\n"
	    "      time  %s\n      file  %s, %ju KiB\n", f->name, f->exe,
	    f->pid, f->threads, f->threads == 1 ? "" : "s", f->user,
	    f->signal, f->reason, f->place,
	    when_text(c, when, sizeof when), c->file,
	    (uintmax_t)(c->size / KB));
	if (f->others > 0)
		printf("    beside  %zu other process%s\n", f->others,
		    f->others == 1 ? "" : "es");
	if (f->missing > 0)
		printf("     lacks  %" PRIu64 " MiB of its memory, for lack "
		    "of space (see snapls -l)\n",
		    (f->missing + (1 << 20) - 1) >> 20);
}

/*
 * Print the facts of crash c. If json is true, print them as JSON. Otherwise
 * also print the stacks of its threads. A confined child prints the facts,
 * because a confined process cannot start snapstack. Return the exit status.
 */
int
show_info(const struct crash *c, bool json)
{
	char num[32], *own[] = { (char *)(uintptr_t)"-p", num, NULL };
	struct crash copy = *c;
	pid_t pid;
	int rc;

	snprintf(num, sizeof num, "%ju", (uintmax_t)c->pid);
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		facts_print(&copy, json);
		if (fflush(stdout) == EOF)
			err(1, "standard output");
		exit(0);
	}
	if ((rc = program_wait(pid, 0)) != 0 || json)
		return rc;
	printf("\n");
	if ((rc = stack_run(c, own)) != 127)
		return rc == 0 ? 0 : 1;
	printf("Cannot find snapstack to print the stacks; use snapcrash "
	    "debug.\n");
	return 0;
}

/*
 * Show the stacks of crash c. args has options for snapstack, and ends with
 * NULL. Return the exit status.
 */
int
show_stack(const struct crash *c, char *const args[])
{
	int rc;

	if ((rc = stack_run(c, args)) == 127)
		errx(1,
		    "cannot find snapstack in the directory of this program");
	return rc;
}

/*
 * Run gdb with arguments args, at most GDB_WORDS, in dir, the directory of the
 * crashed process in a mounted snapshot. Return the exit status of gdb, or 127
 * after a message if gdb cannot be run.
 */
static int
gdb_run(const char *dir, char *const args[])
{
	char *argv[64] = {
		(char *)(uintptr_t)"gdb", (char *)(uintptr_t)"-q",
		(char *)(uintptr_t)"-iex",
		(char *)(uintptr_t)"set sysroot root",
		(char *)(uintptr_t)"-iex",
		(char *)(uintptr_t)"set auto-load off"
	};
	size_t n = 6;
	int rc;

	for (; *args != NULL; args++)
		argv[n++] = *args;
	argv[n++] = (char *)(uintptr_t)"text";
	argv[n++] = (char *)(uintptr_t)"core";
	argv[n] = NULL;
	/* do not exit on errors: the snapshot must be unmounted */
	if (chdir(dir) == -1)
		program_warn("%s: %s", dir, strerror(errno));
	else if ((rc = program_wait(program_start(argv, NULL, false),
	    0)) == -1)
		program_warn("%s", snap_errstr());
	else
		return rc;
	return 127;
}

/*
 * Mount the snapshot of crash c, run gdb in it, and unmount it. args has the
 * arguments of gdb and ends with NULL. Return the exit status of gdb.
 */
int
show_debug(const struct crash *c, char *const args[])
{
	char dir[] = "/tmp/snapcrash.XXXXXX", where[PATH_MAX];
	char *mount[] = { NULL, c->file, dir, NULL };
	char *unmount[] = { (char *)(uintptr_t)"fusermount3",
	    (char *)(uintptr_t)"-u", dir, NULL };
	int rc;

	args_check(args, GDB_WORDS);	/* before the mount */
	if ((mount[0] = program_beside("snapfs")) == NULL)
		errx(1, "cannot find snapfs in the directory of this program");
	if (mkdtemp(dir) == NULL)
		err(1, "%s", dir);
	/* Ctrl-C and the end of the terminal are meant for gdb */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (program_wait(program_start(mount, NULL, false), 0) != 0) {
		(void)rmdir(dir);
		errx(1, "cannot mount %s", c->file);
	}
	snprintf(where, sizeof where, "%s/%" PRIu64, dir, c->pid);
	rc = gdb_run(where, args);
	if (chdir("/") == -1)	/* leave the mount, so it can be unmounted */
		program_warn("/: %s", strerror(errno));
	(void)program_wait(program_start(unmount, NULL, false), 0);
	(void)rmdir(dir);
	free(mount[0]);
	return rc;
}

/*
 * Write the snapshot of crash c, compressed, to the file at path, or to
 * standard output if path is NULL. Return the exit status.
 */
int
show_dump(const struct crash *c, const char *path)
{
	char *argv[] = { program_beside("snapcat"), (char *)(uintptr_t)"-zo",
	    (char *)(uintptr_t)(path == NULL ? "-" : path), c->file, NULL };
	int rc;

	if (argv[0] == NULL)
		errx(1, "cannot find snapcat in the directory of this program");
	if ((rc = program_wait(program_start(argv, NULL, false), 0)) == -1)
		errx(1, "%s", snap_errstr());
	free(argv[0]);
	return rc;
}
