/*
 * From a snapshot to a directory of CRIU images.
 *
 * The images came with the snapshot, in the Linux records, and are written
 * as they are; but pages go to pages images, and pagemaps are made anew.  A
 * pages image has the pages of its pagemap one after another, so the place
 * of each is known as soon as the record of its process is, and raw pages of
 * a stream go there at once.  What was a reference in the stream is copied
 * when all is read, from where the bytes are then; zeros are holes.
 *
 *	stream	r r m z r		pages-1.img
 *	        | | | | |
 *	        0 1 2 3 4		[0][1][ ][ ][4]   as they come
 *					[0][1][2][ ][4]   at the end
 */
#include "io/io.h"
#include "model.h"
#include "record/record.h"
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITEBUF = 256 * 1024 };

/*
 * Write all of some bytes at an offset; errno tells what is wrong.
 */
int
criuload_writeat(int fd, const uint8_t *p, size_t len, uint64_t off)
{
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n, off += (uint64_t)n) {
		n = pwrite(fd, p, len, (off_t)off);
		if (n == -1 && errno == EINTR)
			n = 0;
		if (n == -1)
			return -1;
	}
	return 0;
}

static int
object_flush(struct object *o)
{
	size_t n;

	n = o->nbuf;
	o->nbuf = 0;
	if (n > 0 && criuload_writeat(o->fd, o->buf, n, o->bufat) == -1)
		return errstr_sys("%s", o->src->name);
	return 0;
}

/*
 * Gather what is written in a row.
 */
static int
object_write(struct object *o, uint64_t at, const uint8_t *data, size_t len)
{
	if (o->nbuf + len > WRITEBUF || (o->nbuf > 0 &&
	    at != o->bufat + o->nbuf)) {
		if (object_flush(o) == -1)
			return -1;
	}
	if (o->nbuf == 0)
		o->bufat = at;
	memcpy(o->buf + o->nbuf, data, len);
	o->nbuf += len;
	return 0;
}

/*
 * The entry of a pagemap in which an address lies, or NULL.  It is looked
 * for where the last one was.
 */
static const struct pages *
object_find(struct object *o, uint64_t addr)
{
	const struct pages *p;

	if (o->hint < o->map->n) {
		p = &o->map->v[o->hint];
		if (p->addr <= addr && addr - p->addr < p->n * CRIU_PAGE)
			return p;
	}
	o->hint = pagemap_behind(o->map, addr);
	p = &o->map->v[o->hint];
	return o->hint < o->map->n && p->addr <= addr ? p : NULL;
}

/*
 * The pagemap that came with a process, or was made for it, if one did or
 * was.
 */
static int
find_pagemap(const struct criuload *l, const struct proc *p,
    struct linuxrec *r, struct recfile *f)
{
	static const char prefix[] = "criu/pagemap-";
	const struct made *im;
	size_t i;

	for (i = 0; i < l->made.n; i++) {
		im = l->made.v[i];
		if (im->pages != p)
			continue;
		f->name = im->name;
		f->namelen = strlen(im->name);
		f->data = im->b.data;
		f->len = im->b.len;
		return 1;
	}
	if (l->made.n > 0)
		return 0;
	if (linuxrec_open(r, proc_file(p, "proc")) == -1)
		return -1;
	for (i = 0; i < r->n; i++) {
		linuxrec_get(r, i, f);
		if (f->namelen > sizeof prefix - 1 + 4 &&
		    memcmp(f->name, prefix, sizeof prefix - 1) == 0 &&
		    memcmp(f->name + f->namelen - 4, ".img", 4) == 0)
			return 1;
	}
	return 0;
}

/*
 * The file that the pages of an object are written to, of its full length:
 * its pages image, or, when they are to be compared with a parent first, a
 * file without a name.
 */
