/*
 * Declarations shared by the files of x86-64.
 */
#ifndef AMD64_H
#define AMD64_H

#include "linux/machine/machine.h"

enum {				/* sizes in bytes; see frame.c */
	STAGE_SIZE = 448,
	XSTATE_ROOM = 12 * 1024,
	FRAME_SIZE = 2 * STAGE_SIZE + XSTATE_ROOM
};

/* frame.c: number of words that lead from the call of a stage to its frame */
size_t		 stage_words(const struct gadgets *g);

#endif
