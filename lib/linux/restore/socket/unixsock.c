/*
 * Record UNIX sockets, from a duplicate and from sock_diag(7).
 */
#include "sockets.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/sockios.h>
#include <netinet/tcp.h>

#include <fcntl.h>
#include <unistd.h>

#ifndef SIOCUNIXFILE		/* linux/un.h conflicts with sys/un.h */
#define SIOCUNIXFILE	(SIOCPROTOPRIVATE + 0)
#endif

/*
 * Append to the record of t a line with key and an address in hexadecimal,
 * without the address family. The address is the len bytes at a. Append nothing
 * if it is empty.
 */
static void
address_record(struct filerec *t, const char *key, const struct sockaddr_un *a,
    socklen_t len)
{
	const socklen_t head = offsetof(struct sockaddr_un, sun_path);

	if (len > sizeof *a)
		len = sizeof *a;
	if (len <= head)
		return;
	buf_printf(&t->out, "%s ", key);
	buf_hex(&t->out, a->sun_path, len - head);
	buf_puts(&t->out, "\n");
}

static void
names_record(struct filerec *t)
{
	struct sockaddr_un a;
	socklen_t len;

	len = sizeof a;
	memset(&a, 0, sizeof a);
	if (getsockname(t->dup, (struct sockaddr *)&a, &len) == -1)
		tell_why(t, "cannot read its name");
	else
		address_record(t, "name", &a, len);
	len = sizeof a;
	memset(&a, 0, sizeof a);
	if (getpeername(t->dup, (struct sockaddr *)&a, &len) == 0)
		address_record(t, "peer", &a, len);
}

/*
 * Append to the record of t the file that the socket is bound to, if we can see
 * that file.
 */
static void
boundfile_record(struct filerec *t)
{
	struct statx sx;
	char name[32], *path;
	int fd;

	if ((fd = ioctl(t->dup, SIOCUNIXFILE)) == -1)
		return;
	snprintf(name, sizeof name, "fd/%d", fd);
	path = proc_link(getpid(), 0, name);
	if (path != NULL && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
	    STATX_BASIC_STATS, &sx) == 0) {
		filerec_path(t, path);
		buf_printf(&t->out, "mode %o\nuid %u\ngid %u\n", sx.stx_mode,
		    sx.stx_uid, sx.stx_gid);
		if (path_isdeleted(path))
			buf_puts(&t->out, "deleted 1\n");
	}
	free(path);
	close(fd);
}

static void
queue_record(struct filerec *t, const struct unixsock *u)
{
	struct buf b = { 0 };
	char name[48];
	size_t i;

	if (u->state == TCP_LISTEN) {
		if (u->ncaller != u->waiting)
			tell_why(t, "cannot list the connections that it has "
			    "not yet accepted");
		for (i = 0; i < u->ncaller; i++)
			buf_printf(&t->out, "caller %ju\n",
			    (uintmax_t)u->caller[i]);
		return;
	}
	if (u->state == TCP_ESTABLISHED && u->peer == 0)
		filerec_ioctl(t, "unread", SIOCOUTQ);
	if (unixqueue_read(t, u->type, &b) == -1) {
		tell_why(t, "cannot read its queue: %s", snap_errstr());
		b.len = 0;
	}
	if (b.len == 0 || b.failed) {
		t->data->failed |= b.failed;
		buf_free(&b);
		return;
	}
	snprintf(name, sizeof name, "socket/%ju", (uintmax_t)t->ino);
	filelist_add(t->data, name, b.data, b.len);
}

/*
 * Build the record of t, a UNIX socket that is duplicated in t->dup.
 */
void
unixsock_record(struct filerec *t)
{
	struct sockkind w = { .family = AF_UNIX };
	const struct unixsock *u;

	filerec_type(t, "unix");
	if ((u = unixdiag_find(t)) == NULL) {
		tell_why(t, "%s", snap_errstr());
		return;
	}
	buf_printf(&t->out, "socket %u %u %ju %u %u\n", u->type, u->state,
	    (uintmax_t)u->peer, u->backlog, u->shutdown);
	names_record(t);
	boundfile_record(t);
	sockopt_record(t);
	w.type = (int)u->type;
	inetopt_record(t, &w);
	queue_record(t, u);
}
