/*
 * The messages of 9P2000, whose forms are in intro(5) of Plan 9. A message is
 *
 *	size[4] type[1] tag[2] ...
 *
 * with numbers in little-endian order. A string follows its length, which has 2
 * bytes.
 */
#include "ninep.h"
#include "num.h"

enum { QTDIR = 0x80 };

/*
 * Append v to the answer, as a number of n bytes.
 */
void
msg_put(struct client *c, uint64_t v, size_t n)
{
	num_put(c->out + c->n, v, n);
	c->n += n;
}

/*
 * Write v at offset at of the answer, as a number of n bytes.
 */
void
msg_putat(struct client *c, size_t at, uint64_t v, size_t n)
{
	num_put(c->out + at, v, n);
}

/*
 * Append string s, cut to the length of a name.
 */
void
msg_putstring(struct client *c, const char *s)
{
	const size_t n = strnlen(s, NAME_MAX);

	msg_put(c, n, 2);
	memcpy(c->out + c->n, s, n);
	c->n += n;
}

void
msg_putqid(struct client *c, uint64_t ino, bool dir)
{
	msg_put(c, dir ? QTDIR : 0, 1);
	msg_put(c, 0, 4);
	msg_put(c, ino, 8);
}

struct rest {			/* bytes of the request not parsed yet */
	const uint8_t	*p;
	size_t		 len;
	bool		 cut;	/* there were too few */
};

static uint64_t
get(struct rest *r, size_t n)
{
	const uint8_t *p = r->p;

	r->cut |= r->len < n;
	if (r->cut)
		return 0;
	r->p += n;
	r->len -= n;
	return num_get(p, n);
}

static void
get_string(struct client *c, struct rest *r)
{
	const size_t n = (size_t)get(r, 2);

	r->cut |= r->len < n || c->nstr == WALK_MAX;
	if (r->cut)
		return;
	c->str[c->nstr++] = (struct str){ r->p, n };
	r->p += n;
	r->len -= n;
}

/*
 * Set the numbers and strings of c from its request of n bytes. A character of
 * form stands for a number of 1, 2, 4 or 8 bytes, for a string (s), or for
 * strings after their number (w). Return false if the request does not have
 * this form.
 */
bool
msg_parse(struct client *c, const char *form, size_t n)
{
	struct rest r = { c->in + HEADER, n - HEADER, false };
	uint64_t *num = c->num, count;

	for (c->nstr = 0; *form != '\0'; form++)
		switch (*form) {
		case 's':
			get_string(c, &r);
			break;
		case 'w':
			for (count = get(&r, 2); count > 0 && !r.cut; count--)
				get_string(c, &r);
			break;
		default:
			*num++ = get(&r, (size_t)(*form - '0'));
		}
	return !r.cut && r.len == 0;
}
