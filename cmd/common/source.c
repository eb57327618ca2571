/*
 * Sort the operands of a command line into files and live processes.
 *
 * An operand that is "-" or an existing file is a file. Any other is the
 * process ID or name of a live process. Where both exist, -p PID means the
 * process and ./FILE the file. live.c finds live processes; pick.c selects
 * processes in files.
 */
#include "common.h"

#include <err.h>
#include <unistd.h>

/*
 * Append word, which is borrowed, to w.
 */
void
words_add(struct words *w, char *word)
{
	MUST_ROOM(w->v, w->n);
	w->v[w->n++] = word;
}

/*
 * Restrict s to the live processes of one user. arg is the argument of -u,
 * which names the user. Exit with status 2 if this user does not exist.
 */
void
sources_user(struct sources *s, char *arg)
{
	if (user_parse(arg, &s->uid) == -1)
		errx(2, "-u: %s", snap_errstr());
	s->user = true;
}

/*
 * Add the live processes of cgroup arg, the argument of -c, to s. arg is
 * borrowed.
 */
void
sources_cgroup(struct sources *s, char *arg)
{
	words_add(&s->cgroup, arg);
}

/*
 * Add to s the process IDs and names in arg, the comma-separated argument of
 * -p. arg is modified and borrowed. Exit with status 2 if any of them is empty.
 */
void
sources_pick(struct sources *s, char *arg)
{
	char *word;

	while ((word = strsep(&arg, ",")) != NULL) {
		if (*word == '\0')
			errx(2, "-p: empty process name");
		words_add(&s->pick, word);
	}
}

/*
 * Return the user given with -u in s, or NULL.
 */
const uid_t *
sources_uid(const struct sources *s)
{
	return s->user ? &s->uid : NULL;
}

/*
 * Return true if s selects live processes.
 */
bool
sources_live(const struct sources *s)
{
	return s->live.n > 0 || s->cgroup.n > 0 || s->user;
}

/*
 * Return true if live processes of s are to be read. Exit with status 2 if the
 * user chose a moment: they have none.
 */
bool
sources_now(const struct sources *s)
{
	if (sources_live(s) && s->moment != NULL)
		errx(2, "-@ chooses a moment of a series, not of a live "
		    "process");
	return sources_live(s);
}

static int
name_found(void *arg, pid_t pid)
{
	(void)pid;
	*(bool *)arg = true;
	return 0;
}

/*
 * Return true if operand, interpreted as kind says, names live processes, or
 * false if it names a file.
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
	return *operand != '\0' && proc_named(operand, sources_uid(s),
	    name_found, &found) == 0 && found;
}

/*
 * Add the file at path, which is borrowed, to s.
 */
void
sources_file(struct sources *s, char *path)
{
	words_add(&s->file, path);
}

/*
 * Insert standard input into the files of s, at the position of the first live
 * process among the operands.
 */
void
sources_input(struct sources *s)
{
	static char input[] = "-";
	size_t i;

	words_add(&s->file, input);
	for (i = s->file.n - 1; i > s->at; i--)
		s->file.v[i] = s->file.v[i - 1];
	s->file.v[s->at] = input;
}

/*
 * Return true if standard input is a pipe or a regular file.
 */
static bool
is_input(void)
{
	struct stat st;

	return fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/*
 * Add each word of operand, a NULL-terminated list that is borrowed, to s: as a
 * file or as a live process, according to kind. If no file is named, the
 * arguments of -p also name live processes, which come first. If kind is
 * SOURCES_FILES and there are neither operands nor cgroups, add standard input
 * as a file; but if -p was given, only if standard input is a pipe or a regular
 * file.
 */
void
sources_operands(struct sources *s, char *const operand[],
    enum sources_kind kind)
{
	struct words live = { 0 };
	size_t i;

	for (; *operand != NULL; operand++)
		if (!is_live(s, *operand, kind))
			words_add(&s->file, *operand);
		else {
			if (live.n == 0)
				s->at = s->file.n;
			words_add(&live, *operand);
		}
	if (live.n == 0)
		s->at = s->file.n;
	if (kind == SOURCES_FILES && s->file.n + live.n + s->cgroup.n == 0 &&
	    (s->pick.n == 0 || is_input()))
		sources_input(s);
	if (s->file.n == 0) {
		s->live = s->pick;
		s->pick = (struct words){ 0 };
	}
	for (i = 0; i < live.n; i++)
		words_add(&s->live, live.v[i]);
	free(live.v);
}

/*
 * If operands of s were taken for live processes, treat them as arguments of -p
 * instead, which select processes in files.
 */
void
sources_inside(struct sources *s)
{
	size_t i;

	for (i = 0; i < s->live.n; i++)
		words_add(&s->pick, s->live.v[i]);
	s->live.n = 0;
}
