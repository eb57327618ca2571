/*
 * Write cgroup hierarchies into CRIU images: the cgroups of each as a tree,
 * with their properties.
 */
#include "cgroups.h"
#include "bisect.h"

enum { MAX_CONTROL = 400 };	/* maximum size in bytes of a
				   cgroup.subtree_control value; criu adds a
				   sign to each controller, in a buffer of 1024
				   bytes */

struct tree {			/* a cgroup hierarchy being written */
	struct criumake	*m;	/* m and list are borrowed */
	const char	*list;
	size_t		 at;	/* index of the hierarchy in the array "v" of
				   each set */
	struct cgdir	*dir;	/* owned; sorted by path */
	size_t		 n;
};

/*
 * Compare cgroups by path, so that a cgroup comes just before the cgroups below
 * it.
 */
static int
dir_cmp(const void *a, const void *b)
{
	const struct cgdir *x = a, *y = b;
	const char *s = x->path, *t = y->path;
	int c, d;

	while (*s == *t && *s != '\0') {
		s++;
		t++;
	}
	if (*s == *t)	/* identical paths: the one with more properties comes
			   first */
		return x->nprop > y->nprop ? -1 : x->nprop < y->nprop;
	c = *s == '\0' ? 0 : *s == '/' ? 1 : 2 + (unsigned char)*s;
	d = *t == '\0' ? 0 : *t == '/' ? 1 : 2 + (unsigned char)*t;
	return c - d;
}

/*
 * Return true if cgroup d must be written. It must if it has a process or is
 * below a cgroup that has one. If it is only above a cgroup that has a process,
 * it must be written only in version 2, in mode CGROUPS_SOFT and without
 * --cgroup-root: criu then creates it if it is missing. The other modes create
 * no cgroups, accept no existing ones, or change the properties of existing
 * ones, where criu 4.1 fails on cgroup.subtree_control.
 */
static bool
dir_needed(const struct tree *t, const struct cgdir *d)
{
	const struct makecgroups *c = t->m->cgroups;
	const bool above = *t->list == '\0' && !t->m->opts->cgroup_root &&
	    t->m->opts->cgroups == CGROUPS_SOFT;
	const char *path;
	size_t i;

	for (i = 0; i < c->nset; i++) {
		path = c->set[i].v[t->at].path;
		if (strcmp(path, "/") != 0 && (path_isbelow(d->path, path) ||
		    (above && path_isbelow(path, d->path))))
			return true;
	}
	return false;
}

/*
 * Add to t->dir each cgroup that has a process but is described by no record,
 * so that criu creates the cgroup if it is missing. Record a note for each one.
 */
static int
unrecorded_add(struct tree *t)
{
	struct criumake *m = t->m;
	const struct makecgroups *c = m->cgroups;
	const char *path;
	size_t i;

	for (i = 0; i < c->nset; i++) {
		path = c->set[i].v[t->at].path;
		if (strcmp(path, "/") == 0 ||
		    SEEK(t->dir, t->n, strcmp(x->path, path) == 0) != NULL)
			continue;
		if (POOL_ADD(&m->pool, t->dir, t->n,
		    (struct cgdir){ .list = t->list, .path = path }) == -1)
			return -1;
		if (make_note(m, c->set[i].first, NULL, "properties of its "
		    "cgroup %s%s%s are unknown and not restored", t->list,
		    *t->list == '\0' ? "" : ":", path) == -1)
			return -1;
	}
	return 0;
}

/*
 * Set t->dir to the cgroups that must be written, each once, sorted by path.
 */
