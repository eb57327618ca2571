/*
 * Which files are to be taken that a process has mapped: ELF files, so that
 * a snapshot can be debugged where they do not exist; files that have no name
 * any more, and shared memory; all with datafiles.
 */
#include "live.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Open what was frozen of the file of a mapping that a clone lacks.
 */
static int
vma_openfrozen(struct live *l, const struct vma *v, struct stat *st,
    bool *failed)
{
	int fd;

	memset(st, 0, sizeof *st);
	st->st_dev = v->dev;
	st->st_ino = v->ino;
	if (!frozen_has(l, st))
		return -1;
	if ((fd = frozen_open(l, -1, st)) == -1)
		*failed = true;
	return fd == -1 ? errstr_sys("%s", v->name) : fd;
}

/*
 * Open the file of a mapping: what the kernel has mapped, or what lies
 * under its name as the process sees it and is the same file.
 */
static int
vma_open(struct live *l, const struct lproc *p, const struct vma *v,
    struct stat *st, bool *failed)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof name, "map_files/%jx-%jx", (uintmax_t)v->start,
	    (uintmax_t)v->end);
	if ((fd = file_open(l, p, name, st, failed)) != -1 || *failed ||
	    v->name[0] != '/')
		return fd;
	snprintf(name, sizeof name, "root%s", v->name);
	if ((fd = file_open(l, p, name, st, failed)) != -1 &&
	    st->st_dev == v->dev && st->st_ino == v->ino)
		return fd;
	if (fd != -1)
		close(fd);
	return *failed ? -1 : vma_openfrozen(l, v, st, failed);
}

/*
 * Is the file of a mapping one that is to be had nowhere else?
 */
bool
file_isonly(const struct vma *v, const struct stat *st)
{
	return st->st_nlink == 0 || path_isdeleted(v->name);
}

/*
 * How to take a mapping of a file, which is opened: *fd is -1 if it cannot
 * be.  *st is set if it can.
 */
enum treatment
vma_file(struct live *l, const struct lproc *p, const struct vma *v, int *fd,
    struct stat *st)
{
	struct statfs fs;
	bool failed, frozen;

	failed = false;
	if ((*fd = vma_open(l, p, v, st, &failed)) == -1)
		return failed ? TAKE_FAILED : TAKE_PRESENT;
	if (fstatfs(*fd, &fs) == -1)
		fs.f_type = 0;
	frozen = frozen_has(l, st);
	if (fs.f_type == HUGETLBFS_MAGIC)
		return TAKE_MEMORY;
	if (file_iself(*fd))
		return TAKE_FILE;
	if (l->opts.datafiles || file_isonly(v, st) ||
	    (v->flags & VMA_SHARED && (frozen || fs.f_type == TMPFS_MAGIC)))
		return TAKE_DATA;
	return LEAVE_FILE;
}
