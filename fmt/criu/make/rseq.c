/*
 * Move threads out of restartable sequences, which criu does not resume.
 */
#include "criumake.h"
#include "rseq.h"

/*
 * Move a thread out of a restartable sequence, as the kernel does on an
 * interruption. If the program counter *pc is in a sequence, set it to the
 * abort handler of the sequence. mem is the memory of the thread, or NULL.
 * rseq[0] is the address of the thread's rseq(2) area; rseq may be NULL.
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
