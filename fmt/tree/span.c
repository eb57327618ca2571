/*
 * Find data, holes and unmapped ranges in a memory or text image.
 *
 * A snapshot may have zeros between two mappings, where continuing a segment
 * was cheaper than beginning a new one (man6/snap.6, OUTPUT OF SNAP). These
 * zeros do not count as memory.
 */
#include "bisect.h"
#include "tree.h"

/*
 * Return the number of bytes from address addr on, at most len, that the
 * process of m had mapped without a gap. Return len if its mappings are not
 * known.
 */
size_t
member_mapped(const struct member *m, uint64_t addr, size_t len)
{
	const struct vma *v, *end;
	uint64_t to;

	if (!m->linux)
		return len;
	if ((v = vmas_find(&m->vmas, addr)) == NULL)
		return 0;
	end = m->vmas.v + m->vmas.n;
	for (to = v->end; to - addr < len && ++v < end && v->start == to;)
		to = v->end;
	return to - addr < len ? (size_t)(to - addr) : len;
}

/*
 * Set *sp to the span of image im that begins at address addr. In a span,
 * either all addresses have data, or none has. If im is the memory of a
 * process, m is that process. If im is a text, m is NULL.
 */
static void
span_at(const struct member *m, struct image *im, uint64_t addr,
    struct span *sp)
{
	const struct vma *v;

	v = NULL;
	if (m != NULL && m->linux) {
		v = vmas_next(&m->vmas, addr);
		if (v == NULL || v->start > addr) {
			sp->last = v == NULL ? UINT64_MAX : v->start - 1;
			sp->mapped = sp->data = false;
			return;
		}
	}
	image_holes(im, addr, v == NULL ? UINT64_MAX : v->end - 1, sp);
	if (v != NULL && sp->last >= v->end)
		sp->last = v->end - 1;
}

/*
 * Search im from address first to address last (inclusive) for addresses that
 * have data or, if data is false, for addresses that have none. Set *found to
 * the lowest of them. Return false if there is none. If im is the memory of a
 * process, m is that process. If im is a text, m is NULL.
 */
bool
span_seek(const struct member *m, struct image *im, uint64_t first,
    uint64_t last, bool data, uint64_t *found)
{
	struct span sp;

	for (;; first = sp.last + 1) {
		span_at(m, im, first, &sp);
		if (sp.data == data) {
			*found = first;
			return true;
		}
		if (sp.last >= last)
			return false;
	}
}

/*
 * Return true if untouched pages of mapping v are zero. Return false for a
 * mapped file, whose uncaptured pages are unknown.
 */
static bool
vma_anonymous(const struct member *m, const struct vma *v)
{
	static const char *const shared[] = { "/dev/zero", "/memfd:", "/SYSV",
	    "/dev/shm/" };

	if (!m->linux)
		return false;
	if (v->ino == 0)
		return (v->flags & VMA_DEVICE) == 0;
	return SEEK_IN(shared, strncmp(v->name, *x, strlen(*x)) == 0) != NULL;
}

/*
 * Return true if the byte at address addr of the memory of m is missing. Lower
 * *end to the address up to which the answer is the same. Guard pages do not
 * count as missing: they hold nothing (MADV_GUARD_INSTALL), and are zeros in
 * the kernel's cores.
 */
static bool
is_missing(const struct member *m, uint64_t addr, uint64_t *end)
{
	const struct image *mem = m->proc->mem;
	const struct missing *r;
	uint64_t to;
	size_t i;

	i = mem == NULL ? 0 : BISECT(mem->missing, mem->nmissing, end, addr);
	if (mem == NULL || i == mem->nmissing)
		return false;
	r = &mem->missing[i];
	to = r->start <= addr ? r->end : r->start;
	if (to < *end)
		*end = to;
	return r->start <= addr && strcmp(r->reason, "guard") != 0;
}

/*
 * Return the number of bytes of mapping v of m, from addr up to end, that are
 * zero because they were never touched.
 */
uint64_t
member_untouched(const struct member *m, const struct vma *v, uint64_t addr,
    uint64_t end)
{
	struct piece *p;

	if (!vma_anonymous(m, v) || is_missing(m, addr, &end))
		return 0;
	p = image_next(m->proc->mem, addr);
	if (p != NULL && p->first < end)
		end = p->first;
	return end > addr ? end - addr : 0;
}

/*
 * Return true if any byte of mapping number i of member m can be read. m must
 * have PART_MAPS.
 */
bool
member_hasmap(const struct member *m, size_t i)
{
	const struct vma *v = &m->vmas.v[i];
	struct image *mem = m->proc->mem;
	struct piece *p;
	uint64_t at, end;

	for (at = v->start; mem != NULL && at < v->end; at = end) {
		end = v->end;
		if (is_missing(m, at, &end))
			continue;
		if (vma_anonymous(m, v) ||
		    ((p = image_next(mem, at)) != NULL && p->first < end))
			return true;
	}
	return false;
}
