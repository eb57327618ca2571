/*
 * sock_diag(7), which tells of the sockets of a network namespace, asked in
 * that of a process.
 */
#include "sockets.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Make a netlink socket in the network namespace that is open as ns, where
 * this thread goes for a moment if it is another than its own.  Return a
 * descriptor, or -1 with errstr.
 */
int
diag_socket(int ns)
{
	struct visit v;
	int fd;

	if (visit_begin(&v, VISIT_NET, ns) == -1)
		return -1;
	if ((fd = netlink_socket(NETLINK_SOCK_DIAG)) == -1)
		errstr_sys("sock_diag");
	/* where this fails, nothing here needs another network */
	(void)visit_end(&v);
	return fd;
}

/*
 * Return a socket in the network namespace of a process, which is kept until
 * another one is asked for; -1 with errstr.
 */
static int
diag_get(struct telling *t)
{
	struct files *f = t->live->files;
	struct stat st;
	int ns;

	ns = proc_open(t->proc->mmtid, 0, "ns/net", O_RDONLY);
	if (ns == -1 || fstat(ns, &st) == -1) {
		if (ns != -1)
			close(ns);
		return errstr_sys("its network namespace");
	}
	if (f->diag == 0 || f->diagns != st.st_ino) {
		diag_free(f);
		f->diagns = st.st_ino;
		f->diag = diag_socket(ns);
		if (f->diag == -1)
			f->diag = 0;
	}
	close(ns);
	return f->diag == 0 ? -1 : f->diag;
}

/*
 * Close what sockets were asked about with for f.
 */
void
diag_free(struct files *f)
{
	if (f->diag != 0)
		close(f->diag);
	f->diag = 0;
}

/*
 * Send request, a message of netlink(7), in the namespace of t, and set *r to
 * what the answer has behind its head.  Return false where there is none.
 */
bool
diag_request(struct telling *t, void *request, struct diagreply *r)
{
	const struct nlmsghdr *q = request;
	uint8_t buf[sizeof r->data + sizeof *q];
	struct nlmsghdr h;
	ssize_t n;
	int fd;

	if ((fd = diag_get(t)) == -1 || send(fd, q, q->nlmsg_len, 0) == -1)
		return false;
	do
		n = recv(fd, buf, sizeof buf, 0);
	while (n == -1 && errno == EINTR);
	if (n < (ssize_t)sizeof h)
		return false;
	memcpy(&h, buf, sizeof h);
	if (h.nlmsg_type != SOCK_DIAG_BY_FAMILY || h.nlmsg_len < sizeof h ||
	    h.nlmsg_len > (size_t)n)
		return false;
	r->len = h.nlmsg_len - sizeof h;
	memcpy(r->data, buf + sizeof h, r->len);
	return true;
}

/*
 * Take in n bytes, messages of an answer: set *r to what the first has behind
 * its head that has the inode of t as 32 bits at a place there.  Return 1 when
 * it is found; 0; or -1 when no more will come.
 */
static int
diag_scan(const struct telling *t, const uint8_t *p, size_t n, size_t place,
    struct diagreply *r)
{
	struct nlmsghdr h;
	uint32_t ino;
	size_t len;

	for (; n >= sizeof h; p += len, n -= len) {
		memcpy(&h, p, sizeof h);
		if (h.nlmsg_type != SOCK_DIAG_BY_FAMILY || h.nlmsg_len > n ||
		    h.nlmsg_len < sizeof h + place + sizeof ino)
			return -1;
		memcpy(&ino, p + sizeof h + place, sizeof ino);
		if (ino == (uint32_t)t->ino) {
			r->len = h.nlmsg_len - sizeof h;
			if (r->len > sizeof r->data)
				r->len = sizeof r->data;
			memcpy(r->data, p + sizeof h, r->len);
			return 1;
		}
		len = NLMSG_ALIGN(h.nlmsg_len);
		if (len > n)
			break;
	}
	return 0;
}

/*
 * Ask for all sockets of a kind, by request, a message of netlink(7), and set
 * *r to what is told of t: place is where its inode stands in a message, behind
 * the head.  Return false where nothing is.
 */
bool
diag_search(struct telling *t, void *request, size_t place,
    struct diagreply *r)
{
	enum { ANSWER = 32768 };
	const struct nlmsghdr *q = request;
	uint8_t buf[ANSWER];
	ssize_t n;
	int fd, rc;

	if ((fd = diag_get(t)) == -1 || send(fd, q, q->nlmsg_len, 0) == -1)
		return false;
	do {
		n = recv(fd, buf, sizeof buf, 0);
		if (n == -1 && errno == EINTR)
			rc = 0;
		else
			rc = n <= 0 ? -1 : diag_scan(t, buf, (size_t)n, place,
			    r);
	} while (rc == 0);
	if (rc == 1)	/* the rest of the answer is not read */
		diag_free(t->live->files);
	return rc == 1;
}

/*
 * Set *v to the value of the attribute of that type of answer r, behind skip
 * bytes of it.  Return false if it has none.
 */
bool
diag_find(const struct diagreply *r, size_t skip, unsigned int type,
    struct attributes *v)
{
	if (skip > r->len)
		return false;
	return attribute_get((struct attributes){ r->data + skip,
	    r->len - skip }, type, v);
}

/*
 * Copy len bytes of the attribute of that type of answer r, behind skip bytes
 * of it, to to.  Return false if it has none, or a shorter one.
 */
bool
diag_attribute(const struct diagreply *r, size_t skip, unsigned int type,
    void *to, size_t len)
{
	if (skip > r->len)
		return false;
	return attribute_copy((struct attributes){ r->data + skip,
	    r->len - skip }, type, to, len);
}
