/*
 * Read a code object of CPython: the names of its function and file, and the
 * line of an instruction from the location table of 3.11 and later
 * (Objects/locations.md, since 3.14 InternalDocs/code_objects.md).
 */
#include "python.h"

enum { MAX_LINES = 256 * KB };

struct table {			/* position in a location table */
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
 * Return the source line of the code unit at index unit, or 0 if it has none.
 * first is the source line on which the function begins.
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
		/* unsigned, because damaged tables may overflow */
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
		/* the other bytes of an entry have bit 7 clear */
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
	    !target_word(t, lines + SIZE, 8, &size) || size > MAX_LINES ||
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
 * Set f to the function, file and line of a Python instruction of t.
 * instruction is its address, and code is the address of its code object. o has
 * the offsets in the interpreter's structures. Return false if there is no code
 * object.
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
