/*
 * CRIU images of a network namespace: criu/namespace/net*.c and rtnetlink.c.
 *
 * link with: tests/unit/criurec.c tests/unit/criuimg.c
 * link with: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
 * link with: -Wl,--wrap=reallocarray,--wrap=strdup,--wrap=strndup
 * link with: -Wl,--wrap=mmap,--wrap=pthread_create
 * link with: -Wl,--wrap=asprintf,--wrap=__asprintf_chk
 */
#include "criurec.h"
#include "failing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* types of attributes */
enum { ADDRESS = 1, NAME = 3, MTU = 4, LINK = 5, MASTER = 10, INFO = 18,
	NETNSID = 37, XDP = 43, INFO_KIND = 1, INFO_DATA = 2 };
enum { HEAD = 16, ETHER = 1, LOOPBACK = 772, UP = 1 };

static uint8_t file[4096];	/* current messages */
static size_t nfile, last;

static void
file_add(uint64_t v, size_t n)
{
	for (; n > 0; n--, v >>= 8)
		file[nfile++] = (uint8_t)v;
}

static void
patch(size_t at)
{
	file[at] = (uint8_t)(nfile - at);
	file[at + 1] = (uint8_t)((nfile - at) >> 8);
	while (nfile % 4 != 0)
		file[nfile++] = 0;
}

/*
 * Begin a message with a body of n bytes.
 */
static void
message(const void *body, size_t n)
{
	last = nfile;
	file_add(0, HEAD);
	memcpy(file + nfile, body, n);
	nfile += n;
	patch(last);
}

/*
 * Add an attribute to the last message.
 */
static void
attribute(unsigned int type, const void *data, size_t n)
{
	const size_t at = nfile;

	file_add(4 + n, 2);
	file_add(type, 2);
	memcpy(file + nfile, data, n);
	nfile += n;
	patch(at);
	patch(last);
}

static void
attribute32(unsigned int type, uint32_t v)
{
	const uint8_t b[] = { (uint8_t)v, (uint8_t)(v >> 8),
	    (uint8_t)(v >> 16), (uint8_t)(v >> 24) };

	attribute(type, b, sizeof b);
}

/*
 * Add a link of kind, which may be NULL. The n bytes at data are its options.
 */
static void
link_add(uint8_t index, const char *name, unsigned int type, uint8_t flags,
    const char *kind, const void *data, size_t n)
{
	uint8_t body[16] = { 0, 0, (uint8_t)type, (uint8_t)(type >> 8), index,
	    0, 0, 0, flags, 0x10, 0, 0, 0xff, 0xff, 0xff, 0xff };
	uint8_t info[512];
	size_t keep = nfile, at = last, len;

	message(body, sizeof body);
	attribute(NAME, name, strlen(name) + 1);
	if (kind == NULL)
		return;
	keep = nfile;
	at = last;
	attribute(INFO_KIND, kind, strlen(kind) + 1);
	if (n > 0)
		attribute(INFO_DATA, data, n);
	len = nfile - keep;
	memcpy(info, file + keep, len);
	nfile = keep;
	last = at;
	attribute(1 << 15 | INFO, info, len);
}

/*
 * Give the record the file name with the messages, and clear them.
 */
static void
file_end(const char *name)
{
	set_bytes(name, file, nfile);
	nfile = 0;
}

/*
 * Begin the record of an init in its own network namespace.
 */
static void
net_record(void)
{
	process_record(1);
	set("status", "Name:\tone\nUmask:\t0022\nUid:\t1\t2\t3\t4\n"
	    "Gid:\t5\t6\t7\t8\nGroups:\t\nNSpid:\t9\t1\nNSpgid:\t9\t1\n"
	    "NSsid:\t9\t1\nCapEff:\t0\nSeccomp:\t0\n");
	set("shares", "vm 1\nfiles 1\nfs 1\nsighand 1\n");
	set("namespaces", "net pid\n");
	set("ns/net", "net:[5]");
}

static int
load_net(struct criuopts *o)
{
	struct snap *s;

	s = begin();
	finish(s, 1);
	return load(s, o);
}

/*
 * Links that criu can create, and one that a module creates.
 */
static void
links_add(void)
{
	link_add(1, "lo", LOOPBACK, UP, NULL, NULL, 0);
	attribute(ADDRESS, "\0\0\0\0\0\0", 6);
	attribute32(MTU, 65536);
	link_add(2, "sit0", ETHER, 0, "sit", NULL, 0);
	link_add(3, "br9", ETHER, UP, "bridge", NULL, 0);
	link_add(4, "veth8", ETHER, 0, "veth", NULL, 0);
	attribute(ADDRESS, "\2\0\0\0\0\10", 6);
	attribute32(MTU, 1400);
	attribute32(LINK, 6);
	attribute32(MASTER, 3);
	link_add(5, "eth0", ETHER, UP, "veth", NULL, 0);
	attribute32(LINK, 77);
	attribute32(NETNSID, 0);
}

