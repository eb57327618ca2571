/*
 * Write a snapshot as a directory of CRIU images: those that came with it, or
 * those made from its records. Either way struct mades lists them; their pages
 * are in the snapshot.
 */
#include "write.h"
#include "full.h"
#include "vec.h"

#include <unistd.h>

/*
 * Write the pagemap of object o. The caller must have put its pages in place.
 */
static int
object_plain(struct criuout *out, const struct object *o)
{
	struct buf b = { 0 };

	pagemap_copy(&b, o->map, o->id);
	out->stat->kb += o->bytes / KB;
	out->stat->bytes += o->bytes;
	return criuout_put(out->out, o->name, &b);
}

/*
 * Return the relative path from directory base to directory target, through
 * their common parent. The caller must free the path. Return NULL with errstr
 * set on error.
 */
static char *
path_between(const char *base, const char *target)
{
	char a[PATH_MAX], b[PATH_MAX], *s;
	struct buf up = { 0 };
	size_t i, same;

	if (realpath(base, a) == NULL || realpath(target, b) == NULL) {
		errstr_sys("%s", target);
		return NULL;
	}
	for (same = i = 0; a[i] == b[i] && a[i] != '\0'; i++)
		if (a[i] == '/')
			same = i;
	if ((a[i] == '\0' || a[i] == '/') && (b[i] == '\0' || b[i] == '/'))
		same = i;
	/* both have a slash or their end at "same" */
	for (s = a + same; *s != '\0'; s++)
		if (*s == '/')
			buf_puts(&up, "../");
	buf_puts(&up, b + same + (b[same] == '/'));
	return buf_text(&up);
}

/*
 * Write im, the image of a deleted file.
 */
static int
ghost_put(struct criuout *out, const struct made *im)
{
	enum { PIECE = 64 * 1024 };
	struct criuview *v = mem_new(1, sizeof *v);
	uint8_t *p = mem_new(1, PIECE);
	uint64_t off;
	ssize_t n = -1;
	int fd = -1;

	if (v != NULL && p != NULL && criuview_made(v, im) == 0 &&
	    (fd = outdir_file(out->out, im->name)) != -1)
		for (off = 0; (n = criuview_read(v, 0, p, PIECE, off)) > 0;
		    off += (uint64_t)n)
			if (full_pwrite(fd, p, (size_t)n, off) == -1) {
				n = errstr_sys("byte %ju", (uintmax_t)off);
				break;
			}
	if (fd != -1 && n == -1)
		errstr_wrap("%s", im->name);
	fd_drop(fd);
	free(p);
	criuview_free(v);
	return n == 0 ? 0 : -1;
}

/*
 * Write all images in l except the pagemaps and the inventory. Set *inventory
 * to the inventory.
 */
static int
write_imgs(struct criuout *out, const struct mades *l,
    const struct made **inventory)
{
	const struct made *im;
	size_t i;
	int rc;

	for (rc = 0, i = 0; i < l->n && rc == 0; i++) {
		im = l->v[i];
		if (strcmp(im->name, INVENTORY) == 0)
			*inventory = im;
		else if (im->body != NULL)
			rc = ghost_put(out, im);
		else if (im->pages == NULL)
			rc = outdir_put(out->out, im->name, im->b.data,
			    im->b.len);
	}
	return rc;
}

/*
 * Write the pages and pagemaps of l, compressed if the options say so. If there
 * is a parent checkpoint, link the new checkpoint to it, and leave out the
 * pages that the parent has.
 */
static int
write_pages(struct criuout *out, const struct mades *l)
{
	const char *parent = out->opts->parent;
	char *link;
	size_t i;
	int rc;

	rc = place_pages(out, l);
	if (rc == 0 && out->opts->compress)
		rc = raw_find(out, l);
	for (i = 0; i < out->nobject && rc == 0; i++)
		rc = criuout_twice(out) ? stack_object(out, out->object[i]) :
		    object_plain(out, out->object[i]);
	if (rc == 0)
		rc = early_end(out, l);
	if (rc == -1 || parent == NULL)
		return rc;
	if ((link = path_between(out->dir, parent)) == NULL)
		return -1;
	rc = outdir_link(out->out, "parent", link);
	free(link);
	return rc;
}

/*
 * Write the inventory im, which may be NULL, and thus complete the directory.
 */
static int
write_inventory(struct criuout *out, const struct made *im)
{
	const struct criuopts *o = out->opts;
	struct buf b = { 0 };
	int rc = 0;

	if (im != NULL)
		buf_add(&b, im->b.data, im->b.len);
	if (buf_check(&b) == -1 ||
	    (o->compress && inventory_pack(&b, PACK_BLOCK) == -1))
		rc = -1;
	else if (o->early)
		/* criu(8) restores the images of a move at once, from the
		   page cache */
		rc = outdir_put(out->out, INVENTORY, b.data, b.len);
	else
		rc = outdir_commit(out->out, INVENTORY, b.data, b.len);
	buf_free(&b);
	return rc;
}

/*
 * Write the images in l. Write the inventory last, because programs treat a
 * directory without it as incomplete.
 */
static int
write_all(struct criuout *out, const struct mades *l)
{
	const struct made *inventory = NULL;

	if (criuout_dir(out) == NULL ||
	    write_imgs(out, l, &inventory) == -1 ||
	    write_pages(out, l) == -1 ||
	    write_inventory(out, inventory) == -1)
		return -1;
	if (out->opts->early)
		outdir_leave(out->out);
	out->out = NULL;
	outdir_leave(out->sub);
	out->sub = NULL;
	return 0;
}

/*
 * Write snapshot s to dir as a directory of CRIU images. dir must be new or
 * empty. With o->overwrite, remove the images in dir first. With o->parent,
 * leave out the pages that the parent has. o->store is NULL, or the store that
 * the snapshot was read with, which criu_store() made for the same dir and
 * options. *st must be all zero, and receives the counts. Do not touch dir if
 * something cannot be restored. Return 0, or -1 with errstr set and nothing
 * left in dir.
 */
int
criu_write(struct snap *s, const char *dir, const struct criuopts *o,
    struct criustat *st)
{
	struct mades l = { 0 };
	struct pagestore *store;
	struct criuout *out;
	int rc;

	store = o->store != NULL ? o->store : criu_store(dir, o);
	if ((out = (struct criuout *)store) == NULL)
		return -1;
	store->snap = s;
	out->stat = st;
	rc = early_ready(out);
	if (rc == 0)
		rc = criu_images(s, o, &l);
	if (rc == 0)
		rc = write_all(out, &l);
	mades_free(&l);
	outdir_abort(out->out);
	out->out = NULL;
	if (store != o->store)
		criu_storefree(store);
	return rc;
}
