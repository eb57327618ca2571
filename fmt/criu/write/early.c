/*
 * Early copies of memory, which "snap --to" sends before it stops the
 * processes. The first copy of each process is written as it comes, to images
 * in the subdirectory "early", which becomes the parent of the other images.
 * Pages that have not changed since are left there, and at the end only a
 * pagemap is written for them.
 *
 *	stream	r r z r m	early/pages-1.img	[0][1][ ][3][ ]
 *
 * A page is left there if each of its kilobytes lies in the early image at the
 * place for its address, or is zero both in the copy and at the end.
 */
#include "write.h"
#include "vec.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * Return true if im is the memory of a process in the first early copy.
 */
bool
early_is(const struct criuout *out, const struct image *im)
{
	return out->opts->early && im->kind == IMAGE_MEM &&
	    im->proc->pid / EARLY_PID == 1;
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
		if ((dir = str_printf("%s/" EARLY, out->dir)) == NULL)
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
 * pagestore does. Addresses that descend are not accepted.
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
 * Set the length of the pages image of object o to o->bytes. Return 0, or -1
 * with errstr set.
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
 * Complete the early images: no more pages come, and they will be read. Return
 * 0, or -1 with errstr set.
 */
int
early_ready(struct criuout *out)
{
	size_t i;
	int rc;

	for (rc = 0, i = 0; i < out->nearly && rc == 0; i++)
		rc = object_resize(out->early[i]);
	return rc;
}

/*
 * Return the extent of memory im that contains address addr. Set *skip to the
 * number of kilobytes before addr in it, and *n to that of those from addr on.
 * Return NULL if there is none.
 */
static const struct extent *
extent_at(struct image *im, uint64_t addr, uint64_t *skip, uint64_t *n)
{
	const struct piece *pc = image_find(im, addr);
	const struct extent *e;
	uint64_t kb, left;

	if (pc == NULL || im->overlaps || (addr - pc->seg->base) % KB != 0)
		return NULL;
	kb = (addr - pc->seg->base) / KB;
	if ((e = segment_extent(pc->seg, kb)) == NULL)
		return NULL;
	*skip = kb - e->kb;
	*n = e->n - *skip;
	left = (pc->last - addr + 1) / KB;
	if (*n > left)
		*n = left;
	return *n == 0 ? NULL : e;
}

/*
 * Return how many bytes from address addr on, up to end, are unchanged in im
 * and in the image of early object o. The result is a number of whole pages.
 */
static uint64_t
early_same(struct object *o, struct image *im, uint64_t addr, uint64_t end)
{
	const uint64_t start = addr;
	const struct extent *e, *was;
	const struct pages *p;
	uint64_t skip, n, left;

	for (; addr < end; addr += n * KB) {
		if ((p = object_entry(o, addr)) == NULL ||
		    (e = extent_at(im, addr, &skip, &n)) == NULL)
			break;
		left = ((p->addr + p->len < end ? p->addr + p->len : end) -
		    addr) / KB;
		if (n > left)
			n = left;
		if (e->src == o->src && e->loc + skip * KB ==
		    p->off + (addr - p->addr))
			continue;
		if (e->src != NULL ||
		    (was = extent_at(o->proc->mem, addr, &skip, &left)) ==
		    NULL || was->src != NULL)
			break;
		if (n > left)
			n = left;
	}
	return (addr - start) / o->map->page * o->map->page;
}

/*
 * Return the early object of the process of object o, or NULL.
 */
static struct object *
early_find(const struct criuout *out, const struct object *o)
{
	size_t i;

	for (i = 0; i < out->nearly; i++)
		if (out->early[i]->proc->pid == o->proc->pid + EARLY_PID)
			return out->early[i];
	return NULL;
}

/*
 * Split the entries of the pagemap of object o, which is new, so that pages
 * that are unchanged in the early image of its process are in the parent.
 * Return 0, or -1 with errstr set.
 */
int
early_split(struct criuout *out, struct object *o)
{
	struct object *early = early_find(out, o);
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
			e.len = e.flags & PE_PRESENT ? early_same(early,
			    o->proc->mem, addr, end) : end - addr;
			if (e.len == 0) {
				e.len = m->page;
				o->bytes += e.len;
			} else if (e.flags & PE_PRESENT) {
				e.flags = PE_PARENT;
				out->stat->parentkb += e.len / KB;
			}
			rc = entry_add(m, &e);
		}
	}
	free(all.v);
	return rc == -1 ? -1 : object_resize(o);
}

/*
 * Write the pagemaps of the early images, and link the images to them. Return
 * 0, or -1 with errstr set.
 */
int
early_end(struct criuout *out)
{
	struct object *o, *f;
	struct buf b = { 0 };
	struct proc *p;
	size_t i;

	if (out->sub == NULL)
		return 0;
	for (i = 0; i < out->nearly; i++) {
		o = out->early[i];
		p = snap_find(out->store.snap, o->proc->pid - EARLY_PID);
		if (p == NULL || (f = object_find(out, p)) == NULL)
			continue;	/* it has ended since */
		pagemap_copy(&b, o->map, o->id);
		if (buf_check(&b) == -1 || outdir_put(out->sub, f->name,
		    b.data, b.len) == -1) {
			buf_free(&b);
			return -1;
		}
		buf_free(&b);
	}
	return outdir_link(out->out, "parent", EARLY);
}
