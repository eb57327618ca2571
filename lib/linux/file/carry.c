/*
 * Which files of the processes that are taken are to be carried along: the
 * mapped ELF files, but for the executables, which are carried as texts; and,
 * as memory, what is to be had nowhere else: shared memory, and files that no
 * name leads to any more.
 */
#include "file.h"
#include "vec.h"

#include <sys/resource.h>

#include <stdlib.h>
#include <string.h>

enum { CARRY_MOST = 4096 };	/* open files: some 200 ms */

struct carries {
	struct carry	*v;		/* owned */
	size_t		 n;
	size_t		*slot;		/* owned; by device, inode, and IPC
					   namespace */
	size_t		 nslot;		/* a power of two; more than n */
	size_t		 nopened;	/* of v, with a descriptor of ours */
	bool		 full;		/* there are more: that was told */
	struct source	*empty;		/* borrowed; of a file of no bytes, or
					   NULL */
};

/*
 * Return true if both are NULL, or the same namespace.
 */
static bool
ipc_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/*
 * Return where in the table of files that are carried along one is or would
 * be: its place in the list and 1, or 0.  ipc is the namespace of memory of
 * System V, whose inode is its number there, and NULL of other files.  There
 * must be a table.
 */
static size_t *
carry_slot(const struct carries *l, uint64_t dev, uint64_t ino,
    const char *ipc)
{
	const struct carry *c;
	size_t i;

	for (i = (size_t)(ino ^ dev << 7) & (l->nslot - 1); l->slot[i] != 0;
	    i = (i + 1) & (l->nslot - 1)) {
		c = &l->v[l->slot[i] - 1];
		if (c->vma.dev == dev && c->vma.ino == ino &&
		    ipc_same(c->ipc, ipc))
			break;
	}
	return &l->slot[i];
}

/*
 * Return 1 if the file of mapping v of process p is carried along, 0 if it is
 * not, and set *ipc, the caller's to free, to its namespace: carry_slot.  -1
 * with errstr.
 */
static int
carry_has(const struct live *l, const struct lproc *p, const struct vma *v,
    char **ipc)
{
	if (frozen_space(p, v->name, ipc) == -1)
		return -1;
	return l->carries != NULL && l->carries->n > 0 &&
	    *carry_slot(l->carries, v->dev, v->ino, *ipc) != 0;
}

/*
 * Make room for one more file in l.
 */
static int
carry_grow(struct carries *l)
{
	size_t i, n, *slot;

	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	if (l->n * 2 < l->nslot)
		return 0;
	n = l->nslot == 0 ? 16 : l->nslot * 2;
	if ((slot = calloc(n, sizeof *slot)) == NULL)
		return errstr_set("out of memory");
	free(l->slot);
	l->slot = slot;
	l->nslot = n;
	for (i = 0; i < l->n; i++)
		*carry_slot(l, l->v[i].vma.dev, l->v[i].vma.ino, l->v[i].ipc) =
		    i + 1;
	return 0;
}

/*
 * Return the files of set l that are carried along; NULL with errstr when
 * memory runs out.
 */
static struct carries *
carries_get(struct live *l)
{
	if (l->carries == NULL &&
	    (l->carries = calloc(1, sizeof *l->carries)) == NULL)
		errstr_set("out of memory");
	return l->carries;
}

/*
 * Note in set l a file that process p has mapped or open, unless it is known: v
 * tells device, inode and path, st what fstat(2) told, src has its bytes; mem,
 * if it is carried as memory.  Return 0, or -1 with errstr.
 */
int
carry_note(struct live *l, const struct lproc *p, const struct vma *v,
    struct source *src, const struct stat *st, bool mem)
{
	struct carries *k;
	struct carry *c;
	char *ipc;
	int rc;

	if ((rc = carry_has(l, p, v, &ipc)) != 0 ||
	    (k = carries_get(l)) == NULL || carry_grow(k) == -1) {
		free(ipc);
		return rc == 1 ? 0 : -1;
	}
	c = &k->v[k->n];
	c->vma = *v;
	c->src = src;
	c->st = *st;
	c->ipc = ipc;
	c->mem = mem;
	if ((c->vma.name = strdup(v->name)) == NULL) {
		free(ipc);
		return errstr_set("out of memory");
	}
	*carry_slot(k, v->dev, v->ino, ipc) = ++k->n;
	return 0;
}

