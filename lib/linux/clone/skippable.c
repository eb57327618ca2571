/*
 * Mapped files of which nothing must be copied for a clone (gaps.c), because
 * their contents can be read later, by name or from the kernel. A thousand
 * processes of one program have the same files mapped, so a file that was found
 * skippable in one process is remembered for all with the same root directory.
 */
#include "cloning.h"
#include "vec.h"

struct skippable {
	struct skippable *next;	/* owned */
	char		*name;	/* owned */
	struct rootid	 from;
};

/*
 * Return true if skippable_add() marked the file of mapping v of process p.
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
 * Mark the file of mapping v of process p in set l as skippable: it needs no
 * copy. On failure do nothing; the file is then examined again next time.
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
 * Free the marks that skippable_add() made in set l.
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
