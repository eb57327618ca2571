/*
 * Treat a sorted list of names with slashes as directories. The names are
 * sorted by path_cmp, so a directory is a range of them. It is identified by
 * its depth, which is the number of components in its name, and by the index of
 * its first name.
 *
 *	0	a/b/x		depth 0, first 0: the top
 *	1	a/b/y		depth 1, first 0: a
 *	2	a/c		depth 2, first 0: a/b
 *	3	d/x		depth 1, first 3: d
 */
#include "bisect.h"
#include "record/record.h"
#include "tree.h"

/*
 * Return the length of the first depth components of s, with the slash after
 * them. s is a name of n bytes. Return 0 for depth 0, and SIZE_MAX if there are
 * fewer components.
 */
static size_t
prefix_len(const char *s, size_t n, size_t depth)
{
	const char *p, *slash;

	for (p = s; depth > 0; depth--, p = slash + 1)
		if ((slash = memchr(p, '/', n - (size_t)(p - s))) == NULL)
			return SIZE_MAX;
	return (size_t)(p - s);
}

static bool
has_prefix(const struct paths *ps, size_t i, const char *prefix, size_t n)
{
	const char *s;
	size_t len;

	s = ps->name(ps->arg, i, &len);
	return len >= n && memcmp(s, prefix, n) == 0;
}

/*
 * Return true if depth and first identify a directory of ps. first is the index
 * of the directory's first name.
 */
bool
paths_isdir(const struct paths *ps, size_t depth, size_t first)
{
	const char *s;
	size_t n, pre;

	if (first >= ps->n)
		return false;
	s = ps->name(ps->arg, first, &n);
	pre = prefix_len(s, n, depth);
	return pre != SIZE_MAX &&
	    (first == 0 || (depth > 0 && !has_prefix(ps, first - 1, s, pre)));
}

static void
entry_make(const struct paths *ps, size_t i, size_t pre, struct pathent *e)
{
	const char *s, *slash;
	size_t n;

	s = ps->name(ps->arg, i, &n);
	e->name = s + pre;
	e->first = i;
	slash = memchr(e->name, '/', n - pre);
	e->dir = slash != NULL;
	e->len = e->dir ? (size_t)(slash - e->name) : n - pre;
	e->next = !e->dir ? i + 1 : i + BISECT_WHILE(k, ps->n - i,
	    has_prefix(ps, i + k, s, pre + e->len + 1));
}

/*
 * Set *e to a directory's entry that begins at name i. An entry is a file, or a
 * subdirectory formed by name i and names after it. The directory is given by
 * depth and first, as in paths_isdir(). Return false if name i is not in the
 * directory.
 */
bool
paths_entry(const struct paths *ps, size_t depth, size_t first, size_t i,
    struct pathent *e)
{
	const char *s;
	size_t n, pre;

	if (i < first || i >= ps->n)
		return false;
	s = ps->name(ps->arg, first, &n);
	pre = prefix_len(s, n, depth);
	if (pre == SIZE_MAX || !has_prefix(ps, i, s, pre))
		return false;
	entry_make(ps, i, pre, e);
	return true;
}

/*
 * Set *e to the entry called name in a directory. The directory is given by
 * depth and first, as in paths_isdir(). Return false if there is no such entry.
 */
bool
paths_find(const struct paths *ps, size_t depth, size_t first,
    const char *name, struct pathent *e)
{
	char key[2 * PATH_MAX];
	const char *s;
	size_t n, pre, len, at;

	s = ps->name(ps->arg, first, &n);
	pre = prefix_len(s, n, depth);
	len = strlen(name);
	if (pre == SIZE_MAX || !text_isname(name, len) ||
	    pre + len > sizeof key)
		return false;
	memcpy(key, s, pre);
	memcpy(key + pre, name, len);
	at = first + BISECT_WHILE(i, ps->n - first,
	    (s = ps->name(ps->arg, first + i, &n),
	    path_cmp(s, n, key, pre + len) < 0));
	if (at == ps->n || !has_prefix(ps, at, key, pre + len))
		return false;
	entry_make(ps, at, pre, e);
	return e->len == len;
}

/*
 * Return the index of the first name in the parent of a directory. depth and
 * first identify the directory, as in paths_isdir(). depth must be at least 1.
 */
size_t
paths_parent(const struct paths *ps, size_t depth, size_t first)
{
	const char *s;
	size_t n, pre;

	s = ps->name(ps->arg, first, &n);
	pre = prefix_len(s, n, depth - 1);
	return BISECT_WHILE(i, first, !has_prefix(ps, i, s, pre));
}
