/*
 * Restartable sequences, rseq(2): struct rseq and struct rseq_cs of
 * <linux/rseq.h>, on little-endian machines.
 */
#ifndef RSEQ_H
#define RSEQ_H

#include "num.h"

enum {
	RSEQ_CS = 8,		/* offset of the pointer to struct rseq_cs in
				   a thread's struct rseq */
	RSEQ_CS_SIZE = 32	/* size of struct rseq_cs, in bytes */
};

/*
 * If *pc is inside the sequence described by cs, the bytes of a struct rseq_cs,
 * set *pc to its abort handler, where an interrupted thread continues, and
 * return true.
 */
static inline bool
rseq_abort(const uint8_t cs[RSEQ_CS_SIZE], uint64_t *pc)
{
	if (*pc - num_get(cs + 8, 8) >= num_get(cs + 16, 8))
		return false;
	*pc = num_get(cs + 24, 8);
	return true;
}

#endif
