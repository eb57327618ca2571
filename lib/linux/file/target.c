/*
 * Open and read files of targets: mapped and open files, and executables. A
 * target chooses them, where their names lead and who serves them, and may
 * change all of that while we look.
 *
 * Each file is therefore first looked up without being opened (O_PATH). The
 * result is checked, and opened if it is a regular file (regular.c). If a
 * server that may not answer has it, the proxy (proxy/proxy.c) opens and reads
 * it.
 */
#include "calls.h"
#include "file.h"
#include "io/io.h"
#include "linux/proxy/proxy.h"

#include <sys/vfs.h>

#include <linux/openat2.h>

#include <fcntl.h>
#include <unistd.h>

static bool refused;		/* no file is opened */

/*
 * If refuse is true, open no files of targets from now on: one of the targets
 * decides, with fanotify(7), which files may be opened. While it is stopped,
 * open(2) would wait for it.
 */
void
files_refuse(bool refuse)
{
	refused = refuse;
}

/*
 * Return true if no files of targets are opened.
 */
bool
files_arerefused(void)
{
	return refused;
}

/*
 * Look up path as process p sees it. If the kernel does not have the whole path
 * cached, the proxy looks it up, because reading a directory may ask a file
 * server. Return an O_PATH descriptor, or -1 with errno set.
 */
int
file_walk(const struct lproc *p, const char *path)
{
	int fd, root;

	if ((root = proc_open(p->mmtid, 0, "root", O_PATH)) == -1)
		return -1;
	fd = beneath_resolve(root, path, O_PATH, RESOLVE_IN_ROOT |
	    RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED);
	if (fd == -1 && (errno == EAGAIN || errno == EINVAL ||
	    errno == ENOSYS))
		fd = proxy_walk(root, path, RESOLVE_IN_ROOT |
		    RESOLVE_NO_MAGICLINKS);
	fd_drop(root);
	return fd;
}

/*
 * Make the proxy open the file that the O_PATH descriptor f->fd refers to, and
 * fill in f. dev is the device of its file system, and name describes the file
 * in messages. If the type of the file system shows that it is local, clear
 * f->far: the file can be opened directly. Return 0, or -1 with errno set.
 */
static int
far_open(struct targetfile *f, uint64_t dev, const char *name)
{
	static atomic_ullong number;
	struct proxy_file a = { 0 };

	f->number = ++number;
	f->dev = dev;
	if (proxy_open(f->fd, f->number, dev, name, &a) == -1)
		return -1;
	f->far = !localfs_hastype(dev, a.type);
	f->st = a.st;
	f->type = a.type;
	f->elf = a.elf;
	f->unread = a.unread;
	return 0;
}

/*
 * Replace the O_PATH descriptor f->fd by one open for reading, and set f->st
 * and f->type. Return 0, or -1 with errno set.
 */
static int
near_open(struct targetfile *f)
{
	struct statfs fs;
	int fd;

	if ((fd = regular_reopen(f->fd)) == -1)
		return -1;
	close(f->fd);
	f->fd = fd;
	if (fstat(fd, &f->st) == -1)
		return -1;
	f->type = fstatfs(fd, &fs) == -1 ? 0 : (long)fs.f_type;
	return 0;
}

/*
 * Return true if only the kernel of this machine serves a file of process p. m
 * has the mount and device of the file.
 */
static bool
is_near(const struct lproc *p, const struct filemount *m)
{
	return localfs_hasdevice(p->pid, m->dev) || (m->mount != -1 &&
	    localfs_hasmount(p->pid, (uint64_t)m->mount));
}

/*
 * Open for reading the file of process p that the O_PATH descriptor f->fd
 * refers to. Return 0, or -1 with errno set; errno is 0 if it is not a regular
 * file, and EDEADLK after files_refuse().
 */
static int
found_open(const struct lproc *p, struct targetfile *f)
{
	char name[32], what[256], *path;
	struct filemount m;

	if (call_filemount(f->fd, "", &m) == -1)
		return -1;
	if (!S_ISREG(m.mode) || refused) {
		errno = refused ? EDEADLK : 0;
		return -1;
	}
	if (!is_near(p, &m)) {
		snprintf(name, sizeof name, "fd/%d", f->fd);
		path = proc_link(getpid(), 0, name);
		snprintf(what, sizeof what, "process %d: %s", p->pid,
		    path == NULL ? "a file" : path);
		free(path);
		if (far_open(f, m.dev, what) == -1)
			return -1;
	}
	return f->far ? 0 : near_open(f);
}

