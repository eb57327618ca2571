/*
 * Parse rtnetlink(7) messages, which some files of a record consist of. A
 * message has a header (length in 4 bytes, type in 2, 10 unused ones), a body
 * of fixed size, and attributes (length and type in 2 bytes each, and a value),
 * all aligned to four bytes. Numbers are little-endian, as on all machines
 * that criu supports here.
 */
#include "netspace.h"
#include "num.h"

enum { HEAD = 16, ATTRIBUTE = 4 };

static size_t
aligned(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/*
 * Set *m to the next message of file f, and advance f past it. Skip messages
 * whose body has fewer than body bytes. Return false if no message is left.
 */
bool
message_next(struct recfile *f, size_t body, struct message *m)
{
	size_t len;

	do {
		if (f->len < HEAD)
			return false;
		len = (size_t)num_get(f->data, 4);
		if (len < HEAD || len > f->len)
			return false;
		m->whole = f->data;
		f->data += aligned(len);
		/* the last message may lack its padding */
		f->len -= aligned(len) < f->len ? aligned(len) : f->len;
	} while (len < HEAD + body);
	m->size = len;
	m->body = m->whole + HEAD;
	m->attributes = m->body + aligned(body);
	m->len = len < HEAD + aligned(body) ? 0 : len - HEAD - aligned(body);
	return true;
}

/*
 * Find the attribute of this type (rtnetlink(7)) in the len bytes at p. Return
 * its value, and set *n to the size of the value in bytes. Return NULL if there
 * is no such attribute.
 */
const uint8_t *
attribute_find(const uint8_t *p, size_t len, unsigned int type, size_t *n)
{
	enum { NESTED = 1 << 15 };
	size_t size;

	for (; len >= ATTRIBUTE; p += aligned(size), len -= aligned(size)) {
		size = (size_t)num_get(p, 2);
		if (size < ATTRIBUTE || size > len)
			break;
		if ((num_get(p + 2, 2) & ~(uint64_t)NESTED) == type) {
			*n = size - ATTRIBUTE;
			return p + ATTRIBUTE;
		}
		if (aligned(size) > len)
			break;
	}
	return NULL;
}

/*
 * Set *v to the 4-byte number in message m's attribute of this type. Return
 * false if there is no such attribute.
 */
bool
message_number(const struct message *m, unsigned int type, uint32_t *v)
{
	const uint8_t *p;
	size_t n;

	p = attribute_find(m->attributes, m->len, type, &n);
	if (p == NULL || n < 4)
		return false;
	*v = (uint32_t)num_get(p, 4);
	return true;
}

/*
 * Find the attribute of this type in the len bytes at p, and copy its string to
 * text, which has room for size bytes. Set text to "" if there is no such
 * attribute or its string is too long.
 */
void
attribute_text(const uint8_t *p, size_t len, unsigned int type, char *text,
    size_t size)
{
	size_t n;

	*text = '\0';
	p = attribute_find(p, len, type, &n);
	if (p != NULL && n < size)
		snprintf(text, size, "%.*s", (int)n, (const char *)p);
}
