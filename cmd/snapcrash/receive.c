/*
 * Identify a process that dumps core by the connection which the kernel makes
 * to a socket (core(5), core_pattern with @ or @@;
 * include/uapi/linux/coredump.h, pidfd.h). The peer cannot lie: the kernel
 * gives us a pidfd of its process, and says whether that is dumping core.
 */
#include "crash.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <elf.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum {
	ANSWER_SECONDS = 60	/* time limit for data from the kernel */
};

/* struct pidfd_info of Linux 6.16 */
struct pidfdinfo {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid,
		 fsgid;
	int32_t	 status;
	uint32_t dump;		/* DUMP_* flags; valid if mask has INFO_DUMP */
	uint32_t signal; /* signal number; valid if mask has INFO_SIGNAL, which
			    Linux 6.18 added */
};

#define INFO_DUMP	(UINT64_C(1) << 4)
#define INFO_SIGNAL	(UINT64_C(1) << 6)
#define DUMP_DONE	(1U << 0)
#define DUMP_ROOT	(1U << 3)
#define GET_INFO	_IOWR(0xff, 11, struct pidfdinfo)

/* struct coredump_req, struct coredump_ack */
struct request {
	uint32_t size, answer;
	uint64_t mask;
};

struct answer {
	uint32_t size, spare;
	uint64_t mask;
};

#define WRITE_IT	(UINT64_C(1) << 0)	/* COREDUMP_KERNEL */
#define WAIT_FOR_US	(UINT64_C(1) << 3)

/*
 * Ask the kernel to write the core to fd and then wait for us. If core_pattern
 * begins with "@" instead of "@@", the kernel does so without a request. Return
 * 0, or -1 with errstr set.
 */
static int
core_ask(int fd)
{
	const struct answer a = { sizeof a, 0, WRITE_IT | WAIT_FOR_US };
	struct request q;
	uint32_t mark;

	if (recv(fd, &q, sizeof q, MSG_PEEK | MSG_WAITALL) != sizeof q)
		return errstr_set("received no core from the kernel");
	if (memcmp(&q, ELFMAG, SELFMAG) == 0)
		return 0;
	if (q.size < sizeof q || q.size > 4096 || q.answer < sizeof a ||
	    (q.mask & a.mask) != a.mask)
		return errstr_set(
		    "the kernel's coredump protocol is not supported");
	for (; q.size > 0; q.size--)
		if (recv(fd, &(char){ 0 }, 1, 0) != 1)
			return errstr_sys("socket");
	if (send(fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a ||
	    recv(fd, &mark, sizeof mark, MSG_WAITALL) != sizeof mark)
		return errstr_sys("socket");
	return mark == 0 ? 0 : errstr_set(
	    "the kernel rejected the coredump request (%u)", mark);
}

/*
 * Fill in f from the process that has connected to fd, and request its core. If
 * the kernel does not report the signal, set f->signal to 0. Return 0, or -1
 * with errstr set.
 */
int
crashing_receive(struct crashing *f, int fd)
{
	const struct timeval most = { ANSWER_SECONDS, 0 };
	struct pidfdinfo info = { .mask = INFO_DUMP | INFO_SIGNAL };
	socklen_t len = sizeof f->pidfd;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &f->pidfd, &len) == -1)
		return errstr_sys("cannot identify the connecting process");
	if (ioctl(f->pidfd, GET_INFO, &info) == -1)
		return errstr_sys("cannot query the connecting process");
	f->pid = (pid_t)info.tgid;
	if ((info.mask & INFO_DUMP) == 0 || (info.dump & DUMP_DONE) == 0)
		return errstr_set(
		    "process %d connected, but is not dumping core", f->pid);
	f->dumpable = (info.dump & DUMP_ROOT) != 0 ? 2 : 1;
	f->signal = (info.mask & INFO_SIGNAL) != 0 ? (int)info.signal : 0;
	f->uid = info.ruid;
	f->given = true;
	if (crashing_check(f) == -1)
		return -1;
	if (crashing_descends(f, getppid()))
		return errstr_set("it is a process of snapcrash itself");
	return core_ask(fd);
}
