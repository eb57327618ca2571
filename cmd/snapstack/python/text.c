/*
 * Read strings and bytes objects of CPython, as text and as repr() writes them.
 */
#include "num.h"
#include "bisect.h"
#include "python.h"

enum { MAX_NAME = 4096, SHOWN = 60 };

/*
 * Find the characters in the Python string object at address addr. Set *data to
 * their address, *number to their number, and *width to the size of each in
 * bytes. See Include/cpython/unicodeobject.h. Return false if there is no
 * string object.
 */
static bool
string_find(struct target *t, const struct pyoffsets *o, uint64_t addr,
    uint64_t *data, uint64_t *number, size_t *width)
{
	enum { LENGTH = 16, STATE = 32, ASCII = 1 << 6, COMPACT = 1 << 5 };
	uint64_t state;

	if (!target_word(t, addr + LENGTH, 8, number) ||
	    !target_word(t, addr + STATE, 4, &state) ||
	    (state & COMPACT) == 0)
		return false;
	*width = state >> 2 & 7;
	*data = addr + ((state & ASCII) != 0 ? o->ascii : o->compact);
	return *width == 1 || *width == 2 || *width == 4;
}

/*
 * Return the Python string object at address addr of t as UTF-8, truncated if
 * it is long, in the pool of t. o has the offsets in the interpreter's
 * structures. Return NULL if there is no string object.
 */
char *
pystring_get(struct target *t, const struct pyoffsets *o, uint64_t addr)
{
	static uint8_t text[4 * MAX_NAME];
	struct buf b = { 0 };
	uint64_t number, at, c, i;
	size_t width;
	char utf8[4];

	if (!string_find(t, o, addr, &at, &number, &width))
		return NULL;
	if (number > MAX_NAME)
		number = MAX_NAME;
	if (!target_read(t, at, text, (size_t)number * width))
		return NULL;
	for (i = 0; i < number; i++) {
		c = num_get(text + i * width, width);
		if (c == 0 || c > 0x10ffff)
			c = '?';
		buf_add(&b, utf8, utf8_make(utf8, (uint32_t)c));
	}
	return pool_own(&t->pool, buf_text(&b));
}

/*
 * Return true if repr() escapes character c, which is beyond ASCII. It escapes
 * control, blank, format, surrogate and private-use characters.
 */
static bool
is_formless(uint32_t c)
{
	static const uint32_t range[][2] = { { 0x80, 0xa0 }, { 0xad, 0xad },
	    { 0x61c, 0x61c }, { 0x1680, 0x1680 }, { 0x180e, 0x180e },
	    { 0x2000, 0x200f }, { 0x2028, 0x202f }, { 0x205f, 0x206f },
	    { 0x3000, 0x3000 }, { 0xd800, 0xf8ff }, { 0xfeff, 0xfeff },
	    { 0xfff0, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0x10ffff } };

	return SEEK_IN(range, c >= (*x)[0] && c <= (*x)[1]) != NULL;
}

/*
 * Append character c as repr() writes it inside quotes; quote is the quote
 * character. wide is false for bytes objects.
 */
static void
put_character(struct buf *b, uint32_t c, char quote, bool wide)
{
	char utf8[4];

	if (c == (uint32_t)quote || c == '\\')
		buf_printf(b, "\\%c", (int)c);
	else if (c == '\n')
		buf_puts(b, "\\n");
	else if (c == '\r')
		buf_puts(b, "\\r");
	else if (c == '\t')
		buf_puts(b, "\\t");
	else if (c >= ' ' && c < 0x7f)
		buf_add(b, &(char){ (char)c }, 1);
	else if (wide && c > 0x7f && !is_formless(c))
		buf_add(b, utf8, utf8_make(utf8, c));
	else
		buf_printf(b, c > 0xffff ? "\\U%08x" : c > 0xff ? "\\u%04x" :
		    "\\x%02x", c);
}

/*
 * Append to b the n characters at p, each width bytes wide, quoted as repr()
 * does. wide is false for bytes objects. cut is true if further characters were
 * cut off.
 */
static void
put_quoted(struct buf *b, const uint8_t *p, size_t n, size_t width,
    bool wide, bool cut)
{
	bool single, twofold;
	char quote;
	size_t i;

	for (single = twofold = false, i = 0; i < n; i++) {
		single |= num_get(p + i * width, width) == '\'';
		twofold |= num_get(p + i * width, width) == '"';
	}
	quote = single && !twofold ? '"' : '\'';
	buf_add(b, &quote, 1);
	for (i = 0; i < n; i++)
		put_character(b, (uint32_t)num_get(p + i * width, width),
		    quote, wide);
	buf_add(b, &quote, 1);
	if (cut)
		buf_puts(b, "...");
}

/*
 * Append to b, as repr() writes them, the first 60 characters of the Python
 * string object at address addr of t. o has the offsets in the interpreter's
 * structures. Return false if there is no string object.
 */
bool
pystring_put(struct buf *b, struct target *t, const struct pyoffsets *o,
    uint64_t addr)
{
	uint8_t p[4 * SHOWN];
	uint64_t at, number;
	size_t n, width;

	if (!string_find(t, o, addr, &at, &number, &width))
		return false;
	n = number < SHOWN ? (size_t)number : SHOWN;
	if (!target_read(t, at, p, n * width))
		return false;
	put_quoted(b, p, n, width, true, n < number);
	return true;
}

/*
 * Append to b, as repr() writes them, the first 60 bytes of the Python bytes
 * object at address addr of t. Return false if there is no bytes object.
 */
bool
pybytes_put(struct buf *b, struct target *t, uint64_t addr)
{
	enum { SIZE = 16, VALUE = 32 };
	uint8_t p[SHOWN];
	uint64_t number;
	size_t n;

	if (!target_word(t, addr + SIZE, 8, &number))
		return false;
	n = number < SHOWN ? (size_t)number : SHOWN;
	if (!target_read(t, addr + VALUE, p, n))
		return false;
	buf_puts(b, "b");
	put_quoted(b, p, n, 1, false, n < number);
	return true;
}
