/*
 * Find the same process in several snapshots. Process IDs are reused, so a
 * process is the same only if ID and start time are equal.
 */
#include "snapdiff.h"
#include "bisect.h"

/*
 * Compare two processes by part and process ID, which is how users name them.
 */
static int
side_order(const struct side *a, const struct side *b)
{
	return a->id.part != b->id.part ? ORDER(a->id.part, b->id.part) :
	    ORDER(a->id.pid, b->id.pid);
}

CMP_BY(side_cmp, struct side, side_order(x, y) != 0 ? side_order(x, y) :
    x->id.start != y->id.start ? ORDER(x->id.start, y->id.start) :
    ORDER(x->proc->pid, y->proc->pid))

/*
 * Return the moment to which a process in the snapshot at path belongs. If
 * parts is true, this is the moment of the given part of the snapshot.
 * Otherwise it is the only moment of the snapshot. If l does not have the
 * moment yet, append it. first is the index in l of the first moment of the
 * snapshot.
 */
static struct moment *
moment_for(struct moments *l, size_t first, const char *path, bool parts,
    uint64_t part)
{
	struct moment *m;

	m = SEEK(l->v + first, l->n - first, !parts || x->part == part);
	if (m != NULL)
		return m;
	MUST_ROOM(l->v, l->n);
	m = &l->v[l->n++];
	memset(m, 0, sizeof *m);
	m->path = path;
	m->part = parts ? part : 0;
	return m;
}

/*
 * Set the time of moment m from the header of s. If m is a part that snapcat(1)
 * joined, take the time from the file "origin" of process p instead.
 */
static void
moment_time(struct moment *m, const struct snap *s, struct proc *p)
{
	static const char begins[] = "process snapshot ";
	struct recfile f;
	struct header h;
	const char *rest;
	char line[4096];

	header_parse(&h, s->header);
	if (m->part != 0 && linuxrec_find(proc_record(p), "origin", &f)) {
		memset(&h, 0, sizeof h);
		if ((rest = memchr(f.data, ' ', f.len)) != NULL) {
			rest++;
			snprintf(line, sizeof line, "%s%.*s", begins,
			    (int)((const char *)f.data + f.len - rest), rest);
			header_parse(&h, line);
		}
	}
	m->timed = h.timed;
	m->time = h.time;
}

CMP(moment_cmp, struct moment, part)

/*
 * Add to l the moments of snapshot s, which was read from path. If parts is
 * true, these are the parts of s, in order. Otherwise there is only one. Return
 * 0, or -1 with errstr set.
 */
int
moments_add(struct moments *l, struct snap *s, const char *path, bool parts)
{
	struct moment *m;
	struct side d = { .snap = s };
	size_t i, first = l->n;

	for (i = 0; i < s->nproc; i++) {
		if (!proc_isprocess(s->proc[i]))
			continue;
		d.proc = s->proc[i];
		if (proc_identity(&d.id, d.proc) == -1)
			return -1;
		m = moment_for(l, first, path, parts, d.id.part);
		if (parts)
			d.id.part = 0;
		if (m->n == 0)
			moment_time(m, s, d.proc);
		MUST_ROOM(m->side, m->n);
		m->side[m->n++] = d;
	}
	if (l->n == first)
		(void)moment_for(l, first, path, false, 0);
	for (i = first; i < l->n; i++)
		SORT(l->v[i].side, l->v[i].n, side_cmp);
	SORT(l->v + first, l->n - first, moment_cmp);
	return 0;
}

/*
 * Return true if a and b, which have equal IDs, may be the same process. A
 * start time that is unknown matches any other.
 */
static bool
side_same(const struct side *a, const struct side *b)
{
	return a->id.start == b->id.start || a->id.start == 0 ||
	    b->id.start == 0;
}

/*
 * Call fn with arg for each process of moments old and new, in order of process
 * ID. A process that exists at both moments is passed only once, with both
 * sides.
 */
void
couples_each(const struct moment *old, const struct moment *new, couple_fn fn,
    void *arg)
{
	static const struct couple none;
	struct couple c;
	size_t i, k;
	int order;

	for (i = k = 0; i < old->n || k < new->n;) {
		c = none;
		order = i == old->n ? 1 : k == new->n ? -1 :
		    side_order(&old->side[i], &new->side[k]);
		if (order == 0 && !side_same(&old->side[i], &new->side[k]))
			order = side_cmp(&old->side[i], &new->side[k]);
		if (order <= 0)
			c.was = old->side[i++];
		if (order >= 0)
			c.is = new->side[k++];
		fn(arg, &c);
	}
}

/*
 * Return the process of moment m that is the same as d, a process of another
 * moment, or NULL if there is none.
 */
const struct side *
moment_same(const struct moment *m, const struct side *d)
{
	size_t i;

	for (i = BISECT_WHILE(k, m->n, side_order(&m->side[k], d) < 0);
	    i < m->n && side_order(&m->side[i], d) == 0; i++)
		if (side_same(&m->side[i], d))
			return &m->side[i];
	return NULL;
}

/*
 * Return the first process of m with process ID pid, or NULL.
 */
const struct side *
moment_find(const struct moment *m, uint64_t pid)
{
	return SEEK(m->side, m->n, x->id.pid == pid);
}

/*
 * Make a pair of process old_pid of moment old and process new_pid of moment
 * new, and store it in *c. Their start times may differ. Return 0, or -1 with
 * errstr set if either process is missing.
 */
int
couple_pids(const struct moment *old, const struct moment *new,
    uint64_t old_pid, uint64_t new_pid, struct couple *c)
{
	const struct side *a, *b;

	if ((a = moment_find(old, old_pid)) == NULL)
		return errstr_set("%s: no process %" PRIu64, old->path,
		    old_pid);
	if ((b = moment_find(new, new_pid)) == NULL)
		return errstr_set("%s: no process %" PRIu64, new->path,
		    new_pid);
	c->was = *a;
	c->is = *b;
	return 0;
}
