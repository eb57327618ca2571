/*
 * Files that processes have mapped in private, and of which nothing is to be
 * kept for a clone (lacks.c): they can be had under their names or by the
 * kernel, now and when they are taken.  Of a thousand processes of one program
 * each has the same: so what was found of one is remembered for all that see
 * them in the same place.
 */
#include "cloning.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

struct plain {			/* a file */
	uint64_t	 dev;
	uint64_t	 ino;
	char		*name;	/* owned */
	struct whence	 from;
};

struct plains {
	struct plain	*v;	/* owned */
	size_t		 n;
};

/*
 * Return true if the file of mapping v of process p was added to set l before.
 */
bool
plain_has(struct live *l, const struct lproc *p, const struct vma *v)
{
	const struct plain *f;
	size_t i;

	for (i = 0; l->plains != NULL && i < l->plains->n; i++) {
		f = &l->plains->v[i];
		if (f->ino == v->ino && f->dev == v->dev &&
		    whence_same(&f->from, &p->root) &&
		    strcmp(f->name, v->name) == 0)
			return true;
	}
	return false;
}

/*
 * Add the file of mapping v of process p to set l.  Where that does not work,
 * it is looked at again.
 */
void
plain_add(struct live *l, const struct lproc *p, const struct vma *v)
{
	enum { MOST = 256 };	/* it is a list */
	struct plain f = { .dev = v->dev, .ino = v->ino, .from = p->root };

	if (l->plains == NULL)
		l->plains = calloc(1, sizeof *l->plains);
	if (l->plains == NULL || p->root.ino == 0 || l->plains->n >= MOST ||
	    VEC_ROOM(l->plains->v, l->plains->n) == -1 ||
	    (f.name = strdup(v->name)) == NULL)
		return;
	l->plains->v[l->plains->n++] = f;
}

/*
 * Forget the files that plain_add has added to set l: from here on, they may
 * change.
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
