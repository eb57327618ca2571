/*
 * Decide how each mount is restored, if the processes have mount namespaces of
 * their own. criu takes the root directory from its option --root. A mount that
 * also exists in snap's namespace is bound from there (--external). criu
 * creates other mounts of file systems that it knows. The rest cannot be
 * restored. The mounts of all namespaces are in one list, because criu binds
 * mounts of a namespace from those of another.
 */
#include "facts.h"
#include "bisect.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_LOOKS = 1 << 27 };	/* maximum number of mount comparisons, which
				   take a second or two */

/*
 * Return true if path is dir or is below it.
 */
bool
path_isbelow(const char *path, const char *dir)
{
	const size_t n = strlen(dir);

	return strcmp(dir, "/") == 0 || (strncmp(path, dir, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0'));
}

/*
 * Return true if path, which is on mount o, is hidden by another mount in l.
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
 * Find a path at which a mount in l shows the root of mount t. Set t->outside
 * to the path, and t->outside_flags and t->outside_id to the flags and ID of
 * the mount in l. Give up after MAX_LOOKS comparisons. Return false if no path
 * was found.
 */
static bool
outside_find(struct criumake *m, struct makemount *t)
{
	struct makemounts *l = &m->outside;
	const struct makemount *o;
	const char *rest;
	char *path;

	for (o = l->v; o < l->v + l->n && l->ncompared < MAX_LOOKS; o++) {
		if (o->dev != t->dev || strcmp(o->type, t->type) != 0 ||
		    !path_isbelow(t->root, o->root))
			continue;
		rest = t->root + (strcmp(o->root, "/") == 0 ? 0 :
		    strlen(o->root));
		if (strcmp(rest, "/") == 0)
			rest = "";
		path = str_printf("%s%s", strcmp(o->point, "/") == 0 &&
		    *rest != '\0' ? "" : o->point, rest);
		if (path == NULL)
			return false;
		l->ncompared += l->n;
		if (is_covered(l, o, path)) {
			free(path);
			continue;
		}
		t->outside = pool_own(&m->pool, path);
		t->outside_flags = o->flags;
		t->outside_id = o->id;
		return t->outside != NULL;
	}
	return false;
}

/*
 * Return the mount of l with this ID, or NULL if there is none.
 */
struct makemount *
makemount_find(const struct makemounts *l, uint64_t id)
{
	return SEEK(l->v, l->n, x->id == id);
}

/*
 * Find the content of tmpfs t in the record of a process that has t among its
 * mounts. Return false if it is not in the snapshot.
 */
bool
makemount_archive(const struct criumake *m, const struct makemount *t,
    struct recfile *f)
{
	return SEEK(m->inside.v, m->inside.n, x->dev == t->dev &&
	    linuxrec_find(&x->in->rec, t->archive, f)) != NULL;
}

/*
 * Return true if the root of mount t is the root of its file system.
 */
bool
makemount_iswhole(const struct makemount *t)
{
	return strcmp(t->root, "/") == 0;
}

/*
 * Return the reason why criu cannot create mount t, or NULL if it can. t must
 * not be a mount that criu binds from outside the namespace.
 */
static const char *
made_obstacle(const struct criumake *m, const struct makemount *t)
{
	const struct makemounts *l = &m->inside;
	struct recfile f;

	if (!makemount_iswhole(t))
		return SEEK(l->v, l->n, x->dev == t->dev &&
		    makemount_iswhole(x) && x->outside == NULL &&
		    !x->left) != NULL ? NULL :
		    "part of a file system that is mounted nowhere else";
	if (t->code == 0)
		return "it is mounted nowhere else, and criu cannot create it";
	return t->code != MAKETMPFS || makemount_archive(m, t, &f) ? NULL :
	    "its files are not in the snapshot";
}

/*
 * Leave out mount t if another mount covers it completely. The mounts on t then
 * become children of t's parent. Return 1 if t was left out, 0 if not, or -1
 * with errstr set.
 */
static int
covered_leave(struct criumake *m, struct makemount *t)
{
	const struct makemounts *l = &m->inside;
	size_t i;

	if (t->top || SEEK(l->v, l->n, x->parent == t->id &&
	    strcmp(x->point, t->point) == 0) == NULL)
		return 0;
	for (i = 0; i < l->n; i++)
		if (l->v[i].parent == t->id)
			l->v[i].parent = t->parent;
	t->left = true;
	return make_note(m, t->in, NULL, "the mount on %s, of type %s, "
	    "which another mount covers, is not restored", t->point, t->type) ==
	    -1 ? -1 : 1;
}

/*
 * Decide how to restore mount t. Record a reason if t cannot be restored.
 * Record a note if mounts made later outside the namespace will no longer
 * appear on t.
 */
static int
mount_judge(struct criumake *m, struct makemount *t)
{
	const struct makemounts *l = &m->inside;
	const struct makemount *parent;
	const char *why;
	size_t n;
	int rc;

	parent = makemount_find(l, t->parent);
	n = strlen(t->root);
	why = NULL;
	if (parent != NULL && parent->left)
		t->left = true;
	else if (n > 9 && strcmp(t->root + n - 9, "//deleted") == 0)
		why = "its directory is deleted";
	else if (t->mapped)
		why = "it is ID-mapped";
	else if (t != l->top && (t->dev != l->top->dev ||
	    !path_isbelow(t->root, l->top->root)) &&
	    !outside_find(m, t))
		why = made_obstacle(m, t);
	if (why != NULL && (rc = covered_leave(m, t)) != 0)
		return rc == -1 ? -1 : 0;
	if (why != NULL && t->top)
		return make_never(m, t->in, "the root of its mount namespace, "
		    "of type %s: %s: cannot be restored", t->type, why);
	if (why != NULL) {
		t->left = true;
		return make_refuse(m, t->in, NULL, WHY_MOUNT, "mount of "
		    "%s, of type %s, on %s: %s", t->source, t->type,
		    t->point, why);
	}
	if (t->lost != NULL && make_note(m, t->in, NULL, "the option %s of the "
	    "mount on %s is not restored", t->lost, t->point) == -1)
		return -1;
	if (t->master == 0 || t->outside != NULL || t->dev == l->top->dev ||
	    SEEK(l->v, l->n, x->shared == t->master) != NULL)
		return 0;
	t->master = 0;
	t->flags &= ~(uint32_t)MAKESLAVE;
	return make_note(m, t->in, NULL, "new mounts outside its mount "
	    "namespace no longer appear on %s when it is restored",
	    t->point);
}

/*
 * Find the mount on / among the mounts that the record of t lists. If there is
 * not exactly one such mount, record that t cannot be restored.
 */
static int
top_find(struct criumake *m, const struct maketask *t)
{
	struct makemounts *l = &m->inside;
	struct makemount *top;
	size_t i;

	for (i = 0, top = NULL; i < l->n; i++)
		if (l->v[i].in != t || strcmp(l->v[i].point, "/") != 0)
			continue;
		else if (top == NULL)
			top = &l->v[i];
		else
			return make_never(m, t, "another mount covers "
			    "the root of its mount namespace: cannot be "
			    "restored");
	if (top == NULL)
		return make_never(m, t, "the root of its mount namespace is "
		    "not in the snapshot: cannot be restored");
	top->top = true;
	return 0;
}

/*
 * Choose the external mounts, which criu binds from outside the namespace. Of
 * several mounts that show parts of one tree, choose only the topmost: criu
 * binds the others from it. If two of them were external and had the same
 * flags, criu would not set the flags of one (do_bind_mount_v2() in its
 * mount-v2.c).
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
 * Find where the root of the mount namespace is mounted in snap's namespace
 * (m->outside). criu binds the root from that place, with the mount options in
 * use there. Record a note if these differ from the options in the snapshot, or
 * if the root is not mounted in snap's namespace.
 */
static int
top_judge(struct criumake *m)
{
	struct makemount *t = m->inside.top;

	if (!outside_find(m, t))
		return make_note(m, m->root, NULL, "the root of its mount "
		    "namespace, of type %s, is mounted nowhere else: give "
		    "criu its directory with --root", t->type);
	if (((t->flags ^ t->outside_flags) & MAKEFORBID) == 0)
		return 0;
	return make_note(m, m->root, NULL, "the root of its mount namespace is "
	    "restored with the mount options of %s, not its own (ro, nosuid, "
	    "nodev, noexec)", t->outside);
}

/*
 * Read the mounts of the mount namespaces of all processes. Set the member
 * "mounts" of each process. Give each namespace an ID. The root process's
 * namespace gets MADE_ID.
 */
static int
spaces_read(struct criumake *m)
{
	struct maketask *t, *in;
	struct recfile f;
	uint32_t last;
	size_t i;

	last = MADE_MORE - 1;
	for (i = 0; i < m->norder; i++) {
		t = m->order[i];
		in = m->root;
		if (t != m->root && linuxrec_find(&t->rec, "ns/mnt", &f))
			in = maketask_beside(m, t, "ns/mnt", "mounts/inside");
		if (in == NULL || in->mountsid != 0) {
			t->mounts = in;
			continue;
		}
		in->mountsid = t == m->root ? MADE_ID : ++last;
		if (makemounts_read(m, &m->inside, in, "mounts/inside") == -1 ||
		    top_find(m, in) == -1)
			return -1;
		t->mounts = in;
	}
	m->inside.top = SEEK(m->inside.v, m->inside.n, x->top &&
	    x->in->mountsid == MADE_ID);
	return 0;
}

/*
 * Read the mounts of all processes, and decide how to restore each. Return 1
 * on success. Return 0 if there are no mounts to restore: the record of the
 * root process has none, or a recorded reason prevents the restore. Return -1
 * with errstr set on error.
 */
int
makemount_read(struct criumake *m)
{
	struct recfile f;
	size_t i;

	if (!linuxrec_find(&m->root->rec, "mounts/inside", &f))
		return 0;
	if (spaces_read(m) == -1 ||
	    makemounts_read(m, &m->outside, m->root, "mounts/outside") == -1)
		return -1;
	if (m->fatal)
		return 0;
	/* mounts of whole file systems first, since others are bound from
	   them */
	for (i = 0; i < 2 * m->inside.n; i++)
		if (makemount_iswhole(&m->inside.v[i % m->inside.n]) ==
		    (i < m->inside.n) && mount_judge(m,
		    &m->inside.v[i % m->inside.n]) == -1)
			return -1;
	externals_choose(&m->inside);
	if (top_judge(m) == -1)
		return -1;
	return m->outside.ncompared < MAX_LOOKS ? 1 : errstr_set("process %"
	    PRIu64 ": mounts/outside: too many mounts cover others",
	    m->root->proc->pid);
}

/*
 * Return true if criu creates a mount namespace.
 */
bool
makemount_space(const struct criumake *m)
{
	return m->inside.top != NULL;
}

/*
 * Return a mount point below the directory in snap's own namespace that becomes
 * the root of the mount namespace that criu creates. Return NULL if there is
 * none.
 */
const char *
makemount_below(const struct criumake *m)
{
	const struct makemount *top = m->inside.top, *o;

	if (top == NULL || top->outside == NULL)
		return NULL;
	o = SEEK(m->outside.v, m->outside.n, x->parent == top->outside_id &&
	    x->id != top->outside_id && path_isbelow(x->point, top->outside));
	return o == NULL ? NULL : o->point;
}
