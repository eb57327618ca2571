/*
 * What a code object of CPython tells: the names of function and file, and the
 * line of an instruction, by the location table of 3.11 and later
 * (Objects/locations.md, since 3.14 InternalDocs/code_objects.md).
 */
#include "num.h"
#include "python.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 4096, LINES_MOST = 256 * KB };

/*
 * Return a string object as text, the caller's, cut where it is long; NULL if
 * there is none at addr: Include/cpython/unicodeobject.h.
 */
char *
pystring_get(struct target *t, const struct pyoffsets *o, uint64_t addr)
{
	enum { LENGTH = 16, STATE = 32, ASCII = 1 << 6, COMPACT = 1 << 5 };
	static uint8_t text[4 * NAME_MOST];
	struct buf b = { 0 };
	uint64_t length, state, kind, at, c, i;
	char utf8[4];

	if (!target_word(t, addr + LENGTH, 8, &length) ||
	    !target_word(t, addr + STATE, 4, &state) ||
	    (state & COMPACT) == 0)
		return NULL;
	kind = state >> 2 & 7;
	at = addr + ((state & ASCII) != 0 ? o->ascii : o->compact);
	if (length > NAME_MOST)
		length = NAME_MOST;
	if ((kind != 1 && kind != 2 && kind != 4) ||
	    !target_read(t, at, text, (size_t)(length * kind)))
		return NULL;
	for (i = 0; i < length; i++) {
		c = num_get(text + i * kind, (size_t)kind);
		if (c == 0 || c > 0x10ffff)
			c = '?';
		buf_add(&b, utf8, utf8_make(utf8, (uint32_t)c));
	}
	buf_add(&b, "", 1);
	if (buf_check(&b) == 0)
		return (char *)b.data;
	buf_free(&b);
	return NULL;
}

struct table {			/* a location table that is read */
	const uint8_t	*p;
	const uint8_t	*end;
};

static uint64_t
varint(struct table *t)
{
	unsigned int shift;
	uint64_t v;
	uint8_t c;

	for (v = 0, shift = 0; t->p < t->end && shift < 60; shift += 6) {
		c = *t->p++;
		v |= (uint64_t)(c & 0x3f) << shift;
		if ((c & 0x40) == 0)
			break;
	}
	return v;
}

static int64_t
signed_varint(struct table *t)
{
	uint64_t v = varint(t);

	return (v & 1) != 0 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/*
 * Return the line of the code unit, or 0 if it has none; first is the line of
 * the function.
 */
static int64_t
line_find(struct table *t, uint64_t unit, int64_t first)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG, NONE };
	uint64_t at, n;
	unsigned int code;
	int64_t line;

	for (at = 0, line = first; t->p < t->end; at += n) {
		code = *t->p >> 3 & 15;
		n = (*t->p++ & 7) + 1U;
		/* what is damaged may overflow */
		if (code == NO_COLUMNS || code == LONG)
			line = (int64_t)((uint64_t)line +
			    (uint64_t)signed_varint(t));
		else if (code >= ONE_LINE && code < NO_COLUMNS)
			line = (int64_t)((uint64_t)line + code - ONE_LINE);
		if (code == LONG) {
			(void)varint(t);
			(void)varint(t);
			(void)varint(t);
		}
		if (unit >= at && unit < at + n)
			return code == NONE ? 0 : line;
		/* the rest of an entry has no bit 7 */
		while (t->p < t->end && (*t->p & 0x80) == 0)
			t->p++;
	}
	return 0;
}

static int64_t
code_line(struct target *t, const struct pyoffsets *o, uint64_t code,
    uint64_t instruction)
{
	enum { SIZE = 16, BYTES = 32, UNIT = 2 };
	uint64_t lines, size, first;
	struct table table;
	uint8_t *p;
	int64_t line;

	if (!target_word(t, code + o->code_first, 4, &first) ||
	    !target_word(t, code + o->code_lines, 8, &lines) ||
	    !target_word(t, lines + SIZE, 8, &size) || size > LINES_MOST ||
	    (p = malloc((size_t)size + 1)) == NULL)
		return 0;
	line = 0;
	if (target_read(t, lines + BYTES, p, (size_t)size)) {
		table.p = p;
		table.end = p + size;
		line = line_find(&table, (instruction - code - o->code_code) /
		    UNIT, (int32_t)first);
	}
	free(p);
	return line;
}

/*
 * Set f to what the code object at code tells of the instruction at that
 * address.  Return false if there is no code object.  In any case the caller
 * frees the strings in f.
 */
bool
pycode_get(struct pyframe *f, struct target *t, const struct pyoffsets *o,
    uint64_t code, uint64_t instruction)
{
	uint64_t name, file;

	if (!target_word(t, code + o->code_name, 8, &name) ||
	    !target_word(t, code + o->code_file, 8, &file))
		return false;
	f->function = pystring_get(t, o, name);
	f->file = pystring_get(t, o, file);
	f->line = code_line(t, o, code, instruction);
	return f->function != NULL && f->file != NULL;
}