static void
test_links(void **state)
{
	struct buf words = { 0 };
	struct criuopts o = { .note = note_warning, .words = &words };
	struct part m;

	(void)state;
	net_record();
	links_add();
	file_end("net/links");
	set("net/peers", "eth0 cont8 br8\n");
	set("net/settings", "ipv4/conf/veth8/accept_local 5\n"
	    "ipv4/conf/veth8/forwarding 6\nipv6/conf/veth8/accept_dad -1\n"
	    "ipv6/conf/veth8/stable_secret ::1\n");
	if (load_net(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "");
	buf_add(&words, "", 1);
	assert_string_equal((char *)words.data,
	    " --external 'veth[eth0]:cont8@br8'");
	buf_free(&words);

	m = frame("netdev-6.img", 0);
	assert_int_equal(number(m, "1"), 1);
	assert_int_equal(number(m, "2"), 1);
	assert_int_equal(number(m, "3"), 65536);
	assert_int_equal(number(m, "4"), 0x1001);
	assert_text(m, "5", "lo");
	assert_int_equal(count(m, 7), 0);
	assert_int_equal(number(m, "12"), 1);
	m = frame("netdev-6.img", 1);
	assert_int_equal(number(m, "1"), 6);
	assert_text(m, "5", "br9");
	assert_int_equal(count(m, 7), 0);
	m = frame("netdev-6.img", 2);
	assert_int_equal(number(m, "1"), 2);
	assert_int_equal(number(m, "4"), 0x1000);
	assert_int_equal(inner(m, "7").n, 6);
	assert_memory_equal(inner(m, "7").p, "\2\0\0\0\0\10", 6);
	assert_int_equal(number(m, "9.2"), 5);
	assert_int_equal(number(m, "9#12.2"), 6);
	assert_int_equal(number(m, "10.2"), UINT64_MAX);
	assert_text(m, "10#35.3", "::1");
	assert_int_equal(number(m, "12"), 6);
	assert_int_equal(number(m, "13"), 6);
	assert_int_equal(number(m, "14"), 3);
	m = frame("netdev-6.img", 3);
	assert_text(m, "5", "eth0");
	assert_int_equal(number(m, "12"), 77);
	assert_int_equal(count(m, 13), 0);
	assert_ptr_equal(m.p + m.n, image.b + image.n);
}

/*
 * Reasons not to restore a network namespace: a link, or all of it.
 */
static void
test_refused(void **state)
{
	static const struct {
		const char *name, *kind, *why;
	} cases[] = {
		{ "odd0", "dummy", ": link odd0 is of kind dummy" },
		{ "odd0", NULL, ": link odd0" },
		{ "sit0", "sit", ": link sit0 is of kind sit" },
		{ "eth0", "veth", ": link eth0 has its peer in another "
		    "namespace" },
		{ NULL, "not allowed\n", ": not allowed" },
		{ NULL, NULL, "" }
	};
	struct criuopts o = { 0 };
	char want[128], path[128];
	size_t i;
	int k;

	(void)state;
	for (i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
		o.leave = i % 2 == 0 ? 0 : UINT64_MAX;
		k = (int)i / 2;
		net_record();
		set("net/why", cases[k].kind);
		if (cases[k].name != NULL) {
			link_add(2, cases[k].name, ETHER, UP, cases[k].kind,
			    NULL, 0);
			attribute32(NETNSID, 0);
			link_add(1, "lo", LOOPBACK, UP, NULL, NULL, 0);
			file_end("net/links");
		}
		snprintf(want, sizeof want, "process 1: its net namespace%s: "
		    "%s\n", cases[k].why, i % 2 == 0 ? "cannot be restored "
		    "(-f namespaces leaves it out)" : "left out");
		assert_int_equal(load_net(&o), (int)(i % 2) - 1);
		assert_string_equal(warned, want);
		snprintf(path, sizeof path, "%s/netns-6.img", dir);
		assert_int_equal(access(path, F_OK), -1);
	}
}

/*
 * Add routes: one of the main table, some made by the kernel, and routes with a
 * next-hop ID as the second or the last attribute.
 */
static void
routes_add(void)
{
	message("\2\10\0\0\376\2\0\1\0\0\0\0", 12);
	message("\2\10\0\0\377\2\3\1\0\0\0\0", 12);
	message("\2\10\0\0\377\3\2\1\0\0\0\0", 12);
	message("\2\10\0\0\376\3\0\1\0\2\0\0", 12);
	message("\2\20\0\0\376\3\0\1\0\1\0\0", 12);
	attribute(1, "abcd", 4);
	attribute(30, "nhid", 4);
	attribute(4, "e", 1);
	message("\2\30\0\0\376\3\0\1\0\0\0\0", 12);
	attribute(30, "n", 1);
	file[last] -= 3;	/* without padding */
	nfile -= 3;
}

static void
test_saved(void **state)
{
	static const char routes[] = "\x24\x12\x31\x45"
	    "\x1c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\10\0\0\376\2\0\1\0\0\0\0"
	    "\x1c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\10\0\0\377\3\2\1\0\0\0\0"
	    "\x2c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\20\0\0\376\3\0\1\0\1\0\0"
	    "\10\0\1\0abcd\5\0\4\0e\0\0\0"
	    "\x1c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\30\0\0\376\3\0\1\0\0\0\0";
	static const struct {
		uint8_t	 family;
		int	 priority;
		bool	 kept;
	} rule[] = {
		{ 10, 0, false }, { 10, 32766, false }, { 10, -1, false },
		{ 10, 7, true }, { 2, 0, true }, { 2, -1, true },
		{ 2, 32766, true }
	};
	struct criuopts o = { .note = note_warning };
	struct part m;
	size_t i, at;

	(void)state;
	net_record();
	link_add(1, "lo", LOOPBACK, UP, NULL, NULL, 0);
	file_end("net/links");
	set("net/settings", "unix/max_dgram_qlen 77\n"
	    "ipv4/ping_group_range 0 5\nipv4/conf/default/accept_local 1\n"
	    "ipv6/conf/all/use_tempaddr 2\n");
	message("\2\30\0\0\1\0\0\0", 8);
	file_add(0, 4);
	file_end("net/addresses");
	routes_add();
	file_end("net/routes");
	for (i = 0; i < sizeof rule / sizeof *rule; i++) {
		message((uint8_t[12]){ rule[i].family, (uint8_t)i }, 12);
		if (rule[i].priority >= 0)
			attribute32(6, (uint32_t)rule[i].priority);
	}
	file_end("net/rules");
	set("net/nft", "a\n-A x ! --mark 0xc114 \nb");
	set("net/iptables", "a\n-A x ! --mark 0xc114 -j DROP\n\nb");
	if (load_net(&o) == -1)
		fail_msg("%s%s", warned, snap_errstr());
	assert_string_equal(warned, "needs criu 4.1 or newer for "
	    "ping_group_range\n");

	m = frame("netns-6.img", 0);
	assert_int_equal(number(m, "3.2"), 1);
	assert_int_equal(number(m, "6#41.2"), 2);
	assert_int_equal(number(m, "9.2"), 77);
	assert_text(m, "10.3", "0 5");
	image_get("ifaddr-6.img");
	assert_int_equal(image.n, 4 + HEAD + 8);
	image_get("route-6.img");
	assert_int_equal(image.n, sizeof routes - 1);
	assert_memory_equal(image.b, routes, sizeof routes - 1);
	image_get("rule-6.img");
	for (i = 0, at = 4; i < sizeof rule / sizeof *rule; i++)
		if (rule[i].kept) {
			assert_true(at + HEAD + 12 <= image.n);
			assert_int_equal(image.b[at + HEAD + 1], i);
			at += image.b[at];
		}
	assert_int_equal(image.n, at);
	image_get("nftables-6.img");
	assert_int_equal(image.n, 25);
	image_get("iptables-6.img");
	assert_int_equal(image.n, 4);
	assert_memory_equal(image.b, "a\n\nb", 4);
}

/*
 * Options of a bridge: the defaults of a new one, other values, and values that
 * are cut.
 */
static void
bridge_options(uint64_t more, size_t less)
{
	static const struct {
		unsigned int	 type;
		size_t		 size;
		uint64_t	 of_new;
	} t[] = {
		{ 1, 4, 1500 }, { 2, 4, 200 }, { 3, 4, 2000 }, { 4, 4, 30000 },
		{ 5, 4, 0 }, { 6, 2, 32768 }, { 7, 1, 0 }, { 8, 1, 9 },
		{ 9, 2, 0 }, { 10, 2, 9 }, { 22, 1, 1 }, { 23, 1, 1 },
		{ 24, 1, 9 }, { 39, 2, 1 }
	};
	uint8_t options[256];
	size_t i, n = 0, k;

	for (i = 0; i < sizeof t / sizeof *t; i++) {
		options[n] = (uint8_t)(4 + t[i].size - less);
		options[n + 1] = options[n + 3] = 0;
		options[n + 2] = (uint8_t)t[i].type;
		for (n += 4, k = 0; k < t[i].size - less; k++)
			options[n++] = (uint8_t)((t[i].of_new + more) >>
			    8 * k);
		while (n % 4 != 0)
			options[n++] = 0;
	}
	link_add(3, "br9", ETHER, UP, "bridge", options, n);
}

#define LOST(what) "process 1: the " what " its net namespace is not restored\n"
#define BRIDGE(name) LOST("option " name " of link br9 of")
#define SETTING(name) LOST("setting net/ipv4/" name ", of")

/*
 * Load a network namespace. If lost is true, much of it is not restored;
 * otherwise all is as in a new one.
 */
static int
load_lost(bool lost)
{
	struct criuopts o = { .note = note_warning };

	net_record();
	link_add(1, "lo", LOOPBACK, UP, NULL, NULL, 0);
	attribute(XDP, lost ? "\5\0\2\0\1\0\0\0" : "\5\0\2\0\0\0\0\0", 8);
	bridge_options(lost, 0);
	link_add(4, "veth8", ETHER, UP, "veth", "\10\0\1\0\1\0\0\0", 8);
	attribute(XDP, "\4\0\2\0", 4);
	file_end("net/links");
	message("\2\0\0\0\1\0\0\0\2\0\0\0", 12);
	if (lost) {
		message("\2\0\0\0\1\0\0\0\x80\0\0\0", 12);
		message("\2\0\0\0\1\0\0\0\xc0\0\0\0", 12);
	}
	file_add(2 * HEAD, HEAD);	/* a cut message */
	file_end("net/neighbours");
	message("\0\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	attribute(1, "noqueue", 8);
	if (lost) {
		message("\0\0\0\0\4\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0", 20);
		attribute(1, "pfifo", 6);
		message("\0\0\0\0\t\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 20);
		attribute(1, "tbf", 4);
	}
	file_end("net/queueing");
	set("net/settings", lost ? "core/somaxconn 128\n"
	    "ipv4/ip_default_ttl 63\nipv4/ip_unprivileged_port_start 80\n"
	    "ipv4/ip_local_port_range 1 2\nipv4/ip_nonlocal_bind 1\n"
	    "ipv4/ip_local_reserved_ports 7\nipv4/tcp_fin_timeout 61\n"
	    "ipv4/tcp_keepalive_time 7201\nipv4/tcp_keepalive_intvl 76\n"
	    "ipv4/tcp_keepalive_probes 8\nipv4/tcp_syncookies 2\n"
	    "ipv4/ping_group_range 1 0\nnetfilter/nf_conntrack_count 2\n" :
	    "core/somaxconn 4096\nipv4/ip_default_ttl 64\n"
	    "ipv4/ip_unprivileged_port_start 1024\n"
	    "ipv4/ip_local_port_range 32768 60999\nipv4/ip_nonlocal_bind 0\n"
	    "ipv4/ip_local_reserved_ports \nipv4/tcp_fin_timeout 60\n"
	    "ipv4/tcp_keepalive_time 7200\nipv4/tcp_keepalive_intvl 75\n"
	    "ipv4/tcp_keepalive_probes 9\nipv4/tcp_syncookies 1\n"
	    "netfilter/nf_conntrack_count 0\n");
	set("net/nft", "a\n");
	set("net/iptables", "a\n");
	set("net/ip6tables", "a\n");
	message("\2\10\0\0\376\2\0\1\0\0\0\0", 12);
	set_bytes("net/routes", file, nfile);
	file_end("net/routes6");
	return load_net(&o);
}

static const char all_lost[] =
    LOST("XDP program of link lo of") BRIDGE("forward_delay")
    BRIDGE("hello_time") BRIDGE("max_age") BRIDGE("ageing_time")
    BRIDGE("stp_state") BRIDGE("priority") BRIDGE("vlan_filtering")
    BRIDGE("group_fwd_mask") BRIDGE("mcast_router") BRIDGE("mcast_snooping")
    BRIDGE("vlan_default_pvid")
    "process 1: 2 permanent neighbours of its net namespace: not restored\n"
    LOST("queueing discipline pfifo of link veth8 of")
    LOST("queueing discipline tbf of link 9 of")
    LOST("setting net/core/somaxconn, 128, of")
    SETTING("ip_default_ttl, 63") SETTING("ip_unprivileged_port_start, 80")
    SETTING("ip_local_port_range, 1 2") SETTING("ip_nonlocal_bind, 1")
    SETTING("ip_local_reserved_ports, 7") SETTING("tcp_fin_timeout, 61")
    SETTING("tcp_keepalive_time, 7201") SETTING("tcp_keepalive_intvl, 76")
    SETTING("tcp_keepalive_probes, 8") SETTING("tcp_syncookies, 2")
    "process 1: 2 connections tracked by the packet filters of its net "
    "namespace: not restored\n";

static void
test_lost(void **state)
{
	struct criuopts o = { .note = note_warning };

	(void)state;
	assert_int_equal(load_lost(false), 0);
	assert_string_equal(warned, "");
	assert_int_equal(load_lost(true), 0);
	assert_string_equal(warned, all_lost);
	assert_int_equal(count(frame("netns-6.img", 0), 10), 0);

	/* one neighbor and one connection; options that are cut */
	net_record();
	link_add(1, "lo", LOOPBACK, UP, NULL, NULL, 0);
	bridge_options(1, 1);
	file_end("net/links");
	message("\2\0\0\0\1\0\0\0\x80\0\0\0", 12);
	file_end("net/neighbours");
	set("net/settings", "netfilter/nf_conntrack_count 1\n");
	assert_int_equal(load_net(&o), 0);
	assert_string_equal(warned,
	    "process 1: 1 permanent neighbour of its net namespace: not "
	    "restored\nprocess 1: 1 connection tracked by the packet filters "
	    "of its net namespace: not restored\n");
}

/*
 * A closing connection: a packet filter may drop the packets of criu.
 */
static void
test_filtered(void **state)
{
	static const struct {
		const char *name, *rules;
		bool drops;
	} cases[] = {
		{ "net/nft", NULL, false },
		{ "net/nft", "table inet CRIU-1 {\n\tdrop\n}\n", false },
		{ "net/nft", "table inet CRIU-1 {\n\tdrop\n}\n"
		    "table ip mine {\n\tcounter\n}\n", false },
		{ "net/nft", "table inet CRIU-1 {\n\tdrop\n}\n"
		    "table ip mine {\n\ttcp dport 9 drop\n}\n", true },
		{ "net/nft", "table ip mine {\n\treject\n}\n", true },
		{ "net/iptables", "-A INPUT -j DROP\n", true },
		{ "net/ip6tables", "-A INPUT -j REJECT\n", true },
		{ "net/iptables", "-A INPUT -m mark ! --mark 0xc114 -j DROP\n",
		    false }
	};
	struct criuopts o = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		net_record();
		link_add(1, "lo", LOOPBACK, UP, NULL, NULL, 0);
		file_end("net/links");
		set("netlock", "nft CRIU-0123\n");
		set("files", "3 1\n");
		set("file/1", "type inet\nflags 2\nino 5\nfamily 4\n"
		    "protocol 6\nsocket 1 8 0 0 0\nlocal 1.2.3.4 5\n"
		    "remote 6.7.8.9 10\nstream 9 3 7 4 1\n"
		    "agreed 7 9 8 1448 77\nwindow 1 2 3 4 5\n");
		set("stream/5", "inbyout");
		set(cases[i].name, cases[i].rules);
		assert_int_equal(load_net(&o), cases[i].drops ? -1 : 0);
		assert_string_equal(warned, cases[i].drops ? "process 1, "
		    "descriptor 3: an IP socket: closing, and a packet filter "
		    "of its net namespace may drop what criu sends to it: "
		    "cannot be restored (-f tcp leaves it out)\n" : "");
	}
}

static void
arm(bool on)
{
	armed = on;
}

/*
 * If images are written, they and the notes are complete.
 */
static int
try_lost(void *arg)
{
	static const char *const name[] = { "nftables", "iptables",
	    "ip6tables", "route", "route6", "netdev", "netns" };
	char path[128];
	size_t i;

	(void)arg;
	if (load_lost(true) == -1)
		return -1;
	assert_string_equal(warned, all_lost);
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		snprintf(path, sizeof path, "%s/%s-6.img", dir, name[i]);
		assert_int_equal(access(path, F_OK), 0);
	}
	return 0;
}

static void
test_exhausted(void **state)
{
	(void)state;
	on_write = arm;
	images_forget();
	each_failure(try_lost, NULL);
	on_write = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_saved),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_exhausted),
	};

	return cmocka_run_group_tests(tests, records_setup,
	    records_teardown);
}
