/*
 * Compile the pattern. All but pointers and YARA rules become one regular
 * expression of PCRE2 on bytes: its characters are bytes, and its lines end
 * with \n.
 */
#include "snapgrep.h"
#include "num.h"

#include <ctype.h>

static const uint32_t options = PCRE2_MULTILINE | PCRE2_NEVER_UTF |
    PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_USE_OFFSET_LIMIT;

static pcre2_code *
compile(const void *s, size_t len, uint32_t more)
{
	pcre2_compile_context *c;
	pcre2_code *code;
	PCRE2_UCHAR why[256];
	size_t at;
	int error;

	c = must(pcre2_compile_context_create(NULL));
	pcre2_set_newline(c, PCRE2_NEWLINE_LF);
	code = pcre2_compile(s, len, options | more, &error, &at, c);
	pcre2_compile_context_free(c);
	if (code == NULL) {
		pcre2_get_error_message(error, why, sizeof why);
		errstr_set("pattern: %s, at character %zu", (char *)why,
		    at + 1);
	}
	return code;
}

/*
 * Append byte c as a literal to the expression of p.
 */
static void
source_byte(struct pattern *p, uint8_t c)
{
	if (isalnum(c))
		buf_printf(&p->source, "%c", c);
	else
		buf_printf(&p->source, "\\x%02x", c);
}

/*
 * Append a unit of UTF-16 to the expression of p. With -i, only the case of
 * ASCII letters is ignored, so a byte of another unit that looks like a letter
 * must match exactly.
 */
static void
source_unit(struct pattern *p, uint32_t unit)
{
	if (unit >= 0x80)
		buf_puts(&p->source, "(?-i:");
	source_byte(p, (uint8_t)unit);
	source_byte(p, (uint8_t)(unit >> 8));
	if (unit >= 0x80)
		buf_puts(&p->source, ")");
}

/*
 * Append string s to the expression of p as a literal, in UTF-16 if p->utf16 is
 * true. Return the number of bytes that the literal matches, or -1 with errstr
 * set.
 */
static ssize_t
source_string(struct pattern *p, const char *s)
{
	ssize_t len;
	uint32_t c;
	size_t n;

	for (len = 0; *s != '\0'; s += n) {
		n = 1;
		if (!p->utf16) {
			source_byte(p, (uint8_t)*s);
			len++;
			continue;
		}
		if ((n = text_utf8(s, &c)) == 0)
			return errstr_set("-u: the pattern is not valid UTF-8");
		len += c < 0x10000 ? 2 : 4;
		if (c >= 0x10000) {
			source_unit(p, 0xd800 + ((c - 0x10000) >> 10));
			c = 0xdc00 + (c & 0x3ff);
		}
		source_unit(p, c);
	}
	return len;
}

/*
 * Append to p the bytes that s gives, each as two hexadecimal digits. ?? stands
 * for any byte, and ? as the second digit for any digit. Blanks may separate
 * bytes. Return the number of bytes, or -1 with errstr set.
 */
static ssize_t
source_hex(struct pattern *p, const char *s)
{
	ssize_t len;

	for (len = 0;; len++, s += 2) {
		s += strspn(s, " \t");
		if (*s == '\0')
			return len;
		if ((!isxdigit((uint8_t)s[0]) && s[0] != '?') ||
		    (!isxdigit((uint8_t)s[1]) && s[1] != '?'))
			return errstr_set("-x: expected two hexadecimal digits "
			    "or ?? for each byte, not \"%s\"", s);
		if (s[0] == '?' && s[1] == '?')
			buf_puts(&p->source, "[\\x00-\\xff]");
		else if (s[1] == '?')
			buf_printf(&p->source, "[\\x%c0-\\x%cf]", s[0], s[0]);
		else if (s[0] == '?')
			return errstr_set("-x: %.2s: the first digit of a byte "
			    "cannot be ? alone", s);
		else
			buf_printf(&p->source, "\\x%.2s", s);
	}
}

static ssize_t
source_number(struct pattern *p, const char *s)
{
	uint64_t v, most;
	uint8_t b[8];
	size_t i;
	char *end;

	most = p->width == 8 ? UINT64_MAX : (1ULL << 8 * p->width) - 1;
	errno = 0;
	v = strtoull(s, &end, 0);
	if (*s == '\0' || *end != '\0' || isspace((uint8_t)*s))
		return errstr_set("%s: not a number", s);
	if (errno != 0 || (*s == '-' ? -v > most / 2 + 1 : v > most))
		return errstr_set("%s: out of range for %u bytes", s, p->width);
	num_put(b, v, p->width);
	for (i = 0; i < p->width; i++)
		source_byte(p, b[p->big ? p->width - 1 - i : i]);
	return p->width;
}

/*
 * Return true if s followed by end is a valid expression. Otherwise return
 * false with errstr set.
 */
static bool
compiles(const char *s, const char *end)
{
	struct buf b = { 0 };
	pcre2_code *code;

	buf_printf(&b, "%s%s", s, end);
	code = buf_check(&b) == -1 ? NULL : compile((char *)b.data, b.len, 0);
	buf_free(&b);
	pcre2_code_free(code);
	return code != NULL;
}

