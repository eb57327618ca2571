/*
 * What is mounted in the mount namespace of processes that have one for
 * themselves, and what becomes of it.  criu gets the root by its option --root;
 * what is mounted outside, too, it binds from there (--external); what it knows
 * how to make is made; and what else there is cannot be restored.
 */
#include "facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOKS = 1 << 27 };	/* at mounts: a second or two */

/*
 * Return whether path is that of directory dir, or below it.
 */
bool
path_isbelow(const char *path, const char *dir)
{
	const size_t n = strlen(dir);

	return strcmp(dir, "/") == 0 || (strncmp(path, dir, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0'));
}

/*
 * Return whether the path of something on mount o leads to what is mounted
 * there instead.
 */
static bool
is_covered(const struct makemounts *l, const struct makemount *o,
    const char *path)
{
	const struct makemount *x;
	size_t n;

	for (x = l->v; x < l->v + l->n; x++) {
		n = strlen(x->point);
		if (x != o && path_isbelow(path, x->point) &&
		    (n > strlen(o->point) || (x > o &&
		    strcmp(x->point, o->point) == 0)))
			return true;
	}
	return false;
}

/*
 * Set t->outside to the path by which a mount is seen in a list of others, if
 * it is, and that was found before MAX_LOOKS.  Return whether that is so.
 */
static bool
outside_find(struct makemounts *l, struct makemount *t)
{
	const struct makemount *o;
	const char *rest;
	char *path;

	for (o = l->v; o < l->v + l->n && l->looked < MAX_LOOKS; o++) {
		if (o->dev != t->dev || strcmp(o->type, t->type) != 0 ||
		    !path_isbelow(t->root, o->root))
			continue;
		rest = t->root + (strcmp(o->root, "/") == 0 ? 0 :
		    strlen(o->root));
		if (strcmp(rest, "/") == 0)
			rest = "";
		if (asprintf(&path, "%s%s", strcmp(o->point, "/") == 0 &&
		    *rest != '\0' ? "" : o->point, rest) == -1)
			return false;
		l->looked += l->n;
		if (!is_covered(l, o, path)) {
			t->outside = path;
			t->there = o->flags;
			t->on = o->id;
			return true;
		}
		free(path);
	}
	return false;
}

/*
 * Return the mount of a number of a list, or NULL.
 */
static struct makemount *
mount_find(const struct makemounts *l, uint64_t id)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->v[i].id == id)
			return &l->v[i];
	return NULL;
}

static bool
is_whole(const struct makemount *t)
{
	return strcmp(t->root, "/") == 0;
}

/*
 * Return why mount t, which is not outside, cannot be made, or NULL.
 */
static const char *
made_obstacle(const struct criumake *m, const struct makemount *t)
{
	const struct makemounts *l = &m->inside;
	struct recfile f;
	size_t i;

	if (!is_whole(t)) {
		for (i = 0; i < l->n; i++)
			if (l->v[i].dev == t->dev && is_whole(&l->v[i]) &&
			    l->v[i].outside == NULL && !l->v[i].left)
				return NULL;
		return "only a part of what is mounted nowhere else";
	}
	if (t->code == 0)
		return "it is mounted nowhere else, and criu cannot make it";
	if (t->code == MAKETMPFS && !linuxrec_find(&m->root->rec, t->archive,
	    &f))
		return "its files are not in the snapshot";
	return NULL;
}

/*
 * Leave out mount t if another covers all of it, which then takes its place.
 * Return 1 if so; 0, or -1.
 */
static int
covered_leave(struct criumake *m, struct makemount *t)
{
	const struct makemounts *l = &m->inside;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->v[i].parent == t->id &&
		    strcmp(l->v[i].point, t->point) == 0)
			break;
	if (i == l->n)
		return 0;
	for (i = 0; i < l->n; i++)
		if (l->v[i].parent == t->id)
			l->v[i].parent = t->parent;
	t->left = true;
	return make_note(m, m->root, NULL, "what is mounted on %s and covered "
	    "by what is mounted upon it, of type %s, is not there when it is "
	    "restored", t->point, t->type) == -1 ?
	    -1 : 1;
}

/*
 * Find out what becomes of mount t, and note if it cannot be restored, or if it
 * will no longer get to know of others'.
 */
static int
mount_judge(struct criumake *m, struct makemount *t)
{
	const struct makemounts *l = &m->inside;
	const struct makemount *parent;
	const char *why;
	size_t i, n;
	int rc;

	parent = mount_find(l, t->parent);
	n = strlen(t->root);
	why = NULL;
	if (parent != NULL && parent->left)
		t->left = true;
	else if (n > 9 && strcmp(t->root + n - 9, "//deleted") == 0)
		why = "its directory is deleted";
	else if (t->mapped)
		why = "its users are mapped to others";
	else if (t != l->top && (t->dev != l->top->dev ||
	    !path_isbelow(t->root, l->top->root)) &&
	    !outside_find(&m->outside, t))
		why = made_obstacle(m, t);
	if (why != NULL && (rc = covered_leave(m, t)) != 0)
		return rc == -1 ? -1 : 0;
	if (why != NULL) {
		t->left = true;
		return make_refuse(m, m->root, NULL, WHY_MOUNT, "%s, of type "
		    "%s, which is mounted on %s: %s", t->source, t->type,
		    t->point, why);
	}
	for (i = 0; t->master != 0 && i < l->n; i++)
		if (l->v[i].shared == t->master)
			return 0;
	if (t->master == 0 || t->outside != NULL || t->dev == l->top->dev)
		return 0;
	t->master = 0;
	t->flags &= ~(uint32_t)MAKESLAVE;
	return make_note(m, m->root, NULL, "what is mounted outside of its "
	    "mount namespace no longer comes to %s when it is restored",
	    t->point);
}

