/*
 * Find the mount that a path or an ID names, among those that criu creates.
 */
#include "facts.h"
#include "bisect.h"

#include <inttypes.h>

/*
 * Return true if the mount namespaces that criu creates lack the mount with
 * this ID, because it was in another namespace or is left out. Return false if
 * id is 0 (unknown), or if criu creates no mount namespace.
 */
bool
makemount_lacks(const struct criumake *m, uint64_t id)
{
	const struct makemount *t;

	if (!makemount_space(m) || id == 0)
		return false;
	t = makemount_find(&m->inside, id);
	return t == NULL || t->left;
}

/*
 * Return the mount that path is on, among the mounts that the record of in
 * lists. Return NULL if criu creates no mount namespace.
 */
static const struct makemount *
path_mount(const struct criumake *m, const struct maketask *in,
    const char *path)
{
	const struct makemount *t, *best;
	size_t i;

	for (i = 0, best = NULL; makemount_space(m) && i < m->inside.n; i++) {
		t = &m->inside.v[i];
		if (t->in == in && !t->left && path_isbelow(path, t->point) &&
		    (best == NULL || strlen(t->point) >= strlen(best->point)))
			best = t;
	}
	return best;
}

/*
 * Return true if path is on a file system for POSIX message queues. in is as in
 * path_mount().
 */
bool
makemount_isqueues(const struct criumake *m, const struct maketask *in,
    const char *path)
{
	const struct makemount *t = path_mount(m, in, path);

	return t != NULL && t->code == MAKEMQUEUE;
}

/*
 * Return true if path, as seen in the namespace of the mount with this ID, is
 * on another mount, which covers the file. Return false if id is unknown.
 */
bool
makemount_covers(const struct criumake *m, uint64_t id, const char *path)
{
	const struct makemount *t;

	t = makemount_space(m) ? makemount_find(&m->inside, id) : NULL;
	return t != NULL && path_mount(m, t->in, path) != t;
}

/*
 * If a directory or a mapped file of t cannot be opened by its path, set *why
 * to the reason, and return 1. Otherwise return 0, or -1 with errstr set. what
 * is cwd, root, or the address of the mapping in hexadecimal.
 */
int
makemount_hides(struct criumake *m, const struct maketask *t,
    const char *what, const char **why)
{
	struct words w;
	int rc;

	rc = maketask_words(t, "mounts/hidden", &w);
	while (rc == 1 && (rc = words_key(&w)) == 1)
		if (strcmp(w.word[0], what) == 0) {
			*why = pool_string(&m->pool, w.rest);
			return *why == NULL ? -1 : 1;
		}
	return rc;
}

/*
 * Return true if a process to restore, or one of its threads, has the number
 * pid in its pid namespace.
 */
static bool
is_number(const struct criumake *m, uint32_t pid)
{
	const struct maketask *t;
	size_t i;

	for (i = 0; i < m->norder; i++)
		for (t = m->order[i]; t != NULL; t = t->thread)
			if (t->pid == pid)
				return true;
	return false;
}

/*
 * If path is the directory of an ended process in a proc file system that criu
 * mounts, or is below it, return the number of the process. Otherwise return 0.
 * in is as in path_mount().
 */
uint32_t
makemount_dead(const struct criumake *m, const struct maketask *in,
    const char *path)
{
	const struct makemount *t = path_mount(m, in, path);
	const char *rest;
	uint32_t pid;
	int n;

	if (t == NULL || t->code != MAKEPROC || t->outside != NULL ||
	    !makemount_iswhole(t))
		return 0;
	rest = path + (strcmp(t->point, "/") == 0 ? 0 : strlen(t->point));
	return sscanf(rest, "/%" SCNu32 "%n", &pid, &n) != 1 ||
	    (rest[n] != '/' && rest[n] != '\0') || is_number(m, pid) ? 0 : pid;
}

/*
 * Return the process whose record lists the mount with this ID. If id is
 * unknown, return the process whose record lists the mounts of t.
 */
const struct maketask *
makemount_in(const struct criumake *m, uint64_t id, const struct maketask *t)
{
	const struct makemount *found = makemount_find(&m->inside, id);

	return found == NULL ? t->mounts : found->in;
}

/*
 * Set *id to the ID of the mount that path is on, and *has to true. in is as in
 * path_mount(). If criu creates no mount namespace, set *has to false and leave
 * *id alone.
 */
void
makemount_path(const struct criumake *m, const struct maketask *in,
    const char *path, protobuf_c_boolean *has, int32_t *id)
{
	const struct makemount *t = path_mount(m, in, path);

	if ((*has = t != NULL))
		*id = (int32_t)t->id;
}
