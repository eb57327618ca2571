/*
 * Find the control group that the user means: by a path, by the name of a unit,
 * or by the ID of a container or a pod or the beginning of one.
 *
 * Names are searched for in the cgroup paths of all processes (state/place.c),
 * and the groups found are located in the mounts that we see. If several groups
 * have the name, the one nested in the fewest units and containers is chosen,
 * as systemctl(1) takes nginx.service for the system's and not for a user's or
 * a container's. So nobody who was given a part of the tree can make us choose
 * a group of theirs instead.
 */
#include "bisect.h"
#include "choose.h"
#include "vec.h"

#include <sys/vfs.h>

#include <linux/magic.h>
#include <unistd.h>

enum {
	MIN_PREFIX = 4,	/* minimum number of digits in an abbreviated ID */
	MAX_PREFIX = 63,	/* a whole ID has 64 digits (state/place.c) */
	MAX_TOLD = 6		/* maximum number of candidates named in an
				   error message */
};

struct found {			/* a cgroup that matches the user's string */
	const char	*kind;
	char		 name[PLACE_NAME];
	char		*list;	/* owned; controllers that identify the
				   hierarchy, as in struct cgroupline */
	char		*path;	/* owned */
	unsigned int	 depth;	/* number of units, containers and pods in which
				   the cgroup is nested */
};

struct seek {
	const char	*wanted;
	bool		 prefix; /* "wanted" may be the beginning of an ID */
	char		 unit[PLACE_NAME]; /* "wanted", completed to a unit
					      name */
	char		 pod[PLACE_NAME]; /* "wanted", in the form of a pod
					     ID */
	char		 near[PLACE_NAME]; /* name of an instance (unit@...)
					      that was found; "": none */
	struct found	*v;	/* owned */
	size_t		 n;
};

/*
 * Add directory dir to c if it exists and the current call of cgroups_add() has
 * not added it yet. A hierarchy that is mounted twice has the same directory
 * under two paths. c takes ownership of dir.
 */
static int
group_add(struct cgroups *c, char *dir)
{
	struct stat st;
	int rc = 0;

	if (dir == NULL)
		return -1;
	if (stat(dir, &st) == 0 && SEEK(&c->v[c->last], c->n - c->last,
	    x->dev == st.st_dev && x->ino == st.st_ino) == NULL &&
	    (rc = VEC_ADD(c->v, c->n, (struct group){ dir, st.st_dev,
	    st.st_ino })) == 0)
		return 0;
	free(dir);
	return rc;
}

/*
 * Find the cgroup with this path in the cgroup mounts that we see, and add its
 * directories to c. list selects the hierarchy, as in struct cgroupline. If
 * list is NULL, search all mounts.
 */
static int
group_locate(struct cgroups *c, const char *list, const char *path)
{
	const struct scan where = scan_begin(path, strlen(path));
	struct scan text;
	struct bytes b;
	char *dir, first[64];
	size_t top;
	int rc;

	if (proc_read(getpid(), 0, "mountinfo", &b) == -1)
		return errstr_sys("/proc/self/mountinfo");
	snprintf(first, sizeof first, "%.*s", list == NULL ? 0 :
	    (int)strcspn(list, ","), list == NULL ? "" : list);
	text = scan_begin(b.data, b.len);
	do {
		rc = cgroup_locate(&text, list == NULL ? NULL : first, where,
		    &dir, &top);
	} while (rc == 1 && (rc = group_add(c, dir)) == 0);
	free(b.data);
	return rc;
}

/*
 * Add the group at path to c. path is either a directory in a cgroup mount, or
 * a path as in /proc/PID/cgroup.
 */
static int
group_bypath(struct cgroups *c, const char *path)
{
	size_t before = c->n;
	struct statfs fs;
	char *abs;
	int rc;

	if (statfs(path, &fs) == 0 && (fs.f_type == CGROUP_SUPER_MAGIC ||
	    fs.f_type == CGROUP2_SUPER_MAGIC))
		return group_add(c, str_dup(path));
	if ((abs = str_printf("%s%s", *path == '/' ? "" : "/", path)) == NULL)
		return -1;
	rc = group_locate(c, NULL, abs);
	free(abs);
	if (rc == 0 && c->n == before)
		return errstr_set("%s: no such cgroup", path);
	return rc;
}

static bool
id_matches(const struct seek *s, const char *want, const char *id)
{
	return *id != '\0' && (strcmp(id, want) == 0 ||
	    (s->prefix && strncmp(id, want, strlen(want)) == 0));
}

