/*
 * Choose the files to include in the snapshot. Mapped ELF files are included as
 * texts, except executables, which are already there as texts. Shared memory
 * and unlinked files are included as memory, because they cannot be read
 * anywhere else.
 */
#include "file.h"
#include "vec.h"

#include <sys/resource.h>

enum { MAX_CARRY = 4096 }; /* maximum number of open files; handling that many
			      takes about 200 ms */

struct carries {
	struct carry	*first; /* borrowed; head of the list of entries */
	struct carry	*last; /* borrowed; tail of the list of entries */
	size_t		 nopened; /* number of files with an open descriptor */
	bool		 full; /* the limit on open files was exceeded, and the
				  user has been warned */
	struct source	*empty;		/* borrowed; shared source of all
					   empty files, or NULL */
};

/*
 * Return true if the file of mapping v of process p is already in the snapshot.
 * dev is its st_dev of stat(2), which v->dev may differ from: files of btrfs
 * subvolumes and of the layers of an overlay can have the same inode number,
 * and the same device in maps. For System V shared memory, also compare the IPC
 * namespace: the inode number is the ID, which is unique only within that
 * namespace.
 */
static bool
carry_has(struct live *l, const struct lproc *p, const struct vma *v,
    dev_t dev)
{
	const struct setfile *f = setfile_find(l, v->dev, v->ino);
	const uint64_t ipc = ipc_space(p, v->name);
	const struct carry *c;

	for (c = f == NULL ? NULL : f->carry; c != NULL; c = c->next)
		if (c->ipc == ipc && c->st.st_dev == dev)
			return true;
	return false;
}

/*
 * Return the list of included files of capture l, created on first use. Return
 * NULL with errstr set if memory runs out.
 */
static struct carries *
carries_get(struct live *l)
{
	if (l->carries == NULL)
		l->carries = pool_new(&l->pool, 1, sizeof *l->carries);
	return l->carries;
}

/*
 * Record in capture l that the snapshot includes a file that process p has
 * mapped or open. v has the device, inode and path of the file, st is the
 * result of fstat(2), and src has the contents. If mem is set, the file is
 * included as memory, not as a text. Do nothing if the file is already
 * recorded. Return 0, or -1 with errstr set.
 */
int
carry_note(struct live *l, const struct lproc *p, const struct vma *v,
    struct source *src, const struct stat *st, bool mem)
{
	struct carries *k;
	struct setfile *f;
	struct carry *c;

	if (carry_has(l, p, v, st->st_dev))
		return 0;
	if ((k = carries_get(l)) == NULL ||
	    (f = setfile_get(l, v->dev, v->ino)) == NULL ||
	    (c = pool_new(&l->pool, 1, sizeof *c)) == NULL)
		return -1;
	*c = (struct carry){ .next = f->carry, .vma = *v, .src = src,
	    .st = *st, .ipc = ipc_space(p, v->name), .mem = mem };
	if ((c->vma.name = pool_string(&l->pool, v->name)) == NULL)
		return -1;
	f->carry = c;
	if (k->last == NULL)
		k->first = c;
	else
		k->last->after = c;
	k->last = c;
	return 0;
}

/*
 * Copy file f while the processes are stopped, and make f refer to the copy.
 * Without a copy the processes must stay stopped until the file is written. So
 * if the copy fails, disable cloning, since that would let them resume earlier.
 */
static int
carry_freeze(struct live *l, const struct lproc *p, const char *path,
    struct targetfile *f)
{
	if (shmcopy_make(l, p, f->fd, &f->st) == -1) {
		live_say(l, "%s: %s: all processes stay stopped until "
		    "everything is written", path, snap_errstr());
		l->opts.clone = false;
		return 0;
	}
	return (f->fd = shmcopy_open(l, p, f->fd, &f->st)) == -1 ?
	    errstr_sys("%s", path) : 0;
}

/*
 * Return the maximum number of non-empty open files that the snapshot can
 * include. Each needs one descriptor, or two if it is copied while the
 * processes are stopped. Half of the limit on descriptors is left for other
 * uses.
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
 * Return a source of snapshot s that reads file f, or NULL with errstr set. All
 * empty files share one source. f->fd is taken over, even on failure.
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
 * Include in snapshot s of capture l a file that process p has open. name is
 * the path of the file below /proc/PID. v has its device (st_dev), inode and
 * path. Return 0, or -1 with errstr set.
 */
int
carry_open(struct live *l, struct snap *s, const struct lproc *p,
    const struct vma *v, const char *name)
{
	struct targetfile f;
	struct source *src;
	bool failed = false, elf;

	if (carry_has(l, p, v, v->dev))
		return 0;
	if (carries_get(l) == NULL ||
	    file_open(l, p, name, &f, &failed) == -1)
		return -1;
	if (f.st.st_size > 0 && l->carries->nopened >= carry_most(l)) {
		file_close(&f);
		if (!l->carries->full)
			live_warn(l, "process %d has too many unlinked files "
			    "open: the contents of %zu are saved; the rest are "
			    "missing", p->pid, l->carries->nopened);
		l->carries->full = true;
		return errstr_set("too many unlinked files are open");
	}
	elf = f.st.st_size > 0 && f.elf;
	if ((l->opts.clone && !elf && f.st.st_size > 0 && !f.far &&
	    carry_freeze(l, p, v->name, &f) == -1) ||
	    (src = carry_source(l->carries, s, v->name, &f)) == NULL)
		return -1;
	return carry_note(l, p, v, src, &f.st, !elf);
}

/*
 * Return the first included file of capture l, or NULL. Each file's member
 * called after points to the next.
 */
const struct carry *
carry_first(const struct live *l)
{
	return l->carries == NULL ? NULL : l->carries->first;
}
