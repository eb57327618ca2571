/*
 * Any bytes as a snap(6) stream: it is refused, or it is a snapshot that can be
 * read, is the same from a file and from a pipe, and can be written and read
 * back.
 */
#include "fuzz_snap.h"

#ifdef LIBFUZZER
#include "fuzz_items.h"
#endif

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct readopts nodata = { .nodata = true };
	struct snap *s, *t;
	uint64_t sum;

	s = read_fd(memory_file(data, n), NULL);
	if (n <= PIPEMOST && n % 4 == 0) {
		t = read_pipe(data, n);
		MUST((s == NULL) == (t == NULL));
		MUST(s == NULL || snap_sum(s) == snap_sum(t));
		snap_free(t);
	}
	if (n % 4 == 1) {
		t = read_fd(memory_file(data, n), &nodata);
		MUST((s == NULL) == (t == NULL));
		snap_free(t);
	}
	if (s == NULL)
		return 0;
	sum = snap_sum(s);
	if (n % 4 >= 2) {
		t = read_fd(write_back(s), NULL);
		MUST(t != NULL);
		MUST(snap_sum(t) == sum);
		snap_free(t);
	}
	snap_free(s);
	return 0;
}
