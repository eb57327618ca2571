/*
 * The moments of a series, and the choice of one of them. A series is a stream
 * with several moments of the same processes (man6/snap.6). The process IDs in
 * moment n, counted from 1, are those of the processes plus
 * (n - 1) * EARLY_PID. A process without memory, the mark, follows the last
 * process of a moment.
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
	    strchr(line, '\n') != NULL ||
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
long
day_seconds(const char *s)
{
	unsigned int h, m, sec = 0;
	int end = 0, n;

	n = sscanf(s, "%2u:%2u%n:%2u%n", &h, &m, &end, &sec, &end);
	return n < 2 || s[strspn(s, "0123456789:")] != '\0' ||
	    s[end] != '\0' || h > 23 || m > 59 || sec > 60 ? -1 :
	    (long)(h * 3600 + m * 60 + sec);
}

/*
 * Return the index of the moment of l whose time of day is nearest to t, in
 * seconds.
 */
static size_t
moment_near(const struct momentset *l, long t)
{
	enum { DAY = 24 * 3600 };
	long apart, least = DAY;
	size_t i, found = 0;
	struct header h;
	struct tm tm;
	time_t at;

	for (i = 0; i < l->n; i++) {
		header_parse(&h, l->v[i]->header);
		at = h.timed ? (time_t)h.time : 0;
		if (localtime_r(&at, &tm) == NULL)
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
 * Return the index in l of the given moment, as struct readopts has it, or -1
 * with errstr set. A snapshot that is not a series is its only moment.
 */
ssize_t
momentset_find(const struct momentset *l, const char *moment)
{
	const char *bad;
	long long num;
	long t;

	if (moment == NULL || strcmp(moment, "last") == 0)
		return (ssize_t)l->n - 1;
	if (strcmp(moment, "first") == 0)
		return 0;
	if ((t = day_seconds(moment)) != -1)
		return (ssize_t)moment_near(l, t);
	num = strtonum(moment, 1, (long long)l->n, &bad);
	return bad == NULL ? (ssize_t)num - 1 : errstr_set("no moment \"%s\": "
	    "the moments are 1 to %zu", moment, l->n);
}

/*
 * Call o->note if the series l, whose whole is set, ends within a moment.
 */
static void
momentset_note(const struct momentset *l, const struct readopts *o)
{
	char *text;

	if (l->whole->broken == NULL || o->note == NULL ||
	    (text = str_printf("%s; the %zu moment%s before that %s whole",
	    l->whole->broken, l->n, l->n == 1 ? "" : "s",
	    l->n == 1 ? "is" : "are")) == NULL)
		return;
	o->note(o->arg, text);
	free(text);
}

/*
 * Add to l a snapshot without processes for the next of count moments of s. Its
 * first line is header.
 */
static int
momentset_add(struct momentset *l, struct snap *s, const char *header,
    size_t count)
{
	struct snap *new;

	if ((new = snap_new()) == NULL)
		return -1;
	if (VEC_ADD(l->v, l->n, new) == -1) {
		snap_free(new);
		return -1;
	}
	new->st = s->st;
	new->verified = s->verified;
	new->verified_index = s->verified_index;
	new->damaged = s->damaged;
	new->moment = l->n;
	new->moments = count;
	new->whole = s;
	return (new->header = str_dup(header)) == NULL ? -1 : 0;
}

/*
 * Make *l from s, which l then owns, even on failure. Return 0, or -1 with
 * errstr set.
 */
int
momentset_make(struct momentset *l, struct snap *s, const struct readopts *o)
{
	struct instant *v;
	size_t i, n;
	int rc;

	*l = (struct momentset){ .whole = s };
	rc = snap_instants(s, &v, &n);
	if (rc == 0 && n == 0) {
		l->whole = NULL;
		if ((rc = VEC_ADD(l->v, l->n, s)) == -1)
			snap_free(s);
	}
	for (i = 0; i < n && rc == 0; i++)
		rc = momentset_add(l, s, v[i].header, n);
	if (rc == 0 && n > 0 && s->broken == NULL &&
	    s->proc[s->nproc - 1]->pid / EARLY_PID >= n &&
	    (s->broken = str_printf("the file ends within moment %zu", n + 1))
	    == NULL)
		rc = -1;
	if (rc == 0 && n > 0) {
		momentset_note(l, o);
		rc = snap_split(s, l->v, n);
	}
	instants_free(v, n);
	return rc;
}

/*
 * Free the moments of l.
 */
void
momentset_close(struct momentset *l)
{
	while (l->n > 0)
		snap_free(l->v[--l->n]);
	free(l->v);
	snap_free(l->whole);
}

/*
 * If s is a series, free it, and return a snapshot of moment o->moment.
 * Otherwise return s, which is the first and last moment. name is the name of
 * the input. Return NULL with errstr set on failure.
 */
struct snap *
moment_keep(struct snap *s, const char *name, const struct readopts *o)
{
	struct snap *new = NULL;
	struct momentset l;
	ssize_t i = -1;

	if (momentset_make(&l, s, o) == 0 && (i = momentset_find(&l,
	    o->moment)) == -1)
		errstr_wrap("%s", name);
	if (i != -1) {
		new = l.v[i];
		l.v[i] = NULL;
		new->whole = NULL;
	}
	if (new != NULL && l.whole != NULL) {
		new->trailer_error = l.whole->trailer_error;
		l.whole->trailer_error = NULL;
		source_move(new, l.whole);
	}
	momentset_close(&l);
	return new;
}