/*
 * With clones, freeze a file that is to be carried along, and have f lead to
 * the copy.  Where it cannot be frozen, the processes stay stopped until it
 * was read.
 */
static int
carry_freeze(struct live *l, const struct lproc *p, const char *path,
    struct targetfile *f)
{
	if (frozen_copy(l, p, f->fd, &f->st) == -1) {
		live_say(l, "%s: %s: all stay stopped while they are written",
		    path, snap_errstr());
		l->opts.clone = false;
		return 0;
	}
	if ((f->fd = frozen_open(l, p, f->fd, &f->st)) == -1)
		return errstr_sys("%s", path);
	return 0;
}

/*
 * Return how many files that are open, and not empty, can be carried along:
 * each takes a descriptor, two where it is frozen, and others need some, too.
 */
static size_t
carry_most(const struct live *l)
{
	struct rlimit rl;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		return 0;
	n = rl.rlim_cur / (l->opts.clone ? 4 : 2);
	return n < CARRY_MOST ? (size_t)n : CARRY_MOST;
}

/*
 * Return -1 with errstr: a file is one too many.  The user is told once.
 */
static int
carry_refuse(struct live *l, const struct lproc *p)
{
	if (!l->carries->full)
		live_warn(l, "process %d has too many open files that no name "
		    "leads to: the contents of %zu are taken, others are "
		    "missing", p->pid, l->carries->nopened);
	l->carries->full = true;
	return errstr_set("too many files are like it");
}

/*
 * Make a source of snapshot s of file f, which is closed.  All that are empty
 * have the first of them.
 */
static struct source *
carry_source(struct carries *l, struct snap *s, const char *name,
    struct targetfile *f)
{
	struct source *src;
	int fd;

	if (f->st.st_size == 0 && l->empty != NULL) {
		file_close(f);
		return l->empty;
	}
	if ((src = file_source(s, f, name, &fd)) == NULL)
		return NULL;
	if (f->st.st_size == 0)
		l->empty = src;
	l->nopened++;
	return src;
}

/*
 * Carry along in snapshot s of set l a file that process p has open, by its
 * name below /proc/PID; v tells device, inode and path.  Return 0, or -1 with
 * errstr.
 */
int
carry_open(struct live *l, struct snap *s, const struct lproc *p,
    const struct vma *v, const char *name)
{
	struct targetfile f;
	struct source *src;
	bool failed = false, elf;
	char *ipc;
	int rc;

	rc = carry_has(l, p, v, &ipc);
	free(ipc);
	if (rc != 0)
		return rc == 1 ? 0 : -1;
	if (carries_get(l) == NULL)
		return -1;
	if (file_open(l, p, name, &f, &failed) == -1)
		return -1;
	if (f.st.st_size > 0 && l->carries->nopened >= carry_most(l)) {
		file_close(&f);
		return carry_refuse(l, p);
	}
	elf = f.st.st_size > 0 && f.elf;
	if (l->opts.clone && !elf && f.st.st_size > 0 && !f.far &&
	    carry_freeze(l, p, v->name, &f) == -1)
		return -1;
	if ((src = carry_source(l->carries, s, v->name, &f)) == NULL)
		return -1;
	return carry_note(l, p, v, src, &f.st, !elf);
}

/*
 * Return file i of those of set l that are carried along, in the order in
 * which they were noted, or NULL.
 */
const struct carry *
carry_get(const struct live *l, size_t i)
{
	return l->carries != NULL && i < l->carries->n ? &l->carries->v[i] :
	    NULL;
}

/*
 * Free what is noted in set l to be carried along.
 */
void
carry_free(struct live *l)
{
	struct carries *k = l->carries;
	size_t i;

	if (k == NULL)
		return;
	for (i = 0; i < k->n; i++) {
		free(k->v[i].vma.name);
		free(k->v[i].ipc);
	}
	free(k->v);
	free(k->slot);
	free(k);
	l->carries = NULL;
}
