/*
 * Record options that sockets of all families have.
 */
#include "sockets.h"

#include <sys/ioctl.h>
#include <sys/time.h>

#include <linux/sockios.h>

#include <unistd.h>

/*
 * Read an option of the socket open as fd; level and name are its numbers in
 * getsockopt(2). Store the option at v; it must have len bytes. Return 0, or -1
 * with errno set.
 */
int
sock_get(int fd, int level, int name, void *v, socklen_t len)
{
	return getsockopt(fd, level, name, v, &len);
}

/*
 * Return the value of an int option of socket t, at level SOL_SOCKET. name is
 * its number, such as SO_SNDBUF. Return 0 if it cannot be read.
 */
static int
option(const struct filerec *t, int name)
{
	int v;

	return sock_get(t->dup, SOL_SOCKET, name, &v, sizeof v) == -1 ? 0 : v;
}

/*
 * Return the value, in microseconds, of a time option of socket t, at level
 * SOL_SOCKET. name is its number, such as SO_SNDTIMEO. Return 0 if it cannot be
 * read.
 */
static intmax_t
option_time(const struct filerec *t, int name)
{
	struct timeval v;

	return sock_get(t->dup, SOL_SOCKET, name, &v, sizeof v) == -1 ? 0 :
	    (intmax_t)v.tv_sec * 1000000 + v.tv_usec;
}

/*
 * If socket t belongs to another network namespace than its process, set the
 * reason in t: criu would restore the socket in the namespace of the process.
 * Do nothing if the kernel does not report the namespace of the socket.
 */
static void
namespace_check(struct filerec *t)
{
	struct stat st;
	int ns;

	if ((ns = ioctl(t->dup, SIOCGSKNS)) == -1)
		return;
	if (fstat(ns, &st) == 0 &&
	    st.st_ino != ns_number(t->proc->mmtid, "net"))
		tell_why(t, "it belongs to another network namespace than its "
		    "process");
	close(ns);
}

/*
 * Append to the record of t the options that sockets of all families have
 * (socket(7)).
 */
void
sockopt_record(struct filerec *t)
{
	intmax_t snd, rcv;

	namespace_check(t);
	buf_printf(&t->out, "options %d %d %x\n", option(t, SO_SNDBUF),
	    option(t, SO_RCVBUF), (option(t, SO_PASSCRED) != 0) |
	    (option(t, SO_PASSSEC) != 0) << 1);
	snd = option_time(t, SO_SNDTIMEO);
	rcv = option_time(t, SO_RCVTIMEO);
	if (snd != 0 || rcv != 0)
		buf_printf(&t->out, "timeouts %jd %jd\n", snd, rcv);
}
