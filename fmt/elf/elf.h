/*
 * ELF files: their build IDs, the permissions of their segments, the shared
 * objects that a process has loaded, and symbols.
 */
#ifndef ELFROOM_H
#define ELFROOM_H

#include "machine.h"
#include "library.h"

struct buildid {		/* build ID of a file (its note
				   NT_GNU_BUILD_ID); len is 0 if the file has
				   none */
	uint8_t	 id[64];
	size_t	 len;
};

/*
 * The ELF header and program headers: head.c
 */
struct elfhead {
	const uint8_t	*p;	/* borrowed; the first n bytes of the file */
	size_t		 n;
	bool		 wide;	/* the file is a 64-bit one */
	bool		 big;	/* the file is big-endian */
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

/* buildid.c */
int		 buildid_parse(struct buildid *, const uint8_t *, size_t);
bool		 buildid_same(const struct buildid *, const struct buildid *);
unsigned int	 elf_perms(const uint8_t *p, size_t n, uint64_t page,
		    uint64_t off);

/* symbols.c */
struct elfsyms	*elfsyms_read(int fd);

/* linkmap.c */
typedef int	 (*linkmap_fn)(void *arg, const char *name, uint64_t addr);

int		 linkmap_walk(struct image *mem, const struct machine *m,
		    const struct linuxrec *rec, linkmap_fn fn, void *arg);

#endif
