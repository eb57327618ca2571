/*
 * Bytes that are kept for many threads: most of them zero, packed.c; most of
 * them alike, bundle.c.
 */
#ifndef PACKED_H
#define PACKED_H

#include "model.h"

void		 filelist_pack(struct filelist *l, const char *name,
		    const uint8_t *data, size_t len);
int		 file_unpack(struct file *f);

struct bytes	 filelist_bundle(struct filelist *l,
		    const struct filelist *pattern);
void		 filelist_unbundle(struct filelist *l,
		    const struct filelist *pattern, struct bytes *bundle);

#endif
