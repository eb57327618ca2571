/*
 * Make the memory image of a process from its core: the content of its
 * segments, with holes of the file as zeros, and pages that were omitted
 * because they are in a file that this machine has.
 */
#include "elf/elf.h"
#include "read.h"
#include "vec.h"

struct tail {			/* bytes of a segment after its last whole
				   kilobyte */
	uint64_t	 addr;
	uint64_t	 len;
	struct source	*src;	/* borrowed */
	uint64_t	 loc;
};

struct memory {			/* state while an image is being built */
	struct corereader *r;
	struct builder	 b;
	struct tail	*tail;	/* owned */
	size_t		 ntail;
	uint64_t	 looked; /* the core has been searched for holes up to
				    this offset */
};

/*
 * Add len bytes at address addr to the image. The bytes are at offset loc of
 * src, or are zeros if src is NULL. If the last part is shorter than a
 * kilobyte, keep it in m->tail for add_tails().
 */
static int
add_bytes(struct memory *m, uint64_t addr, uint64_t len, struct source *src,
    uint64_t loc)
{
	const uint64_t whole = len / KB * KB;

	if (builder_run(&m->b, addr, len / KB, src, loc) == -1)
		return -1;
	if (len % KB == 0)
		return 0;
	return VEC_ADD(m->tail, m->ntail, (struct tail){ addr + whole,
	    len - whole, src, loc + whole });
}

/*
 * Add len bytes at address addr to the image. They are at offset off of the
 * core. Holes in the core become zeros. Each part of the core is searched for
 * holes only once, so that the work is bounded by the size of the file.
 */
static int
add_sparse(struct memory *m, uint64_t addr, uint64_t len, uint64_t off)
{
	struct source *src = m->r->src;
	uint64_t at, start, end, zero;

	if (off < m->looked)
		return add_bytes(m, addr, len, src, off);
	m->looked = off + len;
	for (at = 0; at < len; at = end) {
		if (!source_data(src, off + at, &start, &end))
			start = end = off + len;
		start = start - off > len ? len : start - off;
		end = end - off > len ? len : end - off;
		/* extend data to multiples of a kilobyte */
		zero = start == len ? len - at : (start - at) / KB * KB;
		if (end < len)
			end += (KB - (end - at) % KB) % KB;
		end = end > len ? len : end;
		if (add_bytes(m, addr + at, zero, NULL, 0) == -1 ||
		    add_bytes(m, addr + at + zero, end - at - zero, src,
		    off + at + zero) == -1)
			return -1;
	}
	return 0;
}

/*
 * Add up to len bytes at address addr to the image. They are at offset off of
 * the mapped file src. Pad the last page with zeros after the end of the file,
 * as mmap(2) does. Set *n to the number of bytes added.
 */
static int
add_file(struct memory *m, uint64_t addr, uint64_t len, struct source *src,
    uint64_t off, uint64_t *n)
{
	uint64_t size, page = m->r->page;

	size = (source_size(src) + (page - 1)) / page * page;
	*n = off >= size ? 0 : size - off < len ? size - off : len;
	return add_bytes(m, addr, *n, src, off);
}

/*
 * Add segment l to the image. Bytes that the core lacks are taken from the
 * mapped file, or recorded as missing.
 */
static int
add_segment(struct memory *m, const struct coreseg *l)
{
	struct corereader *r = m->r;
	const struct vma *v;
	struct source *src;
	uint64_t n, at;

	if (add_sparse(m, l->addr, l->there, l->off) == -1)
		return -1;
	at = l->there;
	if (at < l->claim) {
		if (image_miss(r->proc->mem, l->addr + at,
		    l->addr + l->claim, "truncated") == -1)
			return -1;
		at = l->claim;
	}
	v = vmas_find(&r->vma, l->addr);
	if (at < l->len && v != NULL &&
	    (src = core_mapped(r, v->name)) != NULL) {
		if (l->bare)
			core_perms(r, l, src, v->off + (l->addr - v->start));
		/* the process may have changed a writable mapping */
		n = 0;
		if (!(v->flags & VMA_WRITE) && add_file(m, l->addr + at,
		    l->len - at, src, v->off + (l->addr - v->start) + at,
		    &n) == -1)
			return -1;
		at += n;
	}
	return at == l->len ? 0 : image_miss(r->proc->mem, l->addr + at,
	    l->addr + l->len, "core");
}

/*
 * Add the tails in m->tail to the image.
 */
static int
add_tails(struct memory *m)
{
	struct segment *s;
	struct tail *t;
	size_t i;

	for (i = 0; i < m->ntail; i++) {
		t = &m->tail[i];
		if ((s = segment_new(t->addr, t->len)) == NULL)
			return -1;
		if (segment_append(s, 1, t->src, t->loc) == -1) {
			segment_free(s);
			return -1;
		}
		if (image_insert(m->r->proc->mem, s) == -1)
			return -1;
	}
	return 0;
}

/*
 * Build the memory image of the process of r. Return 0, or -1 with errstr set.
 */
int
core_memory(struct corereader *r)
{
	struct memory m = { .r = r };
	size_t i;
	int rc;

	if ((r->proc->mem = image_new(r->proc, IMAGE_MEM)) == NULL)
		return -1;
	m.b.image = r->proc->mem;
	for (rc = 0, i = 0; rc == 0 && i < r->core.nload; i++)
		rc = add_segment(&m, &r->core.load[i]);
	/* first, because a segment of the builder may have zeros there */
	if (rc == 0)
		rc = add_tails(&m);
	if (builder_finish(&m.b) == -1)
		rc = -1;
	free(m.tail);
	if (r->core.cutnotes)
		core_warn(r, "truncated within its notes: threads and mappings "
		    "may be missing");
	if (r->core.ncut > 0)
		core_warn(r, "truncated: %zu segments are incomplete",
		    r->core.ncut);
	return rc;
}
