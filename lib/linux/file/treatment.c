/*
 * Choose how to take the pages of mapped files. ELF files are taken, so that
 * the snapshot can be debugged where they do not exist; also unlinked files and
 * shared memory, every file if option datafiles is set, and files that the
 * process selected for core dumps (core(5)).
 */
#include "file.h"

#include <linux/magic.h>

#include <fcntl.h>

/*
 * Open as f the copy, made during the stop, of the file of mapping v. The copy
 * is needed if the clone, which is read in place of the process, does not have
 * the file mapped. Return 0, or -1. If there is a copy but it cannot be opened,
 * set *failed and errstr.
 */
static int
vma_openshmcopy(struct live *l, const struct lproc *p, const struct vma *v,
    struct targetfile *f, bool *failed)
{
	memset(f, 0, sizeof *f);
	f->fd = -1;
	f->st.st_dev = v->dev;
	f->st.st_ino = v->ino;
	if (!shmcopy_has(l, p, &f->st))
		return -1;
	if ((f->fd = shmcopy_open(l, p, -1, &f->st)) == -1) {
		*failed = true;
		return errstr_sys("%s", v->name);
	}
	file_lookelf(f);
	return 0;
}

/*
 * Open as f the file of mapping v of process p. Try the mapped file itself,
 * through map_files. Then try its path as p sees it, if that leads to the same
 * file. Then try a copy made during the stop. Return 0, or -1. Set *failed if
 * descriptors ran out, or if the copy could not be opened.
 */
static int
vma_open(struct live *l, const struct lproc *p, const struct vma *v,
    struct targetfile *f, bool *failed)
{
	char name[PATH_MAX];

	snprintf(name, sizeof name, "map_files/%jx-%jx", (uintmax_t)v->start,
	    (uintmax_t)v->end);
	if (file_open(l, p, name, f, failed) == 0)
		return 0;
	if (*failed || v->name[0] != '/')
		return -1;
	snprintf(name, sizeof name, "root%s", v->name);
	if (file_open(l, p, name, f, failed) == 0 &&
	    f->st.st_dev == v->dev && f->st.st_ino == v->ino)
		return 0;
	file_close(f);
	return *failed ? -1 : vma_openshmcopy(l, p, v, f, failed);
}

/*
 * Return true if the file of mapping v, described by st, was unlinked and so
 * cannot be opened by name.
 */
bool
file_isunlinked(const struct vma *v, const struct stat *st)
{
	return st->st_nlink == 0 || path_isdeleted(v->name);
}

/*
 * Return how many bytes of an ELF file to save: at most ELF_HEAD if
 * l->opts.heads is set and the file still has a name, otherwise all. name is
 * the path of the file, or NULL if it is not known. st has its attributes.
 */
uint64_t
treatment_length(const struct live *l, const char *name, const struct stat *st)
{
	return l->opts.heads && name != NULL && !path_isdeleted(name) &&
	    st->st_nlink > 0 && st->st_size > ELF_HEAD ? ELF_HEAD :
	    (uint64_t)st->st_size;
}

/*
 * Return true if the kernel would include the unmodified pages of mapping v in
 * a core of process p. fd is the file of v. The coredump_filter of p decides:
 * it has one bit each for private and shared mappings, and two more for DAX
 * files (core(5)). Return false for a file that the process may write to after
 * it resumes.
 */
static bool
file_isdumped(const struct live *l, const struct lproc *p,
    const struct vma *v, int fd)
{
	enum { PRIVATE = 1 << 2, SHARED = 1 << 3, DAX = 5 };
	enum { ATTR_DAX = 0x200000 };	/* STATX_ATTR_DAX of linux/stat.h */
	struct statx sx;
	unsigned int bit;

	bit = v->flags & VMA_SHARED ? SHARED : PRIVATE;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &sx) == 0 &&
	    sx.stx_attributes & ATTR_DAX)
		bit <<= DAX;
	if (l->opts.clone && v->flags & VMA_SHARED && v->flags & VMA_WRITE)
		return false;
	return (p->dumped & bit) != 0 && !(v->flags & VMA_DONTDUMP);
}

/*
 * Decide how to capture the file mapping v of process p in capture l, and open
 * its file as f. f->fd is -1 if the file cannot be opened. Return the
 * treatment.
 */
enum treatment
treatment_choose(struct live *l, const struct lproc *p, const struct vma *v,
    struct targetfile *f)
{
	static const char huge[] = "/anon_hugepage";	/* MAP_HUGETLB */
	bool failed, shmcopy;

	failed = false;
	if (vma_open(l, p, v, f, &failed) == -1)
		return failed ? TAKE_FAILED : !(v->flags & VMA_SHARED) &&
		    strncmp(v->name, huge, strlen(huge)) == 0 ? TAKE_MEMORY :
		    TAKE_PRESENT;
	if (f->unread != 0 && v->off == 0)	/* warn only once per file */
		live_warn(l, "process %d: cannot read %s: %s; only resident "
		    "pages are saved", p->pid, v->name, strerror(f->unread));
	shmcopy = shmcopy_has(l, p, &f->st);
	/* a clone shares pages with the file, but has no private ones of its
	   own */
	if (f->type == (long)HUGETLBFS_MAGIC)
		return v->flags & VMA_SHARED && file_isunlinked(v, &f->st) ?
		    TAKE_DATA : TAKE_MEMORY;
	if (f->elf)
		return TAKE_FILE;
	if (l->opts.datafiles || file_isunlinked(v, &f->st) ||
	    (v->flags & VMA_SHARED && (shmcopy || f->type == TMPFS_MAGIC)))
		return TAKE_DATA;
	if (!f->far && file_isdumped(l, p, v, f->fd))
		return TAKE_DUMPED;
	return LEAVE_FILE;
}
