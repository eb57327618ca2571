/*
 * Any bytes as a directory of CRIU images: it is refused, or it is a set of
 * processes that can be read through, written and read back, and that become
 * images again, which are read as the same.
 */
#include "fuzz_dir.h"

#ifdef LIBFUZZER
#include "fuzz_proto.h"
#endif

static uint64_t
all_bytes(const struct snap *s)
{
	uint64_t n;
	size_t i;

	for (i = 0, n = 0; i < s->nproc; i++)
		if (__builtin_add_overflow(n, image_bytes(s->proc[i]->mem),
		    &n))
			return UINT64_MAX;
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct criuopts o = { .overwrite = true };
	struct criustat st = { 0 };
	struct snap *s, *t;

	make_dirs();
	remove_all();
	write_files(data, n);
	if ((s = read_images(dir)) == NULL)
		return 0;
	check_snap(s);
	if (all_bytes(s) < WRITEMOST) {
		if (criu_write(s, out, &o, &st) == -1) {
			MUST(strstr(snap_errstr(), "LZ4") != NULL);
			snap_free(s);
			return 0;
		}
		MUST((t = read_images(out)) != NULL);
		MUST(snap_sum(s) == snap_sum(t));
		snap_free(t);
	}
	snap_free(s);
	return 0;
}
