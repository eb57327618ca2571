/*
 * What a command line names: files, and live processes.
 *
 * An operand that is "-" or a file that exists is a file.  Any other is a live
 * process, by its number or by its name.  Where both exist, -p PID means the
 * process, and ./FILE the file.  A program that reads snapshots has snap
 * capture live processes, all at one instant, into a temporary file, before it
 * is confined.
 */
#include "common.h"
#include "source.h"
#include "vec.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/*
 * Append word, which is borrowed, to w.  Exit with 2 if memory runs out.
 */
static void
word_add(struct words *w, char *word)
{
	if (VEC_ROOM(w->v, w->n) == -1)
		errx(2, "%s", snap_errstr());
	w->v[w->n++] = word;
}

/*
 * Restrict s to live processes of a user: arg is the argument of -u.  Exit with
 * 2 if there is no such user.
 */
void
sources_user(struct sources *s, char *arg)
{
	if (user_parse(arg, &s->uid) == -1)
		errx(2, "-u: %s", snap_errstr());
	s->user = true;
}

/*
 * Add the live processes of a cgroup to s: arg, the argument of -c, is
 * borrowed.
 */
void
sources_cgroup(struct sources *s, char *arg)
{
	word_add(&s->cgroup, arg);
}

/*
 * Add to s the processes that -p picks: arg, which is changed and borrowed, has
 * numbers and names separated by commas.  Exit with 2 if one is empty.
 */
void
sources_pick(struct sources *s, char *arg)
{
	char *word;

	while ((word = strsep(&arg, ",")) != NULL) {
		if (*word == '\0')
			errx(2, "-p: an empty name");
		word_add(&s->pick, word);
	}
}

/*
 * Return the user of -u in s, or NULL.
 */
const uid_t *
sources_whose(const struct sources *s)
{
	return s->user ? &s->uid : NULL;
}

/*
 * Return true if s names live processes.
 */
bool
sources_live(const struct sources *s)
{
	return s->live.n > 0 || s->cgroup.n > 0 || s->user;
}

static int
name_found(void *arg, pid_t pid)
{
	(void)pid;
	*(bool *)arg = true;
	return 0;
}

/*
 * Return true if operand means live processes, and false if it is a file.  For
 * an operand that is neither, kind decides.
 */
static bool
is_live(const struct sources *s, const char *operand, enum sources_kind kind)
{
	bool found = false;

	if (kind == SOURCES_LIVE)
		return true;
	if (strcmp(operand, "-") == 0 || access(operand, F_OK) == 0)
		return false;
	if (program_isnumber(operand) || (kind == SOURCES_MAPS &&
	    strchr(operand, '/') == NULL))
		return true;
	return *operand != '\0' && proc_named(operand, sources_whose(s),
	    name_found, &found) == 0 && found;
}

/*
 * Add the file at path, which is borrowed, to s.
 */
void
sources_file(struct sources *s, char *path)
{
	word_add(&s->file, path);
}

/*
 * Put standard input into the files of s, in the place of its live processes.
 */
static void
files_input(struct sources *s)
{
	static char input[] = "-";
	size_t i;

	word_add(&s->file, input);
	for (i = s->file.n - 1; i > s->at; i--)
		s->file.v[i] = s->file.v[i - 1];
	s->file.v[s->at] = input;
}

/*
 * Return true if standard input is a pipe or a file.
 */
