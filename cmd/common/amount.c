/*
 * Parse and print numbers with a unit, such as 2G or 90s.
 */
#include "common.h"

/*
 * Parse s, a number with an optional unit, into *v. The unit is one of the
 * letters in units. Letter units[i] multiplies the number by scale[0] * ... *
 * scale[i]. Return false if s is malformed or too large.
 */
bool
amount_read(const char *s, const char *units, const uint64_t *scale,
    uint64_t *v)
{
	const char *unit;
	uint64_t n;
	char *end;
	size_t i;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (end == s || *s == '-' || errno != 0)
		return false;
	if (*end != '\0') {
		if (end[1] != '\0' || (unit = strchr(units, *end)) == NULL)
			return false;
		for (i = 0; i <= (size_t)(unit - units); i++)
			if (__builtin_mul_overflow(n, scale[i], &n))
				return false;
	}
	*v = n;
	return true;
}

/*
 * Parse s, a size in bytes, into *v. s may end in K, M, G or T (powers of
 * 1024). Return false if s is malformed or too large.
 */
bool
amount_bytes(const char *s, uint64_t *v)
{
	return amount_read(s, "KMGT",
	    (const uint64_t[]){ 1024, 1024, 1024, 1024 }, v);
}

/*
 * Format bytes, a size, as ls -h does, for example as 9.8M. Write the text to
 * s, which has room for n bytes, and return s.
 */
const char *
amount_text(char *s, size_t n, uint64_t bytes)
{
	static const char unit[] = "BKMGTPE";
	double v = (double)bytes;
	size_t k;

	for (k = 0; v >= 1023.5 && unit[k + 1] != '\0'; k++)
		v /= KB;
	snprintf(s, n, v < 9.95 && k > 0 ? "%.1f%c" : "%.0f%c", v, unit[k]);
	return s;
}
