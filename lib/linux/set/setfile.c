/*
 * Files that processes of a set have mapped, by device and inode; and an
 * estimate from smaps of how much memory will be copied in the stop: shared
 * memory, and memory that a clone does not inherit.
 */
#include "bisect.h"
#include "set.h"
#include "rbtree.h"
#include "state/state.h"
#include "vec.h"

CMP2(setfile_cmp, struct setfile, dev, ino)
TREE_GENERATE(setfiles, setfile, entry, setfile_cmp)

/*
 * Return the entry in set l of the file with device dev and inode ino, or NULL
 * if there is none.
 */
struct setfile *
setfile_find(struct live *l, uint64_t dev, uint64_t ino)
{
	struct setfile key = { .dev = dev, .ino = ino };

	return RB_FIND(setfiles, &l->byfile, &key);
}

/*
 * Return the entry in set l of the file with device dev and inode ino. If there
 * is none, add it. Return NULL with errstr set if memory runs out.
 */
struct setfile *
setfile_get(struct live *l, uint64_t dev, uint64_t ino)
{
	struct setfile *f;

	if ((f = setfile_find(l, dev, ino)) != NULL ||
	    (f = pool_new(&l->pool, 1, sizeof *f)) == NULL)
		return f;
	f->dev = dev;
	f->ino = ino;
	RB_INSERT(setfiles, &l->byfile, f);
	return f;
}

/*
 * Return the entry after f in set l, or the first if f is NULL. Return NULL at
 * the end.
 */
struct setfile *
setfile_next(struct live *l, struct setfile *f)
{
	return f == NULL ? RB_MIN(setfiles, &l->byfile) :
	    RB_NEXT(setfiles, &l->byfile, f);
}

/*
 * Return true if the name of mapping m shows that it is shared memory. Such
 * names are those of a deleted file, a file of shm_open(3), and anonymous
 * shared memory.
 */
static bool
smap_isshmem(const struct smap *m)
{
	struct scan name = m->name;

	return m->vma.flags & VMA_SHARED && (scan_ends(&name, " (deleted)") ||
	    scan_begins(&name, "/dev/shm/") ||
	    scan_begins(&name, "[anon_shmem:"));
}

/*
 * Count the resident bytes of mapping m of a process of set l, if they will be
 * copied while processes are stopped. Count shared memory only once, with its
 * resident size in the process that has the most of it.
 */
void
shmems_note(struct live *l, const struct smap *m)
{
	const unsigned int own = VMF_DONTFORK | VMF_WIPEONFORK | VMF_HUGETLB;
	const uint64_t bytes = m->mapping.rss * KB;
	struct setfile *f;

	if (bytes == 0 || !(smap_isshmem(m) || m->mapping.flags & own))
		return;
	if (!(m->vma.flags & VMA_SHARED))
		l->shmem += bytes + bytes / 8;	/* it grows until the stop */
	else if ((f = setfile_get(l, m->vma.dev, m->vma.ino)) != NULL &&
	    bytes > f->bytes) {
		l->shmem += bytes - f->bytes;
		f->bytes = bytes;
	}
}
