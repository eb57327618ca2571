/*
 * What is known of a process, and the parsers of the texts that tell it.
 */
#ifndef STATE_H
#define STATE_H

#include "space.h"

/* maps.c */
int		 vmas_add(struct vmas *, const struct vma *);
int		 vmas_sort(struct vmas *);

/* pages.c */
uint64_t	 pagespan_kb(const struct pagespan *);

/* space.c */
int		 space_smaps(struct space *, const void *, size_t);
int		 space_vmas(struct space *);
void		 space_status(struct space *, const void *, size_t);
void		 space_stat(struct space *, const void *, size_t);
void		 space_limits(struct space *, const void *, size_t);

#endif
