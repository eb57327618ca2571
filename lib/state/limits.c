/*
 * Parse limits: each line has a name, a soft and a hard limit, in columns 1, 27
 * and 48 (proc_pid_limits(5), fs/proc/base.c of the kernel).
 */
#include "state.h"

enum { COLUMN = 25 };		/* column at which the name of a limit ends */

static bool
limit_word(struct scan *t, uint64_t *v)
{
	struct scan num;
	char word[24];
	size_t n;

	n = scan_word(t, word, sizeof word);
	if (strcmp(word, "unlimited") == 0) {
		*v = UINT64_MAX;
		return true;
	}
	if (n == 0 || n >= sizeof word || *word == '-')
		return false;
	num = scan_begin(word, n);
	return scan_number(&num, 10, v) && num.s == num.end &&
	    (*v != UINT64_MAX || strcmp(word, "18446744073709551615") == 0);
}

/*
 * Parse the next line of text, from /proc/PID/limits, into *l. If the line has
 * no limits, set l->valid to false. Return false at the end.
 */
bool
limits_next(struct scan *text, struct limit *l)
{
	struct scan t;
	size_t n;

	memset(l, 0, sizeof *l);
	l->cur = l->max = UINT64_MAX;
	if (!scan_line(text, &t))
		return false;
	if (t.end - t.s < COLUMN)
		return true;
	for (n = COLUMN; n > 0 && t.s[n - 1] == ' '; n--)
		continue;
	memcpy(l->name, t.s, n);
	t.s += COLUMN;
	l->valid = limit_word(&t, &l->cur) && limit_word(&t, &l->max);
	return true;
}

/*
 * Set *soft to the soft limit called name in text, from /proc/PID/limits, or to
 * UINT64_MAX if there is no limit. Leave *soft unchanged if text has no such
 * line. Return true if it has one that is valid.
 */
bool
limits_find(struct scan text, const char *name, uint64_t *soft)
{
	struct limit l;

	while (limits_next(&text, &l))
		if (strcmp(l.name, name) == 0) {
			*soft = l.cur;
			return l.valid;
		}
	return false;
}
