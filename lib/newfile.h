/*
 * A file that appears under its name when it is whole: newfile.c.
 */
#ifndef NEWFILE_H
#define NEWFILE_H

struct newfile {
	int		 fd;
	char		*path;	/* owned; its own name */
	char		*dir;	/* owned; where that is; NULL: it has its name */
	char		*tmp;	/* owned; NULL: it has no name yet */
};

int		 newfile_open(struct newfile *, const char *);
int		 newfile_finish(struct newfile *);
void		 newfile_close(struct newfile *);

#endif
