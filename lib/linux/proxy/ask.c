/*
 * Questions for the proxy that are needed wherever targets are read. Each may
 * block: reading a file or page that another process or machine serves, looking
 * up a path, and reading files of /proc for which the kernel reads the memory
 * of a target, or waits for its mappings.
 */
#include "model.h"
#include "proxy.h"

#include <sys/uio.h>
#include <sys/vfs.h>

#include <fcntl.h>
#include <unistd.h>

enum { FILES = 16 }; /* maximum number of files that the proxy keeps open */

struct range {			/* a range of a file, or of memory, to read */
	uint64_t	 file;	/* number of a file that the proxy opened; 0:
				   read from the descriptor that was sent, or
				   from the memory of process pid */
	pid_t		 pid;	/* process whose memory is read; 0: none */
	uint64_t	 at;
	uint64_t	 len;
};

/*
 * In the proxy, answer with the whole /proc file whose path is the argument.
 * Several reads go into one message, because a read of some files returns at
 * most a page. A process can make its environ and cmdline as large as its
 * address space: fail with EFBIG if they are larger than the 6 MiB that
 * execve(2) permits. Return 0, or -1 with errno set.
 */
static int
proc_serve(struct serving *s)
{
	enum { LEAST = 4096 };	/* minimum free space for a read, in bytes */
	const char *name = strrchr((const char *)s->arg, '/');
	uint64_t most = UINT64_MAX;
	uint8_t *to;
	size_t room;
	ssize_t n = 0;
	int fd;

	fd = open(s->arg, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd == -1)
		return -1;
	if (strcmp(name, "/environ") == 0 || strcmp(name, "/cmdline") == 0)
		most = 6 << 20;
	while ((to = serve_room(s, LEAST, &room)) != NULL &&
	    (n = read(fd, to, room)) > 0) {
		s->n += (size_t)n;
		if (most < (size_t)n) {
			n = -1;
			errno = EFBIG;
			break;
		}
		most -= (size_t)n;
	}
	close(fd);
	return n == -1 ? -1 : 0;
}

/*
 * Make the proxy read the /proc file at path, which is about process pid, and
 * append the contents to *out. kind is KEY_PROC or KEY_EXEC. Return 0, or -1
 * with errno set.
 */
int
proxy_proc(enum proxy_kind kind, pid_t pid, const char *path, struct bulk *out)
{
	const struct proxy_key k = { kind, (uint64_t)pid, path, 0 };

	return proxy_fetch(&k, proc_serve, path, strlen(path) + 1, -1, out);
}

/*
 * Make the proxy read the fdinfo of descriptor fd of process pid, and append it
 * to *out. desc describes the descriptor in messages to the user. Return 0, or
 * -1 with errno set.
 */
int
proxy_fdinfo(pid_t pid, int fd, const char *desc, struct bulk *out)
{
	const struct proxy_key k = { KEY_OPEN, (uint64_t)pid << 32 |
	    (unsigned int)fd, desc, 0 };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, fd);
	return proxy_fetch(&k, proc_serve, path, strlen(path) + 1, -1, out);
}

static int
walk_serve(struct serving *s)
{
	const char *path = (const char *)s->arg + sizeof(uint64_t);
	uint64_t resolve;

	memcpy(&resolve, s->arg, sizeof resolve);
	s->out = beneath_resolve(s->fd, path, O_PATH, resolve);
	return s->out == -1 ? -1 : 0;
}

/*
 * Make the proxy look up path in the directory open as dir. resolve is as in
 * openat2(2). Return an O_PATH descriptor that the caller owns, or -1 with
 * errno set.
 */
int
proxy_walk(int dir, const char *path, uint64_t resolve)
{
	const struct proxy_key k = { KEY_WALK, 0, path, 0 };
	struct {
		uint64_t	 resolve;
		char		 path[PATH_MAX];
	} arg = { .resolve = resolve };
	int fd = -1;

	if (strlcpy(arg.path, path, sizeof arg.path) >= sizeof arg.path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return proxy_call(&k, walk_serve, &arg, sizeof arg, dir, NULL, 0,
	    &fd) == -1 ? -1 : fd;
}

/*
 * Return the descriptor that was kept open for the file with this number. If
 * there is none, reopen s->fd for reading, and keep the new descriptor open.
 * Return -1 with errno set on failure.
 */
static int
kept_get(const struct serving *s, uint64_t number)
{
	static struct kept {
		uint64_t file;	/* number of the file; 0: none */
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
 * In the proxy, open the file whose number is the argument, and answer with a
 * struct proxy_file. Return 0, or -1 with errno set.
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
 * Make the proxy open the file that the O_PATH descriptor fd refers to, and
 * describe the file in *f. number must be unique, and identifies the file in
 * later questions. dev is the device of the file system, and name describes the
 * file to the user. Return 0, or -1 with errno set.
 */
int
proxy_open(int fd, uint64_t number, uint64_t dev, const char *name,
    struct proxy_file *f)
{
	const struct proxy_key k = { KEY_DEVICE, dev, name, 0 };

	return proxy_call(&k, open_serve, &number, sizeof number, fd, f,
	    sizeof *f, NULL) == -1 ? -1 : 0;
}

/*
 * In the proxy, answer with a range of an open file or of the memory of a
 * process. Return 0, or -1 with errno set.
 *
 * Memory that is mapped from a file is read with process_vm_readv(2). Unlike a
 * read of /proc/PID/mem, this call releases the address space while it waits
 * for a page, and stops waiting when we are killed (process_vm_rw_single_vec of
 * mm/process_vm_access.c). It also does not copy such pages.
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
 * Read up to len bytes (at most MAX_PROXY) into buf, from the file that
 * proxy_open() opened with this number, starting at byte offset off. fd is the
 * O_PATH descriptor of the file. dev and name are the device and description to
 * report if the proxy does not answer. Return the number of bytes, 0 at the end
 * of the file, or -1 with errno set.
 */
ssize_t
proxy_read(int fd, uint64_t number, uint64_t dev, const char *name, void *buf,
    size_t len, uint64_t off)
{
	const struct proxy_key k = { KEY_DEVICE, dev, name, 0 };
	const struct range r = { .file = number, .at = off, .len = len };

	return proxy_call(&k, range_serve, &r, sizeof r, fd, buf, len, NULL);
}

/*
 * Return how many of the len bytes at addr fit into one answer of the proxy. If
 * not all fit, the bytes that fit end at a page boundary. page is the page size
 * in bytes.
 */
size_t
proxy_fits(size_t len, uint64_t addr, uint64_t page)
{
	size_t most;

	most = (size_t)(MAX_PROXY - addr % page);
	return len < most ? len : most;
}

/*
 * Make the proxy read up to len bytes (at most MAX_PROXY) at address addr of a
 * process, and copy them to buf. mem is a descriptor of the memory of the
 * process, and pid is one of its threads. file is true if the bytes are mapped
 * from a file and unmodified. Return the number of bytes, or -1 with errno set.
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
