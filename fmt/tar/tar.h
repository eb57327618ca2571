/*
 * Archives of tar(1), read in place: a table of their members, each with the
 * position of its bytes.
 *
 *	header.c	a header: ustar, and GNU's
 *	pax.c		an extended header of pax
 *	read.c		all members
 */
#ifndef TAR_H
#define TAR_H

#include "io/io.h"

enum {
	TAR_BLOCK = 512,	/* size of a block in bytes; an archive consists
				   of blocks, and a header is one block */
	TAR_FILE = '0', /* type of a regular file, also used for '\0' and '7' */
	TAR_LINK = '2',		/* type of a symbolic link */
	TAR_DIR = '5',
	TAR_LONGLINK = 'K',	/* GNU: link target of the next member */
	TAR_LONGNAME = 'L',
	TAR_SPARSE = 'S',	/* GNU: a file stored without its holes */
	TAR_GLOBAL = 'g',	/* pax: header for all members that follow */
	TAR_PAX = 'x'		/* pax: header for the next member */
};

struct tarmember {
	char		*name;	/* owned; without a leading "./" or a
				   trailing "/" */
	char		*link;	/* owned; target of a TAR_LINK, or NULL */
	char		 type;
	uint64_t	 pos;	/* offset of the contents in the stream */
	uint64_t	 size;	/* size of the contents in bytes */
	int64_t		 time;	/* modification time, in seconds */
};

struct tar {
	struct input	*in;	/* borrowed; can be read at any offset */
	struct tarmember *v;	/* owned; sorted by name */
	size_t		 n;
	struct source	*src;	/* borrowed; see tar_source() */
};

/* a function that replaces the user ID *uid and the group ID *gid */
typedef void	 tarowner_fn(const void *arg, uint64_t *uid, uint64_t *gid);

/* header.c */
bool		 tar_magic(const uint8_t *p, size_t n);
int		 tar_header(const uint8_t *p, struct tarmember *m);
uint64_t	 tar_blocks(const struct tarmember *m);
int		 tar_owners(uint8_t *p, size_t n, tarowner_fn *owner,
		    const void *arg);
void		 tarmember_clear(struct tarmember *m);
int		 tar_text(char **out, const uint8_t *p, size_t n);

/* pax.c */
int		 tar_pax(const uint8_t *p, size_t n, struct tarmember *m,
		    bool *sized);

/* read.c */
struct tar	*tar_read(struct input *in);
const struct tarmember *tar_find(const struct tar *t, const char *name);
struct input	*tar_input(const struct tar *t, const struct tarmember *m,
		    const char *name);
struct source	*tar_source(struct tar *t, struct snap *s);
void		 tar_free(struct tar *t);

#endif
