/*
 * Write images that came with a snapshot, in the Linux records of its
 * processes, unchanged.
 */
#include "write.h"
#include "record/record.h"
#include "vec.h"

static const char dir[] = "criu/";	/* prefix of image names in a record */

/*
 * Check whether snapshot s contains the images of a checkpoint. If s was merged
 * from several snapshots and root is not 0, check only the part with process
 * root. Fail if a merged snapshot has images: images of different parts would
 * have the same names. Return 1 if there are images, 0 if not, or -1 with
 * errstr set.
 */
int
replay_can(struct snap *s, uint64_t root)
{
	struct linuxrec r;
	struct recfile f;
	struct proc *p;
	uint64_t part, only;
	size_t i;
	bool has, merged;
	int rc;

	only = 0;
	p = root == 0 ? NULL : snap_find(s, root);
	if (p == NULL)
		root = 0;
	rc = p == NULL ? 0 : proc_part(p, &only);
	for (has = merged = false, i = 0; i < s->nproc && rc == 0; i++) {
		rc = proc_part(s->proc[i], &part);
		merged |= part != 0;
		if (rc == 0 && (root == 0 || part == only)) {
			rc = linuxrec_open(&r, proc_file(s->proc[i], "proc"));
			has |= rc == 0 && linuxrec_find(&r, "criu/" INVENTORY,
			    &f);
			linuxrec_close(&r);
		}
	}
	if (rc == 0 && has && merged)
		rc = errstr_set("CRIU images in a merged snapshot (snapcat) "
		    "cannot be restored; use the original snapshots");
	return rc == -1 ? -1 : has;
}

/*
 * Return true if name, which is n bytes long, begins with prefix.
 */
static bool
begins(const char *name, size_t n, const char *prefix)
{
	size_t len;

	len = strlen(prefix);
	return n >= len && memcmp(name, prefix, len) == 0;
}

/*
 * Set *f to the pagemap image in record r, and f->name to its name without
 * "criu/". Return false, and leave *f undefined, if there is none.
 */
bool
replay_pagemap(const struct linuxrec *r, struct recfile *f)
{
	static const char prefix[] = "criu/pagemap-";
	size_t i;

	for (i = 0; i < r->n; i++) {
		linuxrec_get(r, i, f);
		if (f->namelen > sizeof prefix - 1 + 4 &&
		    begins(f->name, f->namelen, prefix) &&
		    memcmp(f->name + f->namelen - 4, ".img", 4) == 0) {
			f->name += sizeof dir - 1;
			f->namelen -= sizeof dir - 1;
			return true;
		}
	}
	return false;
}

/*
 * Append image f to l. The new image borrows its bytes from the record. If it
 * is a pagemap, pages is the process that it belongs to; otherwise pages is
 * NULL.
 */
static int
img_add(struct mades *l, const struct recfile *f, struct proc *pages)
{
	struct made *im;

	if (VEC_ROOM(l->v, l->n) == -1)
		return -1;
	if ((im = calloc(1, sizeof *im)) == NULL ||
	    (im->name = strndup(f->name, f->namelen <= NAME_MAX ?
	    f->namelen : NAME_MAX)) == NULL) {
		free(im);
		return errstr_set("out of memory");
	}
	im->b.data = (uint8_t *)(uintptr_t)f->data;
	im->b.len = f->len;
	im->lent = true;
	im->pages = pages;
	l->v[l->n++] = im;
	return 0;
}

/*
 * Append to l the images in p's record. The record has at most one pagemap.
 */
static int
proc_imgs(struct proc *p, struct mades *l)
{
	struct linuxrec r;
	struct recfile f, map;
	size_t i;
	int rc;

	rc = linuxrec_open(&r, proc_file(p, "proc"));
	if (rc == 0 && replay_pagemap(&r, &map))
		rc = img_add(l, &map, p);
	for (i = 0; i < r.n && rc == 0; i++) {
		linuxrec_get(&r, i, &f);
		if (!begins(f.name, f.namelen, dir))
			continue;
		f.name += sizeof dir - 1;
		f.namelen -= sizeof dir - 1;
		if (!begins(f.name, f.namelen, "pagemap-"))
			rc = img_add(l, &f, NULL);
	}
	linuxrec_close(&r);
	return rc;
}

/*
 * Collect in l, which must be empty, all images for a directory. They are the
 * images that came with snapshot s, and borrow their bytes from s. If none
 * came, make them from the records of its processes, with options o. Return 0,
 * or -1 with errstr set.
 */
int
criu_images(struct snap *s, const struct criuopts *o, struct mades *l)
{
	size_t i;
	int came;

	if ((came = replay_can(s, o->root)) == -1)
		return -1;
	if (!came)
		return criumake_can(s) ? criumake(s, o, l) :
		    errstr_set("the snapshot has neither CRIU images nor the "
		    "records to make them from");
	for (i = 0; i < s->nproc; i++)
		if (proc_imgs(s->proc[i], l) == -1)
			return -1;
	return 0;
}
