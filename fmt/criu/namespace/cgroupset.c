/*
 * Which cgroups processes are in: those that are in the same ones of all
 * hierarchies are in one set.
 */
#include "cgroups.h"
#include "state/state.h"
#include "vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int
member_cmp(const void *a, const void *b)
{
	const struct cgmember *x = a, *y = b;

	return strcmp(x->list, y->list);
}

/*
 * Take the members of a set from what its record tells, into its text.
 */
static int
members_take(struct cgset *s)
{
	struct scan t = scan_begin(s->from.data, s->from.len);
	struct cgroupline l;
	struct cgmember *v;
	char *at;
	size_t n;

	/* each has a colon and a newline more than that in its line */
	if ((at = s->text = calloc(1, s->from.len + 2)) == NULL)
		return errstr_set("out of memory");
	while (cgroup_next(&t, &l)) {
		if (VEC_ROOM(s->v, s->n) == -1)
			return -1;
		v = &s->v[s->n++];
		v->prefix = 0;
		n = (size_t)(l.list.end - l.list.s);
		v->list = memcpy(at, l.list.s, n);
		at += n + 1;
		n = (size_t)(l.path.end - l.path.s);
		v->path = memcpy(at, l.path.s, n);
		at += n + 1;
	}
	if (s->n > 1)
		qsort(s->v, s->n, sizeof *s->v, member_cmp);
	return 0;
}

/*
 * Note if process t cannot be put into the cgroups of its set: criu takes it
 * that all sets are of the same hierarchies.
 */
static int
set_check(struct criumake *m, const struct cgset *s, const struct maketask *t)
{
	const struct cgset *first = m->cgroups->set;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!cgpath_sound(s->v[i].path))
			return make_never(m, "process %" PRIu64 ": its cgroup "
			    "%s is not below the root that snap saw: cannot be "
			    "restored with --manage-cgroups", t->proc->pid,
			    s->v[i].path);
	for (i = 0; i < s->n && s->n == first->n &&
	    strcmp(s->v[i].list, first->v[i].list) == 0; i++)
		continue;
	return i == s->n && s->n > 0 ? 0 : make_never(m, "process %" PRIu64
	    ": it is in other hierarchies of cgroups than process %" PRIu64
	    ": cannot be restored with --manage-cgroups", t->proc->pid,
	    first->first->proc->pid);
}

/*
 * Set t->cgset to the number of the set of process t, a new one if it is in
 * none of the others.
 */
static int
set_find(struct criumake *m, struct maketask *t)
{
	struct makecgroups *c = m->cgroups;
	struct recfile f;
	struct cgset *s;
	size_t i;

	if (!linuxrec_find(&t->rec, "cgroup", &f))
		return make_never(m, "process %" PRIu64 ": nothing tells of "
		    "its cgroups: cannot be restored with --manage-cgroups",
		    t->proc->pid);
	/* of a child, that of its parent as a rule */
	i = t->parent == NULL || t->parent->cgset == 0 ? 0 :
	    t->parent->cgset - CGROUP_CRIUS - 1;
	for (; i < c->nset; i++)
		if (c->set[i].from.len == f.len &&
		    memcmp(c->set[i].from.data, f.data, f.len) == 0)
			break;
	for (s = c->set; i == c->nset && s < c->set + c->nset; s++)
		if (s->from.len == f.len &&
		    memcmp(s->from.data, f.data, f.len) == 0)
			i = (size_t)(s - c->set);
	t->cgset = (uint32_t)(CGROUP_CRIUS + 1 + i);
	if (i < c->nset)
		return 0;
	if (VEC_ROOM(c->set, c->nset) == -1)
		return -1;
	s = &c->set[c->nset++];
	*s = (struct cgset){ .from = f, .first = t };
	return members_take(s) == -1 ? -1 : set_check(m, s, t);
}

/*
 * The same for those threads of process p that are in others than it is: their
 * records tell that.
 */
static int
threads_find(struct criumake *m, const struct maketask *p)
{
	struct maketask *t;
	struct recfile f;
	const size_t *at;
	size_t i, n;

	if (snap_threads(m->snap, p->proc->pid, &at, &n) == -1)
		return -1;
	for (i = 0; i < n; i++) {
		t = m->task[at[i]];
		if (maketask_runs(t) && linuxrec_find(&t->rec, "cgroup", &f) &&
		    set_find(m, t) == -1)
			return -1;
	}
	return 0;
}

/*
 * Read the sets of the processes that are restored.  One that has ended is in
 * none.
 */
int
cgsets_read(struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->norder; i++)
		if (!maketask_ended(m->order[i]) &&
		    (set_find(m, m->order[i]) == -1 ||
		    threads_find(m, m->order[i]) == -1))
			return -1;
	return 0;
}

void
cgsets_free(struct makecgroups *c)
{
	size_t i;

	for (i = 0; i < c->nset; i++) {
		free(c->set[i].text);
		free(c->set[i].v);
	}
	free(c->set);
}
