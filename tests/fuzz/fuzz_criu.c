/*
 * Any bytes as a directory of CRIU images: it is refused, or it is a set of
 * processes that can be read, written and read back. They can be written as
 * images again, which read as the same.
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

/*
 * Return true if a page of s cannot be decompressed. If all is not set, look
 * only at both ends of each piece of memory.
 */
static bool
snap_damaged(const struct snap *s, bool all)
{
	static uint8_t page[READMOST];
	struct piece *p;
	uint64_t at;
	size_t i, n;

	for (i = 0; i < s->nproc; i++)
		for (p = image_first(s->proc[i]->mem); p != NULL;
		    p = piece_next(p))
			for (at = p->first;; at = all ? at + n : p->last) {
				n = p->last - at < sizeof page ?
				    (size_t)(p->last - at) + 1 : sizeof page;
				if (image_read(s->proc[i]->mem, at, page,
				    n) == -1) {
					MUST(strstr(snap_errstr(), "LZ4") !=
					    NULL);
					return true;
				}
				if (p->last - at == n - 1)
					break;
			}
	return false;
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
	if (snap_damaged(s, all_bytes(s) < WRITEMOST)) {
		snap_free(s);
		return 0;
	}
	check_snap(s);
	if (all_bytes(s) < WRITEMOST) {
		MUST(criu_write(s, out, &o, &st) == 0);
		MUST((t = read_images(out)) != NULL);
		MUST(snap_sum(s) == snap_sum(t));
		snap_free(t);
	}
	snap_free(s);
	return 0;
}
