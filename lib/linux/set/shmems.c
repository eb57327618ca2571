/*
 * How much memory processes have that is copied while they are stopped, as
 * smaps told of it before: what they share, and what a clone does not get.
 */
#include "set.h"
#include "state/state.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

struct shmem {			/* a file in memory */
	uint64_t	 dev;
	uint64_t	 ino;
	uint64_t	 bytes;	/* resident in the process that has most */
};

struct shmems {
	struct shmem	*v;	/* owned */
	size_t		 n;
	uint64_t	 own;	/* bytes of processes' own */
};

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
 * Count shared memory, unless as much of it was seen before.
 */
static void
shmem_count(struct shmems *l, const struct smap *m)
{
	enum { MOST = 1024 };	/* it is a list */
	const uint64_t bytes = m->sizes.rss * KB;
	struct shmem *s;
	size_t i;

	for (i = 0; i < l->n; i++) {
		s = &l->v[i];
		if (s->dev != m->vma.dev || s->ino != m->vma.ino)
			continue;
		if (s->bytes < bytes)
			s->bytes = bytes;
		return;
	}
	if (l->n < MOST && VEC_ROOM(l->v, l->n) == 0)
		l->v[l->n++] = (struct shmem){ m->vma.dev, m->vma.ino, bytes };
}

/*
 * Note what smaps tells of mapping m of a process of set l.
 */
void
shmems_note(struct live *l, const struct smap *m)
{
	const unsigned int own = VMF_DONTFORK | VMF_WIPEONFORK | VMF_HUGETLB;

	if (m->sizes.rss == 0 || !(smap_isshmem(m) || m->vmflags & own) ||
	    (l->shmems == NULL &&
	    (l->shmems = calloc(1, sizeof *l->shmems)) == NULL))
		return;
	if (m->vma.flags & VMA_SHARED)
		shmem_count(l->shmems, m);
	else
		l->shmems->own += m->sizes.rss * KB;
}

/*
 * Return how many bytes of set l will be copied while it is stopped, at a
 * guess.
 */
uint64_t
shmems_sum(const struct live *l)
{
	uint64_t sum;
	size_t i;

	if (l->shmems == NULL)
		return 0;
	for (sum = l->shmems->own, i = 0; i < l->shmems->n; i++)
		sum += l->shmems->v[i].bytes;
	return sum;
}

/*
 * Return how many bytes of a file in memory, which dev and ino tell, a process
 * of set l had resident: the one that had most.  0 if that is not known.
 */
uint64_t
shmems_resident(const struct live *l, uint64_t dev, uint64_t ino)
{
	const struct shmems *k = l->shmems;
	size_t i;

	for (i = 0; k != NULL && i < k->n; i++)
		if (k->v[i].dev == dev && k->v[i].ino == ino)
			return k->v[i].bytes;
	return 0;
}

/*
 * Free what set l knows of shared memory.
 */
void
shmems_free(struct live *l)
{
	if (l->shmems != NULL)
		free(l->shmems->v);
	free(l->shmems);
	l->shmems = NULL;
}
