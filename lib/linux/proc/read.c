/*
 * Open and read files below /proc (proc(5)).
 */
#include "linux/proxy/proxy.h"
#include "bisect.h"
#include "proc.h"

#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <linux/mount.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * Write to path, which has room for size bytes, the path of the file called
 * name in /proc/pid (if tid is 0) or /proc/pid/task/tid.
 */
void
proc_path(char *path, size_t size, pid_t pid, pid_t tid, const char *name)
{
	if (tid == 0)
		snprintf(path, size, "/proc/%d/%s", pid, name);
	else
		snprintf(path, size, "/proc/%d/task/%d/%s", pid, tid, name);
}

/*
 * Open the file called name in /proc/pid (if tid is 0) or /proc/pid/task/tid.
 * flags are those of open(2). Return a descriptor that the caller owns, or -1
 * with errno set.
 */
int
proc_open(pid_t pid, pid_t tid, const char *name, int flags)
{
	char path[PATH_MAX];

	proc_path(path, sizeof path, pid, tid, name);
	return open(path, flags | O_CLOEXEC | O_NOCTTY);
}

/*
 * If reading the file called name in /proc/PID may block forever, set *kind to
 * the reason, and return true. KEY_PROC: the kernel reads memory at an address
 * that the process chooses, or waits while a thread changes the mappings
 * (proc_pid_cmdline(5)). KEY_EXEC: it waits for a thread inside execve(2),
 * which may wait for a file server to close a file (exec_update_lock of
 * fs/exec.c; in Linux 6.18 also for stat and wchan). Other files that take this
 * lock are read only after the stop, which leaves out processes inside
 * execve(2).
 */
static bool
proc_waits(const char *name, enum proxy_kind *kind)
{
	static const struct waits {
		const char	*name;
		enum proxy_kind	 kind;
	} waits[] = {
		{ "cmdline", KEY_PROC }, { "environ", KEY_PROC },
		{ "maps", KEY_PROC }, { "smaps", KEY_PROC },
		{ "stack", KEY_EXEC }, { "stat", KEY_EXEC },
		{ "syscall", KEY_EXEC }, { "wchan", KEY_EXEC }
	};
	const struct waits *w = SEEK_IN(waits, strcmp(name, x->name) == 0);

	if (w != NULL)
		*kind = w->kind;
	return w != NULL;
}

/*
 * Append the rest of the file open as fd to k. Return 0, or -1 with errno set.
 */
static int
read_bulk(int fd, struct bulk *k)
{
	uint8_t piece[16 * KB];
	ssize_t n;

	while ((n = read(fd, piece, sizeof piece)) != 0)
		if (n > 0)
			bulk_add(k, piece, (size_t)n);
		else if (errno != EINTR)
			return -1;
	bulk_add(k, "", 0);	/* the data pointer must not be NULL */
	return 0;
}

/*
 * End a read whose result was rc. If rc is 0, move the bytes in k to *out. If
 * rc is -1, or on failure, free the bytes. Return 0, or -1 with errno set.
 */
static int
bulk_give(struct bulk *k, int rc, struct bytes *out)
{
	const int e = errno;

	if (rc == -1)
		bulk_free(k);
	else if (bulk_finish(k, &out->data, &out->len) == -1) {
		errno = ENOMEM;
		return -1;
	}
	errno = e;
	return rc;
}

/*
 * Read the whole file called name in /proc/pid (if tid is 0) or
 * /proc/pid/task/tid into *out. k is scratch space. Return 0, or -1 with errno
 * set.
 */
static int
read_by(struct bulk *k, pid_t pid, pid_t tid, const char *name,
    struct bytes *out)
{
	enum proxy_kind kind;
	char path[PATH_MAX];
	int fd, rc;

	*out = (struct bytes){ 0 };
	proc_path(path, sizeof path, pid, tid, name);
	if (pid != getpid() && proc_waits(name, &kind) && proxy_ison())
		return bulk_give(k, proxy_proc(kind, pid, path, k), out);
	if ((fd = proc_open(pid, tid, name, O_RDONLY)) == -1)
		return -1;
	rc = read_bulk(fd, k);
	fd_drop(fd);
	return bulk_give(k, rc, out);
}

/*
 * Read /proc/pid/smaps, which may be very large, into *out, as proc_read()
 * does. The caller frees the data with data_free(). Return 0, or -1 with errno
 * set.
 */
int
proc_smaps(pid_t pid, struct bytes *out)
{
	struct bulk k = { 0 };

	return read_by(&k, pid, 0, "smaps", out);
}

/*
 * Read the whole file called name in /proc/pid (if tid is 0) or
 * /proc/pid/task/tid into *out. The caller frees out->data. Return 0, or -1
 * with errno set; errno is ETIMEDOUT if this takes too long.
 */
int
proc_read(pid_t pid, pid_t tid, const char *name, struct bytes *out)
{
	struct bulk k = { .full = true };	/* keep the data in memory */

	return read_by(&k, pid, tid, name, out);
}

/*
 * Read the fdinfo of descriptor fd of process pid (proc_pid_fdinfo(5)) into
 * *out, as proc_read() does. link is the target of the descriptor's link in
 * /proc, and mode is the st_mode of the file. If the file is a device, major is
 * its major number.
 *
 * The proxy reads the fdinfo of files that may block: devices and epoll sets. A
 * device may wait for anything. A thread may hold the lock of an epoll set
 * while it writes to memory whose pages never arrive. For most other files the
 * kernel takes no lock.
 */
int
proc_fdinfo(pid_t pid, int fd, const char *link, unsigned int mode,
    unsigned int major, struct bytes *out)
{
	enum { MEM_MAJOR = 1, TTY_MAJOR = 4, TTYAUX_MAJOR = 5,
	    PTS_FIRST = 136, PTS_LAST = 143 }; /* linux/major.h */
	struct bulk b = { .full = true };	/* keep the data in memory */
	char name[32], what[64];
	bool waits;

	snprintf(name, sizeof name, "fdinfo/%d", fd);
	waits = strcmp(link, "anon_inode:[eventpoll]") == 0 ||
	    (S_ISCHR(mode) && major != MEM_MAJOR && major != TTY_MAJOR &&
	    major != TTYAUX_MAJOR && (major < PTS_FIRST || major > PTS_LAST));
	if (!waits || !proxy_ison())
		return proc_read(pid, 0, name, out);
	snprintf(what, sizeof what, "process %d: descriptor %d", pid, fd);
	return bulk_give(&b, proxy_fdinfo(pid, fd, what, &b), out);
}

/*
 * Set *sx to the statx(2) result for the file that process pid has open as fd.
 * No file server is asked, because it may be dead, or stopped by us. Return 0,
 * or -1 with errno set.
 */
int
fd_see(pid_t pid, long fd, struct statx *sx)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%ld", pid, fd);
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
	    sx);
}

/*
 * Return the device number of the file that sx describes.
 */
uint64_t
statx_dev(const struct statx *sx)
{
	return makedev(sx->stx_dev_major, sx->stx_dev_minor);
}

/*
 * Mount the file system configured in fs, a descriptor of fsopen(2) (Linux 5.2
 * and newer). attributes are those of mount_setattr(2). The mount is detached,
 * so that no other process sees it. Close fs. Return an O_PATH descriptor of
 * the root, or -1 with errno set. Closing that descriptor unmounts the file
 * system.
 */
int
unseen_mount(int fs, unsigned int attributes)
{
	int root = -1;

	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		root = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
		    attributes);
	fd_drop(fs);
	return root;
}
