/*
 * Early copies of memory, which "snap --to" sends before it stops the
 * processes. The first copy of each process is written as it arrives, to images
 * in the subdirectory "early", which becomes the parent of the other images.
 * Pages that have changed since are overwritten at their places there, also as
 * they arrive.
 *
 *	stream	r r z r m	early/pages-1.img	[0][1][ ][3][4]
 *
 * An image thus always has the memory of the last copy. A page that is the same
 * as another one is written to its own place, because the other one may be
 * overwritten. A page without a place, which was mapped after the first copy,
 * is written to the other images in the end.
 */
#include "write.h"
#include "bisect.h"
#include "vec.h"

#include <unistd.h>

/*
 * Return the early object of the process p or of an early copy of it, or NULL
 * if there is none.
 */
static struct object *
early_find(const struct criuout *out, const struct proc *p)
{
	if (p->embedded != NULL)
		return NULL;
	return PSEEK(out->early, out->nearly, x->proc->pid % EARLY_PID ==
	    p->pid % EARLY_PID);
}

/*
 * Return true if p is a process of the first early copy.
 */
static bool
is_first(const struct proc *p)
{
	return p->pid / EARLY_PID == 1 && proc_isearly(p);
}

/*
 * Create the subdirectory's handle, if needed, and an object in it for process
 * p of an early copy. Return the object, or NULL with errstr set.
 */
static struct object *
early_new(struct criuout *out, struct proc *p)
{
	struct object *o = NULL;
	char name[64], *dir;
	int fd;

	if (out->sub == NULL) {
		if ((dir = str_printf("%s/" EARLY_DIR, out->dir)) == NULL)
			return NULL;
		out->sub = outdir_open(dir, INVENTORY, false);
		free(dir);
	}
	if (out->sub == NULL || VEC_ROOM(out->early, out->nearly) == -1 ||
	    (o = mem_new(1, sizeof *o)) == NULL ||
	    (o->map = mem_new(1, sizeof *o->map)) == NULL)
		goto fail;
	o->proc = p;
	o->reads = p;
	o->id = (uint32_t)out->nearly + 1;
	o->map->page = (uint64_t)sysconf(_SC_PAGESIZE);
	snprintf(name, sizeof name, "pages-%u.img", o->id);
	if ((fd = outdir_file(out->sub, name)) == -1 ||
	    (o->src = source_file(out->store.snap, fd, name, KB)) == NULL)
		goto fail;
	o->fd = source_fd(o->src);
	return out->early[out->nearly++] = o;
fail:
	object_free(o);
	return NULL;
}

/*
 * Return the early object for memory im, which is being read, or NULL if there
 * is none, or if it has the memory of a later copy.
 */
static struct object *
early_object(struct criuout *out, const struct image *im)
{
	struct object *o = out->lastearly;

	if (im->kind != IMAGE_MEM || im->proc->embedded != NULL)
		return NULL;
	if (o == NULL || o->proc->pid % EARLY_PID != im->proc->pid % EARLY_PID)
		o = early_find(out, im->proc);
	if (o != NULL && o->reads != im->proc) {
		/* the process itself, with number 0, follows all copies */
		if (o->reads->pid / EARLY_PID - 1 >=
		    im->proc->pid / EARLY_PID - 1)
			return NULL;
		o->was = o->reads;
		o->reads = im->proc;
		o->done = 0;
	}
	return out->lastearly = o;
}

/*
 * Add a place for the page at address addr to object o, unless the last place
 * is for that page.
 */
static int
early_add(struct object *o, uint64_t addr)
{
	struct pages new = { .flags = PE_PRESENT };
	struct pagemap *m = o->map;

	if (m->n > 0 && addr < m->v[m->n - 1].addr + m->v[m->n - 1].len)
		return 0;
	new.addr = addr - addr % m->page;
	new.len = m->page;
	new.off = o->bytes;
	o->bytes += m->page;
	return pages_join(m, &new);
}

/*
 * Write a page of memory im to its place in an early image, as the put function
 * of struct pagestore. Return 0 if it has no place there. Do not write a page
 * below the last one that was written: this one is visible in im.
 */
int
early_put(struct criuout *out, const struct image *im, uint64_t addr,
    const uint8_t *data, size_t len, struct source **src, uint64_t *loc)
{
	struct object *o = early_object(out, im);
	const struct pages *e;

	if (o == NULL && (im->kind != IMAGE_MEM || !is_first(im->proc) ||
	    early_find(out, im->proc) != NULL))
		return 0;
	if (o == NULL && (o = early_new(out, im->proc)) == NULL)
		return -1;
	if (len != KB || addr % KB != 0 || addr < o->done)
		return 0;
	if (is_first(im->proc) && early_add(o, addr) == -1)
		return -1;
	if ((e = object_entry(o, addr)) == NULL)
		return 0;
	*src = o->src;
	*loc = e->off + (addr - e->addr);
	o->done = addr + KB;
	return object_write(out, o, *loc, data, len) == -1 ? -1 : 1;
}

