/*
 * A stream that is read ahead, as far as is asked for.
 */
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Have n bytes at hand, or what there is before the end: set *have to how many
 * there are, from b->buf + b->start on.  Return 0, or -1 with errstr.
 */
int
inbuf_fill(struct inbuf *b, size_t n, size_t *have)
{
	uint8_t *p;
	ssize_t r;

	if (b->start > 0 && b->end - b->start < n) {
		memmove(b->buf, b->buf + b->start, b->end - b->start);
		b->end -= b->start;
		b->start = 0;
	}
	while (b->end - b->start < n && !b->eof) {
		if (b->end == b->cap) {
			if ((p = realloc(b->buf, b->cap * 2)) == NULL)
				return errstr_set("out of memory");
			b->buf = p;
			b->cap *= 2;
		}
		r = read(b->fd, b->buf + b->end, b->cap - b->end);
		if (r == -1 && errno == EINTR)
			continue;
		if (r == -1)
			return errstr_sys("read");
		b->eof = r == 0;
		b->end += (size_t)r;
	}
	*have = b->end - b->start;
	return 0;
}

/*
 * Take n of the bytes at hand out of b.
 */
void
inbuf_take(struct inbuf *b, size_t n)
{
	b->start += n;
	b->at += n;
}
