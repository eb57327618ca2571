/*
 * Messages of rtnetlink(7), of which files of a record consist: a head (length
 * in 4 bytes, type in 2, 8 that do not count), a body of a fixed size, and
 * attributes (length and type, 2 bytes each, and a value), all at multiples of
 * four.  Numbers are little-endian, as on the machines that criu restores on.
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
 * Set *m to the first message of file f that has a body of that many bytes, and
 * f to what is behind it.  Return false if there is none.
 */
bool
message_next(struct recfile *f, size_t body, struct message *m)
{
	size_t len;

	for (;; f->data += aligned(len), f->len -= aligned(len)) {
		if (f->len < HEAD)
			return false;
		len = (size_t)num_get(f->data, 4);
		if (len < HEAD || len > f->len)
			return false;
		if (aligned(len) > f->len)	/* the last one */
			f->len = aligned(len);
		if (len < HEAD + body)
			continue;
		m->whole = f->data;
		m->size = len;
		m->body = f->data + HEAD;
		m->attributes = m->body + aligned(body);
		m->len = len < HEAD + aligned(body) ? 0 :
		    len - HEAD - aligned(body);
		f->data += aligned(len);
		f->len -= aligned(len);
		return true;
	}
}

/*
 * Return the value of the attribute of that type (rtnetlink(7)) that is among
 * the len bytes at p, and set *n to how long it is; NULL if there is none.
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
 * Set *v to the attribute of a type of message m that is a number of 4 bytes.
 * Return false if it has none.
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
 * Copy the attribute of that type among the len bytes at p, which is a string,
 * to text, of size bytes, which is empty if there is none or it is longer.
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
