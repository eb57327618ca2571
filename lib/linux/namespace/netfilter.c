/*
 * Tables of packet filters of a network namespace, where this thread is: those
 * of nft(8), and those that iptables(8) made without it, each as its own
 * program lists them.
 */
#include "calls.h"
#include "clock.h"
#include "spaces.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LIST_MOST = 16 * 1024 * 1024,	/* bytes of a list, */
	LIST_MS = 10000			/* and how long it may take */
};

/*
 * Become a program of a name, and write to descriptor out.
 */
static void __attribute__((noreturn))
program_become(const char *const argv[4], int out)
{
	static const char *const folder[] = { "/usr/sbin", "/sbin", "/usr/bin",
	    "/usr/local/sbin" };
	char *environ_[] = { NULL };
	char path[64];
	int null;
	size_t i;

	null = open("/dev/null", O_RDWR);
	if (null == -1 || dup2(null, 0) == -1 || dup2(out, 1) == -1 ||
	    dup2(null, 2) == -1)
		_exit(127);
	(void)call_closefrom(3);
	for (i = 0; i < sizeof folder / sizeof *folder; i++) {
		snprintf(path, sizeof path, "%s/%s", folder[i], argv[0]);
		execve(path, (char *const *)(uintptr_t)argv, environ_);
	}
	_exit(127);
}

/*
 * Add to b what comes from fd until its end, for LIST_MS at the most.  Return
 * whether that is all.
 */
static bool
output_read(int fd, struct buf *b)
{
	const uint64_t until = now_ms() + LIST_MS;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char part[16384];
	ssize_t n;

	while (b->len < LIST_MOST && now_ms() < until) {
		if (poll(&p, 1, LIST_MS) != 1)
			continue;
		n = read(fd, part, sizeof part);
		if (n > 0)
			buf_add(b, part, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return n == 0;
	}
	return false;
}

/*
 * Record under a name what a program says.  Return whether it did, and said
 * something.
 */
static bool
program_record(struct filelist *to, const char *name,
    const char *const argv[4])
{
	struct buf b = { 0 };
	int status, out[2];
	bool whole;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) == -1)
		return false;
	if ((pid = fork()) == 0)
		program_become(argv, out[1]);
	close(out[1]);
	whole = pid != -1 && output_read(out[0], &b);
	close(out[0]);
	if (pid != -1 && !whole)
		(void)kill(pid, SIGKILL);
	while (pid != -1 && waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			pid = -1;
	if (pid != -1 && whole && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0 && b.len > 0) {
		filelist_buf(to, name, &b);
		return true;
	}
	buf_free(&b);
	return false;
}

/*
 * Return whether nft(8) has a table here.
 */
static bool
has_nft(void)
{
	struct {
		struct nlmsghdr	 head;
		struct nfgenmsg	 body;
	} q = { .head = { .nlmsg_len = sizeof q,
	    .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
	    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	uint8_t answer[8192];
	struct nlmsghdr h;
	ssize_t n;
	int fd;

	if ((fd = netlink_socket(NETLINK_NETFILTER)) == -1)
		return false;
	n = send(fd, &q, sizeof q, 0) == -1 ? -1 :
	    recv(fd, answer, sizeof answer, 0);
	close(fd);
	if (n < (ssize_t)sizeof h)
		return false;
	memcpy(&h, answer, sizeof h);
	return h.nlmsg_type != NLMSG_DONE && h.nlmsg_type != NLMSG_ERROR;
}

/*
 * Return whether iptables(8) has a table here, by a file that names them.
 */
static bool
has_iptables(const char *path)
{
	char c;
	bool has;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return false;
	has = read(fd, &c, 1) == 1;
	close(fd);
	return has;
}

/*
 * Record in to the tables of where this thread is.  Return 0, or -1 with errstr
 * if there are such that cannot be listed.
 */
int
netfilter_record(struct filelist *to)
{
	static const char *const nft[4] = { "nft", "list", "ruleset", NULL };
	static const struct {
		const char	*names;
		const char	*name;
		const char	*legacy[4];
		const char	*plain[4];
	} xt[] = {
		{ "/proc/thread-self/net/ip_tables_names", "net/iptables",
		    { "iptables-legacy-save" }, { "iptables-save" } },
		{ "/proc/thread-self/net/ip6_tables_names", "net/ip6tables",
		    { "ip6tables-legacy-save" }, { "ip6tables-save" } }
	};
	size_t i;

	if (has_nft() && !program_record(to, "net/nft", nft))
		return errstr_set("its tables of nft(8), which is not there "
		    "or fails");
	for (i = 0; i < sizeof xt / sizeof *xt; i++)
		if (has_iptables(xt[i].names) &&
		    !program_record(to, xt[i].name, xt[i].legacy) &&
		    !program_record(to, xt[i].name, xt[i].plain))
			return errstr_set("its tables of iptables(8), which "
			    "is not there or fails");
	return 0;
}
