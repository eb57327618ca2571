/*
 * Record the packet filters of the network namespace that the proxy is in:
 * tables of nft(8) and legacy tables of iptables(8), each as its own program
 * lists them.
 */
#include "spaces.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <fcntl.h>
#include <unistd.h>

/*
 * Run the program argv, and add its output to rec as a file called name. Return
 * false if the program fails or prints nothing.
 */
static bool
program_record(struct filelist *rec, const char *name,
    const char *const argv[4])
{
	struct buf b = { 0 };

	if (program_run(argv, -1, -1, -1, NULL, 0, &b) == 0 && b.len > 0) {
		filelist_buf(rec, name, &b);
		return true;
	}
	buf_free(&b);
	return false;
}

static int
table_note(void *arg, const struct netmessage *m)
{
	bool *has = arg;

	(void)m;
	*has = true;
	return 0;
}

/*
 * Return true if the network namespace of this thread has nft(8) tables.
 */
static bool
has_nft(void)
{
	const struct nfgenmsg body = { 0 };
	const struct netrequest q = { NFNL_SUBSYS_NFTABLES << 8 |
	    NFT_MSG_GETTABLE, NLM_F_DUMP, &body, sizeof body };
	bool has;
	int fd;

	if ((fd = netlink_socket(NETLINK_NETFILTER)) == -1)
		return false;
	has = false;
	(void)netlink_ask(fd, &q, table_note, &has);
	close(fd);
	return has;
}

/*
 * Return true if the network namespace of this thread has legacy iptables(8)
 * tables. path is the file in /proc that lists them.
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
 * Record in rec the packet filters of the network namespace that the proxy is
 * in. Return 0, or -1 with errstr set if some of them cannot be listed.
 */
int
netfilter_record(struct filelist *rec)
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

	if (has_nft() && !program_record(rec, "net/nft", nft))
		return errstr_set("cannot list its nft(8) tables: nft(8) is "
		    "missing or failed");
	for (i = 0; i < sizeof xt / sizeof *xt; i++)
		if (has_iptables(xt[i].names) &&
		    !program_record(rec, xt[i].name, xt[i].legacy) &&
		    !program_record(rec, xt[i].name, xt[i].plain))
			return errstr_set("cannot list its iptables(8) tables: "
			    "iptables(8) is missing or failed");
	return 0;
}
