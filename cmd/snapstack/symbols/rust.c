/*
 * Names of Rust in its mangling version 0: RFC 2603.  What is told is what
 * people write, without hashes of crates and without lifetimes.
 */
#include "snapstack/snapstack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100, LONGEST = 4 * KB };

struct rust {			/* a name that is read */
	const char	*begin;	/* borrowed; behind _R */
	const char	*s;	/* what is not read yet */
	struct buf	 b;
	unsigned int	 depth;
	unsigned int	 quiet;	/* what is read is not told */
	bool		 failed;
};

static void	 type_read(struct rust *r);

static bool
taken(struct rust *r, char c)
{
	if (*r->s != c)
		return false;
	r->s++;
	return true;
}

static void
put(struct rust *r, const char *s, size_t n)
{
	if (r->quiet > 0)
		return;
	if (r->b.len + n > LONGEST)
		r->failed = true;
	else
		buf_add(&r->b, s, n);
}

static void
put_text(struct rust *r, const char *s)
{
	put(r, s, strlen(s));
}

/*
 * A number of base 62, which ends in "_"; that alone is 0.
 */
static uint64_t
base62(struct rust *r)
{
	uint64_t v;
	char c;

	if (taken(r, '_'))
		return 0;
	for (v = 0; (c = *r->s) != '_'; r->s++) {
		if (!isalnum((unsigned char)c) || v > UINT64_MAX / 62) {
			r->failed = true;
			return 0;
		}
		v = v * 62 + (uint64_t)(c <= '9' ? c - '0' : c >= 'a' ?
		    c - 'a' + 10 : c - 'A' + 36);
	}
	r->s++;
	return v + 1;
}

/*
 * A number that tells two of one name apart, if there is one.
 */
static uint64_t
disambiguator(struct rust *r)
{
	return taken(r, 's') ? base62(r) + 1 : 0;
}

/*
 * The name of something: its length and its bytes.  One that is not ASCII is
 * told as it is encoded.
 */
static void
identifier(struct rust *r, const char **name, size_t *n)
{
	char *end;

	(void)taken(r, 'u');
	*name = r->s;
	*n = 0;
	if (!isdigit((unsigned char)*r->s)) {
		r->failed = true;
		return;
	}
	/* a name of none may be followed by one of none: 00 */
	*n = *r->s == '0' ? 0 : strtoul(r->s, &end, 10);
	r->s = *r->s == '0' ? r->s + 1 : end;
	(void)taken(r, '_');
	if (*n > strlen(r->s)) {
		r->failed = true;
		*n = 0;
	}
	*name = r->s;
	r->s += *n;
}

/*
 * Read with fn what was there before, at the place that a number tells: B has
 * been read, and stands behind that place.
 */
static void
backref(struct rust *r, void (*fn)(struct rust *))
{
	const uint64_t here = (uint64_t)(r->s - r->begin) - 1;
	const char *s;
	uint64_t v;

	v = base62(r);
	if (r->failed || v >= here) {
		r->failed = true;
		return;
	}
	if (r->quiet > 0)
		return;
	s = r->s;
	r->s = r->begin + v;
	fn(r);
	r->s = s;
}

static void
const_read(struct rust *r)
{
	const char *s;
	char text[24];
	uint64_t v;
	size_t n;
	char type;

	if (r->failed || r->depth >= DEEPEST) {
		r->failed = true;
		return;
	}
	if (taken(r, 'B')) {
		r->depth++;
		backref(r, const_read);
		r->depth--;
		return;
	}
	if ((type = *r->s) == '\0') {
		r->failed = true;
		return;
	}
	r->s++;
	if (type == 'p') {
		put_text(r, "_");
		return;
	}
	if (taken(r, 'n'))
		put_text(r, "-");
	s = r->s;
	n = strspn(s, "0123456789abcdef");
	r->s += n;
	if (!taken(r, '_'))
		r->failed = true;
	if (n > 16) {		/* of 128 bits */
		put_text(r, "0x");
		put(r, s, n);
		return;
	}
	v = strtoull(s, NULL, 16);
	snprintf(text, sizeof text, "%ju", (uintmax_t)v);
	put_text(r, type == 'b' ? v != 0 ? "true" : "false" : text);
}

/*
 * What stands between angle brackets, up to an E.
 */
static void
generics(struct rust *r)
{
	bool any;

	put_text(r, "<");
	for (any = false; !r->failed && !taken(r, 'E'); any = true) {
		if (any)
			put_text(r, ", ");
		if (taken(r, 'L')) {
			(void)base62(r);
			put_text(r, "'_");
		} else if (taken(r, 'K'))
			const_read(r);
		else
			type_read(r);
	}
	put_text(r, ">");
}

static void	 path_read(struct rust *r);

/*
 * Something in a path: N has been read.
 */
static void
nested(struct rust *r)
{
	const char *name;
	char space, text[40];
	uint64_t which;
	size_t n;

	if ((space = *r->s) == '\0') {
		r->failed = true;
		return;
	}
	r->s++;
	path_read(r);
	which = disambiguator(r);
	identifier(r, &name, &n);
	if (isupper((unsigned char)space)) {
		put_text(r, space == 'C' ? "::{closure" : "::{shim");
		if (n > 0) {
			put_text(r, ":");
			put(r, name, n);
		}
		snprintf(text, sizeof text, "#%ju}", (uintmax_t)which);
		put_text(r, text);
	} else if (n > 0) {
		put_text(r, "::");
		put(r, name, n);
	}
}

