/*
 * Mappings, from the text of /proc/PID/smaps or maps (proc_pid_smaps(5)).
 */
#include "live.h"

#include <sys/sysmacros.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return flags;
}

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
		return -1;
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
	return v->name == NULL ? -1 : 0;
}

static int
vma_add(struct task *t, const char *line)
{
	struct vma *v;

	if ((t->nvma & (t->nvma - 1)) == 0) {
		v = reallocarray(t->vma, t->nvma == 0 ? 1 : t->nvma * 2,
		    sizeof *v);
		if (v == NULL)
			return errstr_set("out of memory");
		t->vma = v;
	}
	if (vma_parse(line, &t->vma[t->nvma]) == -1)
		return errstr_set("maps: cannot read \"%s\"", line);
	t->nvma++;
	return 0;
}

/*
 * Take the mappings of a process from its smaps or maps.
 */
int
smaps_parse(const struct bytes *b, struct task *t)
{
	const char *s, *end, *nl;
	char *line;
	int rc;

	s = (const char *)b->data;
	for (rc = 0, end = s + b->len; s < end && rc == 0; s = nl + 1) {
		if ((nl = memchr(s, '\n', (size_t)(end - s))) == NULL)
			break;
		if ((line = strndup(s, (size_t)(nl - s))) == NULL)
			return errstr_set("out of memory");
		if ((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'))
			rc = vma_add(t, line);
		else if (strncmp(s, "VmFlags:", 8) == 0 && t->nvma > 0)
			t->vma[t->nvma - 1].flags |= vmflags(line + 8);
		free(line);
	}
	return rc;
}
