/*
 * How a snapshot was taken: the file taken of the Linux records of its
 * processes, one in each part, snap(6).  It may be a stranger's.
 */
#include "snapls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const keys[TAKEN_KEYS] = {
	[TAKEN_TIME] = "time", [TAKEN_USER] = "user", [TAKEN_LOGIN] = "login",
	[TAKEN_HOST] = "host", [TAKEN_KERNEL] = "kernel",
	[TAKEN_VERSION] = "version", [TAKEN_COMMAND] = "command",
	[TAKEN_NOTE] = "note"
};

/*
 * Set the value of a key to the rest of a line, which begins with it: of two
 * lines with one key the first counts.
 */
static void
line_parse(struct taken *t, const char *line)
{
	size_t i, n;

	for (i = 0; i < TAKEN_KEYS; i++) {
		n = strlen(keys[i]);
		if (strncmp(line, keys[i], n) == 0 && line[n] == ' ' &&
		    t->value[i] == NULL)
			t->value[i] = must(strdup(line + n + 1));
	}
}

/*
 * Set *part to the number of the part of a snapshot that record r is of.
 */
void
part_get(const struct linuxrec *r, uint64_t *part)
{
	char s[24];

	*part = linuxrec_line(r, "part", s, sizeof s) ? strtoull(s, NULL, 10) :
	    0;
}

/*
 * Set *t to what process p tells of the taking of its part of the snapshot, to
 * be freed with taken_free.  Return false, with nothing to be freed, where it
 * tells nothing.
 */
bool
taken_get(struct taken *t, struct proc *p)
{
	const struct linuxrec *r = proc_record(p);
	struct recfile f;
	char *text, *line, *next;

	memset(t, 0, sizeof *t);
	if (!linuxrec_find(r, "taken", &f))
		return false;
	part_get(r, &t->part);
	text = must(strndup((const char *)f.data, f.len));
	for (next = text; (line = strsep(&next, "\n")) != NULL;)
		line_parse(t, line);
	free(text);
	return true;
}

/*
 * Free what t has.
 */
void
taken_free(struct taken *t)
{
	size_t i;

	for (i = 0; i < TAKEN_KEYS; i++)
		free(t->value[i]);
}

/*
 * Return what key i is called.
 */
const char *
taken_key(size_t i)
{
	return keys[i];
}

/*
 * Print a word before a value, and the value, if there is one.
 */
static void
value_print(const char *word, char *value)
{
	if (value != NULL)
		printf("%s%s", word, text_harmless(value));
}

/*
 * Print in words, in a line, when and by whom t was taken; with all, also with
 * what; and why, if that was noted.
 */
void
taken_print(struct taken *t, bool all)
{
	struct tm tm;
	char when[40];
	time_t at;

	if (!all && t->value[TAKEN_NOTE] == NULL)
		return;
	at = t->value[TAKEN_TIME] == NULL ? 0 :
	    (time_t)strtoll(t->value[TAKEN_TIME], NULL, 10);
	*when = '\0';
	if (at != 0 && gmtime_r(&at, &tm) != NULL)
		strftime(when, sizeof when, " %F %T UTC", &tm);
	if (t->part != 0)
		printf("part %" PRIu64 " ", t->part);
	printf("taken%s", when);
	value_print(" by ", t->value[TAKEN_USER]);
	if (t->value[TAKEN_LOGIN] != NULL) {
		value_print(" (", t->value[TAKEN_LOGIN]);
		putchar(')');
	}
	value_print(" on ", t->value[TAKEN_HOST]);
	if (all)
		value_print(", snap ", t->value[TAKEN_VERSION]);
	value_print(": ", all ? t->value[TAKEN_COMMAND] :
	    t->value[TAKEN_NOTE]);
	putchar('\n');
	if (all && t->value[TAKEN_NOTE] != NULL) {
		value_print("note: ", t->value[TAKEN_NOTE]);
		putchar('\n');
	}
}
