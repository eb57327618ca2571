/*
 * Regular files whose names others choose: regular.c.
 */
#ifndef REGULAR_H
#define REGULAR_H

#include <sys/stat.h>

int		 regular_reopen(int);
int		 regular_open(const char *);

#endif
