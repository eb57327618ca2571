/*
 * Archives of tar(1), read where they are: a table of their members, each with
 * the place of its bytes.
 *
 *	header.c	a header: ustar, and GNU's
 *	pax.c		what pax has before a header
 *	read.c		all members
 */
#ifndef TAR_H
#define TAR_H

#include "io/io.h"

enum {
	TAR_BLOCK = 512,	/* headers are one, and all is made of them */
	TAR_FILE = '0',		/* types: a file, as also '\0' and '7' */
	TAR_LINK = '2',		/* a symbolic link */
	TAR_DIR = '5',
	TAR_LONGLINK = 'K',	/* GNU's: of the next member */
	TAR_LONGNAME = 'L',
	TAR_SPARSE = 'S',	/* GNU's */
	TAR_GLOBAL = 'g',	/* pax's: of all that follow */
	TAR_PAX = 'x'		/* of the next */
};

struct tarmember {
	char		*name;	/* owned; no "./" before it, no "/" at its
				   end */
	char		*link;	/* owned; where a TAR_LINK leads to; or NULL */
	char		 type;
	uint64_t	 pos;	/* of its bytes in the stream */
	uint64_t	 size;	/* in bytes */
	int64_t		 time;	/* when it was modified, in seconds */
};

struct tar {
	struct input	*in;	/* borrowed; it can be read anywhere */
	struct tarmember *v;	/* owned; by name */
	size_t		 n;
	struct source	*src;	/* borrowed; see tar_source */
};

/* header.c */
bool		 tar_magic(const uint8_t *p, size_t n);
int		 tar_header(const uint8_t *p, struct tarmember *m);
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
