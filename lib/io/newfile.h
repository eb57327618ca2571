/*
 * A file that appears under its name when it is whole: newfile.c.
 */
#ifndef NEWFILE_H
#define NEWFILE_H

#include <stdbool.h>

struct newfile {
	int		 fd;
	char		*path;	/* owned; its own name */
	const char	*name;	/* borrowed; the last of it */
	int		 dir;	/* owned; where that is; -1: it has its name */
	char		*tmp;	/* owned; in dir; NULL: it has no name yet */
	bool		 outside; /* it is the helper's, but for fd */
	bool		 isnew;	/* that one is: newfile_isnew */
};

int		 newfile_open(struct newfile *, const char *);
bool		 newfile_isnew(const struct newfile *);
int		 newfile_finish(struct newfile *);
void		 newfile_close(struct newfile *);

#endif
