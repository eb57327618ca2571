/*
 * Read an ELF core as a snapshot of its process: read.h lists the files that do
 * so.
 */
#include "read.h"
#include "vec.h"

/*
 * Read the core. The boot time in the first line of the snapshot is 0, because
 * a core does not record one.
 */
static int
read_core(struct corereader *r, struct input *in)
{
	if ((r->src = source_input(r->snap, in)) == NULL ||
	    elfcore_open(&r->core, source_fd(r->src),
	    source_size(r->src)) == -1 ||
	    core_maps(r) == -1 || core_files(r) == -1 ||
	    (r->snap->header = str_printf("process snapshot %jd %u@unknown %s "
	    "0 \"core\"", (intmax_t)in->st.st_mtime, r->core.uid,
	    r->core.mach->name)) == NULL ||
	    core_process(r) == -1 || core_memory(r) == -1 ||
	    core_text(r) == -1 || core_tasks(r) == -1)
		return -1;
	return core_carry(r);
}

/*
 * Read a core as a snapshot of its process and threads. The input must be at
 * its beginning, with no byte skipped. o->warn is called for everything that is
 * missing or had to be changed, such as a thread ID that is already taken.
 * Return the snapshot, or NULL with errstr set.
 */
struct snap *
core_load(struct input *in, const struct readopts *o)
{
	struct corereader r = { .snap = snap_new(), .opts = o,
	    .name = in->name };

	in->progress = o->progress;
	if (r.snap != NULL && read_core(&r, in) == -1) {
		errstr_wrap("%s", in->name);
		snap_free(r.snap);
		r.snap = NULL;
	}
	elfcore_close(&r.core);
	vmas_free(&r.vma);
	vmas_free(&r.files);
	free(r.mapped);
	free(r.head);
	return r.snap;
}
