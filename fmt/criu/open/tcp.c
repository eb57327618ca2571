/*
 * Write the state of TCP connections: tcp-stream-N.img, where N is the inode of
 * the socket in hexadecimal. This needs the state of each connection in the
 * record, and all connections locked; otherwise connections are closed on
 * restore.
 */
#include "open.h"

enum { OPT_TIMESTAMPS = 1, OPT_WSCALE = 4 }; /* bits TCPI_OPT_* from
						linux/tcp.h */

/*
 * Return true if f is a TCP socket that is connected or connecting.
 */
bool
maketcp_isconnected(const struct makeopen *f)
{
	return f->type == KIND_INET && f->inet != NULL &&
	    f->v[OK_SOCKET][SOCK_TYPE] == TYPE_STREAM &&
	    f->v[OK_SOCKET][SOCK_STATE] != STATE_CLOSE &&
	    f->v[OK_SOCKET][SOCK_STATE] != STATE_LISTEN;
}

/*
 * Return true if f is a TCP socket whose connection has ended.
 */
bool
maketcp_ended(const struct makeopen *f)
{
	return f->type == KIND_INET && f->inet != NULL &&
	    f->v[OK_SOCKET][SOCK_TYPE] == TYPE_STREAM &&
	    f->v[OK_SOCKET][SOCK_STATE] == STATE_CLOSE &&
	    f->inet->remote.port != 0;
}

/*
 * Return true if f is restored with the state of its connection.
 */
bool
maketcp_isrestored(const struct criumake *m, const struct makeopen *f)
{
	return m->need & CRIU_TCP_ESTABLISHED && (maketcp_isconnected(f) ||
	    (maketcp_ended(f) && makeopen_has(f, OK_STREAM)));
}

/*
 * Return true if the file called name in the record of m->net lists rules of a
 * packet filter that drop or reject packets, or if memory runs out. Ignore
 * rules that lock connections.
 */
static bool
has_drops(const struct criumake *m, const char *name)
{
	struct pool p = { 0 };
	char *line, *next;
	bool found, lock;

	/* not in m->texts: this is called for each connection */
	next = words_text(&p, &m->net->rec, name);
	found = lock = false;
	while (!found && (line = strsep(&next, "\n")) != NULL) {
		if (strncmp(line, "table ", 6) == 0)
			lock = strstr(line, " CRIU-") != NULL;
		found = !lock && strstr(line, "--mark 0xc114") == NULL &&
		    (strcasestr(line, "drop") != NULL ||
		    strcasestr(line, "reject") != NULL);
	}
	pool_free(&p);
	return found || p.failed;
}

/*
 * Return true if criu may restore connection f in a wrong state without
 * noticing. To restore a connection that is closing, criu sends packets of its
 * peer, which a packet filter of the network namespace may drop.
 */
bool
maketcp_filtered(const struct criumake *m, const struct makeopen *f)
{
	enum { SYN_SENT = 2, FIN_WAIT1 = 4 };
	const uint64_t state = f->v[OK_SOCKET][SOCK_STATE];

	return m->net != NULL && maketcp_isconnected(f) &&
	    makeopen_has(f, OK_STREAM) && !m->opts->tcp_close &&
	    state != STATE_ESTABLISHED && state != SYN_SENT &&
	    state != FIN_WAIT1 && (has_drops(m, "net/nft") ||
	    has_drops(m, "net/iptables") || has_drops(m, "net/ip6tables"));
}

/*
 * Find out how connections are locked, and set m->lock. Set it to "" if
 * iptables(8) locks them. If nft(8) does, set m->lock to the name of the table
 * without the prefix "CRIU-". Leave m->lock NULL if no record mentions a lock.
 */
static int
lock_find(struct criumake *m)
{
	static const char before[] = "nft CRIU-";
	const char *s;
	size_t i;

	for (i = 0; i < m->norder && m->lock == NULL; i++) {
		if ((s = maketask_line(m->order[i], "netlock")) == NULL)
			continue;
		if (strcmp(s, "iptables") == 0)
			s = "";
		else if (strncmp(s, before, sizeof before - 1) == 0)
			s += sizeof before - 1;
		else
			continue;
		if ((m->lock = pool_string(&m->pool, s)) == NULL)
			return -1;
	}
	return 0;
}

/*
 * Decide whether to restore TCP connections: either all of them or none. If
 * m->opts->tcp_close is set, restore none. Return 0, or -1 with errstr set.
 */
int
maketcp_judge(struct criumake *m)
{
	const struct makeopen *f;
	size_t i;
	bool any;

	if (lock_find(m) == -1)
		return -1;
	for (any = false, i = 0; i < m->nopen; i++) {
		f = m->open[i];
		if (!f->used || f->why != NULL || (!maketcp_isconnected(f) &&
		    !(maketcp_ended(f) && makeopen_has(f, OK_STREAM))))
			continue;
		any = true;
		if (m->lock == NULL || !makeopen_has(f, OK_STREAM) ||
		    !makeopen_has(f, OK_AGREED) || !makeopen_has(f, OK_WINDOW))
			break;
	}
	if (any && i == m->nopen && !m->opts->tcp_close)
		m->need |= CRIU_TCP_ESTABLISHED;
	else
		m->lock = NULL;
	return 0;
}

/*
 * Write tcp-stream-N.img with the state and the queued bytes of connection f. o
 * has its options. Return 0, or -1 with errstr set.
 */
int
maketcp_write(struct criumake *m, const struct makeopen *f,
    const Criu__TcpOptions *o)
{
	const uint64_t *s = f->v[OK_STREAM];
	Criu__TcpStream p = CRIU__TCP_STREAM__INIT;
	struct recfile data;
	struct made *im;

	(void)makefind_data(m, "stream", f->v[OK_INO][0], &data);
	if (s[1] > data.len || s[3] != data.len - s[1] || s[4] > s[3])
		return errstr_set("stream/%" PRIu64 ": found %zu bytes, "
		    "expected %" PRIu64 " incoming and %" PRIu64 " outgoing",
		    f->v[OK_INO][0], data.len, s[1], s[3]);
	im = make_image(m, CRIU_TCP_STREAM, "tcp-stream-%x.img",
	    (uint32_t)f->v[OK_INO][0]);
	if (im == NULL)
		return -1;
	makekeys_fill(f, &p.base);
	p.has_cork = o->has_cork;
	p.cork = o->cork;
	p.has_nodelay = o->has_nodelay;
	p.nodelay = o->nodelay;
	p.has_rcv_wscale = (p.opt_mask & OPT_WSCALE) != 0;
	if (!p.has_rcv_wscale)
		p.snd_wscale = 0;
	p.has_timestamp = (p.opt_mask & OPT_TIMESTAMPS) != 0;
	criuimg_add(&im->b, &p.base);
	buf_add(&im->b, data.data, data.len);
	return 0;
}
