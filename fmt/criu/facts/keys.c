/*
 * The keys of file/ID, as snap(6) has them, and what is kept of each.  A file
 * has some ten of these keys, and snapshots have fifty thousand files.
 */
#include "facts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
#define OPTIONED	(K(INET) | K(NETLINK) | K(PACKET))
#define SOCKETS		(OPTIONED | K(UNIX))
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
 * A form has a letter for each word: those of number_parse, whose numbers are
 * kept in struct makeopen's v, or are given to read.  The last letter may stand
 * for the rest of the line: s a string, b bytes of two digits each, which are
 * kept, or a dot, for what read takes itself.
 */
static const struct key {
	const char	*name;
	const char	*form;
	uint32_t	 kinds;	/* bits: which may have it */
	size_t		 at;	/* offset of the pointer to what is kept, */
	size_t		 len;	/* and of its length */
	bool		 inet;	/* it is one in struct makeinet */
	int		(*read)(struct makeopen *, struct words *,
			    const uint64_t *);
	const char	*want;	/* the line in words; NULL: form says it */
	const char	*fields; /* its numbers in messages that have these */
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
	[OK_GROUP] = { "created", "xx", K(FANOTIFY), FIELDS("faflags evflags") },

	[OK_MAX] = { "path", "s", ANY, OPEN(path) },
	{ "pathbytes", ".", ANY, .read = makekey_path,
	    .want = "pathbytes, two digits (x) a byte, none 00" },
	{ "why", "s", ANY, OPEN(why) },
	{ "link", "s", NAMED, OPEN(link) },
	{ "leads", "s", K(LINK), OPEN(leads) },
	{ "space", "s", K(NAMESPACE), OPEN(space) },
	{ "termioscc", "b", K(TTY), OPEN(cc[0]), LENGTH(cclen[0]) },
	{ "termlockcc", "b", K(TTY), OPEN(cc[1]), LENGTH(cclen[1]) },
	{ "name", "b", K(UNIX), OPEN(name), LENGTH(namelen) },
	{ "peer", "b", K(UNIX), OPEN(peer), LENGTH(peerlen) },
	{ "caller", "d", K(UNIX), .read = makekey_caller },
	{ "passed", "dd", K(UNIX), .read = makekey_passed,
	    .want = "passed packet id, packets ascending" },
	{ "sender", "dddi", K(UNIX), .read = makekey_sender },
	{ "member", "d", K(NETLINK), .read = makekey_member,
	    .want = "member group" },
	{ "listens", "ddd.", K(PACKET), .read = makekey_listens,
	    .want = "listens interface count type address|-" },
	{ "target", "dxx.", K(EPOLL), .read = makekey_target,
	    .want = "target descriptor events (x) data (x) id|-" },
	{ "watch", "dxmdd.", K(INOTIFY), .read = makekey_watch,
	    .want = "watch wd mask (x) dev inode type handle path|-" },
	{ "mark", "xxxmdd.", K(FANOTIFY), .read = makekey_mark,
	    .want = "mark flags (x) mask (x) ignored mask (x) dev inode type "
	    "handle path|-" },
	{ "mountmark", "xxxd.", K(FANOTIFY), .read = makekey_mountmark,
	    .want = "mountmark flags (x) mask (x) ignored mask (x) mount "
	    "path|-" },
	{ "local", ".", K(INET), INET(local), .read = makekey_local,
	    .want = "address and port" },
	{ "remote", ".", K(INET), INET(remote), .read = makekey_remote,
	    .want = "address and port" },
	{ "group", ".", K(INET), INET(group), .read = makekey_group,
	    .want = "group, address and interface" },
	{ "icmp", ".", K(INET), INET(icmp), .read = makekey_icmp,
	    .want = "icmp, one or eight numbers (x)" },
	{ "option", ".", OPTIONED, INET(option), .read = makekey_option,
	    .want = "option, name and number" },
	{ "filter", "x", OPTIONED, INET(filter), .read = makekey_filter,
	    .want = "filter, 16 digits (x)" },
	{ "device", "s", OPTIONED, INET(device) },
	{ "congestion", "s", K(INET), INET(congestion) },
	{ "ulp", "s", K(INET), INET(ulp) }
};

enum { KEYS = sizeof keys / sizeof *keys };

/*
 * Return whether the record has key k of open file f, so that f->v[k] counts.
 */
bool
makeopen_has(const struct makeopen *f, enum openkey k)
{
	return f->has >> k & 1;
}

/*
 * Let f have no keys.
 */
void
makekeys_begin(struct makeopen *f)
{
	static uint64_t none[OPEN_NUMBERS];	/* never written */
	enum openkey k;

	f->has = 0;
	for (k = 0; k < OK_MAX; k++)
		f->v[k] = none;
}

