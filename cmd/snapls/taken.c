/*
 * Print how a snapshot was taken, from the file "taken" in the Linux record of
 * one process of each part: snap(6). It is untrusted.
 */
#include "snapls.h"

#include <time.h>

static const char *const keys[TAKEN_KEYS] = {
	[TAKEN_TIME] = "time", [TAKEN_USER] = "user", [TAKEN_LOGIN] = "login",
	[TAKEN_HOST] = "host", [TAKEN_KERNEL] = "kernel",
	[TAKEN_VERSION] = "version", [TAKEN_COMMAND] = "command",
	[TAKEN_NOTE] = "note"
};

/*
 * Parse a line of the file "taken" into t. If the line begins with a key, set
 * the value of that key to the rest of the line. If several lines have the same
 * key, use the first.
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
 * Set *part to the number of the snapshot part that record r belongs to, or to
 * 0 if the record does not say.
 */
void
part_get(const struct linuxrec *r, uint64_t *part)
{
	char s[24];

	*part = linuxrec_line(r, "part", s, sizeof s) ? strtoull(s, NULL, 10) :
	    0;
}

/*
 * Set *t to the values in the file "taken" of process p. The caller frees it
 * with taken_free(). If there is no such file, return false; then there is
 * nothing to free.
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
 * Free the members that t owns.
 */
void
taken_free(struct taken *t)
{
	size_t i;

	for (i = 0; i < TAKEN_KEYS; i++)
		free(t->value[i]);
}

/*
 * Return the name of the key with index i.
 */
const char *
taken_key(size_t i)
{
	return keys[i];
}

/*
 * Print word followed by value. If value is NULL, print nothing.
 */
static void
value_print(const char *word, char *value)
{
	if (value != NULL)
		printf("%s%s", word, text_sanitize(value));
}

/*
 * Print the time, user, host and note of the snapshot that t describes. If all
 * is true, also print the version and the command line. If all is false and
 * there is no note, print nothing.
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