/*
 * Write everything that early_put() has collected to the early images, so that
 * they can be read. Return 0, or -1 with errstr set.
 */
int
early_ready(struct criuout *out)
{
	struct object *o;
	size_t i;

	if (object_flush(out) == -1)
		return -1;
	for (i = 0; i < out->nearly; i++) {
		o = out->early[i];
		if (o->length == o->bytes)
			continue;
		if (ftruncate(o->fd, (off_t)o->bytes) == -1)
			return errstr_sys("pages-%u.img", o->id);
		source_resize(o->src, o->bytes);
		o->length = o->bytes;
	}
	return 0;
}

/*
 * Return true if src, which may be NULL, is an early image.
 */
static bool
is_early(const struct criuout *out, const struct source *src)
{
	return PSEEK(out->early, out->nearly, x->src == src) != NULL;
}

/*
 * Return true if memory im has zeros at address addr. Lower *n, the number of
 * kilobytes from addr on, to those for which this is so.
 */
static bool
was_zero(struct image *im, uint64_t addr, uint64_t *n)
{
	const struct extent *e;
	uint64_t skip, most;

	if (object_extent(im, addr, &e, &skip, &most) != 1)
		return false;
	if (*n > most)
		*n = most;
	return e->src == NULL;
}

/*
 * Return true if kilobytes of memory im need not be put in place: *n kilobytes
 * at address addr, found at loc in src, or zeros if src is NULL. Lower *n to
 * the number of kilobytes for which the answer is the same.
 */
static bool
is_placed(struct criuout *out, const struct image *im, uint64_t addr,
    uint64_t *n, const struct source *src, uint64_t loc)
{
	struct object *o = early_object(out, im);
	const struct pages *e;
	uint64_t left;

	if (is_first(im->proc))
		return src == NULL || im->kind != IMAGE_MEM;
	if (o == NULL || addr < o->done || addr % KB != 0)
		return !is_early(out, src);
	if ((e = object_entry(o, addr)) == NULL) {
		left = o->hint == o->map->n ? *n :
		    (o->map->v[o->hint].addr - addr) / KB;
		if (*n > left)
			*n = left;
		return !is_early(out, src);
	}
	left = (e->addr + e->len - addr) / KB;
	if (*n > left)
		*n = left;
	if (src != NULL)
		return src == o->src && loc == e->off + (addr - e->addr);
	return was_zero(o->was->mem, addr, n);
}

/*
 * Find out whether kilobytes stay where they are, as is_placed() does. If they
 * do not, prepare the images for reading. This is the stays function of
 * struct pagestore.
 */
int
early_stays(struct pagestore *st, const struct image *im, uint64_t addr,
    uint64_t *n, const struct source *src, uint64_t loc)
{
	struct criuout *out = (struct criuout *)st;

	if (is_placed(out, im, addr, n, src, loc))
		return 1;
	return src != NULL ? early_ready(out) : 0;
}

/*
 * Return how many bytes of memory im, from address addr up to end, are in place
 * in early object o. The result is a number of whole pages.
 */
static uint64_t
early_length(struct object *o, struct image *im, uint64_t addr, uint64_t end)
{
	const uint64_t start = addr;
	const struct extent *e;
	const struct pages *p;
	uint64_t n, left, skip;

	for (; addr < end && !im->overlaps; addr += n * KB) {
		if ((p = object_entry(o, addr)) == NULL ||
		    object_extent(im, addr, &e, &skip, &n) != 1)
			break;
		left = ((p->addr + p->len < end ? p->addr + p->len : end) -
		    addr) / KB;
		if (n > left)
			n = left;
		/* zeros have been written to their place */
		if (e->src != NULL && (e->src != o->src ||
		    e->loc + skip * KB != p->off + (addr - p->addr)))
			break;
	}
	return (addr - start) / o->map->page * o->map->page;
}

/*
 * Split the entries of the pagemap of object o, which is new. Pages that can be
 * left in the early image of the process become pages of the parent. Return 0,
 * or -1 with errstr set.
 */
