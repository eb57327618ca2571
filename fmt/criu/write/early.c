/*
 * Early copies of memory, which "snap --to" sends before it stops the
 * processes. The first copy of each process is written as it arrives, to images
 * in the subdirectory "early", which becomes the parent of the other images. At
 * the end, kilobytes that have changed since are overwritten at their places
 * there.
 *
 *	stream	r r z r m	early/pages-1.img	[0][1][ ][3][ ]
 *
 * If another page refers to the old kilobyte at such a place, it is not
 * overwritten. Then the changed page is written to the other images, as are
 * pages that have no place.
 */
#include "write.h"
#include "bisect.h"
#include "vec.h"

#include <unistd.h>

/*
 * Return true if im is the memory of a process in the first early copy.
 */
bool
early_is(const struct criuout *out, const struct image *im)
{
	return out->opts->early && im->kind == IMAGE_MEM &&
	    im->proc->pid / EARLY_PID == 1 && proc_isearly(im->proc);
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
 * Append entry e to pagemap m, or extend the last entry by it. Return 0, or -1
 * with errstr set if memory runs out.
 */
static int
entry_add(struct pagemap *m, const struct pages *e)
{
	struct pages *last = m->n == 0 ? NULL : &m->v[m->n - 1];

	if (last == NULL || last->flags != e->flags ||
	    last->addr + last->len != e->addr)
		return VEC_ADD(m->v, m->n, *e);
	last->len += e->len;
	return 0;
}

/*
 * Write a raw page of an early copy to its image, as the put function of struct
 * pagestore does. Do not write a page below the last one that was written.
 */
int
early_put(struct criuout *out, const struct image *im, uint64_t addr,
    const uint8_t *data, size_t len, struct source **src, uint64_t *loc)
{
	struct object *o = out->nearly == 0 ? NULL :
	    out->early[out->nearly - 1];
	struct pages new = { .flags = PE_PRESENT };
	const struct pages *e;
	struct pagemap *m;

	if (o == NULL || o->proc != im->proc)
		o = early_new(out, im->proc);
	if (o == NULL)
		return -1;
	if (len != KB || addr % KB != 0 || addr < o->done)
		return 0;
	m = o->map;
	if (m->n == 0 || addr >= m->v[m->n - 1].addr + m->v[m->n - 1].len) {
		new.addr = addr - addr % m->page;
		new.len = m->page;
		new.off = o->bytes;
		if (entry_add(m, &new) == -1)
			return -1;
		o->bytes += m->page;
	}
	e = &m->v[m->n - 1];
	*src = o->src;
	*loc = e->off + (addr - e->addr);
	o->done = addr + KB;
	return object_write(out, o, *loc, data, len) == -1 ? -1 : 1;
}

/*
 * Set the length of the pages image of object o to o->bytes.
 */
static int
object_resize(const struct object *o)
{
	if (ftruncate(o->fd, (off_t)o->bytes) == -1)
		return errstr_sys("pages-%u.img", o->id);
	source_resize(o->src, o->bytes);
	return 0;
}

/*
 * Return the early object of the process p, or NULL.
 */
struct object *
early_find(const struct criuout *out, const struct proc *p)
{
	return PSEEK(out->early, out->nearly, x->proc->pid == p->pid +
	    EARLY_PID);
}

/*
 * Return the early object whose image is the source src, or NULL.
 */
static struct object *
early_bysource(const struct criuout *out, const struct source *src)
{
	size_t i;

	/* the sources are numbered in the order of the objects */
	i = BISECT_WHILE(n, out->nearly, out->early[n]->src->id < src->id);
	return i < out->nearly && out->early[i]->src == src ? out->early[i] :
	    NULL;
}

/*
 * Mark the kilobytes of an early image to which extent e refers. own is the
 * early object of the process that has e at address addr, or NULL if e is not
 * memory of a process with one. Do not mark kilobytes at their own place.
 */
static void
extent_mark(const struct criuout *out, struct object *own, uint64_t addr,
    const struct extent *e)
{
	struct object *o = early_bysource(out, e->src);
	const struct pages *p;
	uint64_t loc, n;

	for (loc = e->loc, n = e->n; o != NULL && n > 0;
	    n--, loc += KB, addr += KB)
		if (o != own || (p = object_entry(o, addr)) == NULL ||
		    p->off + (addr - p->addr) != loc)
			o->needed[loc / KB / 8] |= (uint8_t)(1 << loc / KB % 8);
}

/*
 * Mark everything in the early images to which memory or text im refers. im may
 * be NULL; own is as for extent_mark().
 */
static int
image_mark(const struct criuout *out, struct object *own,
    const struct image *im)
{
	const struct extent *e;
	const struct segment *s;
	uint64_t kb;
	size_t i;

	for (i = 0; im != NULL && i < im->nseg; i++) {
		s = im->seg[i];
		for (kb = 0; kb < segment_kb(s); kb = e->kb + e->n) {
			if ((e = segment_extent(s, kb)) == NULL)
				return -1;
			if (e->src != NULL)
				extent_mark(out, own, s->base + e->kb * KB, e);
		}
	}
	return 0;
}

/*
 * Complete the early images, which will be read: no more pages come. Find the
 * kilobytes that must not be overwritten. Return 0, or -1 with errstr set.
 */
int
early_ready(struct criuout *out)
{
	const struct snap *s = out->store.snap;
	struct object *o;
	struct proc *p;
	size_t i;

	if (object_flush(out) == -1)
		return -1;
	for (i = 0; i < out->nearly; i++) {
		o = out->early[i];
		o->needed = mem_new(1, (size_t)(o->bytes / KB / 8 + 1));
		if (o->needed == NULL || object_resize(o) == -1)
			return -1;
	}
	for (i = 0; i < s->nproc && out->nearly > 0; i++) {
		p = s->proc[i];
		if (proc_isearly(p))
			continue;
		if (image_mark(out, NULL, p->text) == -1 ||
		    image_mark(out, early_find(out, p), p->mem) == -1)
			return -1;
	}
	return 0;
}

/*
 * Find the place in early object o of address addr of memory im. Also find how
 * many kilobytes from addr on, up to address end, have a place of the same
 * kind.
 */
struct early_place
early_place(struct object *o, struct image *im, uint64_t addr, uint64_t end)
{
	struct early_place r = { .kind = PLACE_NONE };
	const struct pages *p = object_entry(o, addr);
	const struct extent *was;
	uint64_t left, skip, i;

	if (p == NULL || im->overlaps || object_extent(im, addr, &r.e, &r.skip,
	    &r.n) != 1)
		return r;
	left = ((p->addr + p->len < end ? p->addr + p->len : end) - addr) / KB;
	if (r.n > left)
		r.n = left;
	r.off = p->off + (addr - p->addr);
	r.kind = PLACE_SAME;
	if (r.e->src == o->src && r.e->loc + r.skip * KB == r.off)
		return r;
	if (r.e->src == NULL) {
		if (o->proc->mem->overlaps || object_extent(o->proc->mem, addr,
		    &was, &skip, &left) != 1) {
			was = NULL;
			left = 1;
		}
		if (r.n > left)
			r.n = left;
		if (was != NULL && was->src == NULL)
			return r;
	}
	r.kind = PLACE_STALE;
	for (i = r.off / KB; i < r.off / KB + r.n; i++)
		if (o->needed[i / 8] & 1 << i % 8)
			break;
	r.n = i - r.off / KB;
	if (r.n == 0)
		r.kind = PLACE_NONE;
	return r;
}

/*
 * Return how many bytes of memory im, from address addr up to end, can be left
 * in early object o. The result is a number of whole pages.
 */
static uint64_t
early_length(struct object *o, struct image *im, uint64_t addr, uint64_t end)
{
	const uint64_t start = addr;
	struct early_place r;

	for (; addr < end; addr += r.n * KB) {
		r = early_place(o, im, addr, end);
		if (r.kind == PLACE_NONE)
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
			rc = entry_add(m, &e);
		}
	}
	free(all.v);
	return rc == -1 ? -1 : object_resize(o);
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
			rc = entry_add(m, &e);
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
		if ((rc = buf_check(&b)) == 0)
			rc = outdir_put(out->sub, f->name, b.data, b.len);
	}
	buf_free(&b);
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
