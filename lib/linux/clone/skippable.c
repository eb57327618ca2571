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

struct skippable {
	struct skippable *next;	/* owned */
	char		*name;	/* owned */
	struct rootid	 from;
};

/*
 * Return true if the file of mapping v of process p was added to set l before.
 */
bool
skippable_has(struct live *l, const struct lproc *p, const struct vma *v)
{
	const struct setfile *f = setfile_find(l, v->dev, v->ino);
	const struct skippable *n;

	for (n = f == NULL ? NULL : f->skippable; n != NULL; n = n->next)
		if (rootid_same(&n->from, &p->root) &&
		    strcmp(n->name, v->name) == 0)
			return true;
	return false;
}

/*
 * Add the file of mapping v of process p to set l.  Where that does not work,
 * it is looked at again.
 */
void
skippable_add(struct live *l, const struct lproc *p, const struct vma *v)
{
	struct setfile *f;
	struct skippable *n;

	if (p->root.ino == 0 ||
	    (f = setfile_get(l, v->dev, v->ino)) == NULL ||
	    (n = mem_new(1, sizeof *n)) == NULL)
		return;
	*n = (struct skippable){ f->skippable, str_dup(v->name), p->root };
	if (n->name != NULL)
		f->skippable = n;
	else
		free(n);
}

/*
 * Free the files that plain_add has added to set l.
 */
void
skippables_free(struct live *l)
{
	struct setfile *f;
	struct skippable *n;

	for (f = NULL; (f = setfile_next(l, f)) != NULL;)
		while ((n = f->skippable) != NULL) {
			f->skippable = n->next;
			free(n->name);
			free(n);
		}
}
