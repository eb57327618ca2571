/*
 * Options that sockets of all families have.
 */
#include "sockets.h"

#include <sys/time.h>

/*
 * Set v, of len bytes, to what getsockopt(2) gives of socket fd.  Return 0, or
 * -1 with errno.
 */
int
sock_get(int fd, int level, int name, void *v, socklen_t len)
{
	return getsockopt(fd, level, name, v, &len);
}

/*
 * Return a number that getsockopt(2) gives, or 0.
 */
static int
option(const struct filerec *t, int name)
{
	int v;

	return sock_get(t->dup, SOL_SOCKET, name, &v, sizeof v) == -1 ? 0 : v;
}

/*
 * Return the same of a time, in microseconds.
 */
static intmax_t
option_time(const struct filerec *t, int name)
{
	struct timeval v;

	return sock_get(t->dup, SOL_SOCKET, name, &v, sizeof v) == -1 ? 0 :
	    (intmax_t)v.tv_sec * 1000000 + v.tv_usec;
}

/*
 * Tell the options of t that sockets of all families have: socket(7).
 */
void
sockopt_record(struct filerec *t)
{
	intmax_t snd, rcv;

	buf_printf(&t->out, "options %d %d %x\n", option(t, SO_SNDBUF),
	    option(t, SO_RCVBUF), (option(t, SO_PASSCRED) != 0) |
	    (option(t, SO_PASSSEC) != 0) << 1);
	snd = option_time(t, SO_SNDTIMEO);
	rcv = option_time(t, SO_RCVTIMEO);
	if (snd != 0 || rcv != 0)
		buf_printf(&t->out, "timeouts %jd %jd\n", snd, rcv);
}
