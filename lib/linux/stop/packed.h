/*
 * Bytes that are kept for many threads, most of them zero: packed.c.
 */
#ifndef PACKED_H
#define PACKED_H

#include "model.h"

void		 filelist_pack(struct filelist *l, const char *name,
		    const uint8_t *data, size_t len);
int		 file_unpack(struct file *f);

#endif
