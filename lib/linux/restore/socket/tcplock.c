/*
 * Write the scripts that lock TCP connections, for nft(8), or for iptables(8)
 * if that is missing. They drop all packets of a connection except those that
 * criu sends, which have a mark (soccr/soccr.h).
 *
 * When criu restores in the same network namespace it removes the lock: it
 * finds the nft table by its name (nftables_get_table of its netfilter.c), and
 * deletes exactly these iptables rules (IPTABLES_CONN_CMD).
 */
#include "sockets.h"

#include <sys/random.h>

#include <arpa/inet.h>

#define CRIU_MARK "0xc114"

struct ends {			/* both ends of a connection, as text */
	bool		 v6;
	char		 address[2][INET6_ADDRSTRLEN];
	unsigned int	 port[2];
};

static void
ends_set(struct ends *e, const struct heldconn *v)
{
	const struct sockaddr_in6 *a;
	const void *p;
	size_t i;

	e->v6 = false;
	for (i = 0; i < 2; i++) {
		a = &v->end[i];
		if (a->sin6_family == AF_INET)
			p = &((const struct sockaddr_in *)(const void *)
			    a)->sin_addr;
		else if (IN6_IS_ADDR_V4MAPPED(&a->sin6_addr))
			p = &a->sin6_addr.s6_addr[12];
		else {
			p = &a->sin6_addr;
			e->v6 = true;
		}
		inet_ntop(e->v6 ? AF_INET6 : AF_INET, p, e->address[i],
		    sizeof e->address[i]);
		e->port[i] = ntohs(a->sin6_port);
	}
}

/*
 * Append to b the elements of an nft set for the connections of h: those of
 * IPv6 if v6 is set, otherwise those of IPv4. Each connection has two elements,
 * one for each direction.
 */
static void
elements_add(struct buf *b, const struct heldset *h, bool v6)
{
	const char *before = " elements = { ";
	struct ends e;
	size_t i, k;

	for (i = 0; i < h->n; i++) {
		ends_set(&e, &h->v[i]);
		for (k = 0; k < 2 && e.v6 == v6; k++) {
			buf_printf(b, "%s%s . %u . %s . %u", before,
			    e.address[k], e.port[k], e.address[!k],
			    e.port[!k]);
			before = ", ";
		}
	}
	if (*before == ',')
		buf_puts(b, " }");
}

/*
 * Set *lock to the nft scripts with which the connections of h can be locked
 * and unlocked. Set name to a random table name that fits into criu's buffer.
 */
static int
nft_make(struct tcplock *lock, const struct heldset *h, char name[LOCK_NAME])
{
	static const char *const hook[] = { "input", "output" };
	struct buf *b = &lock->script[0];
	uint64_t draw;
	size_t i;

	if (getrandom(&draw, sizeof draw, 0) != sizeof draw)
		return errstr_sys("getrandom");
	lock->program = "nft";
	snprintf(name, LOCK_NAME, "CRIU-%016jx", (uintmax_t)draw);
	buf_printf(b, "table inet %s {\n", name);
	for (i = 0; i < 2; i++) {
		const char *type = i == 0 ? "ipv4_addr" : "ipv6_addr";

		buf_printf(b, "set held%d { type %s . inet_service . %s . "
		    "inet_service;", i == 0 ? 4 : 6, type, type);
		elements_add(b, h, i == 1);
		buf_puts(b, " }\n");
	}
	for (i = 0; i < 2; i++)
		buf_printf(b, "chain %s { type filter hook %s priority "
		    "0; meta mark " CRIU_MARK " accept; "
		    "ip saddr . tcp sport . ip daddr . tcp dport @held4 drop; "
		    "ip6 saddr . tcp sport . ip6 daddr . tcp dport @held6 "
		    "drop; }\n", hook[i], hook[i]);
	buf_puts(b, "}\n");
	buf_printf(&lock->script[1], "delete table inet %s\n", name);
	return 0;
}

/*
 * Append the two rules for connection e to b, a script for iptables-restore(8).
 * option is -I to insert the rules, or -D to delete them.
 */
static void
rules_add(struct buf *b, const struct ends *e, const char *option)
{
	static const char *const chain[] = { "INPUT", "OUTPUT" };
	size_t i;

	if (b->len == 0)
		buf_puts(b, "*filter\n");
	for (i = 0; i < 2; i++)
		buf_printf(b, "%s %s --protocol tcp -m mark ! --mark "
		    CRIU_MARK " --source %s --sport %u --destination %s "
		    "--dport %u -j DROP\n", option, chain[i], e->address[!i],
		    e->port[!i], e->address[i], e->port[i]);
}

/*
 * Set lock to the iptables scripts with which the connections of h can be
 * locked and unlocked: lock[0] for IPv4, and lock[1] for IPv6.
 */
static void
iptables_make(struct tcplock lock[TCPLOCKS], const struct heldset *h)
{
	struct ends e;
	size_t i, k;

	for (i = 0; i < h->n; i++) {
		ends_set(&e, &h->v[i]);
		lock[e.v6].program = e.v6 ? "ip6tables-restore" :
		    "iptables-restore";
		rules_add(&lock[e.v6].script[0], &e, "-I");
		rules_add(&lock[e.v6].script[1], &e, "-D");
	}
	for (i = 0; i < TCPLOCKS; i++)
		for (k = 0; k < 2; k++)
			if (lock[i].program != NULL)
				buf_puts(&lock[i].script[k], "COMMIT\n");
}

/*
 * Set lock to the scripts with which the given program locks and unlocks the
 * connections of h, which must have at least one. If the program is nft, set
 * name to the name of its table. The caller frees lock with tcplock_free(),
 * even on failure. Return 0, or -1 with errstr set.
 */
int
tcplock_make(struct tcplock lock[TCPLOCKS], const struct heldset *h,
    enum tcplocker program, char name[LOCK_NAME])
{
	size_t i;

	memset(lock, 0, TCPLOCKS * sizeof *lock);
	if (program == LOCK_IPTABLES)
		iptables_make(lock, h);
	else if (nft_make(&lock[0], h, name) == -1)
		return -1;
	for (i = 0; i < TCPLOCKS; i++)
		if (buf_check(&lock[i].script[0]) == -1 ||
		    buf_check(&lock[i].script[1]) == -1)
			return -1;
	return 0;
}

/*
 * Free the scripts of lock.
 */
void
tcplock_free(struct tcplock lock[TCPLOCKS])
{
	size_t i;

	for (i = 0; i < TCPLOCKS; i++) {
		buf_free(&lock[i].script[0]);
		buf_free(&lock[i].script[1]);
		lock[i].program = NULL;
	}
}
