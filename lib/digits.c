/*
 * Numbers and lines in bytes that need no NUL behind them.
 */
#include "digits.h"

#include <sys/sysmacros.h>

#include <string.h>

enum { SAFE = 15 };		/* digits of a base up to 16 */

/*
 * Read the digits at s, up to end or the first byte that is none, into *num.
 * The base is 16 at most, and letters are small.  Return where they end, which
 * is s where there are none (*num is 0 then).  If the number is 2^64 or more,
 * *over is true and *num UINT64_MAX.
 */
const char *
digits_clip(const char *s, const char *end, unsigned int base, uint64_t *num,
    bool *over)
{
	const char *safe;
	uint64_t v;
	unsigned int digit;

	/* so many digits are below 2^60, and need no checks */
	safe = s + (end - s < SAFE ? end - s : SAFE);
	for (v = 0, *over = false; s < end; s++) {
		digit = (unsigned int)(*s - '0');
		if (digit > 9)
			digit = *s >= 'a' && *s <= 'f' ?
			    (unsigned int)(*s - 'a') + 10 : 16;
		if (digit >= base)
			break;
		if (s < safe)
			v = v * base + digit;
		else
			*over = *over || __builtin_mul_overflow(v, base, &v) ||
			    __builtin_add_overflow(v, digit, &v);
	}
	*num = *over ? UINT64_MAX : v;
	return s;
}

/*
 * The same as digits_clip, but return NULL if the number is 2^64 or more.
 */
const char *
digits_read(const char *s, const char *end, unsigned int base, uint64_t *num)
{
	bool over;

	s = digits_clip(s, end, base, num, &over);
	return over ? NULL : s;
}

/*
 * Return true if the n bytes at s are a number in that base, below 2^64, and
 * nothing else; *num is set to it.
 */
bool
digits_number(const char *s, size_t n, unsigned int base, uint64_t *num)
{
	return n > 0 && digits_read(s, s + n, base, num) == s + n;
}

/*
 * Return true if the n bytes at s are MAJOR:MINOR of a device, hexadecimal and
 * each below 2^32; *dev is set to it as makedev(3) has it.
 */
bool
digits_device(const char *s, size_t n, uint64_t *dev)
{
	const char *colon;
	uint64_t maj, min;

	if (n == 0 || (colon = memchr(s, ':', n)) == NULL ||
	    !digits_number(s, (size_t)(colon - s), 16, &maj) ||
	    !digits_number(colon + 1, (size_t)(s + n - colon) - 1, 16, &min) ||
	    maj > UINT32_MAX || min > UINT32_MAX)
		return false;
	*dev = makedev((unsigned int)maj, (unsigned int)min);
	return true;
}

/*
 * Find the line that begins at byte *off of a text of len bytes: *line and *n
 * are set to it, without its newline, and *off to where the next one begins,
 * which is len + 1 behind a line that has no newline.  Return false where *off
 * is at the end.
 */
bool
line_next(const void *text, size_t len, size_t *off, const char **line,
    size_t *n)
{
	const char *nl;

	if (*off >= len)
		return false;
	*line = (const char *)text + *off;
	nl = memchr(*line, '\n', len - *off);
	*n = nl == NULL ? len - *off : (size_t)(nl - *line);
	*off += *n + 1;
	return true;
}
