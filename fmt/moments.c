/*
 * Choose a moment of a series: a stream with several moments of the same
 * processes (man6/snap.6). The process IDs in moment n, counted from 1, are
 * those of the processes plus (n - 1) * EARLY_PID. A process without memory,
 * the mark, follows the last process of a moment.
 */
#include "merge/merge.h"
#include "model.h"
#include "vec.h"

#include <time.h>

/*
 * If p is the mark of moment n, describe the moment in *m, and return true. The
 * caller frees m->header.
 */
static bool
mark_get(struct proc *p, uint64_t n, struct instant *m)
{
	char line[8192], first[8192 + 32];
	struct header h;
	uint64_t num;
	int end = 0;

	if (p->pid != n * EARLY_PID - 1 ||
	    !linuxrec_line(proc_record(p), MOMENT_FILE, line, sizeof line) ||
	    sscanf(line, "%20" SCNu64 "%n", &num, &end) != 1 || num != n)
		return false;
	snprintf(first, sizeof first, "process snapshot%s", line + end);
	header_parse(&h, first);
	*m = (struct instant){ .time = h.timed ? (time_t)h.time : 0 };
	return (m->header = str_dup(first)) != NULL;
}

/*
 * Set *v to the moments of s, in order, and *n to their number, which is 0 if s
 * is not a series. The caller frees them with instants_free(). Return 0, or -1
 * with errstr set.
 */
int
snap_instants(struct snap *s, struct instant **v, size_t *n)
{
	const struct proc *p;
	struct instant m;
	size_t i;

	*v = NULL;
	*n = 0;
	for (i = 0; i < s->nproc; i++)
		if (mark_get(s->proc[i], *n + 1, &m) &&
		    VEC_ADD(*v, *n, m) == -1)
			return -1;
	for (i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (p->pid / EARLY_PID >= *n)
			continue;
		(*v)[p->pid / EARLY_PID].kb += p->count.raw;
		(*v)[p->pid / EARLY_PID].processes += proc_isprocess(p) &&
		    !proc_ismark(p);
	}
	return 0;
}

/*
 * Free the n moments at v, which may be NULL.
 */
void
instants_free(struct instant *v, size_t n)
{
	while (n-- > 0)
		free(v[n].header);
	free(v);
}

/*
 * Parse s, a time of day, HH:MM or HH:MM:SS. Return it in seconds, or -1 if s
 * has another form.
 */
static long
time_parse(const char *s)
{
	unsigned int h, m, sec = 0;
	int end = 0, n;

	n = sscanf(s, "%2u:%2u%n:%2u%n", &h, &m, &end, &sec, &end);
	return n < 2 || s[strspn(s, "0123456789:")] != '\0' ||
	    s[end] != '\0' || h > 23 || m > 59 || sec > 60 ? -1 :
	    (long)(h * 3600 + m * 60 + sec);
}

/*
 * Return the index of the moment whose time of day is nearest to t, in seconds.
 */
static size_t
moment_near(const struct instant *v, size_t n, long t)
{
	enum { DAY = 24 * 3600 };
	long apart, least = DAY;
	size_t i, found = 0;
	struct tm tm;

	for (i = 0; i < n; i++) {
		if (localtime_r(&v[i].time, &tm) == NULL)
			continue;
		apart = labs(tm.tm_hour * 3600L + tm.tm_min * 60 + tm.tm_sec -
		    t);
		apart = apart < DAY - apart ? apart : DAY - apart;
		if (apart <= least) {
			least = apart;
			found = i;
		}
	}
	return found;
}

/*
 * Return the index of moment chosen (struct readopts) of the n moments at v, or
 * -1 with errstr set.
 */
static ssize_t
moment_find(const struct instant *v, size_t n, const char *chosen)
{
	const char *bad;
	long long num;
	long t;

	if (chosen == NULL || strcmp(chosen, "last") == 0)
		return (ssize_t)n - 1;
	if (strcmp(chosen, "first") == 0)
		return 0;
	if ((t = time_parse(chosen)) != -1)
		return (ssize_t)moment_near(v, n, t);
	num = strtonum(chosen, 1, (long long)n, &bad);
	return bad == NULL ? (ssize_t)num - 1 : errstr_set("no moment \"%s\": "
	    "the moments are 1 to %zu", chosen, n);
}

/*
 * Move the processes of moment i, counted from 0, to a new snapshot with their
 * own process IDs and the first line header. Return it, or NULL with errstr
 * set. s is left empty.
 */
static struct snap *
moment_move(struct snap *s, size_t i, const char *header)
{
	struct snap *new;
	struct proc *p;
	bool *keep;
	size_t k;

	keep = mem_new(s->nproc + 1, sizeof *keep);
	new = keep == NULL ? NULL : snap_new();
	if (new == NULL || (new->header = str_dup(header)) == NULL)
		goto fail;
	new->st = s->st;
	new->verified = s->verified;
	new->verified_index = s->verified_index;
	new->damaged = s->damaged;
	new->trailer_error = s->trailer_error;
	s->trailer_error = NULL;
	for (k = 0; k < s->nproc; k++) {
		p = s->proc[k];
		keep[k] = p->pid / EARLY_PID == i && !proc_ismark(p);
		if (keep[k])
			p->pid %= EARLY_PID;
	}
	if (snap_move(new, s, keep) == 0) {
		free(keep);
		return new;
	}
fail:
	free(keep);
	snap_free(new);
	return NULL;
}

/*
 * If s is a series, free it, and return a snapshot of moment o->moment.
 * Otherwise return s, which is the first and last moment. name is the name of
 * the input. Return NULL with errstr set on failure.
 */
struct snap *
moment_keep(struct snap *s, const char *name, const struct readopts *o)
{
	struct instant *v;
	struct snap *new = NULL;
	char *text;
	ssize_t i = -1;
	size_t n;

	if (snap_instants(s, &v, &n) == 0 && (n > 0 || o->moment != NULL))
		i = moment_find(v, n > 0 ? n : 1, o->moment);
	else if (n == 0)
		return s;
	if (i != -1 && n == 0)
		return s;
	if (i == -1)
		errstr_wrap("%s", name);
	else if ((new = moment_move(s, (size_t)i, v[i].header)) != NULL) {
		new->moment = (uint64_t)i + 1;
		new->moments = n;
		if (s->broken != NULL && o->note != NULL &&
		    (text = str_printf("%s; the %zu moments before that are "
		    "whole", s->broken, n)) != NULL) {
			o->note(o->arg, text);
			free(text);
		}
	}
	instants_free(v, n);
	snap_free(s);
	return new;
}
