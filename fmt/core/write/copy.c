/*
 * Write a core to an output, with its holes.
 */
#include "write.h"

#include <unistd.h>

enum { PIECE = 1024 * KB };

/*
 * Copy bytes of core c to out, from offset off up to offset end, and count them
 * in p.
 */
static int
copy_data(struct core *c, struct output *out, uint64_t off, uint64_t end,
    struct progress *p)
{
	static uint8_t buf[PIECE];
	ssize_t n;

	for (; off < end; off += (uint64_t)n) {
		n = core_pread(c, buf, end - off < PIECE ?
		    (size_t)(end - off) : PIECE, off);
		if (n == -1)
			return -1;
		output_put(out, buf, (size_t)n);
		if (output_flush(out) == -1)
			return -1;
		progress_read(p, (uint64_t)n);
		progress_count(p, (uint64_t)n / KB, 0, 0);
	}
	return 0;
}

/*
 * Leave a hole of n bytes in out, and count it in p.
 */
static void
copy_hole(struct output *out, uint64_t n, struct progress *p)
{
	output_hole(out, n);
	progress_read(p, n);
	progress_count(p, 0, n / KB, 0);
}

/*
 * Write core c to out with its holes. Count progress in p, which may be NULL.
 * Set *data to the number of bytes written outside of holes. Return 0, or -1
 * with errstr set.
 */
int
core_copy(struct core *c, struct output *out, struct progress *p,
    uint64_t *data)
{
	uint64_t off, size;
	int64_t start, end;

	*data = 0;
	size = core_size(c);
	progress_phase(p, size);
	for (off = 0; off < size; off = (uint64_t)end) {
		start = core_seek(c, off, SEEK_DATA);
		if (start == -1) {
			copy_hole(out, size - off, p);
			break;
		}
		copy_hole(out, (uint64_t)start - off, p);
		end = core_seek(c, (uint64_t)start, SEEK_HOLE);
		if (copy_data(c, out, (uint64_t)start, (uint64_t)end, p) == -1)
			return -1;
		*data += (uint64_t)(end - start);
	}
	return 0;
}
