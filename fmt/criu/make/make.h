/*
 * Make CRIU images from the Linux records of processes that snap(1) captured:
 * make.c
 *
 * All images of a directory are made in memory before the first is written.
 * Pages and the content of deleted files are not copied: an image has a pointer
 * to the process that has them.
 */
#ifndef CRIUMAKE_H
#define CRIUMAKE_H

#include "criu/img/img.h"

bool		 criumake_can(struct snap *s);
int		 criumake(struct snap *s, const struct criuopts *o,
		    struct mades *out);
int		 criumake_roots(struct snap *s, uint64_t **pid, size_t *n);

#endif
