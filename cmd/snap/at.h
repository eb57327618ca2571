/*
 * The time of day at which a snapshot is taken.
 */
#ifndef AT_H
#define AT_H

#include <time.h>

int		 at_parse(time_t *at, const char *s);
void		 at_wait(time_t at);

#endif
