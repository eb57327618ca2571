/*
 * Parse mountinfo: proc_pid_mountinfo(5).
 */
#include "state.h"

#include <sys/sysmacros.h>

/*
 * Parse blanks and a word from line into *word. Return false at the end.
 */
static bool
word_take(struct scan *line, struct scan *word)
{
	scan_blanks(line);
	return scan_until(line, ' ', word);
}

/*
 * Parse the next line of text, a mountinfo, into *m:
 *
 *	ID PARENT DEV ROOT POINT OPTIONS [OPTIONAL ...] - TYPE SOURCE OPTIONS
 *
 * Return false at the end.
 */
bool
mountinfo_next(struct scan *text, struct mountinfo *m)
{
	uint64_t ma, mi;
	struct scan line, w;

	while (scan_line(text, &line)) {
		if (!scan_number(&line, 10, &m->id) ||
		    !scan_number(&line, 10, &m->parent) ||
		    !scan_number(&line, 10, &ma) || !scan_byte(&line, ':') ||
		    !scan_number(&line, 10, &mi) ||
		    !word_take(&line, &m->root) ||
		    !word_take(&line, &m->point) ||
		    !word_take(&line, &m->flags))
			continue;
		m->dev = makedev((unsigned int)ma, (unsigned int)mi);
		while (word_take(&line, &w) && !scan_is(&w, "-"))
			continue;
		if (!word_take(&line, &m->type))
			continue;
		(void)word_take(&line, &m->source);
		(void)word_take(&line, &m->opts);
		return true;
	}
	return false;
}

/*
 * Set *m to the mount with ID id in text, len bytes of mountinfo. Return false
 * if there is none.
 */
bool
mountinfo_find(const void *text, size_t len, uint64_t id, struct mountinfo *m)
{
	struct scan t = scan_begin(text, len);

	while (mountinfo_next(&t, m))
		if (m->id == id)
			return true;
	return false;
}
