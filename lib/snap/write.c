/*
 * Write a snapshot, a core, or images.
 */
#include "handle.h"

int
snap_save(struct snap_file *f, const char *path, unsigned int flags,
    snap_warn_fn warn, void *arg)
{
	struct output *out;

	out = output_begin(path, flags & SNAP_COMPRESS, NULL);
	if (out == NULL)
		return -1;
	if (snap6_write(f->snap, out, warn, arg) == -1) {
		output_abort(out);
		return -1;
	}
	return output_commit(out);
}

int
snap_save_core(struct snap_task *t, const char *path)
{
	struct output *out;
	struct core *c;
	uint64_t data;
	int rc = -1;

	if ((c = core_new(t->of->snap, t->process->proc)) == NULL)
		return -1;
	if ((out = output_begin(path, false, NULL)) != NULL) {
		rc = core_copy(c, out, NULL, &data);
		if (rc == 0)
			rc = output_commit(out);
		else
			output_abort(out);
	}
	core_free(c);
	return rc;
}

int
snap_save_criu(struct snap_file *f, const char *dir, unsigned int flags,
    snap_warn_fn warn, void *arg)
{
	const struct criuopts o = { .overwrite = flags & SNAP_OVERWRITE,
	    .warn = warn, .note = warn, .arg = arg };
	struct criustat st = { 0 };

	return criu_write(f->snap, dir, &o, &st);
}
