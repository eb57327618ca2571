/*
 * Parse the keys of file/ID, defined in snap-linux(6), and keep their values.
 * A file has about ten of these keys, and a snapshot may have fifty thousand
 * files.
 */
#include "facts.h"
#include "bisect.h"

static const char *const kind_name[KIND_MAX] = {
	[KIND_CHR] = "chr", [KIND_DEVICE] = "device", [KIND_DIR] = "dir",
	[KIND_EPOLL] = "epoll", [KIND_EVENTFD] = "eventfd",
	[KIND_FANOTIFY] = "fanotify", [KIND_FIFO] = "fifo",
	[KIND_INET] = "inet", [KIND_INOTIFY] = "inotify",
	[KIND_IO_URING] = "io_uring", [KIND_LINK] = "link",
	[KIND_MEMFD] = "memfd", [KIND_MQUEUE] = "mqueue",
	[KIND_NAMESPACE] = "namespace", [KIND_NETLINK] = "netlink",
	[KIND_OTHER] = "other", [KIND_PACKET] = "packet",
	[KIND_PIDFD] = "pidfd", [KIND_PIPE] = "pipe", [KIND_REG] = "reg",
	[KIND_SIGNALFD] = "signalfd", [KIND_TIMERFD] = "timerfd",
	[KIND_TTY] = "tty", [KIND_UNIX] = "unix"
};

#define K(kind)		(UINT32_C(1) << KIND_##kind)
#define ANY		UINT32_MAX
#define NAMED		(K(REG) | K(DIR) | K(CHR) | K(LINK) | K(FIFO) | \
			    K(TTY) | K(DEVICE) | K(OTHER))
#define SOCKETS		(K(INET) | K(NETLINK) | K(PACKET) | K(UNIX))
#define QUEUED		(K(TTY) | K(INOTIFY) | K(FANOTIFY) | K(INET) | \
			    K(NETLINK))
#define OPEN(m)		.at = offsetof(struct makeopen, m)
#define INET(m)		.inet = true, .at = offsetof(struct makeinet, m)
#define LENGTH(m)	.len = offsetof(struct makeopen, m)
#define FIELDS(names)	.fields = names
#define RING		"block_size block_nr frame_size frame_nr retire_tmo " \
			    "sizeof_priv features"
#define MODES		"c_iflag c_oflag c_cflag c_lflag c_line"

/*
 * A form has one letter for each word of the line: those of number_parse(); f,
 * the number of an open file; b, bytes of two hexadecimal digits each; w, text;
 * s, the rest of the line; or a dot if the function read parses the line. For a
 * key that may be repeated, "-" stands for a missing f, b or s.
 */