static int
object_file(struct criuload *l, struct object *o)
{
	char name[64];
	int fd;

	o->id = ++l->npages;
	snprintf(name, sizeof name, "pages-%u.img", o->id);
	if (criuload_out(l) == NULL)
		return -1;
	fd = outdir_file(l->out, l->parent != NULL ? NULL : name);
	if (fd == -1)
		return -1;
	if (ftruncate(fd, (off_t)o->bytes) == -1) {
		errstr_sys("%s", name);
		close(fd);
		return -1;
	}
	o->src = source_file(l->store.snap, fd, name, KB);
	if (o->src == NULL)
		return -1;
	o->fd = source_fd(o->src);
	return 0;
}

static int
object_init(struct criuload *l, struct object *o, const struct recfile *f)
{
	size_t skip;

	skip = f->namelen > 5 && memcmp(f->name, "criu/", 5) == 0 ? 5 : 0;
	o->name = strndup(f->name + skip, f->namelen - skip);
	o->buf = malloc(WRITEBUF);
	if (o->name == NULL || o->buf == NULL)
		return errstr_set("out of memory");
	if (pagemap_parse(&o->map, o->name, f->data, f->len, &o->bytes) == -1)
		return -1;
	return object_file(l, o);
}

static void
object_free(struct object *o)
{
	if (o == NULL)
		return;
	pagemap_free(o->map);
	free(o->name);
	free(o->buf);
	free(o);
}

/*
 * What is written for a process (or an object of shared memory, which is
 * one here), from its record as far as it is known: 1; 0 if it has no
 * pagemap; or -1.
 */
static int
object_get(struct criuload *l, struct proc *p, struct object **out)
{
	struct linuxrec r = { 0 };
	struct recfile f;
	struct object *o, **v;
	size_t i;
	int rc;

	for (i = l->nobject; i-- > 0;)
		if (l->object[i]->proc == p) {
			*out = l->object[i];
			return 1;
		}
	o = NULL;
	if ((rc = find_pagemap(l, p, &r, &f)) == 1) {
		v = reallocarray(l->object, l->nobject + 1, sizeof *v);
		if (v != NULL)
			l->object = v;
		o = v == NULL ? NULL : calloc(1, sizeof *o);
		if (o == NULL)
			rc = errstr_set("out of memory");
		else if (object_init(l, o, &f) == -1)
			rc = -1;
	}
	linuxrec_close(&r);
	if (rc != 1) {
		object_free(o);
		return rc == -1 ? errstr_wrap("process %" PRIu64, p->pid) : 0;
	}
	o->proc = p;
	l->object[l->nobject++] = o;
	*out = o;
	return 1;
}

/*
 * struct pagestore: a raw page of memory goes to its place in a pages image,
 * if it has one.
 */
int
criuload_put(struct pagestore *st, const struct image *im, uint64_t addr,
    const uint8_t *page, size_t len, struct source **src, uint64_t *loc)
{
	struct criuload *l = (struct criuload *)st;
	struct proc *p = im->proc;
	const struct pages *e;
	int rc;

	if (im->kind != IMAGE_MEM)
		return 0;
	if (l->last == NULL || l->last->proc != p) {
		if (l->nothing == p)
			return 0;
		if ((rc = object_get(l, p, &l->last)) != 1) {
			l->nothing = p;
			l->last = NULL;
			return rc;
		}
	}
	/* a place is written once: what refers to it means what it was */
	if (len != KB || addr % KB != 0 || addr < l->last->done ||
	    (e = object_find(l->last, addr)) == NULL ||
	    !(e->flags & PE_PRESENT))
		return 0;
	*src = l->last->src;
	*loc = e->off + (addr - e->addr);
	l->last->done = addr + KB;
	return object_write(l->last, *loc, page, len) == -1 ? -1 : 1;
}

/*
 * Read a run into l->copy, unless it is what was read last: many pages refer
 * to one.
 */
static int
copy_read(struct criuload *l, struct source *src, const struct run *r)
{
	if (l->copy == NULL && (l->copy = malloc(WRITEBUF)) == NULL)
		return errstr_set("out of memory");
	if (src == l->copysrc && r->loc == l->copied.loc &&
	    r->n == l->copied.n)
		return 0;
	l->copysrc = NULL;
	if (source_read(src, r, 1, l->copy) != SOURCE_OK)
		return -1;
	l->copysrc = src;
	l->copied = *r;
	return 0;
}

