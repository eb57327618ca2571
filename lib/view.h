/*
 * What images have of their view: view.c.
 */
#ifndef VIEW_H
#define VIEW_H

#include "snap.h"

void		 view_free(struct view *);
int		 view_insert(struct image *, struct segment *);
int		 view_cut(struct view *, uint64_t, uint64_t);

#endif