static bool
is_input(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/*
 * Add the operands, which end with NULL and are borrowed, to s: to its files or
 * to its live processes.  kind says what an operand is that is neither.  The
 * processes of -p are live ones, before those of operands, if no file is named.
 * If kind is SOURCES_FILES, standard input is read where nothing is named, and
 * with -p alone if it is a pipe or a file.
 */
void
sources_operands(struct sources *s, char *const operand[],
    enum sources_kind kind)
{
	struct words live = { 0 };
	size_t i;

	for (; *operand != NULL; operand++)
		if (!is_live(s, *operand, kind))
			word_add(&s->file, *operand);
		else {
			if (live.n == 0)
				s->at = s->file.n;
			word_add(&live, *operand);
		}
	if (live.n == 0)
		s->at = s->file.n;
	if (kind == SOURCES_FILES && s->file.n + live.n + s->cgroup.n == 0 &&
	    (s->pick.n == 0 || is_input()))
		files_input(s);
	if (s->file.n == 0) {
		s->live = s->pick;
		s->pick = (struct words){ 0 };
	}
	for (i = 0; i < live.n; i++)
		word_add(&s->live, live.v[i]);
	free(live.v);
}

/*
 * Let what operands of s named as live processes be processes that -p picks of
 * its files.
 */
void
sources_inside(struct sources *s)
{
	size_t i;

	for (i = 0; i < s->live.n; i++)
		word_add(&s->pick, s->live.v[i]);
	s->live.n = 0;
}

struct telling {
	sources_fn	 fn;
	void		*arg;
};

static int
tell(void *arg, pid_t pid)
{
	const struct telling *t = arg;

	return t->fn(t->arg, pid, true);
}

/*
 * Call fn with arg for the process that word, a number, means, which may not
 * exist; or for each process of the name word, of the user of s, until fn
 * returns -1.  Return 0, or -1 with errstr.
 */
int
sources_one(const struct sources *s, const char *word, sources_fn fn,
    void *arg)
{
	struct telling t = { fn, arg };
	const char *why;
	pid_t pid;

	if (*word == '\0')
		return errstr_set("an empty name");
	if (!program_isnumber(word))
		return proc_named(word, sources_whose(s), tell, &t);
	pid = (pid_t)strtonum(word, s->kernel ? 0 : 1, INT32_MAX, &why);
	return why != NULL ? errstr_set("%s is not a process id", word) :
	    fn(arg, pid, false);
}

/*
 * Print the error string if rc is -1.  Return whether it is not.
 */
static bool
is_good(int rc)
{
	if (rc == -1) {
		fflush(stdout);
		program_warn("%s", snap_errstr());
	}
	return rc != -1;
}

/*
 * Call fn with arg for each live process of s: those named, those of cgroups
 * or, with -u alone, all of the user.  Print why one cannot be found.  Return
 * false then.
 */
bool
sources_each(const struct sources *s, sources_fn fn, void *arg)
{
	const uid_t *user = sources_whose(s);
	struct telling t = { fn, arg };
	bool good = true;
	size_t i;

	for (i = 0; i < s->live.n; i++)
		good &= is_good(sources_one(s, s->live.v[i], fn, arg));
	for (i = 0; i < s->cgroup.n; i++)
		good &= is_good(proc_grouped(s->cgroup.v[i], user, tell, &t));
	if (s->user && s->live.n + s->cgroup.n == 0)
		good &= is_good(proc_named(NULL, user, tell, &t));
	return good;
}

static int
live_add(void *live, pid_t pid, bool found)
{
	(void)found;
	return live_addpid(live, pid);
}

/*
 * Add the live processes of s to l.  Return 0, or -1 with errstr.
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
		    l)) == -1)
			return -1;
	}
	for (i = 0; i < s->cgroup.n; i++)
		if (live_addcgroup(l, s->cgroup.v[i]) == -1)
			return -1;
	return s->user && s->live.n + s->cgroup.n == 0 ?
	    live_addname(l, NULL) : 0;
}

/*
 * Run snap for the live processes of s, with its output in fd.  Return its exit
 * status, or -1 with errstr.
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

	if ((snap = program_beside("psnap")) == NULL &&
	    (snap = program_beside("snap")) == NULL)
		return errstr_set("there is no snap beside this program");
	word_add(&w, snap);
	for (i = 0; i < s->cgroup.n; i++) {
		word_add(&w, cgroup);
		word_add(&w, s->cgroup.v[i]);
	}
	word_add(&w, end);
	for (i = 0; i < s->live.n; i++)
		word_add(&w, s->live.v[i]);
	word_add(&w, NULL);
	/* its exit status is lost if we ignore SIGCHLD */
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
 * Have snap capture the live processes of s, if there are any.  Standard input
 * is their snapshot then, and one of the files of s.  snap prints what it
 * cannot capture, and the result is incomplete.  Exit with 2 if standard input
 * was named as well.
 */
void
sources_capture(struct sources *s)
{
	size_t i;
	int fd, rc;

	if (!sources_live(s))
		return;
	for (i = 0; i < s->file.n; i++)
		if (strcmp(s->file.v[i], "-") == 0)
			errx(2, "live processes and standard input do not go "
			    "together");
	if ((fd = spool_file()) == -1 || (rc = snap_run(s, fd)) == -1) {
		program_lose(NULL, snap_errstr());
		return;
	}
	if (rc != 0)
		program_lose(NULL, "not all that was named could be captured");
	if (lseek(fd, 0, SEEK_END) > 0 && lseek(fd, 0, SEEK_SET) == 0 &&
	    dup2(fd, STDIN_FILENO) == STDIN_FILENO)
		files_input(s);
	close(fd);
}

/*
 * Return true if word is the number of process p of snapshot snap, the number
 * of one of its threads, or its name.
 */
bool
source_is(const char *word, struct snap *snap, const struct proc *p)
{
	char name[28];

	if (program_isnumber(word))
		return snap_process(snap, strtoull(word, NULL, 10)) == p;
	status_word(p, STATUS_NAME, sizeof name - 1, name);
	return strcmp(word, name) == 0;
}

/*
 * Return true if -p picks process p of snapshot snap (source_is), or if p is a
 * process and there is no -p.  Remember in s what was found: sources_check.
 */
bool
sources_wants(struct sources *s, struct snap *snap, const struct proc *p)
{
	bool wanted;
	size_t i;

	if (!proc_isprocess(p))
		return false;
	if (s->pick.n == 0)
		return true;
	if (s->found == NULL && (s->found = calloc(s->pick.n, 1)) == NULL)
		err(2, NULL);
	for (i = 0, wanted = false; i < s->pick.n; i++)
		if (source_is(s->pick.v[i], snap, p))
			s->found[i] = wanted = true;
	return wanted;
}

/*
 * Print each word of -p that no process had of which sources_wants was asked.
 * The result is incomplete then.
 */
void
sources_check(const struct sources *s)
{
	char *text;
	size_t i;

	for (i = 0; i < s->pick.n; i++) {
		if (s->found != NULL && s->found[i])
			continue;
		if (asprintf(&text, "-p: no process %s", s->pick.v[i]) == -1)
			err(2, NULL);
		program_lose(NULL, text);
		free(text);
	}
}

/*
 * Free what s owns.
 */
void
sources_free(struct sources *s)
{
	free(s->file.v);
	free(s->live.v);
	free(s->cgroup.v);
	free(s->pick.v);
	free(s->found);
}
