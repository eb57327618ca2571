/*
 * Files that processes have mapped in private, and of which nothing is to be
 * kept for a clone (lacks.c): they can be had under their names or by the
 * kernel, now and when they are taken.  Of a thousand processes of one program
 * each has the same: so what was found of one is remembered for all that see
 * them in the same place.
 */
#include "cloning.h"
#include "vec.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct whence {			/* where a process looks files up */
	uint64_t	 ino;	/* of the directory */
	uint64_t	 mount;	/* what is mounted there */
};

struct plain {			/* a file */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*name;	/* owned */
	struct whence	 from;
};

struct plains {
	struct plain	*v;	/* owned */
	size_t		 n;
	pid_t		 pid;	/* of whom this is the place; 0: nobody */
	struct whence	 place;
};

/*
 * Return where process p looks files up; NULL if that cannot be seen.
 */
static const struct whence *
plain_place(struct live *l, const struct lproc *p)
{
	struct plains *s = l->plains;
	struct statx sx;
	char path[64];

	if (s == NULL && (s = l->plains = calloc(1, sizeof *s)) == NULL)
		return NULL;
	if (s->pid == p->pid)
		return &s->place;
	snprintf(path, sizeof path, "/proc/%d/root", p->mmtid);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID,
	    &sx) == -1 || !(sx.stx_mask & STATX_MNT_ID))
		return NULL;
	s->pid = p->pid;
	s->place = (struct whence){ sx.stx_ino, sx.stx_mnt_id };
	return &s->place;
}

/*
 * Return true if the file of mapping v of process p was added before.
 */
bool
plain_has(struct live *l, const struct lproc *p, const struct vma *v)
{
	const struct whence *from;
	const struct plain *f;
	size_t i;

	if ((from = plain_place(l, p)) == NULL)
		return false;
	for (i = 0; i < l->plains->n; i++) {
		f = &l->plains->v[i];
		if (f->ino == v->ino && f->dev == v->dev &&
		    f->from.ino == from->ino && f->from.mount == from->mount &&
		    strcmp(f->name, v->name) == 0)
			return true;
	}
	return false;
}

/*
 * Add the file of mapping v of process p.  Where that does not work, it is
 * looked at again.
 */
void
plain_add(struct live *l, const struct lproc *p, const struct vma *v)
{
	enum { MOST = 256 };	/* it is a list */
	const struct whence *from;
	struct plain f = { .dev = v->dev, .ino = v->ino };

	if ((from = plain_place(l, p)) == NULL || l->plains->n >= MOST ||
	    VEC_ROOM(l->plains->v, l->plains->n) == -1 ||
	    (f.name = strdup(v->name)) == NULL)
		return;
	f.from = *from;
	l->plains->v[l->plains->n++] = f;
}

/*
 * Forget them: from here on, they may change.
 */
void
plains_free(struct live *l)
{
	size_t i;

	if (l->plains == NULL)
		return;
	for (i = 0; i < l->plains->n; i++)
		free(l->plains->v[i].name);
	free(l->plains->v);
	free(l->plains);
	l->plains = NULL;
}
