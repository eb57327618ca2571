/*
 * Restartable sequences: rseq(2), struct rseq and struct rseq_cs of
 * <linux/rseq.h>, of machines whose lowest byte comes first.
 */
#ifndef RSEQ_H
#define RSEQ_H

#include "num.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	RSEQ_CS = 8,		/* offset of the address of a struct rseq_cs in
				   a thread's area */
	RSEQ_CS_SIZE = 32	/* bytes */
};

/*
 * If *pc is in the sequence that cs, the bytes of a struct rseq_cs, describes,
 * set *pc to where a thread goes on that was interrupted there.  Return
 * whether it is.
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
