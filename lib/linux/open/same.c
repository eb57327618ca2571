/*
 * Which things of processes are one and the same: kcmp(2), which also has an
 * order of them, so that they can be kept in a tree.
 */
#include "open.h"
#include "rbtree.h"

#include <sys/syscall.h>

#include <stdlib.h>
#include <unistd.h>

/*
 * The order of two numbers.
 */
static int
order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/*
 * The order of a new thing, or a key, and one that is in the tree.  Where
 * the kernel does not tell, all are different.
 */
static int
thing_cmp(struct thing *a, struct thing *b)
{
	long rc;
	int c;

	if ((c = order((uint64_t)a->kind, (uint64_t)b->kind)) != 0 ||
	    (c = order(a->dev, b->dev)) != 0 ||
	    (c = order(a->ino, b->ino)) != 0 || a->kind == THING_INODE)
		return c;
	if (a->slot != NULL)
		rc = syscall(SYS_kcmp, b->pid, a->pid, KCMP_EPOLL_TFD, b->fd,
		    a->slot);
	else
		rc = syscall(SYS_kcmp, b->pid, a->pid, a->kind, b->fd, a->fd);
	if (rc >= 0 && rc <= 2)
		return rc == 0 ? 0 : rc == 1 ? 1 : -1;
	a->unsure = b->unsure = true;
	c = order((uint64_t)a->pid, (uint64_t)b->pid);
	return c != 0 ? c : order(a->fd, b->fd);
}

TREE_GENERATE(things, thing, entry, thing_cmp)

/*
 * What is the same as the key, or else the key itself, which is copied; it
 * counts as unsure where that cannot be known.  NULL when memory runs out.
 */
struct thing *
thing_get(struct files *f, const struct thing *key)
{
	struct thing *t, *same;

	if ((t = malloc(sizeof *t)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	*t = *key;
	if ((same = RB_INSERT(things, &f->things, t)) == NULL)
		return t;
	free(t);
	return same;
}

/*
 * What is the same as the key, or NULL.
 */
struct thing *
thing_find(struct files *f, struct thing *key)
{
	return RB_FIND(things, &f->things, key);
}

/*
 * Is a thing, whatever it is, the same as the key?
 */
bool
thing_same(struct thing *t, struct thing *key)
{
	return thing_cmp(key, t) == 0;
}

void
things_free(struct files *f)
{
	struct thing *t;

	while ((t = RB_ROOT(&f->things)) != NULL) {
		RB_REMOVE(things, &f->things, t);
		free(t);
	}
}
