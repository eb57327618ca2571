/*
 * Find out which resources of processes are identical, with kcmp(2). It also
 * defines an order, so that the resources can be kept in a tree.
 */
#include "bisect.h"
#include "filerec.h"
#include "rbtree.h"
#include "vec.h"

#include <sys/syscall.h>

#include <unistd.h>

struct slots {			/* argument of slot_serve() */
	pid_t		 pid[2];
	unsigned long	 fd;
	struct kcmp_epoll_slot slot;
};

static int
slot_serve(struct serving *s)
{
	struct slots q;
	long rc;

	memcpy(&q, s->arg, sizeof q);
	rc = syscall(SYS_kcmp, q.pid[0], q.pid[1], KCMP_EPOLL_TFD, q.fd,
	    &q.slot);
	serve_put(s, &rc, sizeof rc);
	return 0;
}

/*
 * Use kcmp(2) to compare file b with a file that an epoll set of process pid
 * watches. slot identifies the set and the watched file. The proxy makes the
 * call, because the kernel waits for the lock of the epoll set. Return the
 * result of kcmp(2), or -1.
 */
static long
slot_cmp(const struct resource *b, pid_t pid,
    const struct kcmp_epoll_slot *slot)
{
	const struct slots q = { { b->pid, pid }, b->fd, *slot };
	char what[64];
	const struct proxy_key k = { KEY_OPEN, (uint64_t)pid << 32 |
	    slot->efd, what, 0 };
	long rc;

	snprintf(what, sizeof what, "process %d: descriptor %u", pid,
	    slot->efd);
	return proxy_call(&k, slot_serve, &q, sizeof q, -1, &rc, sizeof rc,
	    NULL) == sizeof rc ? rc : -1;
}

/*
 * Compare two resources: the first, a, is new or a key; the second, b, is in
 * the tree. If kcmp(2) fails, mark both as unsure, and treat them as different.
 * Return a value as strcmp(3) does.
 */
static int
resource_cmp(struct resource *a, struct resource *b)
{
	long rc;
	int c;

	if ((c = ORDER(a->kind, b->kind)) != 0 ||
	    (c = ORDER(a->dev, b->dev)) != 0 ||
	    (c = ORDER(a->ino, b->ino)) != 0 || a->kind == RESOURCE_INODE)
		return c;
	if (a->slot != NULL)
		rc = slot_cmp(b, a->pid, a->slot);
	else
		rc = syscall(SYS_kcmp, b->pid, a->pid, a->kind, b->fd, a->fd);
	if (rc >= 0 && rc <= 2)
		return rc == 0 ? 0 : rc == 1 ? 1 : -1;
	a->unsure = b->unsure = true;
	c = ORDER(a->pid, b->pid);
	return c != 0 ? c : ORDER(a->fd, b->fd);
}

TREE_GENERATE(resources, resource, entry, resource_cmp)

/*
 * Return the resource of f that is identical to key. If there is none, add a
 * copy of key, and return the copy. The copy is marked unsure if kcmp(2) could
 * not compare it. Return NULL with errstr set if memory runs out.
 */
struct resource *
resource_get(struct files *f, const struct resource *key)
{
	struct resource *t, *same;

	if ((t = mem_dup(key, sizeof *key)) == NULL)
		return NULL;
	if ((same = RB_INSERT(resources, &f->resources, t)) == NULL)
		return t;
	free(t);
	return same;
}

/*
 * Add the open file description that o describes, a descriptor of thread pid,
 * to f. Set *r to describe the descriptor. Return 0 if f already had it, 1 if
 * it is new, or -1 with errstr set.
 */
int
resource_file(struct files *f, pid_t pid, const struct openfile *o,
    struct fdref *r)
{
	const struct resource key = { .kind = KCMP_FILE, .pid = pid,
	    .fd = (unsigned long)o->fd, .dev = o->dev, .ino = o->ino };

	*r = (struct fdref){ o->fd, o->mode, resource_get(f, &key) };
	if (r->file == NULL)
		return -1;
	if (r->file->id != 0)
		return 0;
	r->file->id = ++f->nfile;
	return 1;
}

/*
 * Add the open file description of descriptor fd of thread pid to f, as
 * resource_file() does. Examine the descriptor first. Return 0 if f already had
 * the description, 1 if it is new, or -1 with errstr set.
 */
int
resource_fd(struct files *f, pid_t pid, int fd, struct fdref *r)
{
	struct openfile o = { .fd = fd };
	struct statx sx;

	if (fd_see(pid, fd, &sx) == -1)
		return errstr_sys("/proc/%d/fd/%d", pid, fd);
	o.mode = sx.stx_mode;
	o.dev = statx_dev(&sx);
	o.ino = sx.stx_ino;
	return resource_file(f, pid, &o, r);
}

/*
 * Return the resource of f that is identical to key, or NULL if there is none.
 * Compare key with guess first, unless that is NULL.
 */
struct resource *
resource_find(struct files *f, struct resource *key, struct resource *guess)
{
	return guess != NULL && resource_cmp(key, guess) == 0 ? guess :
	    RB_FIND(resources, &f->resources, key);
}

/*
 * Free the resources of f.
 */
void
resources_free(struct files *f)
{
	struct resource *t;

	while ((t = RB_ROOT(&f->resources)) != NULL) {
		RB_REMOVE(resources, &f->resources, t);
		free(t);
	}
}
