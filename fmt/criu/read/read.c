/*
 * Read a directory of CRIU images as a snapshot; read.h lists the files that do
 * so.
 */
#include "read.h"

/*
 * values of compress; early versions of criu-dev wrote LZ4_REGIONS, and the
 * same blocks
 */
enum { RAW, LZ4_BLOCKS, LZ4_REGIONS };

/*
 * Check that the checkpoint of inventory im, which has message inv, can be
 * read.
 */
static int
inventory_check(const struct criuimg *im, const Criu__Inventory *inv)
{
	switch (inv->img_version) {
	case CURRENT:
	case COMPRESSED:
		return inv->compress <= LZ4_REGIONS ? 0 : criuimg_error(im,
		    "pages are compressed in an unknown way (%u)",
		    inv->compress);
	case PREDUMP:
		return criuimg_error(im, "a pre-dump: it has pages, but no "
		    "processes");
	case OLD:
		return criuimg_error(im, "images in the layout of criu 1 "
		    "(version 1) are not supported");
	default:
		return criuimg_error(im, "images of unknown version "
		    "%u", inv->img_version);
	}
}

static int
read_inventory(struct criureader *r)
{
	Criu__Inventory *inv;
	struct criuimg im;
	int rc;

	rc = criuimg_open(&im, r->images, "inventory.img", CRIU_INVENTORY);
	if (rc == 0)
		rc = errstr_wrap("not a checkpoint of criu");
	if (rc == 1) {
		r->time = im.in->st.st_mtime;
		rc = criuimg_next(&im, &criu__inventory__descriptor, &inv);
		if (rc == 0)
			rc = criuimg_error(&im, "the image is empty");
	}
	if (rc == 1) {
		rc = inventory_check(&im, inv);
		protobuf_c_message_free_unpacked(&inv->base, NULL);
	}
	criuimg_close(&im);
	return rc;
}

/*
 * Pack the records of all processes. First add the images that belong to no
 * process to the record of the first process. Set the boot time in the header
 * to 0, because no image has it.
 */
static int
pack_all(struct criureader *r)
{
	struct snap *s = r->snap;
	struct criutask *t;
	size_t i;

	if (r->ntask == 0)
		return errstr_set("%s/pstree.img: no processes", r->dir);
	if (criudir_rest(r, &r->task[0]->rec) == -1)
		return -1;
	for (i = 0; i < r->ntask; i++) {
		t = r->task[i];
		record_state(&t->rec, t->proc, &t->task, &t->state);
		if (record_pack(&t->rec, t->proc, &t->state, &t->task) == -1)
			return -1;
	}
	s->header = str_printf("process snapshot %jd %u@unknown %s 0 \"criu\"",
	    (intmax_t)r->time, (unsigned int)r->task[0]->state.uid[0],
	    r->machine->name);
	return s->header == NULL ? -1 : 0;
}

/*
 * Read a snapshot from images, a directory or an archive, and free images. If
 * images is NULL, fail; the caller must then have set errstr. Report missing
 * parts through o->warn. Return the snapshot, or NULL with errstr set.
 */
static struct snap *
images_read(struct imgdir *images, const struct readopts *o)
{
	struct criureader r = { .images = images, .warn = o->warn,
	    .arg = o->arg };
	size_t i;
	int rc = -1;

	if (images == NULL)
		return NULL;
	r.dir = images->path;
	images->unknown = pool_new(&r.pool, 1, sizeof *images->unknown);
	if (images->unknown != NULL)
		*images->unknown = (struct imgunknown){ .warn = o->warn,
		    .arg = o->arg };
	if (images->unknown != NULL && (r.snap = snap_new()) != NULL &&
	    read_inventory(&r) == 0 &&
	    criudir_list(&r) == 0 && criumachine_find(&r) == 0 &&
	    criufiles_read(&r) == 0 && criushm_read(&r) == 0 &&
	    criuimg_each(images, "pstree.img", CRIU_PSTREE,
	    &criu__pstree_entry__descriptor, criutask_process, &r) == 1 &&
	    criuelf_carry(&r) == 0 && criushm_carry(&r) == 0)
		rc = r.pool.failed ? errstr_set("out of memory") :
		    pack_all(&r);
	for (i = 0; i < r.ntask; i++)
		criutask_free(r.task[i]);
	for (i = 0; i < r.nmemfd; i++)
		protobuf_c_message_free_unpacked(&r.memfd[i]->base, NULL);
	for (i = 0; i < r.nshm; i++)
		pagemap_free(r.shm[i].map);
	pool_free(&r.pool);
	imgdir_free(images);
	if (rc == 0)
		return r.snap;
	snap_free(r.snap);
	return NULL;
}

/*
 * Read CRIU images from directory dir. Keep images other than pages in the
 * Linux records, under criu/. Return the snapshot, or NULL with errstr set.
 */
struct snap *
criu_read(const char *dir, const struct readopts *o)
{
	return images_read(imgdir_open(dir), o);
}

/*
 * Read CRIU images from a tar(1) archive, which begins at the current byte of
 * the input. Return the snapshot, or NULL with errstr set.
 */
struct snap *
criu_readtar(struct input *in, const struct readopts *o)
{
	struct snap *s;
	struct tar *t;

	if ((t = tar_read(in)) == NULL)
		return NULL;
	s = images_read(imgtar_open(t), o);
	tar_free(t);
	return s;
}
