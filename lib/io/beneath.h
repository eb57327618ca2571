/*
 * Names that lead where they say: beneath.c.
 */
#ifndef BENEATH_H
#define BENEATH_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

int		 beneath_open(int, const char *, int, mode_t);
int		 beneath_resolve(int, const char *, int, mode_t, uint64_t);
int		 beneath_reopen(int, int);
bool		 link_istrusted(int, const char *, int);

#endif
