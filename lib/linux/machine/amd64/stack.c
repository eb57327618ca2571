/*
 * The stack that the C library made for a thread, on x86-64.
 */
#include "linux/machine/machine.h"

#ifdef __x86_64__

#include <unistd.h>

/*
 * The C library tells: what the thread finds its own data by (%fs: ELF Handling
 * for Thread-Local Storage) leads to itself, and is at the end of its stack;
 * behind it are, side by side, the address and the size of that (glibc:
 * stackblock and stackblock_size of nptl/descr.h; musl: map_base and map_size
 * of src/internal/pthread_impl.h).
 */
uint64_t
stack_begin(int mem, const struct gregs *r, uint64_t lower)
{
	enum { WORDS = 512 };	/* of a page; glibc's has 288 */
	const uint64_t own = gregs_tls(r);
	uint64_t word[WORDS];
	ssize_t got;
	size_t i, n;

	got = pread(mem, word, sizeof word, (off_t)own);
	n = got > 0 ? (size_t)got / sizeof *word : 0;
	if (n == 0 || word[0] != own)
		return 0;
	for (i = 1; i + 1 < n; i++)
		if (word[i] >= lower && word[i] < gregs_sp(r) &&
		    word[i] + word[i + 1] > own &&
		    word[i] + word[i + 1] - own <= 2 * sizeof word)
			return word[i];
	return 0;
}

#endif