static const struct key {
	const char	*name;
	const char	*form;
	uint32_t	 kinds;	/* open files that may have the key: bit k for
				   type k of enum openkind */
	size_t		 at;	/* offset of the member for the key's value */
	size_t		 len;	/* offset of the member for the value's size */
	bool		 inet;	/* the value is a member of struct makeinet */
	int		(*read)(void *, struct words *);
	const char	*want;	/* description of the line for messages;
				   NULL: derived from "form" */
	const char	*fields; /* CRIU message fields that take the key's
				    numbers, in order */
} keys[] = {
	[OK_FLAGS] = { "flags", "o", ANY, FIELDS("flags") },
	[OK_POS] = { "pos", "i", ANY, FIELDS("pos") },
	[OK_MODE] = { "mode", "o", ANY },
	[OK_UID] = { "uid", "d", ANY },
	[OK_GID] = { "gid", "d", ANY },
	[OK_SIZE] = { "size", "d", ANY },
	[OK_NLINK] = { "nlink", "d", ANY },
	[OK_INO] = { "ino", "d", ANY, FIELDS("ino") },
	[OK_DEV] = { "dev", "m", ANY, FIELDS("dev") },
	[OK_RDEV] = { "rdev", "m", ANY, FIELDS("rdev") },
	[OK_DELETED] = { "deleted", "d", NAMED | K(UNIX) },
	[OK_ENDED] = { "ended", "d", NAMED },
	[OK_OWNER] = { "owner", "diddd", ANY },
	[OK_LOCK] = { "lock", "d", ANY },
	[OK_TIMES] = { "times", "ii", NAMED },
	[OK_CAPACITY] = { "capacity", "d", K(PIPE) | K(FIFO) },
	[OK_ALONE] = { "alone", "d", K(PIPE) | K(FIFO) },
	[OK_SEALS] = { "seals", "x", K(MEMFD) },
	[OK_HUGEPAGES] = { "hugepages", "d", K(MEMFD) },
	[OK_COUNT] = { "count", "d", K(EVENTFD), FIELDS("counter") },
	[OK_SEMAPHORE] = { "semaphore", "d", K(EVENTFD) },
	[OK_MASK] = { "mask", "x", K(SIGNALFD), FIELDS("sigmask") },
	[OK_CLOCK] = { "clock", "d", K(TIMERFD), FIELDS("clockid") },
	[OK_SETTIME] = { "settime", "x", K(TIMERFD), FIELDS("settime_flags") },
	[OK_INTERVAL] = { "interval", "d", K(TIMERFD) },
	[OK_LEFT] = { "left", "d", K(TIMERFD) },
	[OK_TICKS] = { "ticks", "d", K(TIMERFD), FIELDS("ticks") },
	[OK_SOCKET] = { "socket", "ddddd", K(UNIX) | K(INET),
	    FIELDS("type state peer backlog shutdown") },
	[OK_OPTIONS] = { "options", "ddx", SOCKETS },
	[OK_TIMEOUTS] = { "timeouts", "dd", SOCKETS },
	[OK_UNREAD] = { "unread", "d", K(UNIX) | K(INET) },
	[OK_WAITING] = { "waiting", "d", QUEUED },
	[OK_INDEX] = { "index", "d", K(TTY), FIELDS("index") },
	[OK_MASTER] = { "master", "d", K(TTY) },
	[OK_TERMIOS] = { "termios", "xxxxd", K(TTY),
	    FIELDS(MODES) },
	[OK_TERMLOCK] = { "termlock", "xxxxd", K(TTY),
	    FIELDS(MODES) },
	[OK_WINSIZE] = { "winsize", "dddd", K(TTY),
	    FIELDS("row col xpixel ypixel") },
	[OK_EXCLUSIVE] = { "exclusive", "d", K(TTY), FIELDS("exclusive") },
	[OK_PACKET] = { "packet", "d", K(TTY), FIELDS("packet_mode") },
	[OK_SHUT] = { "shut", "d", K(TTY), FIELDS("locked") },
	[OK_HUNGUP] = { "hungup", "d", K(TTY) },
	[OK_PID] = { "pid", "i", K(PIDFD) },
	[OK_PROTOCOL] = { "protocol", "d", K(INET) },
	[OK_FAMILY] = { "family", "d", K(INET) },
	[OK_STREAM] = { "stream", "ddddd", K(INET),
	    FIELDS("inq_seq inq_len outq_seq outq_len unsq_len") },
	[OK_AGREED] = { "agreed", "xdddd", K(INET),
	    FIELDS("opt_mask snd_wscale rcv_wscale mss_clamp timestamp") },
	[OK_WINDOW] = { "window", "ddddd", K(INET),
	    FIELDS("snd_wl1 snd_wnd max_window rcv_wnd rcv_wup") },
	[OK_FAILED] = { "failed", "d", K(INET) },
	[OK_NETLINK] = { "netlink", "ddddx", K(NETLINK),
	    FIELDS("- protocol portid dst_portid") },
	[OK_BOUND] = { "bound", "dxd", K(PACKET),
	    FIELDS("type - ifindex") },
	[OK_FRAMES] = { "frames", "ddddx", K(PACKET),
	    FIELDS("version reserve copy_thresh timestamp") },
	[OK_RXRING] = { "rxring", "ddddddd", K(PACKET),
	    FIELDS(RING) },
	[OK_TXRING] = { "txring", "ddddddd", K(PACKET),
	    FIELDS(RING) },
	[OK_FANOUT] = { "fanout", "x", K(PACKET), FIELDS("fanout") },
	[OK_GROUP] = { "created", "xx", K(FANOTIFY),
	    FIELDS("faflags evflags") },

	[OK_CALLER] = { "caller", "d", K(UNIX) },
	[OK_PASSED] = { "passed", "dd", K(UNIX), .want = "passed packet id" },
	[OK_SENDER] = { "sender", "dddi", K(UNIX) },
	[OK_MEMBER] = { "member", "d", K(NETLINK) },
	[OK_LISTENS] = { "listens", "dddb", K(PACKET), FIELDS("index - type"),
	    .want = "listens interface count type address|-" },
	[OK_TARGET] = { "target", "dxxf", K(EPOLL), FIELDS("tfd events data"),
	    .want = "target descriptor events (x) data (x) id|-" },
	[OK_WATCH] = { "watch", "dxmddbs", K(INOTIFY),
	    FIELDS("wd mask s_dev i_ino"),
	    .want = "watch wd mask (x) dev inode type handle path|-" },
	[OK_MARK] = { "mark", "xxxmddbs", K(FANOTIFY),
	    FIELDS("mflags mask ignored_mask s_dev i_ino"),
	    .want = "mark flags (x) mask (x) ignored mask (x) dev inode type "
	    "handle path|-" },
	[OK_MOUNTMARK] = { "mountmark", "xxxds", K(FANOTIFY),
	    FIELDS("mflags mask ignored_mask"),
	    .want = "mountmark flags (x) mask (x) ignored mask (x) mount "
	    "path|-" },
	[OK_OPTION] = { "option", "wi", SOCKETS,
	    .want = "option, name and number" },
	[OK_FILTER] = { "filter", "x", SOCKETS,
	    .want = "filter, 16 digits (x)" },
	[OK_MULTICAST] = { "group", "ww", K(INET),
	    .want = "group, address and interface" },

	[OK_KEYS] = { "path", "s", ANY, OPEN(path) },
	{ "pathbytes", ".", ANY, OPEN(path), .read = makekey_path,
	    .want = "pathbytes, two digits (x) a byte, none 00" },
	{ "why", "s", ANY, OPEN(why) },
	{ "link", "s", NAMED, OPEN(link) },
	{ "leads", "s", K(LINK), OPEN(leads) },
	{ "space", "s", K(NAMESPACE), OPEN(space) },
	{ "termioscc", "b", K(TTY), OPEN(cc[0]), LENGTH(cclen[0]) },
	{ "termlockcc", "b", K(TTY), OPEN(cc[1]), LENGTH(cclen[1]) },
	{ "name", "b", K(UNIX), OPEN(name), LENGTH(namelen) },
	{ "peer", "b", K(UNIX), OPEN(peer), LENGTH(peerlen) },
	{ "local", ".", K(INET), INET(local), .read = makekey_address,
	    .want = "address and port" },
	{ "remote", ".", K(INET), INET(remote), .read = makekey_address,
	    .want = "address and port" },
	{ "icmp", ".", K(INET), INET(icmp), .read = makekey_icmp,
	    .want = "icmp, one or eight numbers (x)" },
	{ "device", "s", SOCKETS, INET(device) },
	{ "congestion", "s", K(INET), INET(congestion) },
	{ "ulp", "s", K(INET), INET(ulp) }
};

