/*
 * Who took a snapshot, when, on which host, how and why: the file taken of the
 * Linux record, snap(6).
 */
#ifndef NOTE_H
#define NOTE_H

#include "common/common.h"

enum { NOTE_MOST = 1000 };	/* bytes of -m */

const char	*note_check(const char *text);
void		 note_make(struct buf *b, char *const argv[],
		    const char *text);

#endif
