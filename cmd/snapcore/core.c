/*
 * Write the ELF core of a process to a file with holes.
 */
#include "snapcore.h"

#include <inttypes.h>
#include <unistd.h>

enum { PIECE = 1024 * KB };

struct copying {
	struct core	*core;	/* borrowed */
	struct output	*out;
	struct progress	*progress;
	uint64_t	 data;	/* bytes copied so far, without holes */
};

/*
 * Copy the bytes of the core from offset off to end.
 */
static int
copy_data(struct copying *c, uint64_t off, uint64_t end)
{
	static uint8_t buf[PIECE];
	ssize_t n;

	for (; off < end; off += (uint64_t)n) {
		n = core_pread(c->core, buf, end - off < PIECE ?
		    (size_t)(end - off) : PIECE, off);
		if (n == -1)
			return -1;
		output_put(c->out, buf, (size_t)n);
		if (output_flush(c->out) == -1)
			return -1;
		c->data += (uint64_t)n;
		progress_read(c->progress, (uint64_t)n);
		progress_count(c->progress, (uint64_t)n / KB, 0, 0);
	}
	return 0;
}

/*
 * Leave a hole of n bytes in the output.
 */
static void
copy_hole(struct copying *c, uint64_t n)
{
	output_hole(c->out, n);
	progress_read(c->progress, n);
	progress_count(c->progress, 0, n / KB, 0);
}

/*
 * Copy the core with its holes.
 */
static int
copy_core(struct copying *c)
{
	uint64_t off, size;
	int64_t start, end;

	size = core_size(c->core);
	progress_phase(c->progress, size);
	for (off = 0; off < size; off = (uint64_t)end) {
		start = core_seek(c->core, off, SEEK_DATA);
		if (start == -1) {
			copy_hole(c, size - off);
			break;
		}
		copy_hole(c, (uint64_t)start - off);
		end = core_seek(c->core, (uint64_t)start, SEEK_HOLE);
		if (copy_data(c, (uint64_t)start, (uint64_t)end) == -1)
			return -1;
	}
	return 0;
}

/*
 * Print the size of the core of process pid, in file path, and the size of its
 * holes.
 */
static void
say_size(const char *path, uint64_t pid, uint64_t size, uint64_t holes)
{
	char all[24], none[24];

	text_bytes(all, sizeof all, size);
	text_bytes(none, sizeof none, holes);
	program_warn("%s: process %" PRIu64 ": %s, of which holes: %s",
	    path == NULL ? "standard output" : path, pid, all, none);
}

/*
 * Write the core of process p of snapshot s to path, or to standard output if
 * path is NULL, and print its size if verbose.  Print how many threads were
 * left out. Count in progress.  Return 0, or -1 with errstr set.
 */
int
core_write(struct snap *s, struct proc *p, const char *path, bool verbose,
    struct progress *progress)
{
	struct copying c = { .progress = progress };
	int rc = -1;

	if ((c.core = core_new(s, p)) == NULL)
		return -1;
	if ((c.out = output_begin(path, false, progress)) == NULL)
		goto out;
	if (copy_core(&c) == -1) {
		errstr_wrap("process %" PRIu64, p->pid);
		output_abort(c.out);
		goto out;
	}
	if ((rc = output_commit(c.out)) == -1)
		goto out;
	if (core_left(c.core) > 0) {
		errstr_set("process %" PRIu64 ": %zu thread%s without "
		    "registers left out", p->pid, core_left(c.core),
		    core_left(c.core) == 1 ? "" : "s");
		program_lose(NULL, snap_errstr());
	}
	if (verbose)
		say_size(path, p->pid, core_size(c.core),
		    core_size(c.core) - c.data);
out:
	core_free(c.core);
	return rc;
}
