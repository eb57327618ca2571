/*
 * Count events by process, number, flags and name. The number of rows is
 * limited; keys beyond it are counted in one row called "others".
 */
#include "vmtrace.h"
#include "bisect.h"
#include "rbtree.h"

enum { MAX_ROWS = 1 << 18 };

CMP_BY(row_cmp, struct row,
    x->pid != y->pid ? ORDER(x->pid, y->pid) :
    x->num != y->num ? ORDER(x->num, y->num) :
    x->flags != y->flags ? ORDER(x->flags, y->flags) :
    strcmp(x->name, y->name))

TREE_GENERATE(rows, row, entry, row_cmp)

/*
 * Return the row of t with the given key. If there is none, add one with zero
 * counts. If the limit on rows is reached, return the row "others" instead.
 */
struct row *
tally_get(struct tally *t, const struct row *key)
{
	static char others[] = "others";
	static const struct row rest = { .name = others, .rest = true };
	struct row *r, k = *key;

	if ((r = RB_FIND(rows, &t->all, &k)) != NULL)
		return r;
	if (t->n >= MAX_ROWS) {
		k = rest;
		key = &rest;
		if ((r = RB_FIND(rows, &t->all, &k)) != NULL)
			return r;
	}
	r = must(mem_dup(key, sizeof *key));
	memset(r->count, 0, sizeof r->count);
	r->name = must(str_dup(key->name));
	RB_INSERT(rows, &t->all, r);
	t->n++;
	return r;
}

/*
 * Return an array of all rows of t, sorted by key, and set *n to its length.
 * The caller frees the array.
 */
struct row **
tally_rows(const struct tally *t, size_t *n)
{
	struct rows all = t->all;
	struct row **v, *r;

	*n = 0;
	v = must(mem_new(t->n, sizeof *v));
	RB_FOREACH(r, rows, &all)
		v[(*n)++] = r;
	return v;
}
