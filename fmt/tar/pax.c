/*
 * Extended headers of pax(1), which precede a header and have names and numbers
 * that do not fit there. They are lines, each beginning with its total length,
 *
 *	30 path=checkpoint/files.img
 *
 * and ending in a newline. Unknown keys are skipped.
 */
#include "tar.h"
#include "digits.h"

/*
 * Apply one line of a pax extended header to m. The line has a key of n bytes
 * and a value of len bytes. Set *sized to true if the line gives the size of
 * the member.
 */
static int
key_take(const uint8_t *key, size_t n, const uint8_t *value, size_t len,
    struct tarmember *m, bool *sized)
{
	if (n == 4 && memcmp(key, "path", n) == 0)
		return tar_text(&m->name, value, len);
	if (n == 8 && memcmp(key, "linkpath", n) == 0)
		return tar_text(&m->link, value, len);
	if (n == 4 && memcmp(key, "size", n) == 0) {
		*sized = true;
		if (!digits_number((const char *)value, len, 10, &m->size) ||
		    m->size > INT64_MAX)
			return errstr_set("a member has a malformed size");
	}
	if (n > 11 && memcmp(key, "GNU.sparse.", 11) == 0)
		m->type = TAR_SPARSE;
	return 0;
}

/*
 * Read the pax extended header of n bytes at p into m, the next member. The
 * header may give the member's name, link and size. Set *sized to true if it
 * gives the size. Set the type to TAR_SPARSE if m is stored without its holes.
 * Return 0, or -1 with errstr set.
 */
int
tar_pax(const uint8_t *p, size_t n, struct tarmember *m, bool *sized)
{
	const uint8_t *key, *is;
	const char *rest;
	uint64_t len;
	size_t head;

	for (; n > 0; p += len, n -= (size_t)len) {
		rest = digits_read((const char *)p, (const char *)p + n, 10,
		    &len);
		if (rest == NULL || len > n)
			break;
		head = (size_t)(rest - (const char *)p);
		/* there must be a blank, and a newline at the end */
		if (len < head + 2 || p[head] != ' ' || p[len - 1] != '\n')
			break;
		key = p + head + 1;
		is = memchr(key, '=', (size_t)len - head - 2);
		if (is == NULL)
			break;
		if (key_take(key, (size_t)(is - key), is + 1,
		    (size_t)(p + len - 1 - (is + 1)), m, sized) == -1)
			return -1;
	}
	return n == 0 ? 0 : errstr_set("malformed extended header, %zu bytes "
	    "before its end", n);
}
