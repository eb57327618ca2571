/*
 * Growing byte arrays.
 */
#include "model.h"
#include "vec.h"

/*
 * Make room for n more bytes at the end of b. Return a pointer to the room; if
 * memory runs out, set b->failed and return NULL. The caller adds the number of
 * bytes it has used to b->len.
 */
uint8_t *
buf_room(struct buf *b, size_t n)
{
	size_t cap;
	uint8_t *p;

	if (b->failed)
		return NULL;
	if (b->data != NULL && n <= b->cap - b->len)
		return b->data + b->len;
	cap = b->cap + b->cap / 2;
	if ((cap < b->cap || cap - b->len < n) &&
	    __builtin_add_overflow(b->len, n, &cap)) {
		b->failed = true;
		return NULL;
	}
	if (cap < 64)
		cap = 64;
	if ((p = realloc(b->data, cap)) == NULL) {
		b->failed = true;
		return NULL;
	}
	b->data = p;
	b->cap = cap;
	return b->data + b->len;
}

/*
 * Append the n bytes at data to b. If memory runs out, append nothing and set
 * b->failed, which buf_check() reports.
 */
void
buf_add(struct buf *b, const void *data, size_t n)
{
	uint8_t *p;

	if (n == 0 || (p = buf_room(b, n)) == NULL)
		return;
	memcpy(p, data, n);
	b->len += n;
}

/*
 * Append string s, without its NUL, to b. Report errors as buf_add() does.
 */
void
buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

/*
 * Append text formatted as by printf(3), without a NUL, to b. Report errors as
 * buf_add() does.
 */
void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	uint8_t *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if ((p = buf_room(b, (size_t)n + 1)) == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf((char *)p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

/*
 * Return 0, or -1 with errstr set if memory ran out in an earlier call for b.
 */
int
buf_check(const struct buf *b)
{
	return b->failed ? errstr_set("out of memory") : 0;
}

/*
 * Shrink the allocation of b to its length. This is for a buffer that stays in
 * memory and will not grow.
 */
void
buf_trim(struct buf *b)
{
	uint8_t *p;

	if (b->len == 0 || b->len == b->cap ||
	    (p = realloc(b->data, b->len)) == NULL)
		return;
	b->data = p;
	b->cap = b->len;
}

/*
 * Free the bytes of b, and make it empty.
 */
void
buf_free(struct buf *b)
{
	free(b->data);
	memset(b, 0, sizeof *b);
}

/*
 * Return the bytes of b as a string, which the caller frees. Return NULL with
 * errstr set if memory ran out. Leave b empty.
 */
char *
buf_text(struct buf *b)
{
	char *s;

	buf_add(b, "", 1);
	s = buf_check(b) == 0 ? (char *)b->data : NULL;
	if (s != NULL)
		b->data = NULL;
	buf_free(b);
	return s;
}

/*
 * Call report(arg, text) with the text in b, unless report is NULL. Leave b
 * empty. Return 0, or -1 with errstr set.
 */
int
buf_report(struct buf *b, void (*report)(void *, const char *), void *arg)
{
	char *s;

	if ((s = buf_text(b)) != NULL && report != NULL)
		report(arg, s);
	free(s);
	return s == NULL ? -1 : 0;
}

/*
 * Append the n bytes at data to b, two hexadecimal digits for each.
 */
void
buf_hex(struct buf *b, const void *data, size_t n)
{
	const uint8_t *p;

	for (p = data; n > 0; n--)
		buf_printf(b, "%02x", *p++);
}

/*
 * Return a string formatted as by printf(3), or NULL with errstr set. The
 * caller frees it.
 */
char *
str_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n == -1) {
		errstr_set("out of memory");
		return NULL;
	}
	return s;
}

/*
 * Append s to b, quoted as one word for sh(1).
 */
void
shell_word(struct buf *b, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

	if (*s != '\0' && s[strspn(s, plain)] == '\0') {
		buf_puts(b, s);
		return;
	}
	buf_puts(b, "'");
	for (; *s != '\0'; s++)
		if (*s == '\'')
			buf_puts(b, "'\\''");
		else
			buf_add(b, s, 1);
	buf_puts(b, "'");
}
