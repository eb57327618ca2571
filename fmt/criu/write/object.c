/*
 * Fill pages images. A pages image has the pages of its pagemap one after
 * another, so the offset of each page is known as soon as the pagemap is.
 */
#include "write.h"
#include "bisect.h"
#include "full.h"
#include "rbtree.h"
#include "record/record.h"
#include "vec.h"

#include <unistd.h>

/*
 * Write the bytes collected in out->buf. Return 0, or -1 with errstr set.
 */
int
object_flush(struct criuout *out)
{
	size_t n;
	int rc;

	n = out->nbuf;
	out->nbuf = 0;
	if (n == 0)
		return 0;
	if (out->behind == NULL)
		rc = full_pwrite(out->full->fd, out->buf, n, out->bufat);
	else
		rc = behind_write(out->behind, out->full->fd, &out->buf, n,
		    out->bufat);
	return rc == -1 ? errstr_sys("%s", out->dir) : 0;
}

/*
 * Write the len bytes (at most WRITEBUF) at data to offset off of the pages
 * image of o. Collect consecutive writes to one image in a buffer. All images
 * share this one buffer, because there may be a thousand images. Return 0, or
 * -1 with errstr set.
 */
int
object_write(struct criuout *out, struct object *o, uint64_t off,
    const uint8_t *data, size_t len)
{
	if (out->buf == NULL && (out->buf = malloc(WRITEBUF)) == NULL)
		return errstr_set("out of memory");
	if (out->nbuf + len > WRITEBUF || (out->nbuf > 0 &&
	    (out->full != o || off != out->bufat + out->nbuf))) {
		if (object_flush(out) == -1)
			return -1;
	}
	if (out->nbuf == 0) {
		out->full = o;
		out->bufat = off;
	}
	memcpy(out->buf + out->nbuf, data, len);
	out->nbuf += len;
	return 0;
}

/*
 * Return the entry for addr in o's pagemap, or NULL if there is none. Try the
 * entry found by the previous call first.
 */
const struct pages *
object_entry(struct object *o, uint64_t addr)
{
	const struct pages *p;

	if (o->hint < o->map->n) {
		p = &o->map->v[o->hint];
		if (p->addr <= addr && addr - p->addr < p->len)
			return p;
	}
	o->hint = pagemap_behind(o->map, addr);
	if (o->hint >= o->map->n)
		return NULL;
	p = &o->map->v[o->hint];
	return p->addr <= addr ? p : NULL;
}

/*
 * Find the extent of memory im that contains address addr; im may be NULL. Set
 * *e to it, *skip to the number of its kilobytes that precede addr, and *n to
 * the number of kilobytes from addr to its end. Return 1 on success, 0 if there
 * is no such extent, or -1 with errstr set.
 */
int
object_extent(struct image *im, uint64_t addr, const struct extent **e,
    uint64_t *skip, uint64_t *n)
{
	const struct piece *pc = im == NULL ? NULL : image_find(im, addr);
	uint64_t kb, left;

	if (pc == NULL || (addr - pc->seg->base) % KB != 0)
		return 0;
	kb = (addr - pc->seg->base) / KB;
	if ((*e = segment_extent(pc->seg, kb)) == NULL)
		return -1;
	*skip = kb - (*e)->kb;
	*n = (*e)->n - *skip;
	left = (pc->last - addr + 1) / KB;
	if (*n > left)
		*n = left;
	return *n > 0;
}

/*
 * Create the file that receives the pages of object o, and set its length. The
 * file is the pages image, or an unnamed file if stack.c writes the image.
 */
static int
object_file(struct criuout *out, struct object *o)
{
	char name[64];
	int fd;

	snprintf(name, sizeof name, "pages-%u.img", o->id);
	if (criuout_dir(out) == NULL)
		return -1;
	fd = outdir_file(out->out, criuout_twice(out) ? NULL : name);
	if (fd == -1)
		return -1;
	if (ftruncate(fd, (off_t)o->bytes) == -1) {
		errstr_sys("%s", name);
		close(fd);
		return -1;
	}
	o->src = source_file(out->store.snap, fd, name, KB);
	if (o->src == NULL)
		return -1;
	o->fd = source_fd(o->src);
	return 0;
}

CMP(object_cmp, struct object, proc->pid)
TREE_GENERATE(objecttree, object, entry, object_cmp)

/*
 * Return the object of process p, or NULL if it has none.
 */
struct object *
object_find(struct criuout *out, struct proc *p)
{
	struct object key = { .proc = p };

	return RB_FIND(objecttree, &out->byproc, &key);
}

/*
 * Create an object for p, a process or an embedded shared memory object. Take
 * the pagemap from image f. Return the object, or NULL with errstr set.
 */
struct object *
object_new(struct criuout *out, struct proc *p, const struct recfile *f)
{
	struct object *o;

	o = NULL;
	if (VEC_ROOM(out->object, out->nobject) == -1)
		goto fail;
	if ((o = mem_new(1, sizeof *o)) == NULL ||
	    (o->name = mem_dup(f->name, f->namelen)) == NULL)
		goto fail;
	o->proc = p;
	o->id = (uint32_t)out->nobject + 1;
	if (pagemap_parse(&o->map, o->name, f->data, f->len,
	    snap_page(out->store.snap, p), &o->bytes) == -1 ||
	    object_file(out, o) == -1)
		goto fail;
	RB_INSERT(objecttree, &out->byproc, o);
	return out->object[out->nobject++] = o;
fail:
	object_free(o);
	errstr_wrap("process %" PRIu64, p->pid);
	return NULL;
}

void
object_free(struct object *o)
{
	if (o == NULL)
		return;
	pagemap_free(o->map);
	free(o->name);
	free(o);
}
