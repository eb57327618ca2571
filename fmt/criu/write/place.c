/*
 * Put pages at their offsets in pages images. While a stream is read, its raw
 * pages are written as they come, if the pagemap came before them. A page that
 * was a reference in the stream is copied at the end, when the location of its
 * bytes is known. Zeros become holes.
 *
 *	stream	r r m z r		pages-1.img
 *	        | | | | |
 *	        0 1 2 3 4		[0][1][ ][ ][4]   as they come
 *					[0][1][2][ ][4]   at the end
 *
 *	r is a raw page, m a reference, and z zeros.
 */
#include "write.h"
#include "bisect.h"
#include "vec.h"

/*
 * Set *o to the object of process p, and create it if needed. This works even
 * if the record of p has been read only in part. Return 1 on success, 0 if what
 * has been read of the record has no pagemap, or -1 with errstr set.
 */
static int
object_came(struct criuout *out, struct proc *p, struct object **o)
{
	struct linuxrec r;
	struct recfile f;
	int rc;

	if ((*o = object_find(out, p)) != NULL)
		return 1;
	if (linuxrec_open(&r, proc_file(p, "proc")) == -1)
		rc = errstr_wrap("process %" PRIu64, p->pid);
	else if (!replay_pagemap(&r, &f))
		rc = 0;
	else
		rc = (*o = object_new(out, p, &f)) == NULL ? -1 : 1;
	linuxrec_close(&r);
	return rc;
}

/*
 * Write a raw page of memory to its place in a pages image, and set *src and
 * *loc to that place. This is the put function of struct pagestore. Return 1 on
 * success, 0 if the page has no place in an image, or -1 with errstr set.
 */
static int
place_put(struct pagestore *st, const struct image *im, uint64_t addr,
    const uint8_t *page, size_t len, struct source **src, uint64_t *loc)
{
	struct criuout *out = (struct criuout *)st;
	struct proc *p = im->proc;
	const struct pages *e;
	int rc;

	if (out->opts->early && (rc = early_put(out, im, addr, page, len, src,
	    loc)) != 0)
		return rc;
	if (im->kind != IMAGE_MEM || p == out->nothing)
		return 0;
	if ((out->last == NULL || out->last->proc != p) &&
	    (rc = object_came(out, p, &out->last)) != 1) {
		out->nothing = p;
		return rc;
	}
	/* Write each place only once: later references in the stream mean
	   the bytes written first. */
	if (len != KB || addr % KB != 0 || addr < out->last->done ||
	    (e = object_entry(out->last, addr)) == NULL ||
	    !(e->flags & PE_PRESENT))
		return 0;
	*src = out->last->src;
	*loc = e->off + (addr - e->addr);
	out->last->done = addr + KB;
	return object_write(out, out->last, *loc, page, len) == -1 ? -1 : 1;
}

/*
 * Create a store that writes pages into the pages images of directory dir while
 * a snapshot is read in order. The caller passes the store in readopts, then to
 * criu_write(), and frees it with criu_storefree(). Return the store, or NULL
 * with errstr set. Fail if criu_write() would refuse dir or the parent
 * directory o->parent.
 */
struct pagestore *
criu_store(const char *dir, const struct criuopts *o)
{
	struct criuout *out;

#ifndef LZ4
	if (o->compress) {
		errstr_set("this program was built without LZ4");
		return NULL;
	}
#endif
	if (outdir_check(dir, o->overwrite) == -1 ||
	    (out = mem_new(1, sizeof *out)) == NULL)
		return NULL;
	out->store.put = place_put;
	out->store.stays = o->early ? early_stays : NULL;
	out->dir = dir;
	out->opts = o;
	if (o->parent == NULL || criuout_parent(out) == 0)
		return &out->store;
	criu_storefree(&out->store);
	return NULL;
}

/*
 * Free store st. Remove the files that it wrote, unless criu_write() completed
 * them.
 */
void
criu_storefree(struct pagestore *st)
{
	struct criuout *out = (struct criuout *)st;
	size_t i;

	if (out == NULL)
		return;
	outdir_abort(out->out);
	outdir_abort(out->sub);
	for (i = 0; i < out->nearly; i++)
		object_free(out->early[i]);
	free(out->early);
	for (i = 0; i < out->nobject; i++)
		object_free(out->object[i]);
	free(out->object);
	free(out->raw);
	free(out->buf);
	free(out->copy);
	imgdir_free(out->below);
	free(out);
}

/*
 * Read run r of src into out->copy, unless the run is there already. Many pages
 * refer to the same run.
 */
static int
copy_read(struct criuout *out, struct source *src, const struct run *r)
{
	if (out->copy == NULL && (out->copy = malloc(WRITEBUF)) == NULL)
		return errstr_set("out of memory");
	if (src == out->copysrc && r->loc == out->copied.loc &&
	    r->n == out->copied.n)
		return 0;
	out->copysrc = NULL;
	if (source_read(src, r, 1, out->copy) != SOURCE_OK)
		return -1;
	out->copysrc = src;
	out->copied = *r;
	return 0;
}

