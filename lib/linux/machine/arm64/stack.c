/*
 * The stack that the C library made for a thread, on arm64.
 */
#include "arm64.h"

#ifdef __aarch64__

#include <unistd.h>

/*
 * The C library tells: before what the thread finds its own data by (tpidr_el0:
 * ELF Handling for Thread-Local Storage, variant I), which is at the end of its
 * stack, are, side by side, the address and the size of that (glibc: stackblock
 * and stackblock_size of nptl/descr.h; musl: map_base and map_size of
 * src/internal/pthread_impl.h).
 */
uint64_t
stack_begin(int mem, const struct gregs *r, uint64_t lower)
{
	enum {
		WORDS = 320,		/* glibc's struct pthread has 220 */
		DATA_MOST = 1 << 20	/* of a thread, behind that, in bytes */
	};
	const uint64_t own = gregs_tls(r), sp = gregs_sp(r);
	uint64_t end, word[WORDS];
	size_t i;

	if (own < sizeof word || pread(mem, word, sizeof word,
	    (off_t)(own - sizeof word)) != sizeof word)
		return 0;
	for (i = 0; i + 1 < WORDS; i++) {
		end = word[i] + word[i + 1];
		if (word[i] >= lower && word[i] < sp && word[i] % 16 == 0 &&
		    end > own && end - own <= DATA_MOST)
			return word[i];
	}
	return 0;
}

#endif