static int
dirs_choose(struct tree *t)
{
	const struct cgdirs *l = &t->m->cgroups->dirs;
	size_t i, n;

	for (i = 0; i < l->n; i++) {
		if (strcmp(l->v[i].list, t->list) != 0 ||
		    !dir_needed(t, &l->v[i]))
			continue;
		if (POOL_ADD(&t->m->pool, t->dir, t->n, l->v[i]) == -1)
			return -1;
	}
	if (unrecorded_add(t) == -1)
		return -1;
	SORT(t->dir, t->n, dir_cmp);
	for (n = i = 0; i < t->n; i++)
		if (n == 0 || strcmp(t->dir[n - 1].path, t->dir[i].path) != 0)
			t->dir[n++] = t->dir[i];
	t->n = n;
	return 0;
}

/*
 * Return true if p, a version 2 property, has the value that it has in a new
 * cgroup.
 */
static bool
is_initial(const struct cgprop *p)
{
	static const char *const v[][2] = {
		{ "cgroup.procs", "" }, { "cpu.idle", "0" },
		{ "cpu.max", "max 100000" }, { "cpu.max.burst", "0" },
		{ "cpu.weight", "100" }, { "cpuset.cpus", "" },
		{ "cpuset.mems", "" }, { "io.weight", "default 100" },
		{ "memory.high", "max" }, { "memory.low", "0" },
		{ "memory.max", "max" }, { "memory.min", "0" },
		{ "memory.oom.group", "0" }, { "memory.swap.high", "max" },
		{ "memory.swap.max", "max" }, { "memory.zswap.max", "max" },
		{ "pids.max", "max" }
	};

	if (strncmp(p->name, "hugetlb.", 8) == 0)
		return strcmp(p->value, "max") == 0 ||
		    strtoull(p->value, NULL, 10) >> 62 != 0;
	return SEEK_IN(v, strcmp(p->name, (*x)[0]) == 0 &&
	    strcmp(p->value, (*x)[1]) == 0) != NULL;
}

/*
 * Return true if property p must be written. In version 1, all must. In version
 * 2, return false for a cgroup.subtree_control that criu cannot restore, and
 * for a value of several lines, because criu would write only the first. Return
 * false for a cpu.weight of 0, which means that cpu.idle is set. In the modes
 * in which criu sets properties only of cgroups that it creates, also return
 * false for an initial value with the initial mode and owner: the cgroup has
 * that value anyway, and the kernel at the restore may lack the property.
 */
static bool
prop_written(const struct tree *t, const struct cgprop *p)
{
	const unsigned int mode = t->m->opts->cgroups;

	if (*t->list != '\0')
		return true;
	if (strcmp(p->name, "cgroup.subtree_control") == 0)
		return strlen(p->value) <= MAX_CONTROL &&
		    (mode != CGROUPS_PROPS || *p->value == '\0');
	if (strchr(p->value, '\n') != NULL ||
	    (strcmp(p->name, "cpu.weight") == 0 && strcmp(p->value, "0") == 0))
		return false;
	return !is_initial(p) || p->perm[0] != 0644 || p->perm[1] != 0 ||
	    p->perm[2] != 0 || ((mode == CGROUPS_FULL ||
	    mode == CGROUPS_PROPS) && strcmp(p->name, "cgroup.procs") != 0);
}

/*
 * Return the value of property p in the form that criu writes: -1 for no limit,
 * and for memory.oom_control only the first number.
 */
static const char *
prop_value(const struct cgprop *p)
{
	static const char key[] = "oom_kill_disable ";

	if (strcmp(p->name, "memory.oom_control") == 0 &&
	    strncmp(p->value, key, sizeof key - 1) == 0)
		return p->value[sizeof key - 1] == '1' ? "1" : "0";
	return strtoll(p->value, NULL, 10) == LLONG_MAX ? "-1" : p->value;
}

static int
perms_set(Criu__CgroupPerms *p, uint32_t type, const uint64_t perm[3])
{
	if (p == NULL)
		return -1;
	MSG_FILL(p, "mode uid gid", perm);
	p->mode |= type;
	return 0;
}

/*
 * Set e to cgroup d. name is the path of d relative to the cgroup that e is in.
 */
