/*
 * Find the cgroups of processes. Processes with the same cgroups in all
 * hierarchies belong to one set.
 */
#include "cgroups.h"
#include "state/state.h"
#include "bisect.h"

CMP_BY(member_cmp, struct cgmember, strcmp(x->list, y->list))

/*
 * Parse s->from, the content of the file "cgroup" of a record, into s->v.
 */
static int
members_take(struct pool *p, struct cgset *s)
{
	struct scan t = scan_begin(s->from.data, s->from.len);
	struct cgroupline l;
	struct cgmember *v;
	char *at;
	size_t n;

	/* each line has two characters that become terminators, a colon and
	   a newline */
	if ((at = pool_new(p, 1, s->from.len + 2)) == NULL)
		return -1;
	while (cgroup_next(&t, &l)) {
		if (POOL_ROOM(p, s->v, s->n) == -1)
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
	SORT(s->v, s->n, member_cmp);
	return 0;
}

/*
 * Return true if a process is in a cgroup other than the root cgroup of a
 * hierarchy. list has the controllers of the hierarchy.
 */
static bool
list_used(const struct makecgroups *c, const char *list)
{
	size_t i;

	for (i = 0; i < c->nset; i++)
		if (SEEK(c->set[i].v, c->set[i].n, strcmp(x->list, list) == 0 &&
		    strcmp(x->path, "/") != 0) != NULL)
			return true;
	return false;
}

/*
 * Remove unused hierarchies from all sets. A hierarchy is unused if it has no
 * controller and every process is in its root cgroup. If an unused hierarchy
 * were written, criu would create it again.
 */
static void
sets_lessen(struct makecgroups *c)
{
	struct cgmember *v;
	size_t i, k, n;

	for (i = 0; i < c->nset; i++) {
		v = c->set[i].v;
		for (n = k = 0; k < c->set[i].n; k++)
			if (strncmp(v[k].list, "name=", 5) != 0 ||
			    list_used(c, v[k].list))
				v[n++] = v[k];
		c->set[i].n = n;
	}
}

/*
 * Record a reason if processes cannot be put into the cgroups of set s, or if
 * the hierarchies of s are not those of the first set. criu assumes that all
 * sets have the same hierarchies.
 */
static int
set_check(struct criumake *m, const struct cgset *s)
{
	const struct cgset *first = m->cgroups->set;
	const struct maketask *t = s->first;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!cgpath_sound(s->v[i].path))
			return make_refuse(m, NULL, NULL, WHY_CGROUPS,
			    "cgroups: %s, of process %" PRIu64 ", is outside "
			    "the root that snap saw", s->v[i].path,
			    t->proc->pid);
	for (i = 0; i < s->n && s->n == first->n &&
	    strcmp(s->v[i].list, first->v[i].list) == 0; i++)
		continue;
	return i == s->n && s->n > 0 ? 0 : make_refuse(m, NULL, NULL,
	    WHY_CGROUPS, "cgroups: process %" PRIu64 " is in other hierarchies "
	    "than process %" PRIu64, t->proc->pid, first->first->proc->pid);
}

/*
 * Set t->cgset to the ID of the set that t belongs to. Add the set if it is
 * new.
 */
static int
set_find(struct criumake *m, struct maketask *t)
{
	struct makecgroups *c = m->cgroups;
	struct recfile f;
	struct cgset *s;
	size_t i, k;

	if (!linuxrec_find(&t->rec, "cgroup", &f))
		return make_refuse(m, NULL, NULL, WHY_CGROUPS, "cgroups: "
		    "those of process %" PRIu64 " are not in the snapshot",
		    t->proc->pid);
	/* usually the set of its parent */
	i = t->parent == NULL || t->parent->cgset == 0 ? 0 :
	    t->parent->cgset - CGROUP_CRIUS - 1;
	for (k = 0; k < c->nset; k++, i = (i + 1) % c->nset)
		if (c->set[i].from.len == f.len &&
		    memcmp(c->set[i].from.data, f.data, f.len) == 0)
			break;
	t->cgset = (uint32_t)(CGROUP_CRIUS + 1 + (k < c->nset ? i : k));
	if (k < c->nset)
		return 0;
	if (POOL_ROOM(&m->pool, c->set, c->nset) == -1)
		return -1;
	s = &c->set[c->nset++];
	*s = (struct cgset){ .from = f, .first = t };
	return members_take(&m->pool, s);
}

/*
 * Set the member cgset of each thread that is in other cgroups than its process
 * p. Only the record of such a thread has a file "cgroup".
 */
static int
threads_find(struct criumake *m, const struct maketask *p)
{
	struct maketask *t;
	struct recfile f;

	for (t = p->thread; t != NULL; t = t->thread)
		if (maketask_runs(t) && linuxrec_find(&t->rec, "cgroup", &f) &&
		    set_find(m, t) == -1)
			return -1;
	return 0;
}

/*
 * Read the cgroup sets of all processes to restore. A set has one cgroup in
 * each hierarchy. A process that has ended is in no set. Return 0, or -1 with
 * errstr set.
 */
int
cgsets_read(struct criumake *m)
{
	struct makecgroups *c = m->cgroups;
	size_t i;

	for (i = 0; i < m->norder; i++)
		if (!maketask_ended(m->order[i]) &&
		    (set_find(m, m->order[i]) == -1 ||
		    threads_find(m, m->order[i]) == -1))
			return -1;
	sets_lessen(c);
	for (i = 0; i < c->nset; i++)
		if (set_check(m, &c->set[i]) == -1)
			return -1;
	return 0;
}
