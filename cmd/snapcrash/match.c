/*
 * Find crashes by process ID, name, program or time.
 */
#include "crash.h"
#include "bisect.h"

#include <err.h>
#include <fcntl.h>
#include <unistd.h>

enum { MEANS_NOT, MEANS_LIKE, MEANS_THAT };

enum { MAX_COMM = 15 };	/* length to which the kernel cuts program names */

/*
 * Return true if word is the beginning of id, the name of a snapshot. An
 * underscore in id also stands for a byte that such a name cannot contain. The
 * name of the program in word may be longer than the kernel's.
 */
static bool
name_begins(const char *id, const char *word)
{
	size_t i;

	for (i = 0; word[i] != '\0' && (id[i] == word[i] || (id[i] == '_' &&
	    strchr(NAME_BYTES, word[i]) == NULL));)
		i++;
	return word[i] == '\0' || (i == MAX_COMM && id[i] == '.');
}

/*
 * Return how well word matches crash k. MEANS_THAT means that word is the
 * process ID, the name or the path of k or, if the facts of k were read, the
 * path of its program. MEANS_LIKE means that word is only the beginning of the
 * name or the name of the program, and MEANS_NOT that word does not match.
 */
static int
crash_means(const struct crash *k, const char *word)
{
	const size_t len = strlen(word);
	char *end;

	if (strcmp(k->file, word) == 0 || strcmp(k->id, word) == 0)
		return MEANS_THAT;
	if (len > 0 && strtoull(word, &end, 10) == k->pid &&
	    *end == '\0')
		return MEANS_THAT;
	if (*word == '/' && k->facts != NULL &&
	    strcmp(k->facts->exe, word) == 0)
		return MEANS_THAT;
	return len > 0 && name_begins(k->id, word) ? MEANS_LIKE : MEANS_NOT;
}

/*
 * Return the last crash of l that word matches exactly. If there is none,
 * return the last one whose name begins with word. If word is NULL, return the
 * last crash of all. Return NULL if no crash is found.
 */
static struct crash *
crash_named(const struct crashes *l, const char *word)
{
	struct crash *like = NULL;
	size_t i;
	int how;

	for (i = l->n; i-- > 0;) {
		if (word == NULL)
			return &l->v[i];
		how = crash_means(&l->v[i], word);
		if (how == MEANS_THAT)
			return &l->v[i];
		if (how == MEANS_LIKE && like == NULL)
			like = &l->v[i];
	}
	return like;
}

/*
 * Return the last crash whose program is path, or NULL if there is none. A
 * confined child reads the snapshots to find out.
 */
static struct crash *
crash_ofexe(struct crashes *l, const char *path)
{
	struct crash *k;
	size_t at = l->n, i;
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) == -1 || (pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		crashes_confine(l->v, l->n);
		for (i = 0; i < l->n; i++)
			(void)crash_facts(&l->v[i]);
		if ((k = crash_named(l, path)) != NULL)
			at = (size_t)(k - l->v);
		exit(write(fd[1], &at, sizeof at) != sizeof at);
	}
	close(fd[1]);
	if (read(fd[0], &at, sizeof at) != sizeof at)
		at = l->n;
	close(fd[0]);
	(void)program_wait(pid, 0);
	return at < l->n ? &l->v[at] : NULL;
}

/*
 * Return the crash of l that word selects. word is its process ID, its name or
 * the beginning of this name, its path, or the path of its program. If word is
 * NULL, return the last crash. Exit with status 1 if there is no such crash.
 */
struct crash *
crash_find(struct crashes *l, const char *word)
{
	struct crash *k;

	k = crash_named(l, word);
	if (k == NULL && word != NULL && *word == '/')
		k = crash_ofexe(l, word);
	if (k == NULL && word == NULL)
		errx(1, "no crashes are recorded");
	if (k == NULL)
		errx(1, "%s: no such crash; see snapcrash list", word);
	return k;
}

/*
 * Return true if words is empty, or if any of its elements matches crash k. The
 * facts of k must have been read.
 */
bool
crash_isone(const struct crash *k, char *const words[])
{
	if (*words == NULL)
		return true;
	for (; *words != NULL; words++)
		if (crash_means(k, *words) != MEANS_NOT)
			return true;
	return false;
}

/*
 * Return true if word matches a crash of l. The facts of the crashes must have
 * been read.
 */
bool
crashes_have(const struct crashes *l, const char *word)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (crash_means(&l->v[i], word) != MEANS_NOT)
			return true;
	return false;
}

/*
 * Reduce l to the crashes between times since and until, inclusive.
 */
void
crashes_between(struct crashes *l, time_t since, time_t until)
{
	size_t i, n;

	for (i = n = 0; i < l->n; i++)
		if (l->v[i].when >= since && l->v[i].when <= until)
			l->v[n++] = l->v[i];
		else
			free(l->v[i].file);
	l->n = n;
}

/*
 * Return the number of seconds that s, such as 2h, stands for, or -1 if s is
 * malformed.
 */
static long
time_amount(const char *s)
{
	static const struct unit { const char *name; long seconds; } units[] = {
		{ "s", 1 }, { "min", 60 }, { "m", 60 }, { "h", 3600 },
		{ "d", 86400 }, { "w", 7 * 86400 }
	};
	const struct unit *u;
	char *end;
	long n;

	errno = 0;
	n = strtol(s, &end, 10);
	if (end == s || n < 0 || errno != 0 || n > INT_MAX)
		return -1;
	u = SEEK_IN(units, strcmp(end, x->name) == 0);
	return u == NULL ? -1 : n * u->seconds;
}

/*
 * Parse s, a time, into *t. s is @ followed by seconds since the Epoch, an age
 * such as -2h or "2h ago", or one of now, today and yesterday. It may also be a
 * local date, a time today, or a date and a time. Return false if s is
 * malformed.
 */
bool
time_parse(const char *s, time_t *t)
{
	static const char *const formats[] = {
		"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M",
		"%Y-%m-%d", "%H:%M:%S", "%H:%M"
	};
	const time_t now = time(NULL);
	char word[32], *end;
	struct tm day, tm;
	size_t i;

	if (*s == '@') {
		*t = (time_t)strtoll(s + 1, &end, 10);
		return end != s + 1 && *end == '\0';
	}
	if (localtime_r(&now, &day) == NULL ||
	    strlcpy(word, s, sizeof word) >= sizeof word)
		return false;
	if ((end = strstr(word, " ago")) != NULL && end[4] == '\0')
		*end = '\0';
	if ((*s == '-' || end != NULL) &&
	    time_amount(word + (*s == '-')) != -1) {
		*t = now - time_amount(word + (*s == '-'));
		return true;
	}
	*t = now;
	if (strcmp(s, "now") == 0)
		return true;
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	if (strcmp(s, "yesterday") == 0)
		day.tm_mday--;
	for (i = 0, end = NULL; i < sizeof formats / sizeof *formats; i++) {
		tm = day;
		if ((end = strptime(s, formats[i], &tm)) != NULL &&
		    *end == '\0')
			break;
		end = NULL;
	}
	if (end != NULL)
		day = tm;
	else if (strcmp(s, "today") != 0 && strcmp(s, "yesterday") != 0)
		return false;
	*t = mktime(&day);
	return *t != -1;
}
