/*
 * An ELF core as a process of a snapshot: see coreread.h for the parts.
 */
#include "read.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/*
 * The first line of a snapshot, where it has none: man6/snap.6.  When the
 * kernel was started nobody can tell.
 */
static int
set_header(struct corereader *r, int64_t mtime)
{

	if (r->snap->header != NULL)
		return 0;
	if (asprintf(&r->snap->header, "process snapshot %jd %u@unknown %s 0 "
	    "\"core\"", (intmax_t)mtime, core_uid(&r->core),
	    r->core.mach->name) == -1) {
		r->snap->header = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

static int
read_core(struct corereader *r, struct input *in)
{
	if ((r->src = source_input(r->snap, in)) == NULL ||
	    elfcore_open(&r->core, source_fd(r->src),
	    source_size(r->src)) == -1 ||
	    core_maps(r) == -1 || core_files(r) == -1 ||
	    set_header(r, in->st.st_mtime) == -1 ||
	    core_process(r) == -1 || core_memory(r) == -1 ||
	    core_text(r) == -1 || core_tasks(r) == -1)
		return -1;
	return core_carry(r);
}

/*
 * Add the process of a core, in, of which nothing has been skipped, and its
 * threads to snapshot s, and the first line if it has none.  The options o may
 * be NULL.  Warnings tell what is missing, or changed: a process whose number
 * is taken gets another.  After a failure the snapshot can only be freed.
 * Return 0, or -1 with errstr.
 */
int
core_load(struct snap *s, struct input *in, const struct coreopts *o)
{
	static const struct coreopts none;
	struct corereader r = { .snap = s, .name = in->name };
	int rc;

	r.opts = o == NULL ? &none : o;
	in->progress = r.opts->progress;
	if ((rc = read_core(&r, in)) == -1)
		errstr_wrap("%s", in->name);
	elfcore_close(&r.core);
	vmas_free(&r.vma);
	vmas_free(&r.files);
	free(r.mapped);
	free(r.head);
	return rc;
}

/*
 * Do the same for s, with o, with a core by its path, or NULL or "-" for
 * standard input; it may be compressed with gzip.  Return 0, or -1 with errstr.
 */
int
core_read(struct snap *s, const char *path, const struct coreopts *o)
{
	struct input *in;
	const uint8_t *p;
	int rc;

	if ((in = input_open(path)) == NULL)
		return -1;
	rc = -1;
	if (input_gunzip(in, false) == -1)
		goto out;
	p = input_peek(in, SELFMAG);
	if (p == NULL && input_end(in) == -1)
		errstr_wrap("%s", in->name);
	else if (p == NULL || memcmp(p, ELFMAG, SELFMAG) != 0)
		errstr_set("%s: not an ELF file", in->name);
	else
		rc = core_load(s, in, o);
out:
	input_close(in);
	return rc;
}
