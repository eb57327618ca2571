/*
 * What of a mapping can be read: what was captured, and what is zeros because
 * nobody has touched it.
 */
#include "bisect.h"
#include "tree.h"

#include <string.h>

/*
 * Return whether pages of a mapping are zeros until they are touched.  Of a
 * file's, what was not captured is not known.
 */
static bool
vma_anonymous(const struct member *m, const struct vma *v)
{
	static const char *const shared[] = { "/dev/zero", "/memfd:", "/SYSV",
	    "/dev/shm/" };
	size_t i;

	if (!m->linux)
		return false;
	if (v->ino == 0)
		return (v->flags & VMA_DEVICE) == 0;
	for (i = 0; i < sizeof shared / sizeof *shared; i++)
		if (strncmp(v->name, shared[i], strlen(shared[i])) == 0)
			return true;
	return false;
}

/*
 * Return true if the byte of the memory of m at addr is missing; *end is where
 * that changes, at most the end it has already.  Guard pages are not missing:
 * they hold nothing (MADV_GUARD_INSTALL), and are zeros in cores of the kernel.
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
 * Return how many bytes of mapping v of m, from address addr below end, are
 * zeros because nobody has touched them.
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
 * Return whether anything of mapping i of member m, which has its maps, can be
 * read.
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
