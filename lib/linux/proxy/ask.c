/*
 * What the proxy is asked for wherever targets are read, as it may never come
 * back: a file or a page that another process or machine serves, the path to a
 * file, and those files of /proc for which the kernel reads the memory of a
 * target, or waits until its mappings do not change.
 */
#include "model.h"
#include "proxy.h"

#include <sys/uio.h>
#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 16 };		/* that the proxy keeps open */

struct range {			/* that is asked for */
	uint64_t	 file;	/* its number, never used for another; 0: it
				   is of what comes with the question, or */
	pid_t		 pid;	/* of this process, if that is not 0 */
	uint64_t	 at;
	uint64_t	 len;
};

/*
 * Read a whole file of /proc, of which the path is asked.  A read gives no more
 * than a page of some files, of which many go into a message.
 */
static int
proc_serve(struct serving *s)
{
	enum { LEAST = 4096 };	/* room that is worth a read */
	uint8_t *to;
	size_t room;
	ssize_t n;
	int fd;

	fd = open(s->arg, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd == -1)
		return -1;
	while ((to = serve_room(s, LEAST, &room)) != NULL &&
	    (n = read(fd, to, room)) > 0)
		s->n += (size_t)n;
	close(fd);
	return n == -1 ? -1 : 0;
}

/*
 * Read the whole file path, of process pid, and add what it has to *out.
 * Return 0, or -1 with errno when it cannot be read.
 */
int
proxy_proc(pid_t pid, const char *path, struct bulk *out)
{
	const struct proxy_key k = { KEY_PROC, (uint64_t)pid, path, 0 };

	return proxy_fetch(&k, proc_serve, path, strlen(path) + 1, -1, out);
}

/*
 * Read fdinfo of descriptor fd of process pid, and add what it has to *out;
 * what is for the user.  Return 0, or -1 with errno when it cannot be read.
 */
int
proxy_fdinfo(pid_t pid, int fd, const char *what, struct bulk *out)
{
	const struct proxy_key k = { KEY_OPEN, (uint64_t)pid << 32 |
	    (unsigned int)fd, what, 0 };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, fd);
	return proxy_fetch(&k, proc_serve, path, strlen(path) + 1, -1, out);
}

static int
walk_serve(struct serving *s)
{
	s->out = beneath_resolve(s->fd, s->arg, O_PATH, RESOLVE_IN_ROOT |
	    RESOLVE_NO_MAGICLINKS);
	return s->out == -1 ? -1 : 0;
}

static int
step_serve(struct serving *s)
{
	s->out = beneath_resolve(s->fd, s->arg, O_PATH, PROXY_PLAIN);
	return s->out == -1 ? -1 : 0;
}

static int
ask_walk(proxy_fn fn, int root, const char *path)
{
	const struct proxy_key k = { KEY_WALK, 0, path, 0 };
	int fd = -1;

	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return proxy_call(&k, fn, path, strlen(path) + 1, root, NULL, 0,
	    &fd) == -1 ? -1 : fd;
}

/*
 * Look up a path as a process does whose root is the directory root.  Return a
 * descriptor with O_PATH, the caller's, or -1 with errno.
 */
int
proxy_walk(int root, const char *path)
{
	return ask_walk(walk_serve, root, path);
}

/*
 * Do the same with name in the directory that is open as dir, which fails if it
 * is a link or something is mounted there.  Return a descriptor, or -1 with
 * errno.
 */
int
proxy_step(int dir, const char *name)
{
	return ask_walk(step_serve, dir, name);
}

/*
 * Return the descriptor of the file with that number: one that was opened
 * before, or that is opened now.
 */
static int
kept_get(const struct serving *s, uint64_t number)
{
	static struct kept {
		uint64_t file;	/* 0: none */
		int	 fd;
	} kept[FILES];
	struct kept *k = &kept[number % FILES];

	if (k->file == number)
		return k->fd;
	if (k->file != 0)
		close(k->fd);
	k->file = 0;
	if ((k->fd = regular_reopen(s->fd)) == -1)
		return -1;
	k->file = number;
	return k->fd;
}

/*
 * Open a file, of which the number is asked, and look at it.
 */
