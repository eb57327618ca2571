/*
 * Where something is to be written: outname.c.
 */
#ifndef OUTNAME_H
#define OUTNAME_H

#include <sys/stat.h>

int		 outname_dir(const char *, const char **);
int		 outname_opendir(const char *, int *);
int		 outname_handed(const char *);
int		 outname_device(int, const struct stat *, const char *);

#endif