/*
 * Copy n kilobytes to a place in an object's pages.
 */
static int
object_copy(struct criuload *l, struct object *o, const struct extent *e,
    uint64_t skip, uint64_t n, uint64_t at)
{
	struct run r;
	uint64_t most;

	r.loc = e->loc + skip * e->src->pitch;
	if (e->src == o->src && r.loc == at)
		return 0;
	for (most = WRITEBUF / KB; n > 0; n -= r.n) {
		r.n = n < most ? n : most;
		if (copy_read(l, e->src, &r) == -1 ||
		    object_write(o, at, l->copy, (size_t)(r.n * KB)) == -1)
			return -1;
		r.loc += r.n * e->src->pitch;
		at += r.n * KB;
	}
	return 0;
}

/*
 * Have all pages of an entry in place.
 */
static int
entry_fill(struct criuload *l, struct object *o, const struct pages *p)
{
	const struct extent *e;
	struct piece *pc;
	uint64_t addr, end, kb, n, left;

	end = p->addr + p->n * CRIU_PAGE;
	for (addr = p->addr; addr < end; addr += n * KB) {
		pc = o->proc->mem == NULL ? NULL :
		    image_find(o->proc->mem, addr);
		if (pc == NULL || pc->last - addr < KB - 1 ||
		    (addr - pc->seg->base) % KB != 0)
			return errstr_set("%s: %jx is said to be present, but "
			    "is not in the memory of the snapshot", o->name,
			    (uintmax_t)addr);
		if (o->proc->mem->overlaps)
			return errstr_set("%s: %jx is in the snapshot twice",
			    o->name, (uintmax_t)addr);
		kb = (addr - pc->seg->base) / KB;
		e = segment_extent(pc->seg, kb);
		n = e->n - (kb - e->kb);
		left = (pc->last - addr + 1) / KB;
		if (n > left)
			n = left;
		if (n > (end - addr) / KB)
			n = (end - addr) / KB;
		progress_read(l->opts->progress, n * KB);
		progress_count(l->opts->progress, e->src == NULL ? 0 : n,
		    e->src == NULL ? n : 0, 0);
		if (e->src == NULL)
			l->stat->zerokb += n;
		else if (object_copy(l, o, e, kb - e->kb, n, p->off + (addr -
		    p->addr)) == -1)
			return -1;
	}
	return 0;
}

/*
 * Have all pages of an object in its file.
 */
static int
object_fill(struct criuload *l, struct object *o)
{
	size_t i;

	for (i = 0; i < o->map->n; i++)
		if (o->map->v[i].flags & PE_PRESENT &&
		    entry_fill(l, o, &o->map->v[i]) == -1)
			return -1;
	return object_flush(o);
}

/*
 * How many bytes of pages an object has.
 */
static uint64_t
object_bytes(const struct object *o)
{
	uint64_t n;
	size_t i;

	for (i = 0, n = 0; i < o->map->n; i++)
		if (o->map->v[i].flags & PE_PRESENT)
			n += o->map->v[i].n * CRIU_PAGE;
	return n;
}

/*
 * The whole snapshot is read: have every page of every pagemap in its file.
 */
int
criuload_fill(struct criuload *l)
{
	struct object *o;
	uint64_t bytes;
	size_t i;

	for (i = 0; i < l->store.snap->nproc; i++)
		if (object_get(l, l->store.snap->proc[i], &o) == -1)
			return -1;
	for (i = 0, bytes = 0; i < l->nobject; i++) {
		if (object_flush(l->object[i]) == -1)
			return -1;
		bytes += object_bytes(l->object[i]);
	}
	progress_phase(l->opts->progress, bytes);
	for (i = 0; i < l->nobject; i++)
		if (object_fill(l, l->object[i]) == -1)
			return errstr_wrap("process %" PRIu64,
			    l->object[i]->proc->pid);
	return 0;
}

void
criuload_free(struct criuload *l)
{
	size_t i;

	for (i = 0; i < l->nobject; i++)
		object_free(l->object[i]);
	free(l->object);
	free(l->copy);
	l->object = NULL;
	l->copy = NULL;
	l->nobject = 0;
}
