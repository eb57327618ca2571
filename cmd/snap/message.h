/*
 * Messages that wait until processes run again: message.c
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "snap.h"

void		 say(void *arg, const char *text);
void		 say_hold(void);
void		 say_kept(bool drop);
int		 say_totals(const struct snap *s, struct output *out);

#endif
