/*
 * ELF files: what tells two of them apart.
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

#endif