/*
 * Compare part, a component of a path, with s->wanted. If they match, return
 * what the component names ("unit", "container", "pod" or "cgroup"), and copy
 * the name or ID of that object to the buffer name; otherwise return NULL. In
 * both cases, set *named to whether the component names a unit, container or
 * pod.
 */
static const char *
part_match(struct seek *s, struct scan part, struct scan parent, char *name,
    bool *named)
{
	size_t len;
	struct place pl = { 0 };

	*named = place_part(&pl, part, parent);
	if (strcmp(pl.unit, s->unit) == 0 || scan_is(&part, s->unit)) {
		strlcpy(name, s->unit, PLACE_NAME);
		return "unit";
	}
	if (id_matches(s, s->wanted, pl.container)) {
		strlcpy(name, pl.container, PLACE_NAME);
		return "container";
	}
	if (id_matches(s, s->pod, pl.pod)) {
		strlcpy(name, pl.pod, PLACE_NAME);
		return "pod";
	}
	if (scan_is(&part, s->wanted)) {
		strlcpy(name, s->wanted, PLACE_NAME);
		return "cgroup";
	}
	len = strcspn(s->unit, ".");
	if (strncmp(pl.unit, s->unit, len) == 0 && pl.unit[len] == '@')
		strlcpy(s->near, pl.unit, sizeof s->near);
	return NULL;
}

static int
found_add(struct seek *s, const struct found *f, const struct cgroupline *l,
    const char *end)
{
	const struct scan path = { l->path.s, end };
	struct found *g;

	if (SEEK(s->v, s->n, scan_is(&path, x->path) &&
	    scan_is(&l->list, x->list)) != NULL)
		return 0;
	if (VEC_ADD(s->v, s->n, *f) == -1)
		return -1;
	g = &s->v[s->n - 1];
	g->path = mem_dup(path.s, scan_len(&path));
	g->list = mem_dup(l->list.s, scan_len(&l->list));
	return g->path == NULL || g->list == NULL ? -1 : 0;
}

/*
 * Search the path of line l for a component that matches s->wanted, and add the
 * group found to s. Return 1 if there is one, 0 if there is none, or -1 with
 * errstr set.
 */
static int
seek_line(struct seek *s, const struct cgroupline *l)
{
	struct scan path = l->path, part, parent;
	struct found f = { 0 };
	bool named;

	parent = scan_begin(NULL, 0);
	for (; place_next(&path, &part); parent = part) {
		f.kind = part_match(s, part, parent, f.name, &named);
		if (f.kind != NULL)
			return found_add(s, &f, l, part.end) == -1 ? -1 : 1;
		f.depth += named;
	}
	return 0;
}

/*
 * Search the cgroup paths of process pid for components that match the name in
 * arg, a struct seek. cgroup_rank() gives the rank of each hierarchy. Search
 * all hierarchies of one rank before those of the next, and stop after a rank
 * with a match.
 */
static int
seek_process(void *arg, long pid)
{
	struct seek *s = arg;
	struct cgroupline l;
	struct scan text;
	struct bytes b;
	unsigned int rank;
	int rc, one;

	if (proc_read((pid_t)pid, 0, "cgroup", &b) == -1)
		return 0;
	for (rc = 0, rank = 0; rc == 0 && rank < CGROUP_RANKS; rank++)
		for (text = scan_begin(b.data, b.len); rc != -1 &&
		    cgroup_next(&text, &l);) {
			if (cgroup_rank(&l) != rank)
				continue;
			one = seek_line(s, &l);
			rc = one == -1 ? -1 : rc | one;
		}
	free(b.data);
	return rc == -1 ? -1 : 0;
}

static bool
found_same(const struct found *a, const struct found *b)
{
	return strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0;
}

/*
 * Set errstr to say that s->wanted is ambiguous, with a list of the groups that
 * match. If depth is not 0, list only groups at that depth. List the groups by
 * name if byname is set, otherwise by path. Return -1.
 */
