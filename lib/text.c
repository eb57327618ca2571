/*
 * Text that goes to people: what of it is UTF-8, how wide it is, what of it
 * must not reach a terminal, numbers in units that one can read, words of a
 * shell, and names of signals; and text of the kernel's that is escaped.
 */
#include "model.h"

#include <inttypes.h>
#include <string.h>

/*
 * Return how many bytes the character at s takes in UTF-8, and in c its number;
 * 0 if it is no character.
 */
size_t
text_utf8(const char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *u = (const uint8_t *)s;
	size_t i, n;

	n = u[0] < 0x80 ? 1 : u[0] < 0xc0 ? 0 : u[0] < 0xe0 ? 2 :
	    u[0] < 0xf0 ? 3 : u[0] < 0xf8 ? 4 : 0;
	*c = n <= 1 ? u[0] : u[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (u[i] & 0x3fU);
	}
	return n == 0 || *c < least[n] || (*c >= 0xd800 && *c < 0xe000) ||
	    *c > 0x10ffff ? 0 : n;
}

/*
 * Return how many columns the character at s takes, which is passed: Unicode,
 * EastAsianWidth.txt, in coarse ranges.
 */
int
text_columns(const char **s)
{
	static const uint32_t wide[][2] = { { 0x1100, 0x115f },
	    { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	    { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
	    { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd } };
	uint32_t c;
	size_t i, n;

	n = text_utf8(*s, &c);
	*s += n == 0 ? 1 : n;
	for (i = 0; i < sizeof wide / sizeof *wide; i++)
		if (c >= wide[i][0] && c <= wide[i][1])
			return 2;
	return 1;
}

/*
 * Return true if a terminal, or who reads what is on it, would be misled by
 * character c.  Those from 0x80 to 0x9f are controls, as are those below the
 * blank, and some turn around the direction in which the rest is shown or begin
 * a new line: Unicode, chapter 23.
 */
bool
text_iscontrol(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	    c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069);
}

/*
 * Return how many bytes at s are not to go to a terminal: those of one
 * character, or one that belongs to none; 0 if the first character is harmless.
 */
static size_t
harm_len(const char *s, size_t *len)
{
	uint32_t c;

	*len = text_utf8(s, &c);
	if (*len > 0 && !text_iscontrol(c))
		return 0;
	*len = *len == 0 ? 1 : *len;
	return *len;
}

/*
 * Return true if text_clean would change name s.
 */
bool
text_isharmful(const char *s)
{
	size_t len;

	for (; *s != '\0'; s += len)
		if (harm_len(s, &len) > 0)
			return true;
	return false;
}

/*
 * Put byte with in the place of each byte of name s that is no UTF-8 or
 * controls a terminal, and return s.
 */
char *
text_clean(char *s, char with)
{
	size_t len;
	char *p;

	for (p = s; *p != '\0'; p += len)
		memset(p, with, harm_len(p, &len));
	return s;
}

/*
 * Make name s such that it may go to a terminal, in place, and return it: names
 * come from snapshots of anyone, and from processes that choose them.  Bytes
 * from 0x80 to 0x9f that are no UTF-8 are controls to a terminal that does not
 * know it.
 */
char *
text_harmless(char *s)
{
	return text_clean(s, '?');
}

/*
 * Put a number of bytes into s, of n bytes, in the unit that fits: "812 bytes",
 * "1.2 GiB", "340 MiB".
 */
void
text_bytes(char *s, size_t n, uint64_t bytes)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB",
	    "EiB" };
	double v;
	size_t i;

	if (bytes < KB) {
		snprintf(s, n, "%" PRIu64 " byte%s", bytes,
		    bytes == 1 ? "" : "s");
		return;
	}
	for (v = (double)bytes / KB, i = 0; v >= KB - 0.5; v /= KB)
		i++;
	snprintf(s, n, "%.*f %s", v < 9.95 ? 1 : 0, v, unit[i]);
}

/*
 * Put a time of us microseconds into s, of n bytes, in the unit that fits: "348
 * ms", "5.4 s", "12 min 5 s".
 */
void
text_time(char *s, size_t n, uint64_t us)
{
	uint64_t sec;
	double v;

	sec = (us + 500000) / 1000000;
	if (us < 1000)
		snprintf(s, n, "%" PRIu64 " us", us);
	else if (us < 999500) {
		v = (double)us / 1000;
		snprintf(s, n, "%.*f ms", v < 9.95 ? 1 : 0, v);
	} else if (sec < 120) {
		v = (double)us / 1000000;
		snprintf(s, n, "%.*f s", v < 9.95 ? 1 : 0, v);
	} else
		snprintf(s, n, "%" PRIu64 " min %" PRIu64 " s", sec / 60,
		    sec % 60);
}

/*
 * Undo octal escapes such as those of mountinfo (proc_pid_mountinfo(5)): a
 * backslash and three digits, in place.  Return s.
 */
char *
text_unescape(char *s)
{
	char *in, *out;

	for (in = out = s; *in != '\0'; out++)
		if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' &&
		    in[2] >= '0' && in[2] <= '7' && in[3] >= '0' &&
		    in[3] <= '7') {
			*out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 |
			    (in[3] - '0'));
			in += 4;
		} else
			*out = *in++;
	*out = '\0';
	return s;
}

/*
 * Return what kill(1) calls a signal, without SIG; NULL for one that has no
 * name.  sig is its number on most machines, x86 and ARM among them: signal(7),
 * "Signal numbering for standard signals".
 */
const char *
signal_name(uint64_t sig)
{
	static const char *const names[] = {
		NULL, "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE",
		"KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
		"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
		"URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR",
		"SYS"
	};

	return sig < sizeof names / sizeof *names ? names[sig] : NULL;
}
