/*
 * The table of a set: pointers with texts as keys, such as "user 1000".
 */
#include "set.h"
#include "bisect.h"

#include <search.h>

struct cell {
	void	*value;
	char	 key[];
};

CMP_BY(cell_cmp, struct cell, strcmp(x->key, y->key))

/*
 * Return the place in the table of set l whose key is a text formatted as by
 * printf(3). A new place has the value NULL. The value belongs to the caller.
 * Return NULL with errstr set if memory runs out.
 */
void **
live_cell(struct live *l, const char *fmt, ...)
{
	struct cell *c = NULL, **found;
	va_list ap;
	char *key;

	va_start(ap, fmt);
	if (vasprintf(&key, fmt, ap) == -1)
		key = NULL;
	va_end(ap);
	if (key != NULL &&
	    (c = malloc(sizeof *c + strlen(key) + 1)) != NULL) {
		c->value = NULL;
		memcpy(c->key, key, strlen(key) + 1);
	}
	free(key);
	found = c == NULL ? NULL : tsearch(c, &l->cells, cell_cmp);
	if (found == NULL)
		errstr_set("out of memory");
	if (found == NULL || *found != c)
		free(c);
	return found == NULL ? NULL : &(*found)->value;
}

/*
 * Return true on the first call for this place, which has no other use. Later,
 * or if place is NULL, return false.
 */
bool
cell_once(void **place)
{
	const bool first = place != NULL && *place == NULL;

	if (first)
		*place = place;
	return first;
}

/*
 * Free the table of set l, and its pool.
 */
void
live_forget(struct live *l)
{
	pool_free(&l->pool);
	tdestroy(l->cells, free);
	l->cells = NULL;
}
