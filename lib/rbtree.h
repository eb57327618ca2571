/*
 * Red-black trees of <sys/tree.h> for one file: libbsd's RB_GENERATE_STATIC
 * needs a macro that glibc's headers use as a name.
 */
#ifndef TREE_H
#define TREE_H

#include <sys/tree.h>

#define TREE_ATTR static __attribute__((unused))

#define TREE_GENERATE(name, type, field, cmp)				\
	RB_PROTOTYPE_INTERNAL(name, type, field, cmp, TREE_ATTR)	\
	RB_GENERATE_INTERNAL(name, type, field, cmp, TREE_ATTR)

#endif
