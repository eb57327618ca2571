/*
 * Lists of mappings, from the text of /proc/PID/maps or smaps
 * (proc_pid_maps(5), proc_pid_smaps(5)), live or in a snapshot.
 */
#include "bisect.h"
#include "state.h"
#include "vec.h"

#include <sys/mman.h>

/*
 * Append mapping v to list l, and take ownership of its name, even on failure.
 * Return 0, or -1 with errstr set.
 */
int
vmas_add(struct vmas *l, const struct vma *v)
{
	if (VEC_ADD(l->v, l->n, *v) == 0)
		return 0;
	free(v->name);
	return -1;
}

/*
 * Append to list l the mapping that was parsed as m. Return 0, or -1 with
 * errstr set.
 */
int
vmas_addsmap(struct vmas *l, const struct smap *m)
{
	struct vma v = m->vma;

	if (l->n >= MAX_MAPPINGS)
		return errstr_set("maps: more than %d mappings",
		    MAX_MAPPINGS);
	v.name = mem_dup(m->name.s, scan_len(&m->name));
	return v.name == NULL ? -1 : vmas_add(l, &v);
}

/*
 * Append to list l the mappings in text, len bytes of a maps or smaps file.
 * Return 0, or -1 with errstr set.
 */
int
vmas_parse(struct vmas *l, const void *text, size_t len)
{
	struct scan t = scan_begin(text, len);
	struct smap m;
	int rc;

	while ((rc = smap_next(&t, &m)) == 1)
		if (vmas_addsmap(l, &m) == -1)
			return -1;
	return rc;
}

/*
 * Return true if the text of maps has the same mappings as l, which came from
 * smaps.
 */
bool
vmas_match(const struct bytes *maps, const struct vmas *l)
{
	struct scan t = scan_begin(maps->data, maps->len);
	const struct vma *v;
	struct smap m;
	size_t i, len;

	for (i = 0; i < l->n && smap_next(&t, &m) == 1; i++) {
		v = &l->v[i];
		len = (size_t)(m.name.end - m.name.s);
		if (!vma_stayed(v, &m.vma) || strlen(v->name) != len ||
		    memcmp(v->name, m.name.s, len) != 0)
			return false;
	}
	return i == l->n && smap_next(&t, &m) == 0;
}

/*
 * Copy the flags of the mappings in *was to the mappings in *now. *was is from
 * smaps, read a moment earlier; *now is from maps. In between, stacks may have
 * grown and mappings may have gone. smaps_refit() does the same for the texts.
 * Return 1 on success. Return 0 if a mapping in *now was created, merged, split
 * or replaced, so that its flags are unknown.
 */
int
vmas_refit(struct vmas *now, const struct vmas *was)
{
	size_t i, k;

	for (i = k = 0; i < now->n; i++) {
		while (k < was->n && was->v[k].end <= now->v[i].start)
			k++;
		if (k == was->n || !vma_became(&was->v[k], &now->v[i]) ||
		    strcmp(was->v[k].name, now->v[i].name) != 0)
			return 0;
		now->v[i].flags = was->v[k++].flags;
		if (k < was->n && was->v[k].start < now->v[i].end)
			return 0;
	}
	return 1;
}

/*
 * Return the flags (enum vma_flag) of a mapping with these arguments prot and
 * flags of mmap(2).
 */
unsigned int
vma_flags(uint64_t prot, uint64_t flags)
{
	return (prot & PROT_READ ? VMA_READ : 0U) |
	    (prot & PROT_WRITE ? VMA_WRITE : 0U) |
	    (prot & PROT_EXEC ? VMA_EXEC : 0U) |
	    (flags & MAP_SHARED ? VMA_SHARED : 0U) |
	    (flags & MAP_GROWSDOWN ? VMA_GROWSDOWN : 0U);
}

/*
 * Set perm to the permissions of mapping v as in maps: "rwxp", or "rwxs" if it
 * is shared.
 */
void
vma_perms(const struct vma *v, char perm[5])
{
	perm[0] = v->flags & VMA_READ ? 'r' : '-';
	perm[1] = v->flags & VMA_WRITE ? 'w' : '-';
	perm[2] = v->flags & VMA_EXEC ? 'x' : '-';
	perm[3] = v->flags & VMA_SHARED ? 's' : 'p';
	perm[4] = '\0';
}

CMP(vma_cmp, struct vma, start)

/*
 * Sort the mappings of l by address. Overlaps are an error. Return 0, or -1
 * with errstr set.
 */
int
vmas_sort(struct vmas *l)
{
	size_t i;

	SORT(l->v, l->n, vma_cmp);
	for (i = 1; i < l->n; i++)
		if (l->v[i].start < l->v[i - 1].end)
			return errstr_set("maps: the mapping at %jx overlaps "
			    "the one at %jx", (uintmax_t)l->v[i].start,
			    (uintmax_t)l->v[i - 1].start);
	return 0;
}

/*
 * Return the mapping of l that contains addr. If there is none, return the
 * first one after addr, or NULL. l must be sorted.
 */
const struct vma *
vmas_next(const struct vmas *l, uint64_t addr)
{
	size_t i;

	i = BISECT(l->v, l->n, end, addr);
	return i < l->n ? &l->v[i] : NULL;
}

/*
 * Return the mapping of l, which is sorted, that contains addr, or NULL if
 * there is none.
 */
const struct vma *
vmas_find(const struct vmas *l, uint64_t addr)
{
	const struct vma *v;

	v = vmas_next(l, addr);
	return v != NULL && v->start <= addr ? v : NULL;
}

/*
 * Return true if mapping v is executable memory without a file, such as code
 * that a JIT compiler generated.
 */
bool
vma_ismade(const struct vma *v)
{
	static const char *const memory[] = { "[anon", "[heap]", "/memfd:",
	    "/dev/zero", "/SYSV" };

	return v->flags & VMA_EXEC && (*v->name == '\0' || SEEK_IN(memory,
	    strncmp(v->name, *x, strlen(*x)) == 0) != NULL);
}

/*
 * Return true if v is private anonymous memory that only its process changes.
 */
bool
vma_isprivate(const struct vma *v)
{
	return v->ino == 0 && v->dev == 0 && !(v->flags & VMA_SHARED) &&
	    !vma_isring(v) && strncmp(v->name, "[v", 2) != 0;
}

/*
 * Return true if mapping v is a ring of io_setup(2). The kernel and the process
 * share this memory. Its pages may be missing from the page table.
 */
bool
vma_isring(const struct vma *v)
{
	return strcmp(v->name, "/[aio] (deleted)") == 0 ||
	    strcmp(v->name, "/[aio]") == 0;
}

/*
 * Free the mappings of l, and leave l empty.
 */
void
vmas_free(struct vmas *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	memset(l, 0, sizeof *l);
}
