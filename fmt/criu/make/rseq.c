/*
 * Restartable sequences, which criu does not go on with.
 */
#include "criumake.h"
#include "num.h"

/*
 * Let a thread in a restartable sequence (rseq(2), struct rseq_cs) go to
 * where it wants to go when that is interrupted.  rseq has the address of its
 * area first, or is NULL; pc is where it is.
 */
void
makeregs_abort(struct image *mem, const uint64_t *rseq, uint64_t *pc)
{
	uint8_t b[32];
	uint64_t cs, start, len;

	if (rseq == NULL || mem == NULL ||
	    image_read(mem, rseq[0] + 8, b, 8) == -1 ||
	    (cs = num_get(b, 8)) == 0 ||
	    image_read(mem, cs, b, sizeof b) == -1)
		return;
	start = num_get(b + 8, 8);
	len = num_get(b + 16, 8);
	if (*pc - start < len)
		*pc = num_get(b + 24, 8);
}