/*
 * Set the top of the mounts that are inside: that on /, and the only one.
 */
static int
top_find(struct criumake *m)
{
	struct makemounts *l = &m->inside;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].point, "/") != 0)
			continue;
		else if (l->top == NULL)
			l->top = &l->v[i];
		else
			return make_never(m, m->root, "something is mounted "
			    "over the root of its mount namespace: cannot be "
			    "restored");
	return l->top != NULL ? 0 : make_never(m, m->root, "of the root of its "
	    "mount namespace nothing is told: cannot be restored");
}

/*
 * Choose those that criu binds from outside.  It binds the others from them,
 * where they are parts of the same: it would not set the flags of two that it
 * gets there, if they have the same (do_bind_mount_v2 of its mount-v2.c).
 */
static void
externals_choose(struct makemounts *l)
{
	struct makemount *t;
	const struct makemount *o;

	for (t = l->v; t < l->v + l->n; t++) {
		t->external = t->outside != NULL;
		for (o = l->v; o < l->v + l->n && t->external; o++)
			if (o != t && o->outside != NULL && o->dev == t->dev &&
			    path_isbelow(t->root, o->root) && (o < t ||
			    strcmp(o->root, t->root) != 0))
				t->external = false;
	}
}

/*
 * Find the root of the namespace outside.  criu binds it as it is there.
 */
static int
top_judge(struct criumake *m)
{
	struct makemount *t = m->inside.top;

	if (!outside_find(&m->outside, t))
		return make_note(m, m->root, NULL, "the root of its mount "
		    "namespace, of type %s, is mounted nowhere else: criu is "
		    "to be told with --root where it is", t->type);
	if (((t->flags ^ t->there) & MAKEFORBID) == 0)
		return 0;
	return make_note(m, m->root, NULL, "the root of its mount namespace is "
	    "restored with the options that %s has, not with its own (ro, "
	    "nosuid, nodev, noexec)", t->outside);
}

/*
 * Read what is mounted in the namespace of the root of the tree, and judge what
 * becomes of it.  Return 1; 0 if it is noted that it cannot be restored, or
 * nothing is told of it; or -1 with errstr.
 */
int
makemount_read(struct criumake *m)
{
	struct recfile f;
	size_t i;

	if (!linuxrec_find(&m->root->rec, "mounts/inside", &f))
		return 0;
	if (makemounts_read(&m->inside, m->root, "mounts/inside") == -1 ||
	    makemounts_read(&m->outside, m->root, "mounts/outside") == -1 ||
	    top_find(m) == -1)
		return -1;
	if (m->fatal)
		return 0;
	/* those of a whole file system first: others are bound from them */
	for (i = 0; i < 2 * m->inside.n; i++)
		if (is_whole(&m->inside.v[i % m->inside.n]) ==
		    (i < m->inside.n) && mount_judge(m,
		    &m->inside.v[i % m->inside.n]) == -1)
			return -1;
	externals_choose(&m->inside);
	if (top_judge(m) == -1)
		return -1;
	return m->outside.looked < MAX_LOOKS ? 1 : errstr_set("process %"
	    PRIu64 ": mounts/outside: too many are mounted upon others",
	    m->root->proc->pid);
}

/*
 * Return whether a mount namespace is made for the processes.
 */
bool
makemount_space(const struct criumake *m)
{
	return m->inside.top != NULL;
}

/*
 * Return where something is mounted, outside, below the directory that the root
 * of the mount namespace is; or NULL.
 */
const char *
makemount_below(const struct criumake *m)
{
	const struct makemount *top = m->inside.top, *o;

	if (top == NULL || top->outside == NULL)
		return NULL;
	for (o = m->outside.v; o < m->outside.v + m->outside.n; o++)
		if (o->parent == top->on && o->id != top->on &&
		    path_isbelow(o->point, top->outside))
			return o->point;
	return NULL;
}

/*
 * Return whether nothing is mounted there by number id of a mount, which is
 * told (0: it is not): then it is of another namespace.
 */
bool
makemount_lacks(const struct criumake *m, uint64_t id)
{
	const struct makemount *t;

	if (!makemount_space(m) || id == 0)
		return false;
	t = mount_find(&m->inside, id);
	return t == NULL || t->left;
}

/*
 * Return the mount that a path leads to, or NULL if no mount namespace is made.
 */
static const struct makemount *
path_mount(const struct criumake *m, const char *path)
{
	const struct makemount *t, *best;
	size_t i;

	best = m->inside.top;
	for (i = 0; best != NULL && i < m->inside.n; i++) {
		t = &m->inside.v[i];
		if (!t->left && path_isbelow(path, t->point) &&
		    strlen(t->point) >= strlen(best->point))
			best = t;
	}
	return best;
}

/*
 * Return whether a path leads to where POSIX message queues are mounted.
 */
bool
makemount_isqueues(const struct criumake *m, const char *path)
{
	const struct makemount *t = path_mount(m, path);

	return t != NULL && t->code == MAKEMQUEUE;
}

/*
 * Set *has and *id to the number of the mount that a path leads to, if a mount
 * namespace is made.
 */
void
makemount_path(const struct criumake *m, const char *path,
    protobuf_c_boolean *has, int32_t *id)
{
	const struct makemount *t = path_mount(m, path);

	if ((*has = t != NULL))
		*id = (int32_t)t->id;
}
