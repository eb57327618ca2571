/*
 * Files of targets: what they have mapped or open, and their executables.  A
 * target chooses what these are, where their names lead to and who serves
 * them, and may change it all while we look.
 *
 * So each is looked up once, without opening it; what that led to is looked
 * at, and opened if it is a regular file (regular.c).  If someone serves it
 * who may not answer, the proxy (proxy/proxy.c) opens and reads it.
 */
#include "calls.h"
#include "file.h"
#include "io/io.h"
#include "linux/proxy/proxy.h"

#include <sys/vfs.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Look up the path of a file as a process sees it, where the kernel knows all
 * of it, else through the proxy: to look into a directory may ask a server.
 */
static int
path_walk(const struct lproc *p, const char *path)
{
	int fd, root;

	if ((root = proc_open(p->mmtid, 0, "root", O_PATH)) == -1)
		return -1;
	fd = beneath_resolve(root, path, O_PATH, RESOLVE_IN_ROOT |
	    RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED);
	if (fd == -1 && (errno == EAGAIN || errno == EINVAL ||
	    errno == ENOSYS))
		fd = proxy_walk(root, path);
	fd_drop(root);
	return fd;
}

/*
 * Look up a file of a process: a link below /proc/PID, or, behind "root", a
 * path as the process sees it.
 */
static int
name_walk(const struct lproc *p, const char *name)
{
	return strncmp(name, "root/", 5) == 0 ? path_walk(p, name + 4) :
	    proc_open(p->mmtid, 0, name, O_PATH);
}

/*
 * Have the proxy open a file.  What turns out to be of this machine is opened
 * by ourselves.
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
	f->far = !served_nottype(dev, a.type);
	f->st = a.st;
	f->type = a.type;
	f->elf = a.elf;
	f->unread = a.unread;
	return 0;
}

/*
 * Open a file ourselves, in place of what it was looked up as.
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
 * Return whether the kernel of this machine alone is asked for what process p
 * has at a place.
 */
static bool
is_near(const struct lproc *p, const struct filemount *m)
{
	return served_not(p->pid, m->dev) || (m->mount != -1 &&
	    served_notmount(p->pid, (uint64_t)m->mount));
}

/*
 * Open what was looked up as f->fd, if it is a regular file.
 */
static int
found_open(const struct lproc *p, struct targetfile *f)
{
	char name[32], what[256], *path;
	struct filemount m;

	if (call_filemount(f->fd, "", &m) == -1)
		return -1;
	if (!S_ISREG(m.mode)) {
		errno = 0;
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
 * Open a file of process p of set l, by its name below /proc/PID, as f, if it
 * is a regular one, without touching what is not, nor its times; or what was
 * frozen of it. f->st is that of the file itself.  Return 0; or -1 with errstr
 * if it cannot be had.  *failed becomes true if that is for the want of
 * descriptors; else it stays.
 */
int
file_open(struct live *l, const struct lproc *p, const char *name,
    struct targetfile *f, bool *failed)
{
	memset(f, 0, sizeof *f);
	f->fd = name_walk(p, name);
	if (f->fd != -1 && found_open(p, f) == 0) {
		if (f->far)
			return 0;
		if ((f->fd = shmcopy_open(l, p, f->fd, &f->st)) != -1) {
			file_lookelf(f, f->fd);
			return 0;
		}
		*failed = true;
	}
	*failed |= errno == EMFILE || errno == ENFILE;
	fd_drop(f->fd);
	f->fd = -1;
	return errno == 0 ? errstr_set("/proc/%d/%s: not a regular file",
	    p->mmtid, name) : errstr_sys("/proc/%d/%s", p->mmtid, name);
}

/*
 * Look up a name in a directory of process p, where it is no link and nothing
 * is mounted on it; ask: also if that has to ask a server.
 */
static int
step_walk(const struct lproc *p, int dir, const char *name, bool ask)
{
	struct filemount m;

	if (call_filemount(dir, "", &m) == -1)
		return -1;
	if (is_near(p, &m))
		return beneath_resolve(dir, name, O_PATH, PROXY_PLAIN);
	return ask ? proxy_step(dir, name) : -1;
}

/*
 * Open the file name in the directory dir, a path as process p sees it, as f.
 * Others may write there: so it is opened only if it is a regular file, has no
 * other name and is no link, and nothing is mounted on it. ask: a server may be
 * asked, who may not answer.  Return 0, or -1; in both cases file_close closes
 * it.
 */
int
file_openin(const struct lproc *p, const char *dir, const char *name,
    bool ask, struct targetfile *f)
{
	int at;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	if ((at = path_walk(p, dir)) == -1)
		return -1;
	f->fd = step_walk(p, at, name, ask);
	close(at);
	return f->fd != -1 && found_open(p, f) == 0 && f->st.st_nlink == 1 ?
	    0 : -1;
}

/*
 * Add what file f has, which was opened by that name, most bytes at the most,
 * to what b has.  Return how many those are; -1 with errno if it cannot be
 * read.
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
 * Make a source of snapshot s of file f, which was opened; name is for
 * messages.  It owns f from here on, on failure too.  Set *fd to what its data
 * and holes can be found with, or -1.  Return it, or NULL with errstr if that
 * fails.
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
 * Close f, which was opened, or not.
 */
void
file_close(struct targetfile *f)
{
	fd_drop(f->fd);
	f->fd = -1;
}

/*
 * Look whether a file, open as fd, is an ELF file: set f->elf, and f->unread
 * to an errno where it cannot be read.
 */
void
file_lookelf(struct targetfile *f, int fd)
{
	int elf;

	elf = regular_iself(fd);
	f->unread = elf == -1 ? errno : 0;
	f->elf = elf == 1;
}
