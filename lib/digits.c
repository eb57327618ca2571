/*
 * Parse numbers and lines in bytes that do not end in NUL.
 */
#include "digits.h"

#include <sys/sysmacros.h>

#include <string.h>

enum { SAFE = 15 }; /* a number of this many digits, in base 16 or less, is
		       below 2^60 */

/*
 * Parse the digits between s and end into *num. Stop at the first byte that is
 * not a digit. base is at most 16; letters are lower-case. If the number is
 * 2^64 or more, set *over to true and *num to UINT64_MAX. Return a pointer to
 * the byte after the digits. If there are none, return s and set *num to 0.
 */
const char *
digits_clip(const char *s, const char *end, unsigned int base, uint64_t *num,
    bool *over)
{
	const char *safe;
	uint64_t v;
	unsigned int digit;

	/* digits before safe cannot overflow */
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
 * Parse digits as digits_clip() does, but return NULL if the number is 2^64 or
 * more.
 */
const char *
digits_read(const char *s, const char *end, unsigned int base, uint64_t *num)
{
	bool over;

	s = digits_clip(s, end, base, num, &over);
	return over ? NULL : s;
}

/*
 * Parse the n bytes at s into *num. Return false unless they are one number in
 * the given base, with nothing before or after it, and below 2^64.
 */
bool
digits_number(const char *s, size_t n, unsigned int base, uint64_t *num)
{
	return n > 0 && digits_read(s, s + n, base, num) == s + n;
}

/*
 * Parse the n bytes at s as a device number MAJOR:MINOR. Both parts are
 * hexadecimal and below 2^32. Set *dev to the number that makedev(3) makes of
 * them, and return true. Return false if the bytes are not a device number.
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
 * Get the line that begins at offset *off of text, which has len bytes. Set
 * *line to the line, and *n to its length without the newline. Set *off to the
 * start of the next line; after a last line without a newline, this is len + 1.
 * Return false if *off is at the end.
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