/*
 * Return true if the record of f has key k. If it does not, the numbers at
 * f->v[k] are zeros.
 */
bool
makeopen_has(const struct makeopen *f, enum openkey k)
{
	return f->has >> k & 1;
}

/*
 * Set errstr to say that the current line of w is not a valid line for key k.
 * Return -1.
 */
static int
key_bad(const struct words *w, const struct key *k)
{
	const size_t n = strlen(k->form);
	char want[64];

	snprintf(want, sizeof want, "%s and %zu number%s", k->name, n,
	    n == 1 ? "" : "s");
	return words_bad(w, k->want != NULL ? k->want : want);
}

/*
 * Parse the current line of w, which has key k, into *l, which must be all
 * zero.
 */
static int
line_take(const struct words *w, const struct key *k, struct openline *l)
{
	const bool many = k >= keys + OK_MAX && k < keys + OK_KEYS;
	uint64_t *v = l->v;
	char **text = l->text, *word, *rest = w->rest;
	const char *form;
	bool blank, none;

	for (form = k->form; *form != '\0'; form++) {
		word = rest;
		rest += *form == 's' ? strlen(rest) : strcspn(rest, " ");
		if ((blank = *rest == ' '))
			*rest++ = '\0';
		if (blank != (form[1] != '\0'))
			return key_bad(w, k);
		none = many && strcmp(word, "-") == 0;
		if (*form == 'b') {
			if (!none && words_bytes(w, word, &l->bytes,
			    &l->len) == -1)
				return -1;
		} else if (*form == 's' || *form == 'w') {
			if (!none || *form == 'w')
				*text++ = word;
		} else if (*form == 'f' && none)
			*v++ = NOFILE;
		else if (!number_parse(word, *form == 'f' ? 'd' : *form, v++))
			return key_bad(w, k);
	}
	return 0;
}

