/*
 * Which files of the processes that are taken are to be carried along: the
 * mapped ELF files, but for the executables, which are carried as texts; and,
 * as memory, what is to be had nowhere else: shared memory, and files that no
 * name leads to any more.
 */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A process has a file mapped or open; note it unless that is known.
 */
int
carry_note(struct live *l, const struct vma *v, struct source *src,
    const struct stat *st, bool mem)
{
	struct carry *c;
	size_t i;

	for (i = l->ncarry; i-- > 0;)
		if (l->carry[i].vma.dev == v->dev &&
		    l->carry[i].vma.ino == v->ino)
			return 0;
	if ((l->ncarry & (l->ncarry - 1)) == 0) {
		c = reallocarray(l->carry, l->ncarry == 0 ? 1 : l->ncarry * 2,
		    sizeof *c);
		if (c == NULL)
			return errstr_set("out of memory");
		l->carry = c;
	}
	c = &l->carry[l->ncarry];
	c->vma = *v;
	c->src = src;
	c->st = *st;
	c->mem = mem;
	if ((c->vma.name = strdup(v->name)) == NULL)
		return errstr_set("out of memory");
	l->ncarry++;
	return 0;
}

/*
 * Open a file of a process, by its name below /proc/PID, if it is a regular
 * one, without touching what is not, nor its times; or what was frozen of it.
 * *st is that of the file itself.  -1 if it cannot be had; out of descriptors
 * is the error *failed.
 */
int
file_open(struct live *l, const struct lproc *p, const char *name,
    struct stat *st, bool *failed)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	char path[PATH_MAX];
	struct statx sx;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", p->mmtid, name);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &sx) == -1)
		return errstr_sys("%s", path);
	if (!S_ISREG(sx.stx_mode))
		return errstr_set("%s: not a regular file", path);
	fd = open(path, flags | O_NOATIME);
	if (fd == -1 && errno == EPERM)	/* it is not ours: open(2) */
		fd = open(path, flags);
	if (fd == -1) {
		*failed = errno == EMFILE || errno == ENFILE;
		return errstr_sys("%s", path);
	}
	if (fstat(fd, st) == -1) {
		errstr_sys("%s", path);
		close(fd);
		return -1;
	}
	if ((fd = frozen_open(l, fd, st)) == -1) {
		*failed = true;
		return errstr_sys("%s", path);
	}
	return fd;
}

/*
 * Does the kernel say that no name leads to a file any more?  Others may: it
 * may have links.
 */
bool
path_isdeleted(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n;

	n = strlen(path);
	return n > sizeof deleted - 1 &&
	    strcmp(path + n - (sizeof deleted - 1), deleted) == 0;
}

bool
file_iself(int fd)
{
	char magic[4];

	return pread(fd, magic, 4, 0) == 4 &&
	    memcmp(magic, "\177ELF", 4) == 0;
}

/*
 * With clones, freeze a file that is to be carried along, and have *fd lead to
 * that.  Where it cannot be, the processes stay stopped until it was read.
 */
static int
carry_freeze(struct live *l, const char *path, int *fd, struct stat *st)
{
	if (frozen_copy(l, *fd, st) == -1) {
		live_say(l, "%s: %s: all stay stopped while they are written",
		    path, snap_errstr());
		l->opts.clone = false;
		return 0;
	}
	if ((*fd = frozen_open(l, *fd, st)) == -1)
		return errstr_sys("%s", path);
	return 0;
}

/*
 * Carry along a file that a process has open, by its name below /proc/PID;
 * v tells device, inode and path.
 */
int
carry_open(struct live *l, struct snap *s, const struct lproc *p,
    const struct vma *v, const char *name)
{
	struct source *src;
	struct stat st;
	bool failed, elf;
	size_t i;
	int fd;

	for (i = 0; i < l->ncarry; i++)
		if (l->carry[i].vma.dev == v->dev &&
		    l->carry[i].vma.ino == v->ino)
			return 0;
	if ((fd = file_open(l, p, name, &st, &failed)) == -1)
		return -1;
	elf = st.st_size > 0 && file_iself(fd);
	if (l->opts.clone && !elf &&
	    carry_freeze(l, v->name, &fd, &st) == -1)
		return -1;
	if ((src = source_file(s, fd, v->name, KB)) == NULL)
		return -1;
	return carry_note(l, v, src, &st, !elf);
}

void
carry_free(struct live *l)
{
	size_t i;

	for (i = 0; i < l->ncarry; i++)
		free(l->carry[i].vma.name);
	free(l->carry);
	l->carry = NULL;
	l->ncarry = 0;
}
