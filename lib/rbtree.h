/*
 * Red-black trees of <sys/tree.h> private to one file. libbsd's
 * RB_GENERATE_STATIC cannot be used: it needs a macro whose name glibc's
 * headers use.
 */
#ifndef TREE_H
#define TREE_H

#include <sys/tree.h>

#define TREE_ATTR static __attribute__((unused))

#define TREE_GENERATE(name, type, field, cmp)				\
	RB_PROTOTYPE_INTERNAL(name, type, field, cmp, TREE_ATTR)	\
	RB_GENERATE_INTERNAL(name, type, field, cmp, TREE_ATTR)

#endif