/*
 * Append regular expression s to the expression of p. If s ends inside \Q or,
 * with (?x), inside a comment, end that too. Return the length of a match if s
 * is a literal, ACROSS if it is not, or -1 with errstr set on failure.
 */
static ssize_t
source_regex(struct pattern *p, const char *s)
{
	if (s[strcspn(s, "\\^$.[]|()?*+{}")] == '\0')
		return source_string(p, s);
	if (!compiles(s, ""))
		return -1;
	/* an unmatched ")" is valid only in a comment */
	buf_printf(&p->source, "%s%s", s, compiles(s, "\\E)") ? "\n" : "\\E");
	return ACROSS;
}

/*
 * Add alternative s, interpreted according to p->kind, to p. Return 0, or -1
 * with errstr set.
 */
int
pattern_add(struct pattern *p, const char *s)
{
	ssize_t n;

	buf_puts(&p->source, p->source.len == 0 ? "(?:" : "|(?:");
	switch (p->kind) {
	case PATTERN_HEX:
		n = source_hex(p, s);
		break;
	case PATTERN_NUMBER:
		n = source_number(p, s);
		break;
	case PATTERN_REGEX:
		n = p->utf16 ? source_string(p, s) : source_regex(p, s);
		break;
	default:
		n = source_string(p, s);
	}
	buf_puts(&p->source, ")");
	if (n == -1)
		return -1;
	if (n == 0)
		return errstr_set("empty pattern");
	if ((size_t)n > p->reach)
		p->reach = (size_t)n;
	return buf_check(&p->source);
}

/*
 * Make p search for pointers to s, an address or an address range. Return 0, or
 * -1 with errstr set.
 */
int
pattern_pointer(struct pattern *p, const char *s)
{
	p->kind = PATTERN_POINTER;
	p->pointer = 8;
	return chosen_range(s, &p->lo, &p->hi);
}

/*
 * Make p search for numbers of the given type. A type is the number of bytes,
 * 1, 2, 4 or 8, followed by "le", "be" or nothing. Return 0, or -1 with errstr
 * set.
 */
int
pattern_number(struct pattern *p, const char *type)
{
	p->kind = PATTERN_NUMBER;
	p->width = (unsigned int)(*type - '0');
	if (*type == '\0' || strchr("1248", *type) == NULL ||
	    (type[1] != '\0' && strcmp(type + 1, "le") != 0 &&
	    strcmp(type + 1, "be") != 0))
		return errstr_set("-n: expected 1, 2, 4 or 8, optionally with "
		    "le or be, not \"%s\"", type);
	p->big = strcmp(type + 1, "be") == 0;
	return 0;
}

/*
 * Join the alternatives into one expression. Groups are numbered from 1 in each
 * alternative. With -w, require word boundaries around a match. Return 0, or -1
 * with errstr set.
 */
static int
pattern_join(struct pattern *p)
{
	struct buf b = { 0 };
	const char *end = p->utf16 ? "\\x00" : "";

	if (p->word)
		buf_printf(&b, "(?<![0-9A-Za-z_]%s)", end);
	buf_puts(&b, "(?|");
	buf_add(&b, p->source.data, p->source.len);
	buf_puts(&b, ")");
	if (p->word)
		buf_printf(&b, "(?![0-9A-Za-z_]%s)", end);
	buf_free(&p->source);
	p->source = b;
	if (p->word && p->reach != ACROSS)
		p->reach += 2;
	return buf_check(&p->source);
}

/*
 * Set p->zeros if the pattern can match zeros.
 */
static void
pattern_zeros(struct pattern *p)
{
	struct matcher m;
	size_t start, end;
	uint8_t *zeros = must(calloc(1, LONGEST));

	matcher_open(&m, p);
	p->zeros = matcher_next(&m, zeros, LONGEST, 0, LONGEST, false, &start,
	    &end) == MATCH_FOUND;
	matcher_close(&m);
	free(zeros);
}

/*
 * Compile pattern p. Return 0, or -1 with errstr set.
 */
int
pattern_finish(struct pattern *p)
{
	uint32_t before;

	if (p->kind == PATTERN_POINTER) {
		p->reach = p->pointer;
		p->zeros = p->lo == 0;
		return 0;
	}
	if (p->kind == PATTERN_YARA)
		return 0;
	if (pattern_join(p) == -1)
		return -1;
	p->code = compile(p->source.data, p->source.len, p->nocase &&
	    p->kind != PATTERN_HEX && p->kind != PATTERN_NUMBER ?
	    PCRE2_CASELESS : 0);
	if (p->code == NULL)
		return -1;
	(void)pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE |
	    PCRE2_JIT_PARTIAL_HARD);
	(void)pcre2_pattern_info(p->code, PCRE2_INFO_MAXLOOKBEHIND, &before);
	/* ^ depends on the byte before */
	p->before = before > 0 ? before : p->reach == ACROSS;
	pattern_zeros(p);
	return 0;
}
