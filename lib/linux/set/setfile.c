/*
 * What is known of the files that processes of a set have, by device and inode;
 * and how much memory is copied while they are stopped, as smaps told of it
 * before: what they share, and what a clone does not get.
 */
#include "bisect.h"
#include "set.h"
#include "rbtree.h"
#include "state/state.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

CMP2(setfile_cmp, struct setfile, dev, ino)
TREE_GENERATE(setfiles, setfile, entry, setfile_cmp)

/*
 * Return what is known of a file in set l, or NULL.
 */
struct setfile *
setfile_find(struct live *l, uint64_t dev, uint64_t ino)
{
	struct setfile key = { .dev = dev, .ino = ino };

	return RB_FIND(setfiles, &l->byfile, &key);
}

/*
 * Return the same, of a file that is added if it is not there; NULL with
 * errstr.
 */
struct setfile *
setfile_get(struct live *l, uint64_t dev, uint64_t ino)
{
	struct setfile *f;

	if ((f = setfile_find(l, dev, ino)) != NULL ||
	    (f = mem_new(1, sizeof *f)) == NULL)
		return f;
	f->dev = dev;
	f->ino = ino;
	RB_INSERT(setfiles, &l->byfile, f);
	return f;
}

/*
 * Return the file behind f in set l, or the first if f is NULL; NULL at the
 * end.
 */
struct setfile *
setfile_next(struct live *l, struct setfile *f)
{
	return f == NULL ? RB_MIN(setfiles, &l->byfile) :
	    RB_NEXT(setfiles, &l->byfile, f);
}

/*
 * Return true if a mapping is of memory that processes share, as its name
 * tells: files in memory that have no name any more, or never had one, and
 * those of shm_open(3).
 */
static bool
smap_isshmem(const struct smap *m)
{
	static const char deleted[] = " (deleted)", shm[] = "/dev/shm/",
	    named[] = "[anon_shmem:";
	const char *s = m->name.s;
	size_t n;

	n = (size_t)(m->name.end - s);
	return m->vma.flags & VMA_SHARED &&
	    ((n > strlen(deleted) && memcmp(m->name.end - strlen(deleted),
	    deleted, strlen(deleted)) == 0) ||
	    (n > strlen(shm) && memcmp(s, shm, strlen(shm)) == 0) ||
	    (n > strlen(named) && memcmp(s, named, strlen(named)) == 0));
}

/*
 * Note what smaps tells of mapping m of a process of set l: of shared memory
 * what the process has that has most of it.
 */
void
shmems_note(struct live *l, const struct smap *m)
{
	const unsigned int own = VMF_DONTFORK | VMF_WIPEONFORK | VMF_HUGETLB;
	const uint64_t bytes = m->told.rss * KB;
	struct setfile *f;

	if (bytes == 0 || !(smap_isshmem(m) || m->told.flags & own))
		return;
	if (!(m->vma.flags & VMA_SHARED))
		l->shmem += bytes;
	else if ((f = setfile_get(l, m->vma.dev, m->vma.ino)) != NULL &&
	    bytes > f->bytes) {
		l->shmem += bytes - f->bytes;
		f->bytes = bytes;
	}
}

/*
 * Free what set l knows of files, but for what others own of it.
 */
void
setfiles_free(struct live *l)
{
	struct setfile *f;

	while ((f = RB_ROOT(&l->byfile)) != NULL) {
		RB_REMOVE(setfiles, &l->byfile, f);
		free(f);
	}
	l->shmem = 0;
}
