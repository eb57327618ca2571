/*
 * Read local variables of Python code, if memory is enough to represent them:
 * numbers, strings, and lists and tuples of these. For others print the type
 * and the address. The layouts are those of Include/cpython of 3.11 to 3.13.
 */
#include "python.h"
#include "vec.h"

enum {
	TYPE = 8,		/* offset of the type in PyObject */
	SIZE = 16,		/* offset of the size in PyVarObject */
	VALUE = 24, /* offset of digits or items, which follow PyVarObject */
	TYPE_NAME = 24,		/* offset of the name in PyTypeObject */
	FLOAT_VALUE = 16, CELL_VALUE = 16,
	DICT_USED = 16, SET_USED = 24,
	DIGIT = 30,		/* bits in each 4-byte digit of an int */
	MAX_LOCALS = 128, ITEMS = 5, DEEPEST = 2
};

struct objects {
	struct target	*t;
	const struct pyoffsets *o;
	struct buf	*b;
};

static void	 put_object(struct objects *w, uint64_t addr,
		    unsigned int depth);

/*
 * Set name to the type name of the object at address addr. Return false if the
 * name cannot be read.
 */
static bool
type_name(struct objects *w, uint64_t addr, char name[64])
{
	uint64_t type, at;
	size_t i;

	if (!target_word(w->t, addr + TYPE, 8, &type) ||
	    !target_word(w->t, type + TYPE_NAME, 8, &at))
		return false;
	for (i = 0; i < 63; i++)
		if (!target_read(w->t, at + i, &name[i], 1) || name[i] == '\0')
			break;
	name[i] = '\0';
	return i > 0;
}

/*
 * Append the Python int at address addr as a number. If truth is true, append
 * it as a bool. The int has 30-bit digits, lowest first. In 3.11 the size
 * member is their number, negated for negative ints. Later versions have the
 * sign in the lowest bits of that member.
 */
static void
put_int(struct objects *w, uint64_t addr, bool truth)
{
	uint64_t tag, n, digit, v;
	unsigned int bits;
	bool negative;
	size_t i;

	if (!target_word(w->t, addr + SIZE, 8, &tag))
		return;
	if (w->o->version >= 0x030c) {
		negative = (tag & 3) == 2;
		n = tag >> 3;
		if ((tag & 3) == 1)
			n = 0;
	} else {
		negative = (int64_t)tag < 0;
		n = negative ? -tag : tag;
	}
	bits = 0;
	if (n > 2 && target_word(w->t, addr + VALUE + 4 * (n - 1), 4, &digit))
		for (; digit != 0 && bits < DIGIT; digit >>= 1)
			bits++;
	if (n > 3 || (n == 3 && bits > 4)) {
		buf_printf(w->b, "<int of %" PRIu64 " bits>",
		    (n - 1) * DIGIT + bits);
		return;
	}
	for (v = 0, i = (size_t)n; i > 0; i--) {
		if (!target_word(w->t, addr + VALUE + 4 * (i - 1), 4, &digit))
			return;
		v = v << DIGIT | digit;
	}
	if (truth)
		buf_puts(w->b, v != 0 ? "True" : "False");
	else
		buf_printf(w->b, "%s%" PRIu64, negative ? "-" : "", v);
}

static void
put_float(struct objects *w, uint64_t addr)
{
	uint64_t bits;
	char s[40];
	double v;
	int n;

	if (!target_word(w->t, addr + FLOAT_VALUE, 8, &bits))
		return;
	memcpy(&v, &bits, sizeof v);
	for (n = 15; n <= 17; n++) {
		snprintf(s, sizeof s, "%.*g", n, v);
		if (strtod(s, NULL) == v)
			break;
	}
	buf_puts(w->b, s);
	if (s[strspn(s, "-0123456789")] == '\0')
		buf_puts(w->b, ".0");
}

/*
 * Append, in brackets, the first few of the n items in the array at address
 * addr.
 */
