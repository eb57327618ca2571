/*
 * Write the ELF core or the minidump of a process to a file with holes.
 */
#include "snapcore.h"

/*
 * Print the size of the core of process pid, and how many bytes of it are
 * holes. path is the file with the core, or NULL for standard output.
 */
static void
say_size(const char *path, uint64_t pid, uint64_t size, uint64_t holes)
{
	char all[24], none[24];

	text_bytes(all, sizeof all, size);
	text_bytes(none, sizeof none, holes);
	program_warn("%s: process %" PRIu64 ": %s, including %s of holes",
	    path == NULL ? "standard output" : path, pid, all, none);
}

/*
 * Write the core of process p of snapshot s, as make() builds it, to path. If
 * path is NULL, write it to standard output. If verbose is true, also print its
 * size. If threads were left out, print their number. progress counts the bytes
 * written. Return 0, or -1 with errstr set.
 */
int
core_write(core_make *make, struct snap *s, struct proc *p, const char *path,
    bool verbose, struct progress *progress)
{
	struct output *out;
	struct core *c;
	uint64_t data;
	int rc = -1;

	if ((c = make(s, p)) == NULL)
		return -1;
	if ((out = output_begin(path, false, progress)) == NULL)
		goto out;
	if (core_copy(c, out, progress, &data) == -1) {
		errstr_wrap("process %" PRIu64, p->pid);
		output_abort(out);
		goto out;
	}
	if ((rc = output_commit(out)) == -1)
		goto out;
	if (core_left(c) > 0) {
		errstr_set("process %" PRIu64 ": left out %zu thread%s "
		    "without registers", p->pid, core_left(c),
		    core_left(c) == 1 ? "" : "s");
		program_lose(NULL, snap_errstr());
	}
	if (verbose)
		say_size(path, p->pid, core_size(c),
		    core_size(c) - data);
out:
	core_free(c);
	return rc;
}
