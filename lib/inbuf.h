/*
 * Bytes of a stream that were read and not taken yet: inbuf.c.
 */
#ifndef INBUF_H
#define INBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inbuf {
	int		 fd;	/* borrowed; -1: nothing comes behind buf */
	uint8_t		*buf;	/* owned */
	size_t		 cap;	/* bytes of it; more than 0 */
	size_t		 start;	/* what is at hand, up to: */
	size_t		 end;
	bool		 eof;	/* nothing more comes */
	uint64_t	 at;	/* of buf[start] in the stream */
};

int		 inbuf_fill(struct inbuf *b, size_t n, size_t *have);
void		 inbuf_take(struct inbuf *b, size_t n);

#endif
