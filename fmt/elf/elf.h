/*
 * ELF files: what tells two of them apart, and the names in them.
 */
#ifndef ELFROOM_H
#define ELFROOM_H

#include "snap.h"

struct buildid {		/* NT_GNU_BUILD_ID; len 0: none */
	uint8_t	 id[64];
	size_t	 len;
};

/* buildid.c */
int		 buildid_parse(struct buildid *, const uint8_t *, size_t);
bool		 buildid_same(const struct buildid *, const struct buildid *);

/* symbols.c */
struct elfsyms	*elfsyms_read(int fd);

#endif
