/*
 * Which file systems another process or another machine serves: what is asked
 * of those may never be answered.
 *
 * A file system is known by the number of its device, which no other has as
 * long as something of it is mapped or open.  To ask a file system for its
 * type (statfs(2)) asks the server; the kernel tells it in mountinfo of a
 * process that sees it mounted.  Of whom nothing is known, it must be assumed
 * that it is served.
 */
#include "file.h"
#include "io/io.h"
#include "linux/proc/proc.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <linux/magic.h>

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MFD_HUGE(bits)	(MFD_HUGETLB | (bits) << 26)	/* memfd_create(2) */
#define ZFS_MAGIC	0x2fc12fc1
#define BCACHEFS_MAGIC	0xca451a4e

#define NITEMS(v)	(sizeof(v) / sizeof *(v))

/* trees of tsearch(3), of numbers */
static void *local;		/* devices */
static void *mounts;		/* of these */
static void *asked;		/* processes */

static int
number_cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool
numbers_have(void *const *set, uint64_t n)
{
	return tfind(&n, set, number_cmp) != NULL;
}

static void
numbers_add(void **set, uint64_t n)
{
	uint64_t *v;

	if (!numbers_have(set, n) && (v = mem_dup(&n, sizeof n)) != NULL &&
	    tsearch(v, set, number_cmp) == NULL)
		free(v);
}

/*
 * Return true if the type of mount m is one of n.
 */
static bool
type_isof(const struct mountinfo *m, const char *const *type, size_t n)
{
	size_t i;

	for (i = 0; i < n && !scan_is(&m->type, type[i]);)
		i++;
	return i < n;
}

/*
 * Return true if this machine's kernel alone serves the file system: another
 * server may be stopped by us, or be gone.
 */
static bool
mount_islocal(const struct mountinfo *m)
{
	static const char *const local_types[] = {
		"bcachefs", "btrfs", "devtmpfs", "hugetlbfs", "overlay",
		"ramfs", "rootfs", "tmpfs", "ubifs", "zfs"
	};

	return type_isof(m, local_types, NITEMS(local_types)) ||
	    (major(m->dev) != 0 && (m->type.end - m->type.s < 4 ||
	    memcmp(m->type.s, "fuse", 4) != 0));
}

/*
 * Return true if no server is asked for anything on the way along a path, by
 * mounts, a text of mountinfo.  On directories that the kernel itself makes,
 * others may be mounted.
 */
bool
served_notway(const struct bytes *text, const char *path)
{
	static const char *const kernels[] = { "cgroup", "cgroup2", "proc",
	    "securityfs", "sysfs" };
	struct scan t = scan_begin(text->data, text->len);
	struct mountinfo m;
	size_t n;

	while (mountinfo_next(&t, &m)) {
		n = 0;
		while (m.point.s + n < m.point.end && m.point.s[n] != '\\')
			n++;
		if (!mount_islocal(&m) && !type_isof(&m, kernels,
		    NITEMS(kernels)) && strncmp(path, m.point.s, n) == 0)
			return false;
	}
	return text->len > 0;
}

/*
 * Add what a process has mounted, if it is local, unless that was done; ours:
 * it is not one that is taken.  Of layers that only a target sees, no one knows
 * where they lie.
 */
static void
local_addpid(pid_t pid, bool ours)
{
	struct mountinfo m;
	struct bytes text;
	struct scan t;

	if (numbers_have(&asked, (uint64_t)pid))
		return;
	numbers_add(&asked, (uint64_t)pid);
	if (proc_read(pid, 0, "mountinfo", &text) == -1)
		return;
	for (t = scan_begin(text.data, text.len); mountinfo_next(&t, &m);) {
		if (!mount_islocal(&m) || (scan_is(&m.type, "overlay") &&
		    !ours && !numbers_have(&local, m.dev)))
			continue;
		numbers_add(&local, m.dev);
		numbers_add(&mounts, m.id);
	}
	free(text.data);
}

/*
 * Add the file systems that are mounted nowhere: those of shared memory and of
 * memfd_create(2), with small pages and with huge ones.
 */
static void
local_addmemory(void)
{
	static const unsigned int kinds[] = { 0, MFD_HUGE(21U), MFD_HUGE(30U),
	    MFD_HUGETLB };
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		fd = spool_memory("snap", kinds[i]);
		if (fd != -1 && fstat(fd, &st) == 0)
			numbers_add(&local, st.st_dev);
		fd_drop(fd);
	}
}

/*
 * Return true if a number is in a set, by what is known or by what is mounted
 * for a process that has something of it mapped or open.
 */
static bool
local_ask(void *const *set, pid_t pid, uint64_t n)
{
	if (asked == NULL) {
		local_addmemory();
		local_addpid(getpid(), true);
		local_addpid(1, true);
	}
	if (!numbers_have(set, n))
		local_addpid(pid, false);
	return numbers_have(set, n);
}

/*
 * Return true if no one but the kernel of this machine is asked for what lies
 * on the device dev, of which process pid has something mapped or open.
 */
bool
served_not(pid_t pid, uint64_t dev)
{
	return local_ask(&local, pid, dev);
}

/*
 * Return the same as served_not of the mount with number id that process pid is
 * shown.  The device that files tell may be another than that of their file
 * system, of layers for example.
 */
bool
served_notmount(pid_t pid, uint64_t id)
{
	return local_ask(&mounts, pid, id);
}

/*
 * Return true if a type of file system, which statfs(2) told of a file that
 * was opened, is one of this machine's kernel alone; then the device dev is
 * known as such.
 */
bool
served_nottype(uint64_t dev, long type)
{
	static const unsigned int types[] = { BCACHEFS_MAGIC,
	    BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC,
	    HUGETLBFS_MAGIC, RAMFS_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC,
	    ZFS_MAGIC };
	size_t i;

	for (i = 0; i < sizeof types / sizeof *types; i++)
		if ((unsigned int)type == types[i]) {
			numbers_add(&local, dev);
			return true;
		}
	return false;
}

/*
 * Forget all devices: their numbers may be of others soon.
 */
void
served_forget(void)
{
	tdestroy(local, free);
	tdestroy(mounts, free);
	tdestroy(asked, free);
	local = mounts = asked = NULL;
}
