/*
 * Texts that tell of control groups, cgroups(7): which ones a process is in,
 * and where they can be seen.
 */
#include "state.h"

#include <string.h>

/*
 * Take the next line of text, of /proc/PID/cgroup, and set *l to what it has.
 *
 *	ID:CONTROLLERS:PATH
 *
 * In version 2 there are no controllers.  Return false at the end.
 */
bool
cgroup_next(struct scan *text, struct cgroupline *l)
{
	static const char deleted[] = " (deleted)";
	struct scan line;
	uint64_t id;
	size_t n;

	while (scan_line(text, &line)) {
		if (!scan_number(&line, 10, &id) || !scan_byte(&line, ':'))
			continue;
		l->list.s = line.s;
		while (line.s < line.end && *line.s != ':')
			line.s++;
		l->list.end = line.s;
		if (!scan_byte(&line, ':'))
			continue;
		l->path = line;
		n = (size_t)(line.end - line.s);
		if (n > sizeof deleted && memcmp(line.end - sizeof deleted + 1,
		    deleted, sizeof deleted - 1) == 0)
			l->path.end -= sizeof deleted - 1;
		return true;
	}
	return false;
}

/*
 * Return true if a list divided by commas, of controllers or options, has s.
 */
bool
cgroup_lists(struct scan list, const char *s)
{
	struct scan word;

	for (word = list; list.s < list.end; word.s = ++list.s) {
		while (list.s < list.end && *list.s != ',')
			list.s++;
		word.end = list.s;
		if ((size_t)(word.end - word.s) == strlen(s) &&
		    memcmp(word.s, s, strlen(s)) == 0)
			return true;
	}
	return false;
}

/*
 * Return which line of a text of /proc/PID/cgroup l is by how much it tells of
 * where a process belongs: the lowest number, of CGROUP_RANKS, tells most.
 * Version 2 has it all; in version 1, systemd and those who make containers
 * have a hierarchy of their own, and use those of controllers that few others
 * do.
 */
unsigned int
cgroup_rank(const struct cgroupline *l)
{
	if (l->list.s == l->list.end)
		return 0;
	if (cgroup_lists(l->list, "name=systemd"))
		return 1;
	if (cgroup_lists(l->list, "pids"))
		return 2;
	return cgroup_lists(l->list, "memory") ? 3 : CGROUP_RANKS - 1;
}

/*
 * Take a word and the blank behind it.  Return false at the end.
 */
static bool
word_take(struct scan *line, struct scan *word)
{
	scan_blanks(line);
	word->s = line->s;
	while (line->s < line->end && *line->s != ' ')
		line->s++;
	word->end = line->s;
	return word->s < word->end;
}

static bool
word_is(const struct scan *word, const char *s)
{
	return (size_t)(word->end - word->s) == strlen(s) &&
	    memcmp(word->s, s, strlen(s)) == 0;
}

/*
 * Take all of a text of mountinfo up to and with the next mount of cgroups
 * (proc_pid_mountinfo(5)), and set *m to it.
 *
 *	ID PARENT DEV ROOT POINT OPTIONS [OPTIONAL ...] - TYPE SOURCE OPTIONS
 *
 * Return false at the end.
 */
bool
cgroupmount_next(struct scan *text, struct cgroupmount *m)
{
	struct scan line, w, type, point, root;

	while (scan_line(text, &line)) {
		if (!word_take(&line, &w) || !word_take(&line, &w) ||
		    !word_take(&line, &w) || !word_take(&line, &root) ||
		    !word_take(&line, &point))
			continue;
		while (word_take(&line, &w) && !word_is(&w, "-"))
			continue;
		if (!word_take(&line, &type) || !word_take(&line, &w) ||
		    !word_take(&line, &w))
			continue;
		m->v2 = word_is(&type, "cgroup2");
		if (!m->v2 && !word_is(&type, "cgroup"))
			continue;
		m->root = root;
		m->point = point;
		m->opts = w;
		return true;
	}
	return false;
}

/*
 * Return true if a cgroup of that path is to be seen below a mount m, and set
 * *below to its path from there.  What is in none of our cgroup namespace is
 * told with "/..": cgroup_namespaces(7).
 */
bool
cgroupmount_shows(const struct cgroupmount *m, struct scan path,
    struct scan *below)
{
	size_t n, len;

	len = (size_t)(path.end - path.s);
	n = word_is(&m->root, "/") ? 0 : (size_t)(m->root.end - m->root.s);
	if (n > len || memcmp(path.s, m->root.s, n) != 0 ||
	    (n < len && path.s[n] != '/') ||
	    memmem(path.s, len, "/..", 3) != NULL)
		return false;
	below->s = path.s + n;
	below->end = path.end;
	return true;
}
