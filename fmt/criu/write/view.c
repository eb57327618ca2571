/*
 * Serve a directory of CRIU images that is in no file system, making each image
 * as it is read. Small images are in memory; pages and the content of deleted
 * files are read from the snapshot on demand.
 */
#include "write.h"
#include "record/record.h"
#include "bisect.h"

/*
 * Return a new image called name, owned by v, or NULL with errstr set.
 */
static struct viewed *
viewed_new(struct criuview *v, const char *name)
{
	struct viewed *f;

	if (POOL_ROOM(&v->pool, v->v, v->n) == -1 ||
	    (f = pool_new(&v->pool, 1, sizeof *f)) == NULL ||
	    (f->name = pool_string(&v->pool, name)) == NULL)
		return NULL;
	f->pool = &v->pool;
	return v->v[v->n++] = f;
}

/*
 * Append a part of len bytes to f. Its content is at bytes or, if bytes is
 * NULL, at address addr of f->image.
 */
static int
part_add(struct viewed *f, const uint8_t *bytes, uint64_t addr, uint64_t len)
{
	const uint64_t off = f->size;

	if (len == 0)
		return 0;
	if (len > INT64_MAX - off)
		return errstr_set("%s: the file would be too large", f->name);
	f->size += len;
	return POOL_ADD(f->pool, f->part, f->npart, (struct viewpart){ off,
	    len, bytes, addr });
}

/*
 * Append a part with the bytes of b to f, and empty b. Free the bytes on
 * failure.
 */
static int
own_add(struct viewed *f, struct buf *b)
{
	const uint8_t *data = pool_own(f->pool, b->data);
	const struct buf was = *b;

	memset(b, 0, sizeof *b);
	return buf_check(&was) == -1 || (data == NULL && was.len > 0) ? -1 :
	    part_add(f, data, 0, was.len);
}

/*
 * Append a chunk of a deleted file to f. The n bytes at head are its header.
 * The len bytes at addr of f->image are its data. This is a ghost_fn.
 */
static int
chunk_add(void *arg, const uint8_t *head, size_t n, uint64_t addr,
    uint64_t len)
{
	struct viewed *f = arg;
	struct buf b = { 0 };

	buf_add(&b, head, n);
	return own_add(f, &b) == -1 ? -1 : part_add(f, NULL, addr, len);
}

/*
 * Add im to v, an image in memory or of a deleted file. Return 0, or -1 with
 * errstr set.
 */
int
criuview_made(struct criuview *v, const struct made *im)
{
	struct viewed *f;

	if ((f = viewed_new(v, im->name)) == NULL ||
	    part_add(f, im->b.data, 0, im->b.len) == -1)
		return -1;
	if (im->body == NULL)
		return 0;
	f->image = ghost_body(im);
	return ghost_each(im, chunk_add, f);
}

/*
 * Add pagemap im to v, and its pages as pages-ID.img, where ID is id.
 */
static int
add_pages(struct criuview *v, struct snap *s, const struct made *im,
    uint32_t id)
{
	struct pagemap *map;
	struct viewed *f;
	struct buf b = { 0 };
	char name[32];
	uint64_t bytes;
	size_t i;
	int rc;

	snprintf(name, sizeof name, "pages-%u.img", id);
	rc = pagemap_parse(&map, im->name, im->b.data, im->b.len,
	    snap_page(s, im->pages), &bytes);
	if (rc == 0)
		pagemap_copy(&b, map, id);
	if (rc == -1 || (f = viewed_new(v, im->name)) == NULL ||
	    own_add(f, &b) == -1 || (f = viewed_new(v, name)) == NULL)
		rc = -1;
	for (i = 0; rc == 0 && i < map->n; i++)
		if (map->v[i].flags & PE_PRESENT)
			rc = part_add(f, NULL, map->v[i].addr, map->v[i].len);
	if (rc == 0)
		f->image = im->pages->mem;
	pagemap_free(map);
	return rc;
}

CMP_BY(viewed_cmp, struct viewed *const, strcmp((*x)->name, (*y)->name))

/*
 * Sort the images of v by name. If several have the same name, keep only one of
 * them.
 */
static void
view_sort(struct criuview *v)
{
	size_t i, n;

	SORT(v->v, v->n, viewed_cmp);
	for (i = n = 0; i < v->n; i++)
		if (n == 0 || viewed_cmp(&v->v[n - 1], &v->v[i]) != 0)
			v->v[n++] = v->v[i];
	v->n = n;
}

/*
 * Make the images that criu_write() would write for snapshot s with options o.
 * Ignore the options that concern the directory. s must outlive the images.
 * Free them with criuview_free(). Return the images, or NULL with errstr set if
 * criu_write() would refuse.
 */
struct criuview *
criuview_new(struct snap *s, const struct criuopts *o)
{
	const struct made *im;
	struct criuview *v;
	uint32_t id;
	size_t i;
	int rc;

	if ((v = mem_new(1, sizeof *v)) == NULL)
		return NULL;
	rc = criu_images(s, o, &v->l);
	for (id = 0, i = 0; rc == 0 && i < v->l.n; i++) {
		im = v->l.v[i];
		if (im->pages != NULL)
			id++;
		/* an image that came with the snapshot may have any name */
		if (!text_isname(im->name, strlen(im->name)))
			continue;
		rc = im->pages != NULL ? add_pages(v, s, im, id) :
		    criuview_made(v, im);
	}
	if (rc == -1) {
		criuview_free(v);
		return NULL;
	}
	view_sort(v);
	return v;
}

/*
 * Add a file to v. name is its name, and b has its bytes. v owns the bytes from
 * then on, even on failure. Return 0, or -1 with errstr set.
 */
int
criuview_add(struct criuview *v, const char *name, struct buf *b)
{
	struct viewed *f;

	if ((f = viewed_new(v, name)) == NULL) {
		buf_free(b);
		return -1;
	}
	if (own_add(f, b) == -1)
		return -1;
	view_sort(v);
	return 0;
}

/*
 * Free v, which may be NULL.
 */
void
criuview_free(struct criuview *v)
{
	if (v == NULL)
		return;
	mades_free(&v->l);
	pool_free(&v->pool);
	free(v);
}
