/*
 * Select processes of snapshots with -p.
 */
#include "common.h"

/*
 * Return true if word is the name or the process ID of process p of snapshot
 * snap, or the ID of one of its threads.
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
 * Return true if -p selects process p of snapshot snap, or if -p was not given.
 * Record in s which words of -p matched, for sources_check().
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
	if (s->found == NULL)
		s->found = must(calloc(s->pick.n, 1));
	for (i = 0, wanted = false; i < s->pick.n; i++)
		if (source_is(s->pick.v[i], snap, p))
			s->found[i] = wanted = true;
	return wanted;
}

/*
 * Print each word of -p that matched none of the processes passed to
 * sources_wants(). If there is such a word, the result counts as incomplete.
 */
void
sources_check(const struct sources *s)
{
	char *text;
	size_t i;

	for (i = 0; i < s->pick.n; i++) {
		if (s->found != NULL && s->found[i])
			continue;
		text = must(str_printf("-p: no process %s", s->pick.v[i]));
		program_lose(NULL, text);
		free(text);
	}
}

static int
is_wanted(void *s, struct snap *snap, struct proc *p)
{
	return sources_wants(s, snap, p);
}

/*
 * Reduce snap to the processes selected with -p, if -p was given. Return snap,
 * or a new snapshot in its place; snap is then freed. Return NULL with errstr
 * set on failure, or if -p selects no process.
 */
struct snap *
sources_keep(struct sources *s, struct snap *snap)
{
	if (s->pick.n == 0)
		return snap;
	if ((snap = snap_keep(snap, is_wanted, s)) == NULL)
		errstr_wrap("-p %s", s->pick.v[0]);
	return snap;
}