static void
path_read(struct rust *r)
{
	const char *name;
	size_t n;
	char c;

	if (r->failed || ++r->depth > DEEPEST || (c = *r->s) == '\0') {
		r->failed = true;
		return;
	}
	r->s++;
	switch (c) {
	case 'C':
		(void)disambiguator(r);
		identifier(r, &name, &n);
		put(r, name, n);
		break;
	case 'N':
		nested(r);
		break;
	case 'M':		/* where it is implemented is not told */
	case 'X':
		r->quiet++;
		(void)disambiguator(r);
		path_read(r);
		r->quiet--;
		/* FALLTHROUGH */
	case 'Y':
		put_text(r, "<");
		type_read(r);
		if (c != 'M') {
			put_text(r, " as ");
			path_read(r);
		}
		put_text(r, ">");
		break;
	case 'I':
		path_read(r);
		generics(r);
		break;
	case 'B':
		backref(r, path_read);
		break;
	default:
		r->failed = true;
	}
	r->depth--;
}

/*
 * The parameters of a function and what it returns: F has been read.
 */
static void
function_read(struct rust *r)
{
	const char *name;
	size_t n;
	bool any;

	if (taken(r, 'G'))
		(void)base62(r);
	if (taken(r, 'U'))
		put_text(r, "unsafe ");
	if (taken(r, 'K')) {
		put_text(r, "extern ");
		if (taken(r, 'C'))
			put_text(r, "\"C\" ");
		else
			identifier(r, &name, &n);
	}
	put_text(r, "fn(");
	for (any = false; !r->failed && !taken(r, 'E'); any = true) {
		if (any)
			put_text(r, ", ");
		type_read(r);
	}
	put_text(r, ")");
	if (!taken(r, 'u')) {
		put_text(r, " -> ");
		type_read(r);
	}
}

/*
 * The types that belong to a trait, each in a parameter of its own behind those
 * that the trait has: p follows.
 */
static void
associated_read(struct rust *r)
{
	const char *name;
	size_t n;
	bool any;

	any = r->quiet == 0 && r->b.len > 0 && r->b.data[r->b.len - 1] == '>';
	if (any)
		r->b.len--;
	for (; !r->failed && taken(r, 'p'); any = true) {
		put_text(r, any ? ", " : "<");
		identifier(r, &name, &n);
		put(r, name, n);
		put_text(r, " = ");
		type_read(r);
	}
	put_text(r, ">");
}

/*
 * What is known of a type by its traits: D has been read.
 */
static void
dyn_read(struct rust *r)
{
	bool any;

	put_text(r, "dyn ");
	if (taken(r, 'G'))
		(void)base62(r);
	for (any = false; !r->failed && !taken(r, 'E'); any = true) {
		if (any)
			put_text(r, " + ");
		path_read(r);
		if (*r->s == 'p')
			associated_read(r);
	}
	if (taken(r, 'L'))
		(void)base62(r);
}

static void
tuple_read(struct rust *r)
{
	unsigned int n;

	put_text(r, "(");
	for (n = 0; !r->failed && !taken(r, 'E'); n++) {
		if (n > 0)
			put_text(r, ", ");
		type_read(r);
	}
	put_text(r, n == 1 ? ",)" : ")");
}

static void
type_read(struct rust *r)
{
	static const char *const basic[] = { "i8", "bool", "char", "f64",
	    "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32",
	    "i128", "u128", "_", NULL, NULL, "i16", "u16", "()", "...", NULL,
	    "i64", "u64", "!" };
	const char c = *r->s;

	if (r->failed || c == '\0' || ++r->depth > DEEPEST) {
		r->failed = true;
		return;
	}
	if (c >= 'a' && c <= 'z' && basic[c - 'a'] != NULL) {
		r->s++;
		put_text(r, basic[c - 'a']);
	} else if (taken(r, 'R') || taken(r, 'Q')) {
		if (taken(r, 'L'))
			(void)base62(r);
		put_text(r, c == 'R' ? "&" : "&mut ");
		type_read(r);
	} else if (taken(r, 'P') || taken(r, 'O')) {
		put_text(r, c == 'P' ? "*const " : "*mut ");
		type_read(r);
	} else if (taken(r, 'A') || taken(r, 'S')) {
		put_text(r, "[");
		type_read(r);
		if (c == 'A') {
			put_text(r, "; ");
			const_read(r);
		}
		put_text(r, "]");
	} else if (taken(r, 'T'))
		tuple_read(r);
	else if (taken(r, 'F'))
		function_read(r);
	else if (taken(r, 'D'))
		dyn_read(r);
	else if (taken(r, 'B'))
		backref(r, type_read);
	else
		path_read(r);
	r->depth--;
}

/*
 * Return a name that begins with _R as it was written, the caller's; NULL if
 * it is none of Rust.
 */
char *
rust_demangle(const char *name)
{
	struct rust r = { .begin = name + 2, .s = name + 2 };

	path_read(&r);
	buf_add(&r.b, "", 1);
	if (!r.failed && buf_check(&r.b) == 0)
		return (char *)r.b.data;
	buf_free(&r.b);
	return NULL;
}