static int
seek_ask(const struct seek *s, unsigned int depth, bool byname)
{
	const struct found *f;
	struct buf b = { 0 };
	size_t i, k, n;

	for (i = n = 0; i < s->n; i++) {
		f = &s->v[i];
		for (k = 0; k < i && !(byname ? found_same(&s->v[k], f) :
		    strcmp(s->v[k].path, f->path) == 0); k++)
			continue;
		if (k < i || (depth != 0 && f->depth != depth) ||
		    n++ >= MAX_TOLD)
			continue;
		buf_printf(&b, "%s %s", n > 1 ? "," : "", byname ? f->kind :
		    f->path);
		if (byname)
			buf_printf(&b, " %s", f->name);
	}
	if (n > MAX_TOLD)
		buf_printf(&b, " and %zu more", n - MAX_TOLD);
	errstr_set("%s is ambiguous:%.*s", s->wanted, (int)b.len,
	    b.data == NULL ? "" : (const char *)b.data);
	buf_free(&b);
	return -1;
}

/*
 * Add the group that search s found to c. Return 0. Return -1 with errstr set
 * if no group matches, if several match, or on an error.
 */
static int
seek_settle(const struct seek *s, struct cgroups *c)
{
	const struct found *best;
	size_t before = c->n, i;

	if (s->n == 0 && *s->near != '\0')
		return errstr_set("%s: no process is in this unit; did "
		    "you mean %s?",
		    s->unit, s->near);
	if (s->n == 0)
		return errstr_set("%s: no process is in a unit, "
		    "container, pod, or cgroup of that name", s->wanted);
	best = &s->v[0];
	for (i = 1; i < s->n; i++) {
		if (s->prefix && !found_same(best, &s->v[i]))
			return seek_ask(s, 0, true);
		if (s->v[i].depth < best->depth)
			best = &s->v[i];
	}
	/* do not let deeper groups make a full name ambiguous */
	for (i = 0; i < s->n; i++) {
		if (s->v[i].depth != best->depth)
			continue;
		if (!found_same(best, &s->v[i]))
			return seek_ask(s, best->depth, true);
		if (strcmp(s->v[i].path, best->path) != 0)
			return seek_ask(s, best->depth, false);
		if (group_locate(c, s->v[i].list, s->v[i].path) == -1)
			return -1;
	}
	return c->n > before ? 0 : errstr_set("%s: its cgroup %s is not in any "
	    "cgroup mount here", s->wanted, best->path);
}

/*
 * Add to c the group whose name or ID is given by wanted.
 */
static int
group_byname(struct cgroups *c, const char *wanted)
{
	const size_t len = strlen(wanted);
	struct seek s = { .wanted = wanted };
	size_t i;
	char *p;
	int rc;

	s.prefix = len >= MIN_PREFIX && len <= MAX_PREFIX &&
	    wanted[strspn(wanted, "0123456789abcdef-_")] == '\0';
	snprintf(s.unit, sizeof s.unit, "%s%s", wanted,
	    strchr(wanted, '.') == NULL ? ".service" : "");
	strlcpy(s.pod, strncmp(wanted, "pod", 3) == 0 ? wanted + 3 : wanted,
	    sizeof s.pod);
	for (p = s.pod; *p != '\0'; p++)
		if (*p == '_')
			*p = '-';
	rc = proc_list(0, NULL, seek_process, &s);
	if (rc == 0)
		rc = seek_settle(&s, c);
	for (i = 0; i < s.n; i++) {
		free(s.v[i].path);
		free(s.v[i].list);
	}
	free(s.v);
	return rc;
}

/*
 * Remove the groups that the last cgroups_add() added to c.
 */
void
cgroups_drop(struct cgroups *c)
{
	while (c->n > c->last)
		free(c->v[--c->n].dir);
}

/*
 * Add a cgroup to *c. If *c is NULL, allocate it. wanted is the path of the
 * cgroup if it contains a slash, and otherwise its name or ID. Return 0, or -1
 * with errstr set and nothing added.
 */
int
cgroups_add(struct cgroups **c, const char *wanted)
{
	struct cgroups *g = *c;

	if (*wanted == '\0')
		return errstr_set("empty cgroup name");
	if (g == NULL && (g = mem_new(1, sizeof *g)) == NULL)
		return -1;
	*c = g;
	g->last = g->n;
	if ((strchr(wanted, '/') != NULL ? group_bypath(g, wanted) :
	    group_byname(g, wanted)) == 0)
		return 0;
	cgroups_drop(g);
	return -1;
}

/*
 * Free the set of groups c, which may be NULL.
 */
void
cgroups_free(struct cgroups *c)
{
	if (c == NULL)
		return;
	while (c->n > 0)
		free(c->v[--c->n].dir);
	free(c->v);
	free(c);
}
