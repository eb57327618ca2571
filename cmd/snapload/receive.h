/*
 * Receive a move: receive.c.
 */
#ifndef RECEIVE_H
#define RECEIVE_H

int		 receive(const char *dir, int (*make)(const char *));
int		 receive_script(void);

#endif
