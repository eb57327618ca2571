/*
 * Which files of the processes that are taken are to be carried along: the
 * mapped ELF files, but for the executables, which are carried as texts.
 */
#include "live.h"

#include <stdlib.h>
#include <string.h>

/*
 * A process has a file mapped, of size bytes; note it unless that is known.
 */
int
carry_note(struct live *l, const struct vma *v, struct source *src,
    uint64_t size)
{
	struct carry *c;
	size_t i;

	for (i = l->ncarry; i-- > 0;)
		if (l->carry[i].vma.dev == v->dev &&
		    l->carry[i].vma.ino == v->ino)
			return 0;
	if ((l->ncarry & (l->ncarry - 1)) == 0) {
		c = reallocarray(l->carry, l->ncarry == 0 ? 1 : l->ncarry * 2,
		    sizeof *c);
		if (c == NULL)
			return errstr_set("out of memory");
		l->carry = c;
	}
	c = &l->carry[l->ncarry];
	c->vma = *v;
	c->src = src;
	c->size = size;
	if ((c->vma.name = strdup(v->name)) == NULL)
		return errstr_set("out of memory");
	l->ncarry++;
	return 0;
}

void
carry_free(struct live *l)
{
	size_t i;

	for (i = 0; i < l->ncarry; i++)
		free(l->carry[i].vma.name);
	free(l->carry);
	l->carry = NULL;
	l->ncarry = 0;
}
