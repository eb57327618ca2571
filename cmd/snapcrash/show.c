/*
 * What is shown of crashes: a table, one in detail, its stacks, and gdb.
 */
#include "crash.h"
#include "signame.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Write a time as a person reads it, and of this place.
 */
static const char *
when_text(const struct crash *c, char *s, size_t size)
{
	struct tm tm;

	if (localtime_r(&c->when.tv_sec, &tm) == NULL ||
	    strftime(s, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strlcpy(s, "-", size);
	return s;
}

static void
json_crash(const struct crash *c, bool full)
{
	const struct crashed *f = c->facts;

	json_open(NULL, '{');
	json_text("id", c->id);
	json_text("file", c->file);
	json_number("time", (uint64_t)c->when.tv_sec);
	json_number("bytes", c->size);
	if (f != NULL) {
		json_number("pid", f->pid);
		json_text("name", f->name);
		json_text("exe", f->exe);
		json_text("user", f->user);
		json_number("signal", f->signal);
		json_text("place", strcmp(f->place, "-") == 0 ? NULL :
		    f->place);
		json_number("threads", f->threads);
	}
	if (f != NULL && full) {
		json_number("others", f->others);
		json_text("lacks", f->missing > 0 ? "memory was left out" :
		    NULL);
		json_number("missing", f->missing);
	}
	json_close('}');
	json_end();
}

static void
list_line(const struct crash *k)
{
	const struct crashed *f = k->facts;
	const char *sig = f == NULL ? NULL : signal_name(f->signal);
	char when[32], id[NAME_MAX + 1];

	strlcpy(id, k->id, sizeof id);
	printf("%-19s %7" PRIu64 " %-10s %-7s %-12s %7juK  %-16s %s\n",
	    when_text(k, when, sizeof when), crash_pid(k),
	    f == NULL ? "-" : f->user,
	    sig == NULL ? "-" : sig,
	    f == NULL ? "-" : f->place, (uintmax_t)(k->size / KB),
	    f == NULL ? "-" : f->name, text_harmless(id));
}

/*
 * List the crashes of l that how wants, a line each, the oldest first.  Return
 * the exit status: 1 if one cannot be read, or words mean none.
 */
int
show_list(const struct crashes *l, const struct listing *how)
{
	size_t i, n, *chosen;
	int rc;

	crashes_confine(l->v, l->n);
	if ((chosen = calloc(l->n + 1, sizeof *chosen)) == NULL)
		err(1, NULL);
	for (rc = 0, n = 0, i = l->n; i-- > 0 && (how->most == 0 ||
	    n < how->most);) {
		/* what is another's has its name */
		if (access(l->v[i].file, R_OK) == -1 && errno == EACCES)
			;
		else if (crash_facts(&l->v[i]) == -1) {
			program_warn("%s", snap_errstr());
			rc = 1;
		}
		if (crash_isone(&l->v[i], how->words))
			chosen[n++] = i;
	}
	if (n == 0 && *how->words != NULL)
		errx(1, "%s: no such crash (snapcrash list)", *how->words);
	if (!how->json && n > 0)
		printf("%-19s %7s %-10s %-7s %-12s %8s  %-16s %s\n", "TIME",
		    "PID", "USER", "SIGNAL", "UNIT", "SIZE", "PROGRAM",
		    "FILE");
	for (i = 0; i < n; i++) {
		const struct crash *k = &l->v[chosen[how->reverse ? i :
		    n - 1 - i]];

		if (how->json)
			json_crash(k, false);
		else
			list_line(k);
	}
	free(chosen);
	return rc;
}

/*
 * Run snapstack on the snapshot of a crash with the options more, which end in
 * NULL.  Return its exit status; 127 if it is not there.
 */
static int
stack_run(const struct crash *c, char *const more[])
{
	char *argv[64] = { NULL };
	size_t n = 0;
	pid_t child;

	if ((argv[n++] = program_beside("snapstack")) == NULL)
		return 127;
	for (; *more != NULL && n < 62; more++)
		argv[n++] = *more;
	argv[n] = c->file;
	fflush(stdout);
	if ((child = program_start(argv, NULL)) == -1)
		errx(1, "%s", snap_errstr());
	free(argv[0]);
	return program_wait(child, 0);
}

/*
 * Tell all of one crash but its stacks.
 */
static void
facts_print(struct crash *c, bool json)
{
	const struct crashed *f;
	char when[32];

	crashes_confine(c, 1);
	if (crash_facts(c) == -1)
		errx(1, "%s", snap_errstr());
	f = c->facts;
	if (json) {
		json_crash(c, true);
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
		printf("     lacks  %" PRIu64 " MiB of its memory: there was "
		    "no room (snapls -l)\n",
		    (f->missing + (1 << 20) - 1) >> 20);
}

/*
 * Tell all of crash c, with json as JSON, and the stacks of its threads.
 * Return the exit status.  Who is confined starts no other program, so a child
 * is.
 */
int
show_info(const struct crash *c, bool json)
{
	char num[32], *own[] = { (char *)(uintptr_t)"-p", num, NULL };
	struct crash copy = *c;
	pid_t pid;
	int rc;

	snprintf(num, sizeof num, "%ju", (uintmax_t)crash_pid(c));
	if ((pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		facts_print(&copy, json);
		exit(fflush(stdout) == EOF);
	}
	if ((rc = program_wait(pid, 0)) != 0 || json)
		return rc;
	printf("\n");
	if (stack_run(c, own) == 127)
		printf("Its stacks: there is no snapstack; snapcrash debug "
		    "shows them in gdb.\n");
	return 0;
}

/*
 * Show the stacks of crash c, with more options for snapstack, which end in
 * NULL.  Return the exit status.
 */
int
show_stack(const struct crash *c, char *const more[])
{
	int rc;

	if ((rc = stack_run(c, more)) == 127)
		errx(1, "there is no snapstack beside this program");
	return rc;
}

/*
 * Run gdb in the directory dir of what crashed in a mounted snapshot.
 */
static int
gdb_run(const char *dir, char *const more[])
{
	char *argv[64] = {
		(char *)(uintptr_t)"gdb", (char *)(uintptr_t)"-q",
		(char *)(uintptr_t)"-iex",
		(char *)(uintptr_t)"set sysroot root",
		(char *)(uintptr_t)"-iex",
		(char *)(uintptr_t)"set auto-load off"
	};
	size_t n = 6;
	pid_t pid;

	for (; *more != NULL && n < 60; more++)
		argv[n++] = *more;
	argv[n++] = (char *)(uintptr_t)"text";
	argv[n++] = (char *)(uintptr_t)"core";
	argv[n] = NULL;
	/* it is unmounted in any case */
	if (chdir(dir) == -1)
		program_warn("%s: %s", dir, strerror(errno));
	else if ((pid = program_start(argv, NULL)) == -1)
		program_warn("%s", snap_errstr());
	else
		return program_wait(pid, 0);
	return 127;
}

/*
 * Mount the snapshot of crash c, start gdb with more arguments there, which end
 * in NULL, and unmount it at the end.  Return gdb's exit status.
 */
int
show_debug(const struct crash *c, char *const more[])
{
	char dir[] = "/tmp/snapcrash.XXXXXX", where[PATH_MAX];
	char *mount[] = { NULL, c->file, dir, NULL };
	char *unmount[] = { (char *)(uintptr_t)"fusermount3",
	    (char *)(uintptr_t)"-u", dir, NULL };
	pid_t pid;
	int rc;

	if ((mount[0] = program_beside("snapfs")) == NULL)
		errx(1, "there is no snapfs beside this program");
	if (mkdtemp(dir) == NULL)
		err(1, "%s", dir);
	/* who interrupts gdb does not mean us */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	rc = (pid = program_start(mount, NULL)) == -1 ? 127 :
	    program_wait(pid, 0);
	if (rc != 0) {
		(void)rmdir(dir);
		errx(1, "%s: it cannot be mounted", c->file);
	}
	snprintf(where, sizeof where, "%s/%" PRIu64, dir, crash_pid(c));
	rc = gdb_run(where, more);
	if (chdir("/") == -1)		/* or it stays in use */
		program_warn("/: %s", strerror(errno));
	if ((pid = program_start(unmount, NULL)) != -1)
		(void)program_wait(pid, 0);
	(void)rmdir(dir);
	free(mount[0]);
	return rc;
}

/*
 * Write the snapshot of crash c to the file path, or if that is NULL to
 * standard output, compressed.  Return the exit status.
 */
int
show_dump(const struct crash *c, const char *path)
{
	char *argv[] = { program_beside("snapcat"), (char *)(uintptr_t)"-zo",
	    (char *)(uintptr_t)(path == NULL ? "-" : path), c->file, NULL };
	pid_t pid;

	if (argv[0] == NULL)
		errx(1, "there is no snapcat beside this program");
	if ((pid = program_start(argv, NULL)) == -1)
		errx(1, "%s", snap_errstr());
	free(argv[0]);
	return program_wait(pid, 0);
}