static int
dir_put(const struct tree *t, Criu__CgroupDir *e, const struct cgdir *d,
    const char *name)
{
	struct pool *a = &t->m->msgs;
	const struct cgprop *p;
	Criu__CgroupProp *v;
	size_t i;

	e->dir_name = (char *)(uintptr_t)name;
	if (!d->recorded)
		return 0;
	if (perms_set(MSG_PART(a, e, dir_perms), S_IFDIR, d->perm) == -1)
		return -1;
	for (i = 0; i < d->nprop; i++) {
		p = &d->prop[i];
		if (!prop_written(t, p))
			continue;
		if ((v = MSG_PUSH(a, e, properties)) == NULL ||
		    perms_set(MSG_PART(a, v, perms), S_IFREG, p->perm) ==
		    -1)
			return -1;
		v->name = (char *)(uintptr_t)p->name;
		v->value = (char *)(uintptr_t)prop_value(p);
	}
	return 0;
}

/*
 * Add the cgroups of t to hierarchy c as a tree.
 */
static int
tree_put(const struct tree *t, Criu__CgController *c)
{
	struct pool *a = &t->m->msgs;
	Criu__CgroupDir **e;
	size_t *in, i, k;

	e = pool_new(a, t->n, sizeof *e);
	in = pool_new(a, t->n, sizeof *in);	/* for each cgroup, 1 + the
						   index of its parent in
						   t->dir, or 0 if it has no
						   parent there */
	if (e == NULL || in == NULL)
		return -1;
	for (i = 0; i < t->n; i++) {
		for (k = i; k > 0 && !path_isbelow(t->dir[i].path,
		    t->dir[k - 1].path); k = in[k - 1])
			continue;
		in[i] = k;
		e[i] = k == 0 ? MSG_PUSH(a, c, dirs) :
		    MSG_PUSH(a, e[k - 1], children);
		if (e[i] == NULL || dir_put(t, e[i], &t->dir[i],
		    t->dir[i].path + 1 + (k == 0 ? 0 :
		    strlen(t->dir[k - 1].path))) == -1)
			return -1;
	}
	return 0;
}

/*
 * Set the names of hierarchy c to the controllers in t->list. Set
 * c->is_threaded if threads of one process can be in different cgroups.
 */
static int
names_put(const struct tree *t, Criu__CgController *c)
{
	const struct cgprop *p;
	char *s, *rest;
	size_t i, n;

	for (n = 1, i = 0; t->list[i] != '\0'; i++)
		n += t->list[i] == ',';
	rest = pool_string(&t->m->msgs, t->list);
	c->cnames = pool_new(&t->m->msgs, n, sizeof *c->cnames);
	if (rest == NULL || c->cnames == NULL)
		return -1;
	while ((s = strsep(&rest, ",")) != NULL)
		c->cnames[c->n_cnames++] = s;
	c->has_is_threaded = true;
	for (n = 0; n < t->n; n++)
		for (i = 0; i < t->dir[n].nprop; i++) {
			p = &t->dir[n].prop[i];
			c->is_threaded |= strcmp(p->name, "tasks") == 0 ||
			    (strcmp(p->name, "cgroup.type") == 0 &&
			    strcmp(p->value, "threaded") == 0);
		}
	return 0;
}

/*
 * Add to e the hierarchies that the processes are in. m->msgs owns the parts of
 * e. Return 0, or -1 with errstr set.
 */
int
cgtrees_make(struct criumake *m, Criu__Cgroup *e)
{
	const struct cgset *s = m->cgroups->set;
	Criu__CgController *c;
	struct tree t;
	size_t i;

	if ((c = MSG_MANY(&m->msgs, e, controllers, s->n)) == NULL)
		return -1;
	for (i = 0; i < s->n; i++) {
		t = (struct tree){ .m = m, .list = s->v[i].list, .at = i };
		if (dirs_choose(&t) == -1 || names_put(&t, &c[i]) == -1 ||
		    tree_put(&t, &c[i]) == -1)
			return -1;
	}
	return 0;
}
