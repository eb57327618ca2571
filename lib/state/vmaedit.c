/*
 * Edit lists of mappings as mmap(2), munmap(2), mprotect(2) and mremap(2) do.
 * The lists are sorted, and stay so.
 */
#include "state.h"
#include "vec.h"

/*
 * Return the index of the first mapping of l that ends after addr.
 */
static size_t
vma_index(const struct vmas *l, uint64_t addr)
{
	const struct vma *v;

	v = vmas_next(l, addr);
	return v == NULL ? l->n : (size_t)(v - l->v);
}

/*
 * Insert a copy of v, which must not overlap another mapping, into l in the
 * order of addresses.
 */
static int
vma_insert(struct vmas *l, const struct vma *v)
{
	struct vma new = *v;
	size_t i;

	i = vma_index(l, v->start);
	if ((new.name = str_dup(v->name)) == NULL || vmas_add(l, &new) == -1)
		return -1;
	memmove(l->v + i + 1, l->v + i, (l->n - 1 - i) * sizeof *l->v);
	l->v[i] = new;
	return 0;
}

/*
 * Split the mapping that contains both addr and the byte before it, if there is
 * one.
 */
static int
vma_split(struct vmas *l, uint64_t addr)
{
	struct vma rest;
	size_t i;

	i = vma_index(l, addr);
	if (i == l->n || l->v[i].start >= addr)
		return 0;
	rest = l->v[i];
	rest.start = addr;
	if (rest.dev != 0 || rest.ino != 0)
		rest.off += addr - l->v[i].start;
	l->v[i].end = addr;
	return vma_insert(l, &rest);
}

/*
 * Unmap the addresses from start to end (exclusive) in l. Return 0, or -1 with
 * errstr set.
 */
int
vmas_unmap(struct vmas *l, uint64_t start, uint64_t end)
{
	size_t i, j, k;

	if (start >= end)
		return 0;
	if (vma_split(l, start) == -1 || vma_split(l, end) == -1)
		return -1;
	for (i = j = vma_index(l, start); j < l->n && l->v[j].end <= end; j++)
		continue;
	for (k = i; k < j; k++)
		free(l->v[k].name);
	if (j > i)
		memmove(l->v + i, l->v + j, (l->n - j) * sizeof *l->v);
	l->n -= j - i;
	return 0;
}

/*
 * Insert a copy of mapping v into l, replacing whatever is mapped in its range.
 * Return 0, or -1 with errstr set.
 */
int
vmas_map(struct vmas *l, const struct vma *v)
{
	if (v->start >= v->end)
		return 0;
	return vmas_unmap(l, v->start, v->end) == -1 ? -1 : vma_insert(l, v);
}

/*
 * Set the permissions of the addresses from start to end (exclusive) in l to
 * prot. prot has the bits VMA_READ, VMA_WRITE and VMA_EXEC. Return 0, or -1
 * with errstr set.
 */
int
vmas_protect(struct vmas *l, uint64_t start, uint64_t end, unsigned int prot)
{
	const unsigned int all = VMA_READ | VMA_WRITE | VMA_EXEC;
	size_t i;

	if (start >= end)
		return 0;
	if (vma_split(l, start) == -1 || vma_split(l, end) == -1)
		return -1;
	for (i = vma_index(l, start); i < l->n && l->v[i].end <= end; i++)
		l->v[i].flags = (l->v[i].flags & ~all) | prot;
	return 0;
}

/*
 * Move the len bytes mapped at start in l to address dest. Their length becomes
 * newlen. Return 0, or -1 with errstr set.
 */
int
vmas_move(struct vmas *l, uint64_t start, uint64_t len, uint64_t dest,
    uint64_t newlen)
{
	const struct vma *v;
	struct vma new;
	int rc;

	if ((v = vmas_find(l, start)) == NULL)
		return 0;
	new = *v;
	if (new.dev != 0 || new.ino != 0)
		new.off += start - v->start;
	new.start = dest;
	if (__builtin_add_overflow(dest, newlen, &new.end) ||
	    __builtin_add_overflow(start, len, &len))
		return 0;
	if ((new.name = str_dup(v->name)) == NULL)
		return -1;
	rc = vmas_unmap(l, start, len);
	if (rc == 0)
		rc = vmas_map(l, &new);
	free(new.name);
	return rc;
}

/*
 * Append copies of the mappings of l to copy, which is empty. The caller must
 * free copy, even on failure. Return 0, or -1 with errstr set.
 */
int
vmas_copy(struct vmas *copy, const struct vmas *l)
{
	struct vma v;
	size_t i;

	for (i = 0; i < l->n; i++) {
		v = l->v[i];
		if ((v.name = str_dup(v.name)) == NULL ||
		    vmas_add(copy, &v) == -1)
			return -1;
	}
	return 0;
}
