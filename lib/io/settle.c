/*
 * Find out when written output has safely reached its reader or the disk. A
 * program that then kills the processes must know.
 */
#include "calls.h"
#include "clock.h"
#include "io.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/sockios.h>

#include <poll.h>
#include <unistd.h>

enum { NAP_US = 20000 };

/*
 * Return 0 if output_drain() can determine when the reader of o has all bytes,
 * or -1 with errstr set if not.
 */
int
output_candrain(const struct output *o)
{
	socklen_t len = sizeof(int);
	struct stat st;
	int left, type;

	if (fstat(output_fd(o), &st) == -1)
		return errstr_sys("output");
	if (S_ISSOCK(st.st_mode) && (getsockopt(output_fd(o), SOL_SOCKET,
	    SO_TYPE, &type, &len) == -1 || type != SOCK_STREAM ||
	    ioctl(output_fd(o), SIOCOUTQ, &left) == -1))
		return errstr_set("the output is a socket: cannot determine "
		    "whether its peer receives the snapshot");
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ||
	    S_ISSOCK(st.st_mode) ? 0 : errstr_set("the output is a device: "
	    "cannot determine whether it keeps the snapshot");
}

/*
 * Wait until pipe or socket fd is empty. ask is the ioctl(2) request that
 * counts its unread bytes. Return 0, or -1 with errstr set if the reader ended
 * first.
 */
static int
fd_drain(int fd, unsigned long ask)
{
	struct pollfd p = { .fd = fd };
	long nap;
	int n;

	for (nap = 100;; nap_us(nap), nap += nap < NAP_US ? nap / 4 : 0) {
		if (call_ioctl(fd, ask, &n) == -1)
			return errstr_sys("output");
		p.revents = 0;
		if (poll(&p, 1, 0) == -1 && errno != EINTR)
			return errstr_sys("output");
		if (p.revents & (POLLERR | POLLHUP | POLLNVAL))
			return errstr_set("the reader of the output exited "
			    "before end of file; it may lack data");
		if (n == 0)
			return 0;
	}
}

/*
 * Wait until everything that was written to o has arrived. A file must be on
 * disk (fsync(2)). The reader of a pipe or UNIX socket must have read
 * everything, and must still be running. The peer of an internet socket must
 * have received everything. The caller must have called output_end(). Return 0,
 * or -1 with errstr set if any of this fails or cannot be determined.
 */
int
output_drain(struct output *o)
{
	struct progress *p = output_progress(o);
	struct stat st;
	int fd, rc;

	fd = output_fd(o);
	if (output_candrain(o) == -1 || fstat(fd, &st) == -1)
		return -1;
	if (S_ISREG(st.st_mode))
		return fsync(fd) == -1 ? errstr_sys("output") : 0;
	progress_write(p);
	rc = fd_drain(fd, S_ISFIFO(st.st_mode) ? FIONREAD : SIOCOUTQ);
	progress_write(p);
	return rc;
}
