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

enum { MAX_CARRY = 4096 };	/* open files: some 200 ms */

struct carries {
	struct carry	*first;		/* borrowed */
	struct carry	*last;		/* the same */
	size_t		 nopened;	/* of all, with a descriptor of ours */
	bool		 full;		/* there are more: that was told */
	struct source	*empty;		/* borrowed; of a file of no bytes, or
					   NULL */
};

/*
 * Return true if the file of mapping v of process p is carried along.  The
 * inode of memory of System V is its number in its namespace.
 */
static bool
carry_has(struct live *l, const struct lproc *p, const struct vma *v)
{
	const struct setfile *f = setfile_find(l, v->dev, v->ino);
	const uint64_t ipc = ipc_space(p, v->name);
	const struct carry *c;

	for (c = f == NULL ? NULL : f->carry; c != NULL; c = c->next)
		if (c->ipc == ipc)
			return true;
	return false;
}

/*
 * Return the files of set l that are carried along; NULL with errstr when
 * memory runs out.
 */
static struct carries *
carries_get(struct live *l)
{
	if (l->carries == NULL)
		l->carries = mem_new(1, sizeof *l->carries);
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
	struct setfile *f;
	struct carry *c;

	if (carry_has(l, p, v))
		return 0;
	if ((k = carries_get(l)) == NULL ||
	    (f = setfile_get(l, v->dev, v->ino)) == NULL ||
	    (c = mem_new(1, sizeof *c)) == NULL)
		return -1;
	*c = (struct carry){ .next = f->carry, .vma = *v, .src = src,
	    .st = *st, .ipc = ipc_space(p, v->name), .mem = mem };
	if ((c->vma.name = str_dup(v->name)) == NULL) {
		free(c);
		return -1;
	}
	f->carry = c;
	if (k->last == NULL)
		k->first = c;
	else
		k->last->after = c;
	k->last = c;
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
	if (shmcopy_make(l, p, f->fd, &f->st) == -1) {
		live_say(l, "%s: %s: all stay stopped while they are written",
		    path, snap_errstr());
		l->opts.clone = false;
		return 0;
	}
	if ((f->fd = shmcopy_open(l, p, f->fd, &f->st)) == -1)
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
	return n < MAX_CARRY ? (size_t)n : MAX_CARRY;
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

	if (carry_has(l, p, v))
		return 0;
	if (carries_get(l) == NULL ||
	    file_open(l, p, name, &f, &failed) == -1)
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
 * Return the first file of set l that is carried along, or NULL; the others
 * follow by their member after.
 */
const struct carry *
carry_first(const struct live *l)
{
	return l->carries == NULL ? NULL : l->carries->first;
}

/*
 * Free what is noted in set l to be carried along.
 */
void
carry_free(struct live *l)
{
	struct carry *c, *after;

	for (c = l->carries == NULL ? NULL : l->carries->first; c != NULL;
	    c = after) {
		after = c->after;
		free(c->vma.name);
		free(c);
	}
	free(l->carries);
	l->carries = NULL;
}
