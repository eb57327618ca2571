/*
 * The head of an ELF file, and its program headers.
 */
#ifndef HEAD_H
#define HEAD_H

#include "snap.h"

struct elfhead {
	const uint8_t	*p;	/* borrowed; its first n bytes */
	size_t		 n;
	bool		 wide;	/* 64 bits */
	bool		 big;	/* big-endian */
	uint64_t	 phoff;
	size_t		 phnum;
};

struct elfphdr {
	uint32_t	 type;
	uint32_t	 flags;
	uint64_t	 off;
	uint64_t	 addr;
	uint64_t	 filesz;
};

size_t		 elfphdr_size(bool wide);
void		 elfphdr_get(struct elfphdr *ph, const uint8_t *p, bool wide,
		    bool big);
bool		 elfhead_open(struct elfhead *h, const uint8_t *p, size_t n);
bool		 elfhead_phdr(const struct elfhead *h, size_t i,
		    struct elfphdr *ph);

#endif
