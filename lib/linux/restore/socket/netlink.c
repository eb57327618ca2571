/*
 * Record netlink sockets: netlink(7).
 */
#include "sockets.h"

#include <sys/socket.h>

#include <linux/netlink.h>

#include <poll.h>

enum { MAX_GROUPS = 1024 };

/*
 * Append to the record of t the multicast groups that the socket is a member
 * of. Linux before 4.2 cannot list them. In that case record only groups 1 to
 * 32, which are the bits of mask.
 */
static void
members_record(struct filerec *t, uint32_t mask)
{
	uint32_t word[MAX_GROUPS / 32] = { mask };
	socklen_t len;
	size_t i, n;

	len = sizeof word;
	if (getsockopt(t->dup, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, word,
	    &len) == -1)
		len = sizeof *word;
	if (len > sizeof word) {
		tell_why(t, "it may be a member of too many groups");
		return;
	}
	n = (size_t)len * 8;
	for (i = 0; i < n; i++)
		if (word[i / 32] >> i % 32 & 1)
			buf_printf(&t->out, "member %zu\n", i + 1);
}

/*
 * Build the record of t, a netlink socket that is duplicated in t->dup.
 */
void
netlink_record(struct filerec *t)
{
	struct sockkind w;
	struct pollfd p = { .fd = t->dup, .events = POLLIN };
	struct sockaddr_nl here, there;
	socklen_t size = sizeof here;

	filerec_type(t, "netlink");
	if (sockkind_get(t->dup, &w) == -1 ||
	    getsockname(t->dup, (struct sockaddr *)&here, &size) == -1 ||
	    getpeername(t->dup, (struct sockaddr *)&there, &size) == -1) {
		tell_why(t, "cannot read its address");
		return;
	}
	buf_printf(&t->out, "netlink %d %d %u %u %x\n", w.type, w.protocol,
	    here.nl_pid, there.nl_pid, there.nl_groups);
	members_record(t, here.nl_groups);
	if (poll(&p, 1, 0) == 1 && p.revents & POLLIN)
		buf_puts(&t->out, "waiting 1\n");
	sockopt_record(t);
	inetopt_record(t, &w);
}
