/*
 * CRIU images made of the Linux records of processes that snap(1) took: make.c
 *
 * They are made in memory, all of a directory, before one is written.  Pages,
 * and the bytes of deleted files, stay where they are: an image tells whose
 * they are.
 */
#ifndef CRIUMAKE_H
#define CRIUMAKE_H

#include "criu/img/img.h"

bool		 criumake_can(struct snap *s);
int		 criumake(struct snap *s, const struct criuopts *o,
		    struct mades *out);
int		 criumake_roots(struct snap *s, uint64_t **pid, size_t *n);

#endif