static void
put_items(struct objects *w, uint64_t addr, uint64_t n, const char *brackets,
    unsigned int depth)
{
	uint64_t item, i;

	buf_add(w->b, brackets, 1);
	for (i = 0; i < n && i < ITEMS && depth < DEEPEST; i++) {
		if (!target_word(w->t, addr + 8 * i, 8, &item))
			break;
		if (i > 0)
			buf_puts(w->b, ", ");
		put_object(w, item, depth + 1);
	}
	if (i < n)
		buf_printf(w->b, "%s... %" PRIu64 " in all", i > 0 ? ", " : "",
		    n);
	else if (n == 1 && *brackets == '(')
		buf_puts(w->b, ",");
	buf_add(w->b, brackets + 1, 1);
}

static void
put_object(struct objects *w, uint64_t addr, unsigned int depth)
{
	char name[64];
	uint64_t n, at;

	if (!type_name(w, addr, name))
		buf_printf(w->b, "<at 0x%" PRIx64 ">", addr);
	else if (strcmp(name, "NoneType") == 0)
		buf_puts(w->b, "None");
	else if (strcmp(name, "int") == 0 || strcmp(name, "bool") == 0)
		put_int(w, addr, *name == 'b');
	else if (strcmp(name, "float") == 0)
		put_float(w, addr);
	else if ((strcmp(name, "str") == 0 &&
	    pystring_put(w->b, w->t, w->o, addr)) ||
	    (strcmp(name, "bytes") == 0 && pybytes_put(w->b, w->t, addr)))
		return;
	else if (strcmp(name, "cell") == 0 && depth == 0 &&
	    target_word(w->t, addr + CELL_VALUE, 8, &at) && at != 0)
		put_object(w, at, 1);
	else if (strcmp(name, "tuple") == 0 &&
	    target_word(w->t, addr + SIZE, 8, &n))
		put_items(w, addr + VALUE, n, "()", depth);
	else if (strcmp(name, "list") == 0 &&
	    target_word(w->t, addr + SIZE, 8, &n) &&
	    target_word(w->t, addr + VALUE, 8, &at))
		put_items(w, at, n, "[]", depth);
	else if ((strcmp(name, "dict") == 0 &&
	    target_word(w->t, addr + DICT_USED, 8, &n)) ||
	    (strcmp(name, "set") == 0 &&
	    target_word(w->t, addr + SET_USED, 8, &n)))
		buf_printf(w->b, "<%s of %" PRIu64 ">", name, n);
	else
		buf_printf(w->b, "<%s at 0x%" PRIx64 ">", name, addr);
}

static char *
object_text(struct target *t, const struct pyoffsets *o, uint64_t addr)
{
	struct buf b = { 0 };
	struct objects w = { t, o, &b };

	put_object(&w, addr, 0);
	return pool_own(&t->pool, buf_text(&b));
}

/*
 * Add to f the local variables of the Python frame at address addr of t. The
 * code object of the frame is at address code. o has the offsets in the
 * interpreter's structures.
 */
void
pylocals_get(struct pyframe *f, struct target *t, const struct pyoffsets *o,
    uint64_t addr, uint64_t code)
{
	uint64_t names, name, n, i, value;
	struct pylocal *l;

	if (!target_word(t, code + o->code_locals, 8, &names) ||
	    !target_word(t, names + SIZE, 8, &n))
		return;
	for (i = 0; i < n && i < MAX_LOCALS; i++) {
		if (!target_word(t, names + VALUE + 8 * i, 8, &name) ||
		    !target_word(t, addr + o->frame_locals + 8 * i, 8,
		    &value) || value == 0 ||
		    POOL_ROOM(&t->pool, f->local, f->nlocal) == -1)
			continue;
		l = &f->local[f->nlocal];
		l->name = pystring_get(t, o, name);
		l->value = object_text(t, o, value);
		f->nlocal += l->name != NULL && l->value != NULL;
	}
}
