/*
 * Text for people to read: UTF-8, its width, characters unsafe for a terminal,
 * sizes and times in readable units, and signal names; and escaped text from
 * the kernel.
 */
#include "model.h"
#include "bisect.h"

/*
 * Return the length in bytes of the UTF-8 character at s. Set *c to its code
 * point. Return 0 if there is no valid character.
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
 * Return the length of path without the suffix " (deleted)", which the kernel
 * appends to a name that was removed.
 */
size_t
path_stem(const char *path)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(path), len = sizeof deleted - 1;

	return n > len && strcmp(path + n - len, deleted) == 0 ? n - len : n;
}

/*
 * Return the number of columns that the character at *s takes. Advance *s past
 * it. Wide characters are those of Unicode's EastAsianWidth.txt, in coarse
 * ranges.
 */
int
text_columns(const char **s)
{
	static const uint32_t wide[][2] = { { 0x1100, 0x115f },
	    { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	    { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
	    { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd } };
	uint32_t c;
	size_t n;

	n = text_utf8(*s, &c);
	*s += n == 0 ? 1 : n;
	return SEEK_IN(wide, c >= (*x)[0] && c <= (*x)[1]) == NULL ? 1 : 2;
}

/*
 * Return true if character c could mislead a terminal or its reader. This is so
 * for control characters, including 0x80 to 0x9f. It is also so for characters
 * that change the direction of text or begin a new line (Unicode, chapter 23).
 */
bool
text_iscontrol(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	    c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069);
}

/*
 * Set *len to the length of the character at s, or to 1 for a byte that is not
 * UTF-8. Return *len if the character is unsafe for a terminal, otherwise 0.
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
 * Return true if the n bytes at s, none of which is a NUL, can be the name of a
 * file in a directory.
 */
bool
text_isname(const char *s, size_t n)
{
	return n > 0 && n <= NAME_MAX && memchr(s, '/', n) == NULL &&
	    (n > 2 || memcmp("..", s, n) != 0);
}

/*
 * Return true if text_clean() would change s.
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
 * Overwrite each byte of s that is not UTF-8, or is part of a control
 * character, with fill. Return s.
 */
char *
text_clean(char *s, char fill)
{
	size_t len;
	char *p;

	for (p = s; *p != '\0'; p += len)
		memset(p, fill, harm_len(p, &len));
	return s;
}

/*
 * Make s safe for a terminal, in place, and return it. Names may come from
 * snapshots made by strangers, and processes choose their own names. On a
 * terminal without UTF-8, bytes from 0x80 to 0x9f that are not UTF-8 are
 * control characters.
 */
char *
text_sanitize(char *s)
{
	return text_clean(s, '?');
}

/*
 * Format a number of bytes with a suitable unit into s, which has room for n
 * bytes: "812 bytes", "1.2 GiB", "340 MiB".
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
 * Format a time of us microseconds with a suitable unit into s, which has room
 * for n bytes: "348 ms", "5.4 s", "12 min 5 s".
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
 * In s, decode the octal escapes of proc_pid_mountinfo(5): a backslash and
 * three digits. Return s.
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
 * Return the name of signal sig without SIG, as in kill(1). Return NULL if it
 * has none. The numbers are those of most machines, including x86 and ARM:
 * signal(7), "Signal numbering for standard signals".
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
