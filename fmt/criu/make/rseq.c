/*
 * Restartable sequences, which criu does not go on with.
 */
#include "criumake.h"
#include "rseq.h"

/*
 * Let a thread in a restartable sequence go to where it wants to go when that
 * is interrupted. mem is its memory, or NULL; rseq has the address of its area
 * first, or is NULL; pc is where it is.
 */
void
makeregs_abort(struct image *mem, const uint64_t *rseq, uint64_t *pc)
{
	uint8_t b[RSEQ_CS_SIZE];
	uint64_t cs;

	if (rseq == NULL || mem == NULL ||
	    image_read(mem, rseq[0] + RSEQ_CS, b, 8) == -1 ||
	    (cs = num_get(b, 8)) == 0 ||
	    image_read(mem, cs, b, sizeof b) == -1)
		return;
	(void)rseq_abort(b, pc);
}