int
early_split(struct criuout *out, struct object *o)
{
	struct object *early = early_find(out, o->proc);
	struct pagemap all = *o->map, *m = o->map;
	uint64_t addr, end;
	struct pages e;
	size_t i;
	int rc = 0;

	if (early == NULL || o->proc->mem == NULL ||
	    early->map->page != m->page)
		return 0;
	m->v = NULL;
	m->n = 0;
	for (o->bytes = 0, i = 0; i < all.n && rc == 0; i++) {
		end = all.v[i].addr + all.v[i].len;
		for (addr = all.v[i].addr; addr < end && rc == 0;
		    addr += e.len) {
			e = all.v[i];
			e.addr = addr;
			e.off = o->bytes;
			e.len = e.flags & PE_PRESENT ? early_length(early,
			    o->proc->mem, addr, end) : end - addr;
			if (e.len == 0) {
				e.len = m->page;
				e.flags = PE_PRESENT;
				o->bytes += e.len;
			} else if (e.flags & PE_PRESENT) {
				e.flags ^= PE_PARENT | PE_PRESENT;
				out->stat->parentkb += e.len / KB;
			}
			rc = pages_join(m, &e);
		}
	}
	free(all.v);
	if (rc == 0 && ftruncate(o->fd, (off_t)o->bytes) == -1)
		rc = errstr_sys("%s", o->name);
	source_resize(o->src, o->bytes);
	return rc;
}

/*
 * Store in *m the pagemap of early object o, whose process has the object f.
 * If lazy is true, set PE_LAZY for the pages that f leaves to criu(8)
 * lazy-pages.
 */
static int
early_pagemap(const struct object *o, struct object *f, bool lazy,
    struct pagemap *m)
{
	const struct pages *all = o->map->v, *p;
	uint64_t addr, end;
	struct pages e;
	size_t i;
	int rc = 0;

	for (i = 0; i < o->map->n; i++) {
		end = all[i].addr + all[i].len;
		for (addr = all[i].addr; addr < end && rc == 0; addr += e.len) {
			e = all[i];
			e.addr = addr;
			e.len = o->map->page;
			if ((p = object_entry(f, addr)) != NULL)
				e.len = p->addr + p->len - addr;
			if (e.len > end - addr)
				e.len = end - addr;
			if (lazy && p != NULL && p->flags & PE_PARENT)
				e.flags |= p->flags & PE_LAZY;
			rc = pages_join(m, &e);
		}
	}
	return rc;
}

/*
 * Write the pagemap of early object o, whose process has the object f, as
 * early_pagemap() describes it.
 */
static int
early_write(struct criuout *out, const struct object *o, struct object *f,
    bool lazy)
{
	struct pagemap m = { .page = o->map->page };
	struct buf b = { 0 };
	int rc;

	rc = early_pagemap(o, f, lazy, &m);
	if (rc == 0) {
		pagemap_copy(&b, &m, o->id);
		rc = criuout_put(out->sub, f->name, &b);
	}
	free(m.v);
	return rc;
}

/*
 * Link the images l, which are not pagemaps, into the directory of the early
 * images, where criu(8) lazy-pages looks for them.
 */
static int
early_link(struct criuout *out, const struct mades *l)
{
	char to[NAME_MAX + 4];
	size_t i;
	int rc = 0;

	for (i = 0; i < l->n && rc == 0; i++) {
		if (l->v[i]->pages != NULL)
			continue;
		snprintf(to, sizeof to, "../%s", l->v[i]->name);
		rc = outdir_link(out->sub, l->v[i]->name, to);
	}
	return rc;
}

/*
 * Write the pagemaps of the early images, and make these the parent of the
 * images l. With the option lazy, prepare the early images for criu(8)
 * lazy-pages if only one process has memory in l: several would no longer share
 * pages. Return 0, or -1 with errstr set.
 */
int
early_end(struct criuout *out, const struct mades *l)
{
	struct object *o, *f;
	struct proc *p;
	bool lazy;
	size_t i;

	if (out->sub == NULL)
		return 0;
	for (i = 0; i < out->nearly; i++) {
		o = out->early[i];
		p = snap_find(out->store.snap, o->proc->pid - EARLY_PID);
		if (p == NULL || early_find(out, p) != o ||
		    (f = object_find(out, p)) == NULL)
			continue;	/* the process has ended */
		lazy = out->opts->lazy && out->nobject == 1 &&
		    f->map->page == o->map->page;
		if (early_write(out, o, f, lazy) == -1)
			return -1;
		out->stat->lazy |= lazy;
	}
	if (out->stat->lazy && early_link(out, l) == -1)
		return -1;
	return outdir_link(out->out, "parent", EARLY_DIR);
}
