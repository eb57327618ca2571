/*
 * Scan texts without a NUL at their end: lines, words, numbers.
 */
#include "state.h"
#include "digits.h"

/*
 * Return a scan of text, len bytes. text may be NULL if len is 0.
 */
struct scan
scan_begin(const void *text, size_t len)
{
	const char *s = len == 0 ? "" : text;

	return (struct scan){ s, s + len };
}

/*
 * Set *line to the next line of text without its newline; the last line may
 * lack a newline. Return false at the end.
 */
bool
scan_line(struct scan *text, struct scan *line)
{
	size_t len, n, off;

	len = scan_len(text);
	off = 0;
	if (!line_next(text->s, len, &off, &line->s, &n))
		return false;
	line->end = line->s + n;
	text->s += off < len ? off : len;
	return true;
}

/*
 * Find the next line of text that begins with key, and advance text past it.
 * Set *value to the rest of that line. Return false if there is no such line.
 */
bool
scan_key(struct scan *text, const char *key, struct scan *value)
{
	while (scan_line(text, value))
		if (scan_begins(value, key))
			return true;
	return false;
}

/*
 * Return the number of bytes in t.
 */
size_t
scan_len(const struct scan *t)
{
	return (size_t)(t->end - t->s);
}

/*
 * If t begins with s, advance t past it and return true.
 */
bool
scan_begins(struct scan *t, const char *s)
{
	const size_t n = strlen(s);

	if (scan_len(t) < n || memcmp(t->s, s, n) != 0)
		return false;
	t->s += n;
	return true;
}

/*
 * If t ends in s, remove s from the end of t and return true.
 */
bool
scan_ends(struct scan *t, const char *s)
{
	const size_t n = strlen(s);

	if (scan_len(t) < n || memcmp(t->end - n, s, n) != 0)
		return false;
	t->end -= n;
	return true;
}

/*
 * Set *part to the bytes of t before c, all if there is none, and advance t
 * past them. Return false if there are none.
 */
bool
scan_until(struct scan *t, char c, struct scan *part)
{
	part->s = t->s;
	while (t->s < t->end && *t->s != c)
		t->s++;
	part->end = t->s;
	return part->s < part->end;
}

/*
 * Skip blanks and tabs in t.
 */
void
scan_blanks(struct scan *t)
{
	while (t->s < t->end && (*t->s == ' ' || *t->s == '\t'))
		t->s++;
}

/*
 * If the next byte of t is c, skip it and return true.
 */
bool
scan_byte(struct scan *t, char c)
{
	if (t->s == t->end || *t->s != c)
		return false;
	t->s++;
	return true;
}

/*
 * Parse blanks and a number, which may have a minus sign, from t. base is its
 * base, at most 16. Set *v to the number in two's complement, or to UINT64_MAX
 * if it exceeds 64 bits. Return false and leave t unchanged if there is none.
 */
bool
scan_number(struct scan *t, unsigned int base, uint64_t *v)
{
	struct scan p = *t;
	const char *first;
	uint64_t num;
	bool minus, over;

	scan_blanks(&p);
	minus = scan_byte(&p, '-');
	first = p.s;
	p.s = digits_clip(first, p.end, base, &num, &over);
	if (p.s == first)
		return false;
	*v = minus && !over ? -num : num;
	*t = p;
	return true;
}

/*
 * Parse blanks and a word without blanks from t. Copy as much of the word as
 * fits, and a NUL, to word, which has room for size bytes. Return the length of
 * the whole word, or 0 if there is none.
 */
size_t
scan_word(struct scan *t, char *word, size_t size)
{
	const char *s;
	size_t n, len;

	scan_blanks(t);
	for (s = t->s; t->s < t->end && *t->s != ' ' && *t->s != '\t' &&
	    *t->s != '\n';)
		t->s++;
	len = (size_t)(t->s - s);
	n = len < size ? len : size - 1;
	memcpy(word, s, n);
	word[n] = '\0';
	return len;
}

/*
 * Return true if the rest of t is s.
 */
bool
scan_is(const struct scan *t, const char *s)
{
	return scan_len(t) == strlen(s) && memcmp(t->s, s, strlen(s)) == 0;
}
