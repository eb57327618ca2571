/*
 * Messages that wait until processes run again: message.c
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>

void		 say(void *arg, const char *text);
void		 say_hold(void);
void		 say_kept(bool drop);

#endif
