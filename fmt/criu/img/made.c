/*
 * The images of a directory that is made, in memory until it is written.
 */
#include "img.h"
#include "bisect.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

CMP_BY(name_cmp, struct made *const, strcmp((*x)->name, (*y)->name))

/*
 * Return 0; or -1 with errstr if memory for an image of l ran out, or if two
 * have one name: then two processes or threads have one number where they run.
 */
int
mades_check(struct mades *l)
{
	struct made **v;
	size_t i;
	int rc;

	if ((v = mem_new(l->n + 1, sizeof *v)) == NULL)
		return -1;
	for (i = 0; i < l->n; i++)
		v[i] = l->v[i];
	SORT(v, l->n, name_cmp);
	for (rc = 0, i = 0; rc == 0 && i < l->n; i++)
		rc = i > 0 && strcmp(v[i - 1]->name, v[i]->name) == 0 ?
		    errstr_set("two processes or threads of one number: %s",
		    v[i]->name) : buf_check(&v[i]->b);
	free(v);
	return rc;
}

/*
 * Free all images; l is empty then.
 */
void
mades_free(struct mades *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (!l->v[i]->lent)
			buf_free(&l->v[i]->b);
		free(l->v[i]->name);
		free(l->v[i]);
	}
	free(l->v);
	memset(l, 0, sizeof *l);
}
