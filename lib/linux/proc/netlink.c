/*
 * Sockets of netlink(7), and the attributes of its messages.
 */
#include "proc.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <string.h>

/*
 * Make a socket of a netlink protocol, in the network namespace where this
 * thread is; who reads from it waits no longer than two seconds.  Return a
 * descriptor, the caller's, or -1 with errno.
 */
int
netlink_socket(int protocol)
{
	const struct timeval patience = { 2, 0 };
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd != -1)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		    sizeof patience);
	return fd;
}

/*
 * Set *v to the value of the first attribute of a type.  Return false if there
 * is none.
 */
bool
attribute_get(struct attributes a, unsigned int type, struct attributes *v)
{
	struct rtattr r;
	size_t len;

	for (; a.len >= sizeof r; a.p += len, a.len -= len) {
		memcpy(&r, a.p, sizeof r);
		len = RTA_ALIGN(r.rta_len);
		if (r.rta_len < sizeof r || r.rta_len > a.len)
			break;
		if ((r.rta_type & NLA_TYPE_MASK) == type) {
			v->p = a.p + sizeof r;
			v->len = r.rta_len - sizeof r;
			return true;
		}
		if (len > a.len)
			break;
	}
	return false;
}

/*
 * Copy the first len bytes of the first attribute of a type to to.  Return
 * false if there is none, or it is shorter.
 */
bool
attribute_copy(struct attributes a, unsigned int type, void *to, size_t len)
{
	struct attributes v;

	if (!attribute_get(a, type, &v) || v.len < len)
		return false;
	memcpy(to, v.p, len);
	return true;
}
