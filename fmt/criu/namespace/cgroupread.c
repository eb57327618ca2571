/*
 * Read the cgroups in records: cgroups/directories of snap-linux(6).
 */
#include "cgroups.h"

/*
 * Return true if path is a valid cgroup path. It must be absolute and short
 * enough for criu. No component may be empty, "." or "..".
 */
bool
cgpath_sound(const char *path)
{
	size_t n;

	if (*path != '/' || strlen(path) >= CGROUP_PATH)
		return false;
	if (path[1] == '\0')
		return true;
	for (; *path == '/'; path += 1 + n) {
		n = strcspn(path + 1, "/");
		if (n == 0 || (n <= 2 && strncmp(path + 1, "..", n) == 0))
			return false;
	}
	return true;
}

/*
 * Set perm to the octal mode, the user and the group at *s, each followed by a
 * blank. Advance *s past them. Return false if they are malformed.
 */
static bool
perms_take(char **s, uint64_t perm[3])
{
	char *blank;
	size_t i;

	for (i = 0; i < 3; i++) {
		if ((blank = strchr(*s, ' ')) == NULL)
			return false;
		*blank = '\0';
		if (!number_parse(*s, i == 0 ? 'o' : 'd', &perm[i]) ||
		    perm[i] > UINT32_MAX)
			return false;
		*s = blank + 1;
	}
	return true;
}

/*
 * Parse the current line of w, a "directory" line, which begins a cgroup. Add
 * that cgroup to d.
 */
static int
dir_take(struct cgdirs *d, struct words *w)
{
	struct cgdir *c;
	char *s = w->rest, *blank;

	if (POOL_ROOM(w->pool, d->v, d->n) == -1)
		return -1;
	c = &d->v[d->n];
	memset(c, 0, sizeof *c);
	if ((blank = strchr(s, ' ')) != NULL)
		*blank++ = '\0';
	c->list = strcmp(s, "-") == 0 ? "" : s;
	c->recorded = true;
	if (blank == NULL || !perms_take(&blank, c->perm) ||
	    !cgpath_sound(blank))
		return words_bad(w, "directory hierarchy mode (octal) uid gid "
		    "path");
	c->path = blank;
	d->n++;
	return 0;
}

/*
 * Parse the current line of w, a property, and add it to the last cgroup of d.
 */
static int
prop_take(struct cgdirs *d, struct words *w)
{
	struct cgdir *c = d->n == 0 ? NULL : &d->v[d->n - 1];
	struct cgprop *p;

	if (c != NULL && POOL_ROOM(w->pool, c->prop, c->nprop) == -1)
		return -1;
	p = c == NULL ? NULL : &c->prop[c->nprop];
	if (p == NULL || strchr(w->word[0], '/') != NULL ||
	    !perms_take(&w->rest, p->perm))
		return words_bad(w, "name mode (octal) uid gid value, after a "
		    "directory");
	p->name = w->word[0];
	p->value = text_unescape(w->rest);
	c->nprop++;
	return 0;
}

/*
 * Read the cgroups in t's record into d. Return 0, even if the record has none,
 * or -1 with errstr set.
 */
static int
record_read(struct cgdirs *d, struct pool *p, const struct maketask *t)
{
	struct words w;
	int rc;

	rc = words_open(&w, p, &t->rec, t->proc->pid, "cgroups/directories");
	while (rc != -1 && (rc = words_key(&w)) == 1)
		rc = (strcmp(w.word[0], "directory") == 0 ? dir_take :
		    prop_take)(d, &w);
	return rc;
}

/*
 * Read into d the cgroups in the records of all processes captured together
 * with the root. Return 0, or -1 with errstr set.
 */
int
cgdirs_read(struct cgdirs *d, struct criumake *m)
{
	size_t i;

	for (i = 0; i < m->nbypid; i++)
		if (m->bypid[i]->part == m->root->part &&
		    record_read(d, &m->pool, m->bypid[i]) == -1)
			return -1;
	return 0;
}
