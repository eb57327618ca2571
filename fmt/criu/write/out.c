/*
 * The output directory, which is not touched before the first image is written.
 */
#include "write.h"

/*
 * Open the parent directory, which must exist and must not be the output
 * directory. Return 0, or -1 with errstr set.
 */
int
criuout_parent(struct criuout *out)
{
	struct stat a, b;

	if ((out->below = imgdir_open(out->opts->parent)) == NULL)
		return -1;
	if (fstat(out->below->fd, &b) == -1)
		return errstr_sys("%s", out->opts->parent);
	/* an output directory that does not exist yet differs */
	if (stat(out->dir, &a) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino)
		return errstr_set("%s: a directory cannot be its own parent",
		    out->dir);
	return 0;
}

/*
 * Return true if criu would treat a file with this name as part of a
 * checkpoint.
 */
static bool
is_img(const char *name)
{
	return img_isname(name) || strcmp(name, "parent") == 0;
}

/*
 * Return the output directory, or NULL with errstr set. Create or clear it on
 * the first call.
 */
struct outdir *
criuout_dir(struct criuout *out)
{
	const struct criuopts *o = out->opts;

	if (out->out != NULL)
		return out->out;
	out->out = outdir_open(out->dir, INVENTORY, o->overwrite);
	if (out->out == NULL ||
	    (o->overwrite && outdir_clear(out->out, is_img) == -1))
		return NULL;
	return out->out;
}

/*
 * Return true if pages are written twice: put in place, and then compared with
 * those of a parent or compressed.
 */
bool
criuout_twice(const struct criuout *out)
{
	return out->opts->parent != NULL || out->opts->compress;
}

/*
 * Write the bytes of b to directory d as an image called name, and free them.
 * Return 0, or -1 with errstr set.
 */
int
criuout_put(struct outdir *d, const char *name, struct buf *b)
{
	int rc;

	rc = buf_check(b);
	if (rc == 0)
		rc = outdir_put(d, name, b->data, b->len);
	buf_free(b);
	return rc;
}
