/*
 * Parse lines of status: proc_pid_status(5).
 *
 *	KEY:	VALUE ...
 */
#include "state.h"

/*
 * Find the first line of text that begins with key and a colon. text has len
 * bytes. Set *value to the rest of the line. Return false if there is no such
 * line.
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
 * Set v to the numbers after key in text, or to the first max of them if there
 * are more. text is len bytes of a status file; base is the base of the
 * numbers. Return how many numbers follow key, which may be more than max.
 * Return 0 if key is missing.
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
 * Return the first number after key in text, or 0 if there is none. text is len
 * bytes of a status file; base is the base of the number.
 */
uint64_t
status_first(const void *text, size_t len, const char *key, unsigned int base)
{
	uint64_t v;

	return status_list(text, len, key, base, &v, 1) == 0 ? 0 : v;
}

/*
 * Return the state in text, len bytes of a status file, as a letter of
 * proc_pid_stat(5), or '\0' if it is missing.
 */
char
status_state(const void *text, size_t len)
{
	struct scan value;

	if (!status_find(text, len, "State", &value))
		return '\0';
	scan_blanks(&value);
	return value.s < value.end ? *value.s : '\0';
}

/*
 * Set *v to the last number after key in text, len bytes of a status file. For
 * NSpid, NSpgid and NSsid, this is the number in the process's own PID
 * namespace (pid_namespaces(7)). Return how many numbers there are, one for
 * each namespace. If key is missing, return 0 and leave *v unchanged.
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
 * Return true if value comes after key in text, either alone or followed by a
 * blank and other text. text is len bytes of a status file.
 */
bool
status_begins(const void *text, size_t len, const char *key,
    const char *value)
{
	struct scan t;

	if (!status_find(text, len, key, &t))
		return false;
	scan_blanks(&t);
	return scan_begins(&t, value) && (t.s == t.end || *t.s == ' ');
}
