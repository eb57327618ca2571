/*
 * Define functions that libelf.a of Debian 13 (elfutils 0.192) uses, but which
 * are in a library that is not installed. They are weak: if libelf.a has them,
 * its own are linked.
 */
#include <search.h>
#include <stddef.h>

/*
 * from elfutils, lib/eu-search.h, without the lock, which is not needed here
 */
struct search_tree {
	void		*root;
};
typedef int	 cmp_fn(const void *, const void *);

#define WEAK	__attribute__((weak))
WEAK void	 eu_search_tree_init(struct search_tree *);
WEAK void	 eu_search_tree_fini(struct search_tree *, void (*)(void *));
WEAK void	*eu_tsearch(const void *, struct search_tree *, cmp_fn *);
WEAK void	*eu_tdelete(const void *, struct search_tree *, cmp_fn *);

void
eu_search_tree_init(struct search_tree *t)
{
	t->root = NULL;
}

void
eu_search_tree_fini(struct search_tree *t, void (*node_free)(void *))
{
	tdestroy(t->root, node_free);
	t->root = NULL;
}

void *
eu_tsearch(const void *key, struct search_tree *t, cmp_fn *cmp)
{
	return tsearch(key, &t->root, cmp);
}

void *
eu_tdelete(const void *key, struct search_tree *t, cmp_fn *cmp)
{
	return tdelete(key, &t->root, cmp);
}
