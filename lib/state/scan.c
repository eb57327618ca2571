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

	len = (size_t)(text->end - text->s);
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
	size_t n;

	n = strlen(key);
	while (scan_line(text, value))
		if ((size_t)(value->end - value->s) >= n &&
		    memcmp(value->s, key, n) == 0) {
			value->s += n;
			return true;
		}
	return false;
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
	return (size_t)(t->end - t->s) == strlen(s) &&
	    memcmp(t->s, s, strlen(s)) == 0;
}
