/*
 * Any bytes as an ELF core: it is refused, or it is a process whose memory can
 * be read, whose mappings and Linux record are valid, and which can be written
 * and read back.
 */
#include "fuzz_snap.h"

#ifdef LIBFUZZER
#include "fuzz_mutate.h"

size_t
LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t max, unsigned int seed)
{
	mutate_seed(seed);
	return mutate_binary(p, n, max);
}
#endif

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct snap *s, *t;

	if (n < 4 || memcmp(data, "\177ELF", 4) != 0)
		return 0;
	s = read_fd(memory_file(data, n), NULL);
	if (n <= PIPEMOST && n % 4 == 0) {
		t = read_pipe(data, n);
		MUST((s == NULL) == (t == NULL));
		MUST(s == NULL || snap_sum(s) == snap_sum(t));
		snap_free(t);
	}
	if (s == NULL)
		return 0;
	check_snap(s);
	snap_free(s);
	return 0;
}
