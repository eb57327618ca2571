/*
 * The directory that images are written to, which is not touched before the
 * first of them is.
 */
#include "write.h"

#include <string.h>

/*
 * Open the parent, which must be there, and be another directory.  Return 0, or
 * -1 with errstr.
 */
int
criuout_parent(struct criuout *out)
{
	struct stat a, b;

	if ((out->below = imgdir_open(out->opts->parent)) == NULL)
		return -1;
	if (fstat(out->below->fd, &b) == -1)
		return errstr_sys("%s", out->opts->parent);
	/* one that is not made yet is another */
	if (stat(out->dir, &a) == 0 && a.st_dev == b.st_dev &&
	    a.st_ino == b.st_ino)
		return errstr_set("%s: a directory cannot be its own parent",
		    out->dir);
	return 0;
}

/*
 * Return whether criu would take a file for one of a checkpoint.
 */
static bool
is_img(const char *name)
{
	return img_isname(name) || strcmp(name, "parent") == 0;
}

/*
 * Return the directory, which is made or cleared when it is first asked for;
 * or NULL with errstr.
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
 * Write an image, and free its bytes.  Return 0, or -1 with errstr.
 */
int
criuout_put(struct criuout *out, const char *name, struct buf *b)
{
	int rc;

	rc = buf_check(b);
	if (rc == 0)
		rc = outdir_put(out->out, name, b->data, b->len);
	buf_free(b);
	return rc;
}
