/*
 * Lines of status: proc_pid_status(5).
 *
 *	KEY:	VALUE ...
 */
#include "state.h"

#include <string.h>

/*
 * Find what stands behind a key, once.
 */
static bool
status_find(const void *text, size_t len, const char *key,
    struct scan *value)
{
	struct scan t = scan_begin(text, len);

	while (scan_key(&t, key, value))
		if (scan_byte(value, ':'))
			return true;
	return false;
}

/*
 * Set v, of max numbers, to the first ones behind key, in base, in text, len
 * bytes of status.  Return how many stand there, which may be more than max; 0
 * if the text does not have the key.
 */
size_t
status_list(const void *text, size_t len, const char *key, unsigned int base,
    uint64_t *v, size_t max)
{
	struct scan value;
	uint64_t num;
	size_t n;

	if (!status_find(text, len, key, &value))
		return 0;
	for (n = 0; scan_number(&value, base, &num); n++)
		if (n < max)
			v[n] = num;
	return n;
}

/*
 * Return the first number behind key, in base, in text, len bytes of status, or
 * 0.
 */
uint64_t
status_first(const void *text, size_t len, const char *key, unsigned int base)
{
	uint64_t v;

	return status_list(text, len, key, base, &v, 1) == 0 ? 0 : v;
}

/*
 * Set *v to the last number behind key in text, len bytes of status: of NSpid,
 * NSpgid and NSsid that in the innermost pid namespace, which the process
 * itself sees (pid_namespaces(7)).  Return in how many it has a number; 0, *v
 * unchanged, if that is not told.
 */
size_t
status_inner(const void *text, size_t len, const char *key, uint64_t *v)
{
	struct scan value;
	size_t n;

	if (!status_find(text, len, key, &value))
		return 0;
	for (n = 0; scan_number(&value, 10, v);)
		n++;
	return n;
}

/*
 * Return whether value is what stands behind key in text, len bytes of status,
 * or the first words of it.
 */
bool
status_begins(const void *text, size_t len, const char *key,
    const char *value)
{
	struct scan t;
	size_t n;

	n = strlen(value);
	if (!status_find(text, len, key, &t))
		return false;
	scan_blanks(&t);
	return (size_t)(t.end - t.s) >= n && memcmp(t.s, value, n) == 0 &&
	    (t.s + n == t.end || t.s[n] == ' ');
}