static int
open_serve(struct serving *s)
{
	struct proxy_file f = { 0 };
	struct statfs fs;
	uint64_t number;
	int elf, fd;

	memcpy(&number, s->arg, sizeof number);
	if ((fd = kept_get(s, number)) == -1 || fstat(fd, &f.st) == -1)
		return -1;
	f.type = fstatfs(fd, &fs) == -1 ? 0 : (long)fs.f_type;
	elf = regular_iself(fd);
	f.unread = elf == -1 ? errno : 0;
	f.elf = elf == 1;
	serve_put(s, &f, sizeof f);
	return 0;
}

/*
 * Have the proxy open the file that at, a descriptor with O_PATH, leads to,
 * and set *f to what it finds.  number is the file's from now on, which no
 * other has; dev is that of its file system; name is for the user.  Return 0,
 * or -1 with errno.
 */
int
proxy_open(int at, uint64_t number, uint64_t dev, const char *name,
    struct proxy_file *f)
{
	const struct proxy_key k = { KEY_DEVICE, dev, name, 0 };

	return proxy_call(&k, open_serve, &number, sizeof number, at, f,
	    sizeof *f, NULL) == -1 ? -1 : 0;
}

/*
 * Answer with a range of a file that was opened, or of the memory of a process.
 * That of a mapped file is read by process_vm_readv(2): other than through
 * /proc/PID/mem, the kernel lets go of the address space as it waits for a
 * page, and does not wait when we are killed (process_vm_rw_single_vec of
 * mm/process_vm_access.c); and of such pages it makes no copies.
 */
static int
range_serve(struct serving *s)
{
	struct iovec here, from;
	struct range r;
	ssize_t n;
	int fd;

	memcpy(&r, s->arg, sizeof r);
	here.iov_base = serve_room(s, 1, &here.iov_len);
	if (r.len < here.iov_len)
		here.iov_len = (size_t)r.len;
	from.iov_base = (void *)(uintptr_t)r.at;
	from.iov_len = here.iov_len;
	fd = r.file == 0 ? s->fd : kept_get(s, r.file);
	n = r.pid != 0 ? process_vm_readv(r.pid, &here, 1, &from, 1, 0) :
	    fd == -1 ? -1 : pread(fd, here.iov_base, here.iov_len,
	    (off_t)r.at);
	if (n == -1)
		return -1;
	s->n += (size_t)n;
	return 0;
}

/*
 * Read up to len bytes, MAX_PROXY at the most, at off of the file number that
 * proxy_open opened through at into buf. dev and name are its device and its
 * name, for who does not answer.  Return how many, 0 at its end, or -1 with
 * errno.
 */
ssize_t
proxy_read(int at, uint64_t number, uint64_t dev, const char *name, void *buf,
    size_t len, uint64_t off)
{
	const struct proxy_key k = { KEY_DEVICE, dev, name, 0 };
	const struct range r = { .file = number, .at = off, .len = len };

	return proxy_call(&k, range_serve, &r, sizeof r, at, buf, len, NULL);
}

/*
 * Return how many of len bytes at addr one answer has room for, which end with
 * a page if they are not all.  page is how many bytes one has.
 */
size_t
proxy_fits(size_t len, uint64_t addr, uint64_t page)
{
	size_t most;

	most = (size_t)(MAX_PROXY - addr % page);
	return len < most ? len : most;
}

/*
 * Read up to len bytes, MAX_PROXY at the most, at addr of the memory of a
 * process into buf. mem is open as that, pid is a thread of the process; file
 * tells that the bytes are of a mapped file, and unmodified.  Return how many,
 * or -1 with errno.
 */
ssize_t
proxy_memory(int mem, pid_t pid, bool file, void *buf, size_t len,
    uint64_t addr)
{
	const struct range r = { .pid = file ? pid : 0, .at = addr,
	    .len = len };
	struct proxy_key k = { KEY_MEMORY, (uint64_t)pid, NULL, 0 };
	char what[64];

	snprintf(what, sizeof what, "memory of %d", pid);
	k.what = what;
	return proxy_call(&k, range_serve, &r, sizeof r, mem, buf, len, NULL);
}