/*
 * Store the value of line l, which has key k, in f. If k may be repeated, add
 * the line to those of f; otherwise replace the previous value. at is the
 * member of f for a value that is a string or bytes. p has the text of l.
 */
static int
line_keep(struct pool *p, struct makeopen *f, const struct key *k, char **at,
    const struct openline *l)
{
	if (k < keys + OK_MAX) {
		f->v[l->key] = pool_dup(p, l->v,
		    strlen(k->form) * sizeof *l->v);
		f->has |= UINT64_C(1) << l->key;
		return f->v[l->key] == NULL ? -1 : 0;
	}
	if (k < keys + OK_KEYS)
		return POOL_ADD(p, f->line, f->nline, *l);
	*at = *k->form == 'b' ? (char *)l->bytes : l->text[0];
	if (*k->form == 'b')
		memcpy((char *)f + k->len, &l->len, sizeof l->len);
	return 0;
}

/*
 * Set f->type from the "type" line of r, which may be anywhere in the file. The
 * caller must do this before it parses other lines, because the type decides
 * which keys are valid. Return false if r has no such line.
 */
bool
makekeys_type(struct makeopen *f, const struct recfile *r)
{
	const char *name;
	size_t n;

	if ((name = recfile_value(r, "type ", &n)) == NULL)
		return false;
	for (f->type = 0; f->type < KIND_MAX; f->type++)
		if (strlen(kind_name[f->type]) == n &&
		    memcmp(kind_name[f->type], name, n) == 0)
			return true;
	f->type = KIND_OTHER;
	return true;
}

/*
 * Parse the current line of w, a line of file/ID, into f. Skip an unknown key.
 * A known key that is not valid for the type of f is an error, unless that type
 * is KIND_OTHER. Return 0, or -1 with errstr set.
 */
int
makekeys_read(struct makeopen *f, struct words *w)
{
	struct openline l = { .line = w->line };
	const struct key *k;
	void *at;
	int rc;

	if ((k = SEEK_IN(keys, strcmp(x->name, w->word[0]) == 0)) == NULL)
		return 0;
	if (!(k->kinds >> f->type & 1))
		return f->type == KIND_OTHER ? 0 : errstr_set("process %" PRIu64
		    ": %s: line %zu: %s is not a key of type %s", w->pid,
		    w->name, w->line, k->name, kind_name[f->type]);
	if (k->inet && f->inet == NULL &&
	    (f->inet = pool_new(w->pool, 1, sizeof *f->inet)) == NULL)
		return -1;
	at = (char *)(k->inet ? (void *)f->inet : (void *)f) + k->at;
	if (k->read != NULL) {
		rc = k->read(at, w);
		return rc == 1 ? key_bad(w, k) : rc;
	}
	l.key = (enum openkey)(k - keys);
	return line_take(w, k, &l) == -1 ? -1 : line_keep(w->pool, f, k, at,
	    &l);
}

/*
 * Return the lines of f with key k, in the order of the record, and set *n to
 * their number. Return NULL if there are none. f->line must be sorted.
 */
struct openline *
makekeys_lines(const struct makeopen *f, enum openkey k, size_t *n)
{
	size_t from;

	from = BISECT_WHILE(i, f->nline, f->line[i].key < k);
	*n = BISECT_WHILE(i, f->nline, f->line[i].key <= k) - from;
	return *n == 0 ? NULL : f->line + from;
}

/*
 * Copy the numbers of line l to the fields for its key in message e.
 */
void
makeline_fill(const struct openline *l, ProtobufCMessage *e)
{
	msg_fill(e, keys[l->key].fields, l->v);
}

/*
 * If f has key k, copy its numbers to the fields for k in message e.
 */
void
makekey_fill(const struct makeopen *f, enum openkey k, ProtobufCMessage *e)
{
	if (makeopen_has(f, k) && keys[k].fields != NULL)
		msg_fill(e, keys[k].fields, f->v[k]);
}

/*
 * For each key of f, copy its numbers to the fields for that key in e, the CRIU
 * message for f.
 */
void
makekeys_fill(const struct makeopen *f, ProtobufCMessage *e)
{
	enum openkey k;

	for (k = 0; k < OK_MAX; k++)
		makekey_fill(f, k, e);
}
