/*
 * The life of the proxy.  It has no descriptor but its socket and those that
 * it is sent, and traces no one: whatever it waits for, no one waits for it
 * but who asked, for as long as that wants to.
 */
#include "proxy.h"
#include "io/io.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <linux/openat2.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 16 };		/* that are kept open */

struct kept {
	uint64_t	 file;	/* 0: none */
	int		 fd;
};

struct serving {
	int		 sock;
	int		 fd;	/* what came with the request; -1: none */
	int		 out;	/* what goes with the answer; -1: nothing */
	struct kept	 kept[FILES];
	uint8_t		 buf[PROXY_MOST];
};

/*
 * Send an answer, with n bytes of buf, and out if there is one.
 */
static void
answer_send(const struct serving *s, struct proxy_answer *a, size_t n)
{
	const struct iovec v[2] = {
		{ a, sizeof *a }, { (void *)(uintptr_t)s->buf, n }
	};

	if (passfd_send(s->sock, v, 2, s->out) == -1)
		_exit(0);
}

/*
 * Receive a request, which may come with a descriptor.
 */
static void
ask_receive(struct serving *s, struct proxy_ask *q)
{
	const struct iovec v = { q, sizeof *q };

	if (passfd_receive(s->sock, &v, 1, &s->fd) != sizeof *q)
		_exit(0);
	s->out = -1;
}

/*
 * Read a whole file of /proc, and send it piece by piece.  A read gives no more
 * than a page of some files, of which many go into a piece.
 */
static void
proc_serve(struct serving *s, const struct proxy_ask *q,
    struct proxy_answer *a)
{
	enum { LEAST = 4096 };	/* room that is worth a read */
	size_t len;
	ssize_t n;
	int fd;

	if ((fd = open(q->name, O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1) {
		a->error = errno;
		return;
	}
	len = 0;
	while ((n = read(fd, s->buf + len, sizeof s->buf - len)) > 0) {
		len += (size_t)n;
		if (len <= sizeof s->buf - LEAST)
			continue;
		answer_send(s, a, len);
		len = 0;
	}
	if (n == -1)
		a->error = errno;
	else if (len > 0)
		answer_send(s, a, len);
	close(fd);
}

static void
walk_serve(struct serving *s, const struct proxy_ask *q,
    struct proxy_answer *a)
{
	s->out = beneath_resolve(s->fd, q->name, O_PATH, 0,
	    q->what == PROXY_STEP ? PROXY_PLAIN :
	    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (s->out == -1)
		a->error = errno;
}

/*
 * Return the descriptor of the file of a request: one that was opened before,
 * or that is opened now.
 */
static int
file_get(struct serving *s, const struct proxy_ask *q)
{
	struct kept *k = &s->kept[q->file % FILES];

	if (k->file == q->file)
		return k->fd;
	if (k->file != 0)
		close(k->fd);
	k->file = 0;
	if ((k->fd = regular_reopen(s->fd)) == -1)
		return -1;
	k->file = q->file;
	return k->fd;
}

/*
 * Open a file, and look at it.
 */
static void
open_serve(struct serving *s, const struct proxy_ask *q,
    struct proxy_answer *a)
{
	struct statfs fs;
	int elf, fd;

	if ((fd = file_get(s, q)) == -1 || fstat(fd, &a->st) == -1) {
		a->error = errno == 0 ? EINVAL : errno;
		return;
	}
	a->type = fstatfs(fd, &fs) == -1 ? 0 : (long)fs.f_type;
	elf = regular_iself(fd);
	a->unread = elf == -1 ? errno : 0;
	a->elf = elf == 1;
}

/*
 * Read the memory of a process, where it is that of a mapped file.  Other than
 * through /proc/PID/mem, the kernel lets go of the address space as it waits
 * for a page, and does not wait when we are killed (process_vm_rw_single_vec
 * of mm/process_vm_access.c); and of such pages it makes no copies.
 */
static ssize_t
filepages_read(struct serving *s, const struct proxy_ask *q)
{
	struct iovec to = { s->buf, (size_t)q->len };
	struct iovec from;

	from.iov_base = (void *)(uintptr_t)q->at;
	from.iov_len = (size_t)q->len;
	return process_vm_readv(q->pid, &to, 1, &from, 1, 0);
}

/*
 * Read some bytes: how many.
 */
static size_t
bytes_serve(struct serving *s, struct proxy_ask *q, struct proxy_answer *a)
{
	ssize_t n;
	int fd;

	if (q->len > sizeof s->buf)
		q->len = sizeof s->buf;
	if (q->what == PROXY_FILE)
		n = filepages_read(s, q);
	else {
		fd = q->what == PROXY_READ ? file_get(s, q) : s->fd;
		n = fd == -1 ? -1 : pread(fd, s->buf, (size_t)q->len,
		    (off_t)q->at);
	}
	if (n == -1)
		a->error = errno == 0 ? EINVAL : errno;
	return n == -1 ? 0 : (size_t)n;
}

/*
 * Serve requests, which come through the socket sock, until its other end is
 * closed.
 */
void
proxy_main(int sock)
{
	static struct serving s;
	static struct proxy_ask q;
	struct proxy_answer a;
	size_t n;

	s.sock = sock;
	for (;;) {
		ask_receive(&s, &q);
		memset(&a, 0, sizeof a);
		n = 0;
		if (q.what == PROXY_PROC)
			proc_serve(&s, &q, &a);
		else if (q.what == PROXY_WALK || q.what == PROXY_STEP)
			walk_serve(&s, &q, &a);
		else if (q.what == PROXY_OPEN)
			open_serve(&s, &q, &a);
		else
			n = bytes_serve(&s, &q, &a);
		answer_send(&s, &a, n);
		if (s.out != -1)
			close(s.out);
		if (s.fd != -1)
			close(s.fd);
	}
}
