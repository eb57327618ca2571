/*
 * UNIX sockets with all kinds of queued data, and some that have none.  It
 * prints "socket NAME INODE" for each; afterwards it reads the queues, and must
 * find everything.
 *
 *	ended		packets and the end of the connection
 *	over		only the end
 *	first		an empty packet, then another
 *	long		thousands of packets
 *	broken		an error: its other end was closed with unread data
 *	rights		bytes, two descriptors, bytes: a stream
 *	nested		a socket that is only in this queue, and has a pipe in
 *			its queue
 *	sent		packets with the credentials of the sender
 *	lone		nothing: SOCK_SEQPACKET, not connected
 *	listener	nothing: SOCK_SEQPACKET, listening
 */
#include "target.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <fcntl.h>

enum { LONG = 5000 };

static long lost;

static void
named(const char *name, int fd)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		err(1, "%s", name);
	printf("socket %s %ju\n", name, (uintmax_t)st.st_ino);
}

static void
pair_make(const char *name, int type, int pair[2])
{
	if (socketpair(AF_UNIX, type, 0, pair) == -1)
		err(1, "%s", name);
	named(name, pair[1]);
}

static void
put(int fd, const char *text)
{
	if (send(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		err(1, "send");
}

/*
 * Check that a read, without waiting, returns this.
 */
static void
expect(int fd, const char *want)
{
	char buf[64];
	ssize_t n;

	n = recv(fd, buf, sizeof buf, MSG_DONTWAIT);
	lost += n != (ssize_t)strlen(want) || memcmp(buf, want, (size_t)n) != 0;
}

/*
 * Check that a read fails with this error.
 */
static void
expect_error(int fd, int want)
{
	char c;

	lost += recv(fd, &c, 1, MSG_DONTWAIT) != -1 || errno != want;
}

/*
 * Send a byte and two descriptors.
 */
static void
rights_put(int fd, const int both[2])
{
	char control[CMSG_SPACE(2 * sizeof(int))] = "", c = 'r';
	struct iovec v = { &c, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
	    .msg_control = control, .msg_controllen = sizeof control };

	CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
	CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
	CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(2 * sizeof *both);
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), both, 2 * sizeof *both);
	if (sendmsg(fd, &m, 0) != 1)
		err(1, "SCM_RIGHTS");
}

/*
 * Receive want and two descriptors, in both.
 */
static void
rights_get(int fd, const char *want, int both[2])
{
	char control[CMSG_SPACE(2 * sizeof(int))] = "", buf[64];
	struct iovec v = { buf, sizeof buf };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
	    .msg_control = control, .msg_controllen = sizeof control };
	ssize_t n;

	n = recvmsg(fd, &m, MSG_DONTWAIT);
	lost += n != (ssize_t)strlen(want) || memcmp(buf, want, (size_t)n) !=
	    0 || m.msg_controllen == 0 || m.msg_flags != 0 ||
	    CMSG_FIRSTHDR(&m)->cmsg_len != CMSG_LEN(2 * sizeof *both);
	if (m.msg_controllen != 0)
		memcpy(both, CMSG_DATA(CMSG_FIRSTHDR(&m)), 2 * sizeof *both);
}

/*
 * Queue a socket in another one, and a pipe in that; close both here.
 */
static void
nested_put(int fd)
{
	int inner[2], pipes[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, inner) == -1 ||
	    pipe(pipes) == -1 || write(pipes[1], "deep", 4) != 4)
		err(1, "socketpair");
	rights_put(inner[0], pipes);
	rights_put(fd, inner);
	close(pipes[0]);
	close(pipes[1]);
	close(inner[0]);
	close(inner[1]);
}

static void
nested_get(int fd)
{
	int inner[2] = { -1, -1 }, pipes[2] = { -1, -1 };
	char buf[5] = "";

	rights_get(fd, "r", inner);
	rights_get(inner[1], "r", pipes);
	lost += read(pipes[0], buf, sizeof buf) != 4 ||
	    strcmp(buf, "deep") != 0;
	close(pipes[1]);
	/* no other process had the write end: end of file */
	lost += read(pipes[0], buf, sizeof buf) != 0;
}

static void
long_put(int fd)
{
	const int room = 8 * 1024 * 1024;
	int i;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) ==
	    -1)
		err(1, "SO_SNDBUFFORCE");
	for (i = 0; i < LONG; i++)
		put(fd, "x");
}

static void
alone_make(void)
{
	int fd;

	if ((fd = socket(AF_UNIX, SOCK_SEQPACKET, 0)) == -1)
		err(1, "socket");
	named("lone", fd);
	if ((fd = socket(AF_UNIX, SOCK_SEQPACKET, 0)) == -1 ||
	    bind(fd, &(struct sockaddr){ .sa_family = AF_UNIX },
	    sizeof(sa_family_t)) == -1 || listen(fd, 3) == -1)
		err(1, "listen");
	named("listener", fd);
}

int
main(void)
{
	const int yes = 1, both[2] = { open("/dev/null", O_RDONLY),
	    open("/", O_RDONLY) };
	int ended[2], over[2], first[2], many[2], broken[2], rights[2];
	int nested[2], sent[2], got[2], i;

	pair_make("ended", SOCK_SEQPACKET, ended);
	put(ended[0], "one");
	put(ended[0], "");
	put(ended[0], "two");
	if (shutdown(ended[0], SHUT_WR) == -1)
		err(1, "shutdown");
	pair_make("over", SOCK_SEQPACKET, over);
	if (shutdown(over[0], SHUT_WR) == -1)
		err(1, "shutdown");
	pair_make("first", SOCK_SEQPACKET, first);
	put(first[0], "");
	put(first[0], "two");
	pair_make("long", SOCK_SEQPACKET, many);
	long_put(many[0]);
	pair_make("broken", SOCK_SEQPACKET, broken);
	put(broken[0], "sent");
	put(broken[1], "unread");
	close(broken[0]);
	pair_make("rights", SOCK_STREAM, rights);
	put(rights[0], "plain");
	rights_put(rights[0], both);
	put(rights[0], "end");
	pair_make("nested", SOCK_SEQPACKET, nested);
	nested_put(nested[0]);
	pair_make("sent", SOCK_DGRAM, sent);
	put(sent[0], "before");
	if (setsockopt(sent[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) ==
	    -1)
		err(1, "SO_PASSCRED");
	put(sent[0], "one");
	put(sent[0], "two");
	alone_make();
	ready_await();
	expect(ended[1], "one");
	expect(ended[1], "");
	expect(ended[1], "two");
	expect(ended[1], "");
	expect(over[1], "");
	expect(first[1], "");
	expect(first[1], "two");
	expect_error(first[1], EAGAIN);
	for (i = 0; i < LONG; i++)
		expect(many[1], "x");
	expect_error(many[1], EAGAIN);
	expect_error(broken[1], ECONNRESET);
	expect(broken[1], "sent");
	expect(broken[1], "");
	rights_get(rights[1], "plainr", got);
	expect(rights[1], "end");
	nested_get(nested[1]);
	expect(sent[1], "before");
	expect(sent[1], "one");
	expect(sent[1], "two");
	report("lost", lost);
	return 0;
}
