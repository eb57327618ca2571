/*
 * Sockets of netlink(7), and the attributes of its messages.
 */
#include "proc.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/*
 * Return a new socket of this netlink protocol, in the network namespace of the
 * calling thread. The caller owns the socket. Reads from it time out after two
 * seconds. Return -1 with errno set on failure.
 */
int
netlink_socket(int protocol)
{
	const struct timeval timeout = { 2, 0 };
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd != -1)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout,
		    sizeof timeout);
	return fd;
}

/*
 * Set *m to the first message in the buffer *in, and advance *in past it.
 * Return false at the end, or if the message is truncated.
 */
bool
netmessage_next(struct attributes *in, struct netmessage *m)
{
	struct nlmsghdr h;
	size_t len;

	if (in->len < sizeof h)
		return false;
	memcpy(&h, in->p, sizeof h);
	if (h.nlmsg_len < sizeof h || h.nlmsg_len > in->len)
		return false;
	*m = (struct netmessage){ h.nlmsg_type, h.nlmsg_flags, in->p,
	    h.nlmsg_len };
	len = NLMSG_ALIGN(m->len) < in->len ? NLMSG_ALIGN(m->len) : in->len;
	in->p += len;
	in->len -= len;
	return true;
}

/*
 * Copy the first len bytes after the header of message m to body. Set *a to the
 * attributes after those bytes. Return false if m is too short.
 */
bool
netmessage_body(const struct netmessage *m, void *body, size_t len,
    struct attributes *a)
{
	const size_t n = NLMSG_SPACE(len);

	if (m->len < NLMSG_LENGTH(len))
		return false;
	memcpy(body, m->p + NLMSG_HDRLEN, len);
	a->p = m->p + (m->len < n ? m->len : n);
	a->len = m->len < n ? 0 : m->len - n;
	return true;
}

/*
 * Set errstr to the error in message m, and return -1.
 */
static int
message_error(const struct netmessage *m)
{
	int error = 0;

	if (m->len >= NLMSG_LENGTH(sizeof error))
		memcpy(&error, m->p + NLMSG_HDRLEN, sizeof error);
	errno = -error;
	return errstr_sys("netlink");
}

/*
 * Send request r, whose body has at most 128 bytes, to netlink socket fd. Call
 * fn(arg, message) for each message of the answer. A request with NLM_F_DUMP is
 * answered by any number of messages, other requests by one. The answer is read
 * to its end even if fn returns -1. Return 0, or -1 with errstr set.
 */
int
netlink_ask(int fd, const struct netrequest *r, netmessage_fn fn, void *arg)
{
	enum { MAX_REQUEST = 128, ANSWER = 65536 };
	struct {
		struct nlmsghdr	 head;
		uint8_t		 body[MAX_REQUEST];
	} q = { .head = { (uint32_t)NLMSG_LENGTH(r->len), r->type,
	    NLM_F_REQUEST | r->flags, 0, 0 } };
	struct attributes in;
	struct netmessage m;
	uint8_t *answer;
	bool ended;
	ssize_t n;
	int rc;

	memcpy(q.body, r->body, r->len);
	if ((answer = malloc(ANSWER)) == NULL)
		return errstr_set("out of memory");
	rc = send(fd, &q, q.head.nlmsg_len, 0) == -1 ?
	    errstr_sys("netlink") : 0;
	for (ended = rc == -1; !ended;) {
		while ((n = recv(fd, answer, ANSWER, 0)) == -1 &&
		    errno == EINTR)
			continue;
		ended = n <= 0 || (r->flags & NLM_F_DUMP) == 0;
		if (n <= 0)
			rc = errstr_sys("netlink");
		in = (struct attributes){ answer, n <= 0 ? 0 : (size_t)n };
		while (netmessage_next(&in, &m)) {
			ended |= m.type == NLMSG_DONE ||
			    m.type == NLMSG_ERROR;
			if (m.type == NLMSG_ERROR)
				rc = message_error(&m);
			else if (m.type != NLMSG_DONE && rc == 0)
				rc = fn(arg, &m);
		}
	}
	free(answer);
	return rc;
}

/*
 * Search the attributes a for the first one of this type, and set *v to its
 * value. Return false if there is none.
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
 * Search the attributes a for the first one of this type, and copy the first
 * len bytes of its value to buf. Return false if there is none, or if its value
 * is shorter.
 */
bool
attribute_copy(struct attributes a, unsigned int type, void *buf, size_t len)
{
	struct attributes v;

	if (!attribute_get(a, type, &v) || v.len < len)
		return false;
	memcpy(buf, v.p, len);
	return true;
}
