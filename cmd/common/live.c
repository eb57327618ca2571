/*
 * Find the live processes named on the command line. For a program that reads
 * snapshots, run snap to capture them all at one instant into a temporary file,
 * before the program is confined.
 */
#include "common.h"
#include "source.h"

#include <sys/wait.h>

#include <err.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

struct relay {
	sources_fn	 fn;
	void		*arg;
};

static int
relay_found(void *arg, pid_t pid)
{
	const struct relay *t = arg;

	return t->fn(t->arg, pid, true);
}

/*
 * Call fn with arg for each process that word selects, until fn returns -1. A
 * number selects the process with that ID, even if it does not exist. Any other
 * word selects the processes with that name. If s has a user (-u), a name
 * selects only processes of that user. Return 0, or -1 with errstr set.
 */
static int
sources_one(const struct sources *s, const char *word, sources_fn fn,
    void *arg)
{
	struct relay t = { fn, arg };
	const char *why;
	pid_t pid;

	if (*word == '\0')
		return errstr_set("empty process name");
	if (!program_isnumber(word))
		return proc_named(word, sources_uid(s), relay_found, &t);
	pid = (pid_t)strtonum(word, s->kernel ? 0 : 1, INT32_MAX, &why);
	return why != NULL ? errstr_set("%s: not a process ID", word) :
	    fn(arg, pid, false);
}

/*
 * Return true if rc is not -1, or if s ignores absent processes. Otherwise
 * print the error string and return false.
 */
static bool
is_good(const struct sources *s, int rc)
{
	if (rc == -1 && s->absent)
		return true;
	if (rc == -1) {
		fflush(stdout);
		program_warn("%s", snap_errstr());
	}
	return rc != -1;
}

/*
 * Call fn with arg for each live process that s selects: the processes named
 * and those in the cgroups given with -c. If only -u was given, s selects all
 * processes of that user. Print an error for each process that cannot be found.
 * Return false if an error was printed.
 */
bool
sources_each(const struct sources *s, sources_fn fn, void *arg)
{
	const uid_t *user = sources_uid(s);
	struct relay t = { fn, arg };
	bool good = true;
	size_t i;

	for (i = 0; i < s->live.n; i++)
		good &= is_good(s, sources_one(s, s->live.v[i], fn, arg));
	for (i = 0; i < s->cgroup.n; i++)
		good &= is_good(s, proc_grouped(s->cgroup.v[i], user,
		    relay_found, &t));
	if (s->user && s->live.n + s->cgroup.n == 0)
		good &= is_good(s, proc_named(NULL, user, relay_found, &t));
	return good;
}

static int
live_add(void *live, pid_t pid, bool found)
{
	(void)found;
	return live_addpid(live, pid);
}

/*
 * Add the live processes of s to l. Return 0, or -1 with errstr set.
 */
int
sources_add(const struct sources *s, struct live *l)
{
	const char *word;
	size_t i;

	for (i = 0; i < s->live.n; i++) {
		word = s->live.v[i];
		if ((*word != '\0' && !program_isnumber(word) ?
		    live_addname(l, word) : sources_one(s, word, live_add,
		    l)) == -1 && !s->absent)
			return -1;
	}
	for (i = 0; i < s->cgroup.n; i++)
		if (live_addcgroup(l, s->cgroup.v[i]) == -1 && !s->absent)
			return -1;
	return s->user && s->live.n + s->cgroup.n == 0 ?
	    live_addname(l, NULL) : 0;
}

/*
 * Run snap on the live processes of s with fd as its standard output. Return
 * snap's exit status (128 + N if killed by signal N), or -1 with errstr set.
 */
static int
snap_run(const struct sources *s, int fd)
{
	static char cgroup[] = "-c", end[] = "--";
	posix_spawn_file_actions_t actions;
	struct words w = { 0 };
	char *snap;
	size_t i;
	pid_t pid;
	int status;

	if ((snap = program_snap()) == NULL)
		return -1;
	words_add(&w, snap);
	for (i = 0; i < s->cgroup.n; i++) {
		words_add(&w, cgroup);
		words_add(&w, s->cgroup.v[i]);
	}
	words_add(&w, end);
	for (i = 0; i < s->live.n; i++)
		words_add(&w, s->live.v[i]);
	words_add(&w, NULL);
	/* if SIGCHLD is ignored, the kernel discards the exit status */
	signal(SIGCHLD, SIG_DFL);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	errno = posix_spawn(&pid, snap, &actions, NULL, w.v, environ);
	status = errno == 0 ? 0 : errstr_sys("%s", snap);
	posix_spawn_file_actions_destroy(&actions);
	while (status == 0 && waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			status = errstr_sys("%s", snap);
	free(w.v);
	free(snap);
	return status == -1 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

/*
 * Run snap to capture the live processes of s, if any. Replace standard input
 * with their snapshot, and add standard input to the files of s. If snap cannot
 * capture some of the processes, it prints which, and the result counts as
 * incomplete. Exit with status 2 if standard input was also named as a file.
 */
void
sources_capture(struct sources *s)
{
	size_t i;
	int fd, rc;

	if (!sources_now(s))
		return;
	for (i = 0; i < s->file.n; i++)
		if (strcmp(s->file.v[i], "-") == 0)
			errx(2, "cannot combine live processes with standard "
			    "input");
	if ((fd = spool_file()) == -1 || (rc = snap_run(s, fd)) == -1) {
		program_lose(NULL, snap_errstr());
		return;
	}
	if (rc != 0)
		program_lose(NULL,
		    "some of the processes could not be captured");
	if (lseek(fd, 0, SEEK_END) > 0 && lseek(fd, 0, SEEK_SET) == 0 &&
	    dup2(fd, STDIN_FILENO) == STDIN_FILENO)
		sources_input(s);
	close(fd);
}