/*
 * Set the error string to that the line at hand of w is not one of key k.
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
 * Set v to the numbers that a line of key k has, and w->rest to what is left
 * of it.  Return how many; or -1 with errstr.
 */
static int
numbers_take(struct words *w, const struct key *k, uint64_t *v)
{
	const char *form;
	char *word;
	bool blank;

	for (form = k->form; *form != '\0' && strchr("sb.", *form) == NULL;
	    form++) {
		word = w->rest;
		w->rest += strcspn(word, " ");
		if ((blank = *w->rest == ' '))
			*w->rest++ = '\0';
		if (blank != (form[1] != '\0') || !number_parse(word, *form,
		    v++))
			return key_bad(w, k);
	}
	return (int)(form - k->form);
}

/*
 * Keep the n numbers at v of key k of f.
 */
static int
numbers_keep(struct makeopen *f, enum openkey k, const uint64_t *v, size_t n)
{
	if (!makeopen_has(f, k)) {
		if ((f->v[k] = calloc(n, sizeof *v)) == NULL)
			return errstr_set("out of memory");
		f->has |= UINT64_C(1) << k;
	}
	memcpy(f->v[k], v, n * sizeof *v);
	return 0;
}

/*
 * Return where f has what is kept of key k, as a string or bytes.
 */
static void *
key_place(struct makeopen *f, const struct key *k)
{
	return (char *)(k->inet ? (void *)f->inet : (void *)f) + k->at;
}

/*
 * Keep the rest of a line of key k, a string or bytes, in place of what was.
 */
static int
rest_keep(struct makeopen *f, const struct key *k, const struct words *w)
{
	char **s;

	if (*k->form == 'b')
		return words_bytes(w, w->rest, key_place(f, k),
		    (size_t *)(void *)((char *)f + k->len));
	s = key_place(f, k);
	free(*s);
	return (*s = strdup(w->rest)) == NULL ? errstr_set("out of memory") :
	    0;
}

/*
 * Set the type of f to the one of that name, or to KIND_OTHER.
 */
void
makekeys_type(struct makeopen *f, const char *name)
{
	for (f->type = 0; f->type < KIND_MAX; f->type++)
		if (strcmp(kind_name[f->type], name) == 0)
			return;
	f->type = KIND_OTHER;
}

/*
 * Take the line at hand of w, another of file/ID, into f.  A key that is not
 * known is passed over, and one that f's kind does not have is an error.
 * Return 0, or -1 with errstr.
 */
int
makekeys_read(struct makeopen *f, struct words *w)
{
	uint64_t v[OPEN_NUMBERS];
	const struct key *k;
	int n;

	for (k = keys; k < keys + KEYS && strcmp(k->name, w->word[0]) != 0;)
		k++;
	if (k == keys + KEYS)
		return 0;
	if (!(k->kinds >> f->type & 1))
		return f->type == KIND_OTHER ? 0 : errstr_set("process %" PRIu64
		    ": %s: line %zu: %s is not a key of type %s", w->pid,
		    w->name, w->line, k->name, kind_name[f->type]);
	if (k->inet && f->inet == NULL &&
	    (f->inet = calloc(1, sizeof *f->inet)) == NULL)
		return errstr_set("out of memory");
	if ((n = numbers_take(w, k, v)) == -1)
		return -1;
	if (k < keys + OK_MAX)
		return numbers_keep(f, (enum openkey)(k - keys), v, (size_t)n);
	if (k->read == NULL)
		return rest_keep(f, k, w);
	switch (k->read(f, w, v)) {
	case 0:
		return 0;
	case 1:
		return key_bad(w, k);
	default:
		return -1;
	}
}

/*
 * Set the fields of message e to the numbers of key k, if f has it.
 */
void
makekey_fill(const struct makeopen *f, enum openkey k, ProtobufCMessage *e)
{
	if (makeopen_has(f, k) && keys[k].fields != NULL)
		msg_fill(e, keys[k].fields, f->v[k]);
}

/*
 * Set the fields of message e, an entry of f's kind, to the numbers of all keys
 * that f has.
 */
void
makekeys_fill(const struct makeopen *f, ProtobufCMessage *e)
{
	enum openkey k;

	for (k = 0; k < OK_MAX; k++)
		makekey_fill(f, k, e);
}

/*
 * Free what makekeys_read has put into f.
 */
void
makekeys_free(struct makeopen *f)
{
	const struct key *k;
	void **kept;
	size_t i;

	for (i = 0; i < OK_MAX; i++)
		if (makeopen_has(f, (enum openkey)i))
			free(f->v[i]);
	for (k = keys + OK_MAX; k < keys + KEYS; k++)
		if ((*k->form == 's' || *k->form == 'b') &&
		    (!k->inet || f->inet != NULL)) {
			kept = key_place(f, k);
			free(*kept);
		}
	makekey_free(f);
}
