/*
 * UNIX sockets: what a duplicate tells of one, and sock_diag(7).
 */
#include "openfile.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/tcp.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * A number that getsockopt(2) gives, or 0.
 */
static int
option(const struct telling *t, int name)
{
	socklen_t len;
	int v;

	len = sizeof v;
	return getsockopt(t->dup, SOL_SOCKET, name, &v, &len) == -1 ? 0 : v;
}

static void
tell_name(struct telling *t)
{
	struct sockaddr_un a;
	socklen_t len, i;

	len = sizeof a;
	memset(&a, 0, sizeof a);
	if (getsockname(t->dup, (struct sockaddr *)&a, &len) == -1) {
		tell_why(t, "its name cannot be had");
		return;
	}
	if (len > sizeof a)
		len = sizeof a;
	if (len <= offsetof(struct sockaddr_un, sun_path))
		return;
	buf_puts(&t->out, "name ");
	for (i = offsetof(struct sockaddr_un, sun_path); i < len; i++)
		buf_printf(&t->out, "%02x", ((uint8_t *)&a)[i]);
	buf_puts(&t->out, "\n");
}

static void
tell_queue(struct telling *t, const struct unixsock *u)
{
	struct buf b = { 0 };
	char name[48];

	if (u->state == TCP_LISTEN) {
		if (u->waiting > 0)
			tell_why(t, "connections wait to be accepted");
		return;
	}
	if (unixqueue_read(t->dup, u->type, &b) == -1)
		tell_why(t, "what waits in it cannot be had: %s",
		    snap_errstr());
	if (b.len == 0 || b.failed) {
		t->data->failed |= b.failed;
		buf_free(&b);
		return;
	}
	snprintf(name, sizeof name, "socket/%ju", (uintmax_t)t->ino);
	filelist_add(t->data, name, b.data, b.len);
}

/*
 * Tell of a UNIX socket, of which there is a duplicate.
 */
void
unixsock_tell(struct telling *t)
{
	const struct unixsock *u;

	tell_type(t, "unix");
	if ((u = unixdiag_find(t)) == NULL) {
		tell_why(t, "%s", snap_errstr());
		return;
	}
	buf_printf(&t->out, "socket %u %u %ju %u %u\n", u->type, u->state,
	    (uintmax_t)u->peer, u->backlog, u->shutdown);
	tell_name(t);
	buf_printf(&t->out, "options %d %d %x\n", option(t, SO_SNDBUF),
	    option(t, SO_RCVBUF), (option(t, SO_PASSCRED) != 0) |
	    (option(t, SO_PASSSEC) != 0) << 1);
	tell_queue(t, u);
}
