/*
 * The numbers of an open file, as file/ID tells them, by their key.  A file has
 * some ten of fifty keys, and snapshots have fifty thousand files.
 */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char	*name;
	const char	*form;	/* of words_form, a letter for each number */
} keys[OK_MAX] = {
	[OK_FLAGS] = { "flags", "o" },
	[OK_POS] = { "pos", "i" },
	[OK_MODE] = { "mode", "o" },
	[OK_UID] = { "uid", "d" },
	[OK_GID] = { "gid", "d" },
	[OK_SIZE] = { "size", "d" },
	[OK_NLINK] = { "nlink", "d" },
	[OK_INO] = { "ino", "d" },
	[OK_DEV] = { "dev", "m" },
	[OK_RDEV] = { "rdev", "m" },
	[OK_DELETED] = { "deleted", "d" },
	[OK_OWNER] = { "owner", "diddd" },
	[OK_CAPACITY] = { "capacity", "d" },
	[OK_ALONE] = { "alone", "d" },
	[OK_SEALS] = { "seals", "x" },
	[OK_COUNT] = { "count", "d" },
	[OK_SEMAPHORE] = { "semaphore", "d" },
	[OK_MASK] = { "mask", "x" },
	[OK_CLOCK] = { "clock", "d" },
	[OK_SETTIME] = { "settime", "x" },
	[OK_INTERVAL] = { "interval", "d" },
	[OK_LEFT] = { "left", "d" },
	[OK_TICKS] = { "ticks", "d" },
	[OK_SOCKET] = { "socket", "ddddd" },
	[OK_OPTIONS] = { "options", "ddx" },
	[OK_TIMEOUTS] = { "timeouts", "dd" },
	[OK_INDEX] = { "index", "d" },
	[OK_MASTER] = { "master", "d" },
	[OK_TERMIOS] = { "termios", "xxxxd" },
	[OK_TERMLOCK] = { "termlock", "xxxxd" },
	[OK_WINSIZE] = { "winsize", "dddd" },
	[OK_EXCLUSIVE] = { "exclusive", "d" },
	[OK_PACKET] = { "packet", "d" },
	[OK_SHUT] = { "shut", "d" },
	[OK_WAITING] = { "waiting", "d" },
	[OK_HUNGUP] = { "hungup", "d" },
	[OK_PID] = { "pid", "i" },
	[OK_TIMES] = { "times", "ii" },
	[OK_UNREAD] = { "unread", "d" },
	[OK_PROTOCOL] = { "protocol", "d" },
	[OK_FAMILY] = { "family", "d" },
	[OK_STREAM] = { "stream", "ddddd" },
	[OK_AGREED] = { "agreed", "xdddd" },
	[OK_WINDOW] = { "window", "ddddd" },
	[OK_LOCK] = { "lock", "d" },
	[OK_NETLINK] = { "netlink", "ddddx" },
	[OK_BOUND] = { "bound", "dxd" },
	[OK_FRAMES] = { "frames", "ddddx" },
	[OK_RXRING] = { "rxring", "ddddddd" },
	[OK_TXRING] = { "txring", "ddddddd" },
	[OK_FANOUT] = { "fanout", "x" },
	[OK_HUGEPAGES] = { "hugepages", "d" },
	[OK_GROUP] = { "created", "xx" },
	[OK_FAILED] = { "failed", "d" },
};

/*
 * Return whether the record tells a key of open file f, so that f->v[k]
 * counts.
 */
bool
makeopen_has(const struct makeopen *f, enum openkey k)
{
	return f->has >> k & 1;
}

/*
 * Let nothing be told of f.
 */
void
makenumbers_begin(struct makeopen *f)
{
	static uint64_t none[OPEN_NUMBERS];	/* never written */
	enum openkey k;

	f->has = 0;
	for (k = 0; k < OK_MAX; k++)
		f->v[k] = none;
}

/*
 * Take a line of file/ID whose first word is a key of f, and others its
 * numbers.  A key that is not known is passed over.  Return 0, or -1 with
 * errstr.
 */
int
makenumbers_read(struct makeopen *f, struct words *w)
{
	uint64_t v[OPEN_NUMBERS];
	enum openkey k;
	char want[64];
	size_t n;

	for (k = 0; k < OK_MAX; k++)
		if (strcmp(w->word[0], keys[k].name) == 0)
			break;
	if (k == OK_MAX)
		return 0;
	if (words_split(w, w->rest) == -1)
		return -1;
	n = strlen(keys[k].form);
	snprintf(want, sizeof want, "%s and %zu number%s", keys[k].name, n,
	    n == 1 ? "" : "s");
	if (!words_form(w, 0, keys[k].form, v))
		return words_bad(w, want);
	if (!makeopen_has(f, k)) {
		if ((f->v[k] = calloc(n, sizeof *v)) == NULL)
			return errstr_set("out of memory");
		f->has |= UINT64_C(1) << k;
	}
	memcpy(f->v[k], v, n * sizeof *v);
	return 0;
}

void
makenumbers_free(struct makeopen *f)
{
	enum openkey k;

	for (k = 0; k < OK_MAX; k++)
		if (makeopen_has(f, k))
			free(f->v[k]);
}
