/*
 * What the files of snapload share.
 */
#ifndef SNAPLOAD_H
#define SNAPLOAD_H

#include "common/common.h"

/* command.c */
int		 command_print(const char *dir, const struct criuopts *o);

#endif