/*
 * Copy n kilobytes of extent e, after its first skip kilobytes, to offset off
 * in the pages of object o.
 */
static int
object_copy(struct criuout *out, struct object *o, const struct extent *e,
    uint64_t skip, uint64_t n, uint64_t off)
{
	struct run r;
	uint64_t most;

	r.loc = e->loc + skip * e->src->pitch;
	if (e->src == o->src && r.loc == off)
		return 0;
	for (most = WRITEBUF / KB; n > 0; n -= r.n) {
		r.n = n < most ? n : most;
		if (copy_read(out, e->src, &r) == -1 ||
		    object_write(out, o, off, out->copy, (size_t)(r.n * KB)) ==
		    -1)
			return -1;
		r.loc += r.n * e->src->pitch;
		off += r.n * KB;
	}
	return 0;
}

/*
 * Write those pages of entry p in o's pagemap that are not yet in place.
 */
static int
entry_fill(struct criuout *out, struct object *o, const struct pages *p)
{
	const struct extent *e;
	uint64_t addr, end, skip, n;
	int rc;

	end = p->addr + p->len;
	for (addr = p->addr; addr < end; addr += n * KB) {
		rc = object_extent(o->proc->mem, addr, &e, &skip, &n);
		if (rc == -1)
			return -1;
		if (rc == 0)
			return errstr_set("%s: page %jx is marked as present, "
			    "but is not in the snapshot", o->name,
			    (uintmax_t)addr);
		if (o->proc->mem->overlaps)
			return errstr_set("%s: page %jx is in the snapshot "
			    "twice", o->name, (uintmax_t)addr);
		if (n > (end - addr) / KB)
			n = (end - addr) / KB;
		progress_read(out->opts->progress, n * KB);
		progress_count(out->opts->progress, e->src == NULL ? 0 : n,
		    e->src == NULL ? n : 0, 0);
		if (e->src == NULL)
			out->stat->zerokb += n;
		else if (object_copy(out, o, e, skip, n, p->off + (addr -
		    p->addr)) == -1)
			return -1;
	}
	return 0;
}

PCMP(pagemap_cmp, struct made, pages->pid)

/*
 * Create the object of process p, unless p already has one or has no pagemap.
 * map[] has the n pagemaps of all processes, sorted by process.
 */
static int
object_make(struct criuout *out, struct proc *p, struct made *const *map,
    size_t n)
{
	const struct made *im = PFIND(map, n, pages->pid, p->pid);
	struct object *o;

	if (im == NULL || im->pages != p || object_find(out, p) != NULL)
		return 0;
	o = object_new(out, p, &(struct recfile){ .name = im->name,
	    .namelen = strlen(im->name), .data = im->b.data,
	    .len = im->b.len });
	return o == NULL ? -1 : early_split(out, o);
}

/*
 * Create an object for each pagemap in l, in process order.
 */
static int
objects_make(struct criuout *out, const struct mades *l)
{
	const struct snap *s = out->store.snap;
	struct made **map;
	size_t i, n;
	int rc;

	if ((map = mem_new(l->n + 1, sizeof *map)) == NULL)
		return -1;
	for (i = n = 0; i < l->n; i++)
		if (l->v[i]->pages != NULL)
			map[n++] = l->v[i];
	SORT(map, n, pagemap_cmp);
	for (i = 0, rc = 0; i < s->nproc && rc == 0; i++)
		rc = object_make(out, s->proc[i], map, n);
	free(map);
	return rc;
}

/*
 * Write the pages of all objects that are not yet in place.
 */
static int
objects_fill(struct criuout *out)
{
	struct object *o;
	size_t i, k;

	for (i = 0; i < out->nobject; i++)
		for (o = out->object[i], k = 0; k < o->map->n; k++)
			if (o->map->v[k].flags & PE_PRESENT &&
			    entry_fill(out, o, &o->map->v[k]) == -1)
				return errstr_wrap("process %" PRIu64,
				    o->proc->pid);
	return 0;
}

/*
 * Put into place every page of every pagemap in l. Return 0, or -1 with errstr
 * set.
 */
int
place_pages(struct criuout *out, const struct mades *l)
{
	uint64_t bytes;
	size_t i;
	int rc;

	if (objects_make(out, l) == -1)
		return -1;
	for (i = 0, bytes = 0; i < out->nobject; i++)
		bytes += out->object[i]->bytes;
	progress_phase(out->opts->progress, bytes);
	out->behind = behind_new(WRITEBUF, !criuout_twice(out) &&
	    !out->opts->early);
	if (out->behind == NULL)
		return -1;
	rc = objects_fill(out);
	if (rc == 0)
		rc = object_flush(out);
	if (behind_end(out->behind) == -1 && rc == 0)
		rc = errstr_sys("%s", out->dir);
	out->behind = NULL;
	return rc;
}
