/*
 * Find file systems that are served by another process or machine: a request to
 * one may never be answered.
 *
 * A file system is known by its device number, which is unique as long as one
 * of its files is mapped or open. statfs(2) would ask the server for the type,
 * so the type is read from the mountinfo of a process that sees it mounted. A
 * file system of unknown type is assumed to be served.
 */
#include "bisect.h"
#include "file.h"
#include "io/io.h"
#include "linux/proc/proc.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <linux/magic.h>

#include <search.h>
#include <unistd.h>

#define MFD_HUGE(bits)	(MFD_HUGETLB | (bits) << 26)	/* memfd_create(2) */
#define ZFS_MAGIC	0x2fc12fc1
#define BCACHEFS_MAGIC	0xca451a4e

/* trees of tsearch(3); each entry is a number */
static void *local;		/* numbers of local devices */
static void *mounts;		/* mount IDs of local file systems */
static void *asked;		/* IDs of processes whose mountinfo was read */

CMP_BY(number_cmp, uint64_t, ORDER(*x, *y))

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
 * Return true if only the kernel of this machine serves the file system of
 * mount m. Access to a file system with another server would hang if we had
 * stopped that server, or if it were gone.
 */
static bool
mount_islocal(const struct mountinfo *m)
{
	static const char *const local_types[] = {
		"bcachefs", "btrfs", "devtmpfs", "hugetlbfs", "overlay",
		"ramfs", "rootfs", "tmpfs", "ubifs", "zfs"
	};

	return SEEK_IN(local_types, scan_is(&m->type, *x)) != NULL ||
	    (major(m->dev) != 0 && (m->type.end - m->type.s < 4 ||
	    memcmp(m->type.s, "fuse", 4) != 0));
}

/*
 * Return true if the kernel can look up names on mount m without asking a file
 * server. That is so for pseudo file systems such as proc and sysfs, but not
 * for all file systems mounted on their directories.
 */
bool
localfs_canlook(const struct mountinfo *m)
{
	static const char *const kernels[] = { "cgroup", "cgroup2", "proc",
	    "securityfs", "sysfs" };

	return mount_islocal(m) ||
	    SEEK_IN(kernels, scan_is(&m->type, *x)) != NULL;
}

/*
 * Return true if, according to the mountinfo in text, the kernel can look up
 * path without asking a file server.
 */
bool
localfs_haspath(const struct bytes *text, const char *path)
{
	struct scan t = scan_begin(text->data, text->len);
	struct scan plain;
	struct mountinfo m;

	while (mountinfo_next(&t, &m)) {
		(void)scan_until(&m.point, '\\', &plain);
		if (!localfs_canlook(&m) &&
		    strncmp(path, plain.s, scan_len(&plain)) == 0)
			return false;
	}
	return text->len > 0;
}

/*
 * Record the local file systems in the mountinfo of process pid, unless that is
 * already done. If ours is set, the process is not to be captured, so its
 * overlays can be trusted to have local layers. The overlays of other processes
 * are recorded only if their devices are known to be local.
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
 * Record as local the file systems of shared memory and memfd_create(2), with
 * small and huge pages. These are not mounted anywhere.
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
 * Return true if n is in *set. If set is &local, n is a device number, and
 * process pid must have a file on that device mapped or open. If set is
 * &mounts, n is a mount ID, which must be visible to process pid. If n is not
 * there yet, first read the mountinfo of process pid.
 */
static bool
local_ask(void *const *set, pid_t pid, uint64_t n)
{
	if (asked == NULL) {
		local_addmemory();
		local_addpid(getpid(), true);
		if (ns_number(1, "mnt") != ns_number(getpid(), "mnt"))
			local_addpid(1, true);
	}
	if (!numbers_have(set, n))
		local_addpid(pid, false);
	return numbers_have(set, n);
}

/*
 * Return true if only the kernel of this machine serves files on device dev.
 * Process pid must have a file on this device mapped or open.
 */
bool
localfs_hasdevice(pid_t pid, uint64_t dev)
{
	return local_ask(&local, pid, dev);
}

/*
 * Return true if only the kernel of this machine serves the mount with ID id,
 * which must be visible to process pid. This is needed where the device number
 * of a file differs from that of its file system, as with overlayfs.
 */
bool
localfs_hasmount(pid_t pid, uint64_t id)
{
	return local_ask(&mounts, pid, id);
}

/*
 * If only the kernel of this machine serves file systems of this type, record
 * dev as local and return true. type is the statfs(2) type of an opened file on
 * device dev.
 */
bool
localfs_hastype(uint64_t dev, long type)
{
	static const unsigned int types[] = { BCACHEFS_MAGIC,
	    BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC,
	    HUGETLBFS_MAGIC, RAMFS_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC,
	    ZFS_MAGIC };

	if (SEEK_IN(types, *x == (unsigned int)type) == NULL)
		return false;
	numbers_add(&local, dev);
	return true;
}

/*
 * Forget all devices and mounts, because their numbers may have been reused, or
 * soon will be.
 */
void
localfs_forget(void)
{
	tdestroy(local, free);
	tdestroy(mounts, free);
	tdestroy(asked, free);
	local = mounts = asked = NULL;
}