/*
 * Open as f the regular file of process p whose path below /proc/PID is name.
 * If capture l has a copy of the file, open the copy instead; f->st still
 * describes the original. Do not open other kinds of files, and do not change
 * access times. Return 0, or -1 with errstr set. Set *failed if descriptors ran
 * out, or if the copy could not be opened; otherwise leave it unchanged.
 */
int
file_open(struct live *l, const struct lproc *p, const char *name,
    struct targetfile *f, bool *failed)
{
	memset(f, 0, sizeof *f);
	/* after "root/", the name is a path as the process sees it */
	f->fd = strncmp(name, "root/", 5) == 0 ? file_walk(p, name + 4) :
	    proc_open(p->mmtid, 0, name, O_PATH);
	if (f->fd != -1 && found_open(p, f) == 0) {
		if (f->far)
			return 0;
		if ((f->fd = shmcopy_open(l, p, f->fd, &f->st)) != -1) {
			file_lookelf(f);
			return 0;
		}
		*failed = true;
	}
	*failed |= errno == EMFILE || errno == ENFILE;
	file_close(f);
	return errno == 0 ? errstr_set("/proc/%d/%s: not a regular file",
	    p->mmtid, name) : errstr_sys("/proc/%d/%s", p->mmtid, name);
}

/*
 * Look up name in dir, an open directory of process p. Symbolic links are not
 * followed, and mounts are not crossed. If a file server must be asked, make
 * the proxy do so if ask is set; otherwise fail. Return an O_PATH descriptor,
 * or -1.
 */
static int
step_walk(const struct lproc *p, int dir, const char *name, bool ask)
{
	struct filemount m;

	if (call_filemount(dir, "", &m) == -1)
		return -1;
	return is_near(p, &m) ?
	    beneath_resolve(dir, name, O_PATH, PROXY_PLAIN) :
	    ask ? proxy_walk(dir, name, PROXY_PLAIN) : -1;
}

/*
 * Open the file called name in directory dir as f. dir is a path as process p
 * sees it. Others may write to dir, so the file must be a regular file with one
 * link, and neither a symbolic link nor a mount point. If ask is set, also ask
 * file servers that may not answer. Return 0, or -1. The caller must call
 * file_close() in both cases.
 */
int
file_openin(const struct lproc *p, const char *dir, const char *name,
    bool ask, struct targetfile *f)
{
	int at;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	if ((at = file_walk(p, dir)) == -1)
		return -1;
	f->fd = step_walk(p, at, name, ask);
	close(at);
	return f->fd != -1 && found_open(p, f) == 0 && f->st.st_nlink == 1 ?
	    0 : -1;
}

/*
 * Append the start of the opened file f to b. The argument most is the maximum
 * number of bytes. name describes the file in messages. Return the number of
 * bytes appended, or -1 with errno set on a read error.
 */
int64_t
file_fetch(const struct targetfile *f, const char *name, size_t most,
    struct bulk *b)
{
	uint8_t piece[MAX_PROXY];
	size_t done, len;
	ssize_t n;

	for (done = 0; done < most; done += (size_t)n) {
		len = most - done < sizeof piece ? most - done : sizeof piece;
		n = f->far ? proxy_read(f->fd, f->number, f->dev, name, piece,
		    len, done) : pread(f->fd, piece, len, (off_t)done);
		if (n == -1 && errno == EINTR)
			n = 0;
		else if (n == -1)
			return -1;
		else if (n == 0)
			break;
		bulk_add(b, piece, (size_t)n);
	}
	return (int64_t)done;
}

/*
 * Return a source of snapshot s that reads the opened file f. name describes
 * the file in messages. Set *fd to a descriptor for finding data and holes,
 * owned by the source, or to -1 if there is none. f->fd is taken over, even on
 * failure. Return NULL with errstr set on failure.
 */
struct source *
file_source(struct snap *s, struct targetfile *f, const char *name, int *fd)
{
	struct source *src;

	src = f->far ? source_far(s, f, name) :
	    source_file(s, f->fd, name, KB);
	*fd = src == NULL || f->far ? -1 : source_fd(src);
	f->fd = -1;
	return src;
}

/*
 * Close f, if it is open.
 */
void
file_close(struct targetfile *f)
{
	fd_drop(f->fd);
	f->fd = -1;
}

/*
 * Read the start of the file open as f->fd, and record in f->elf whether it is
 * an ELF file. If the start cannot be read, set f->unread to errno, else to 0.
 */
void
file_lookelf(struct targetfile *f)
{
	const int elf = regular_iself(f->fd);

	f->unread = elf == -1 ? errno : 0;
	f->elf = elf == 1;
}
