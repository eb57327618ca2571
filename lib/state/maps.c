/*
 * Mappings, from the text of /proc/PID/maps or smaps (proc_pid_maps(5),
 * proc_pid_smaps(5)), of a live process or as a snapshot keeps it.
 */
#include "bisect.h"
#include "snap.h"
#include "space.h"
#include "state.h"

#include <sys/sysmacros.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPINGS_MOST = 1 << 21 };	/* of one process */

/*
 * The VmFlags that tell more than the permissions do.
 */
static unsigned int
vmflags(const char *s)
{
	unsigned int flags;

	flags = 0;
	if (strstr(s, " io") != NULL || strstr(s, " pf") != NULL)
		flags |= VMA_DEVICE;
	if (strstr(s, " gd") != NULL)
		flags |= VMA_GROWSDOWN;
	if (strstr(s, " um") != NULL || strstr(s, " uw") != NULL ||
	    strstr(s, " ui") != NULL)
		flags |= VMA_UFFD;
	if (strstr(s, " dd") != NULL)
		flags |= VMA_DONTDUMP;
	return flags;
}


/*
 * A line of maps: START-END PERMS OFFSET MAJOR:MINOR INODE NAME.
 */
static int
vma_parse(const char *line, struct vma *v)
{
	unsigned long long start, end, off, ino;
	unsigned int maj, min;
	char perm[5];
	int name;

	name = 0;
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &start, &end, perm,
	    &off, &maj, &min, &ino, &name) != 7 || start >= end)
		return errstr_set("maps: cannot read \"%s\"", line);
	memset(v, 0, sizeof *v);
	v->start = start;
	v->end = end;
	v->off = off;
	v->ino = ino;
	v->dev = makedev(maj, min);
	v->flags = (perm[0] == 'r' ? VMA_READ : 0U) |
	    (perm[1] == 'w' ? VMA_WRITE : 0U) |
	    (perm[2] == 'x' ? VMA_EXEC : 0U) |
	    (perm[3] == 's' ? VMA_SHARED : 0U);
	for (line += name; *line == ' '; line++)
		continue;
	v->name = strdup(line);
	return v->name == NULL ? errstr_set("out of memory") : 0;
}

/*
 * Add a mapping, which is copied; its name is taken over when this
 * succeeds.
 */
int
vmas_add(struct vmas *l, const struct vma *v)
{
	struct vma *p;

	if ((l->n & (l->n - 1)) == 0) {
		p = reallocarray(l->v, l->n == 0 ? 1 : l->n * 2, sizeof *p);
		if (p == NULL)
			return errstr_set("out of memory");
		l->v = p;
	}
	l->v[l->n++] = *v;
	return 0;
}

/*
 * Add the mappings that a text of maps or smaps lists, len bytes of it.
 * What is no line of either is an error; lines of smaps that tell nothing
 * of use are passed over, as is a last line without an end.
 */
int
vmas_parse(struct vmas *l, const void *text, size_t len)
{
	const char *s, *end, *nl;
	struct vma v;
	char *line;
	int rc;

	s = text;
	for (rc = 0, end = s + len; s < end && rc == 0; s = nl + 1) {
		if ((nl = memchr(s, '\n', (size_t)(end - s))) == NULL)
			break;
		if ((line = strndup(s, (size_t)(nl - s))) == NULL)
			return errstr_set("out of memory");
		if ((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f')) {
			rc = l->n >= MAPPINGS_MOST ? errstr_set("maps: more "
			    "than %d mappings", MAPPINGS_MOST) :
			    vma_parse(line, &v);
			if (rc == 0 && (rc = vmas_add(l, &v)) == -1)
				free(v.name);
		} else if (strncmp(s, "VmFlags:", 8) == 0 && l->n > 0)
			l->v[l->n - 1].flags |= vmflags(line + 8);
		free(line);
	}
	return rc;
}

/*
 * The permissions of a mapping as maps shows them: "rwxp", or "s" at the
 * end.
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

static int
vma_cmp(const void *a, const void *b)
{
	const struct vma *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * Bring mappings into the order of their addresses; two that overlap are an
 * error.
 */
int
vmas_sort(struct vmas *l)
{
	size_t i;

	if (l->n > 1)
		qsort(l->v, l->n, sizeof *l->v, vma_cmp);
	for (i = 1; i < l->n; i++)
		if (l->v[i].start < l->v[i - 1].end)
			return errstr_set("maps: the mapping at %jx overlaps "
			    "the one at %jx", (uintmax_t)l->v[i].start,
			    (uintmax_t)l->v[i - 1].start);
	return 0;
}

/*
 * The mapping in which an address lies, of sorted ones, or else the first
 * behind it; NULL where there is none.
 */
const struct vma *
vmas_next(const struct vmas *l, uint64_t addr)
{
	size_t i;

	i = BISECT(l->v, l->n, end, addr);
	return i < l->n ? &l->v[i] : NULL;
}

/*
 * The mapping in which an address lies, of sorted ones; or NULL.
 */
const struct vma *
vmas_find(const struct vmas *l, uint64_t addr)
{
	const struct vma *v;

	v = vmas_next(l, addr);
	return v != NULL && v->start <= addr ? v : NULL;
}

void
vmas_free(struct vmas *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	memset(l, 0, sizeof *l);
}
