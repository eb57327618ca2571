/*
 * Print a match in one line: the process, the place, and the text around it,
 * with control characters escaped.
 */
#include "snapgrep.h"
#include "num.h"

enum {
	LEAD = 24, /* maximum length of the text before a match, in bytes */
	WIDTH = 72,		/* maximum length of a match and the text after
				   it, in bytes */
	HEXES = 16 /* maximum number of bytes shown in hexadecimal */
};

static const char color_on[] = "\033[1;31m", color_off[] = "\033[m";

/*
 * Print the file, process, address and mapping of the byte at offset off of
 * stretch st of p.
 */
void
show_prefix(const struct report *r, const struct plan *p,
    const struct stretch *st, uint64_t off)
{
	const struct vma *v = st->vma;
	char perm[5];
	uint64_t addr = st->addr + off;

	vma_perms(v, perm);
	if (r->path != NULL) {
		text_put(r->path);
		printf(": ");
	}
	printf("%" PRIu64 " %" PRIx64 " %s ", p->owner[st->owner].proc->pid,
	    addr, perm);
	text_put(*v->name == '\0' ? "[anon]" : v->name);
	printf("+%" PRIx64 ": ", addr - v->start);
}

/*
 * Decode the character at the start of the n bytes at s into *c. The encoding
 * is UTF-16 if utf16 is true, and otherwise UTF-8. Two zero bytes must follow
 * the n bytes. Return the length of the character in bytes, or 0 if it is not
 * valid.
 */
static size_t
character(const uint8_t *s, size_t n, bool utf16, uint32_t *c)
{
	uint32_t low;
	size_t len;

	if (!utf16) {
		len = text_utf8((const char *)s, c);
		return len <= n ? len : 0;
	}
	*c = n < 2 ? 0xd800 : (uint32_t)num_get(s, 2);
	if (*c < 0xd800 || *c >= 0xe000)
		return 2;
	low = n < 4 ? 0 : (uint32_t)num_get(s + 2, 2);
	if (*c >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
		return 0;
	*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
	return 4;
}

/*
 * Print the n bytes at s as text. Print bytes that are not text as C escapes.
 * If stop is true, stop at the first such byte instead.
 */
static void
put_text(const uint8_t *s, size_t n, bool utf16, bool stop)
{
	char utf8[4];
	uint32_t c;
	size_t len, n8;

	for (; n > 0; s += len, n -= len) {
		len = character(s, n, utf16, &c);
		if (len > 0 && !text_iscontrol(c)) {
			n8 = utf8_make(utf8, c);
			fwrite(utf8, 1, n8, stdout);
			continue;
		}
		if (stop)
			return;
		if (len > 0 && c == '\n')
			printf("\\n");
		else if (len > 0 && c == '\t')
			printf("\\t");
		else {
			len = 1;
			printf("\\x%02x", *s);
		}
	}
}

/*
 * Return the length in bytes of the text at the end of the n bytes at s.
 */
static size_t
text_before(const uint8_t *s, size_t n, bool utf16)
{
	const size_t step = utf16 ? 2 : 1;
	size_t len, k;
	uint32_t c;

	for (len = 0; len + step <= n; len += k) {
		/* a character of UTF-8 has at most four bytes */
		for (k = step; k <= 4 && len + k <= n; k += step)
			if (character(s + n - len - k, k, utf16, &c) == k)
				break;
		if (k > 4 || len + k > n || text_iscontrol(c))
			break;
	}
	return len;
}

static void
put_hex(const uint8_t *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("%s%02x", i == 0 ? "" : " ", s[i]);
}

/*
 * Print the len matching bytes at s in the form that suits pattern pt, but not
 * more than most bytes as numbers. Then print "..." if cut is true, or if not
 * all of these bytes are shown.
 */
static void
put_found(const struct report *r, const struct pattern *pt, const uint8_t *s,
    size_t len, size_t most, bool cut)
{
	const bool hex = pt->kind == PATTERN_HEX || pt->kind == PATTERN_NUMBER;

	if (r->color)
		fputs(color_on, stdout);
	if (pt->kind == PATTERN_POINTER)
		printf("%0*" PRIx64, (int)(2 * pt->pointer),
		    num_order(s, pt->pointer, pt->big));
	else if (hex)
		put_hex(s, len < most ? len : most);
	else
		put_text(s, len, pt->utf16, false);
	if (r->color)
		fputs(color_off, stdout);
	if (cut || (hex && len > most))
		printf("...");
}

/*
 * Print the match between offsets start and end (exclusive) of stretch st of p,
 * and the text around it. Use s to read the bytes.
 */
void
show_match(const struct report *r, struct search *s, const struct plan *p,
    const struct stretch *st, uint64_t start, uint64_t end)
{
	const struct pattern *pt = p->pattern;
	const bool text = pt->kind == PATTERN_REGEX ||
	    pt->kind == PATTERN_FIXED || pt->kind == PATTERN_YARA;
	uint8_t buf[LEAD * 2 + WIDTH * 2 + 4] = { 0 };
	size_t lead, len, n, shown, k;
	uint64_t left;

	lead = start < LEAD ? (size_t)start : LEAD;
	left = st->len - start;
	len = left < 2 * WIDTH ? (size_t)left : 2 * WIDTH;
	search_read(s, st, start - lead, buf, lead + len);
	n = end - start < 2 * WIDTH ? (size_t)(end - start) : 2 * WIDTH;
	shown = n < WIDTH ? n : WIDTH;
	if (text) {
		k = text_before(buf, lead, pt->utf16);
		put_text(buf + lead - k, k, pt->utf16, true);
	}
	put_found(r, pt, buf + lead, shown, HEXES, shown < end - start);
	if (text && shown == end - start && shown < WIDTH && len > shown)
		put_text(buf + lead + shown, (len < WIDTH ? len : WIDTH) -
		    shown, pt->utf16, true);
}

/*
 * Print only the bytes of the match between offsets start and end (exclusive)
 * of stretch st of p. If standard output is a terminal, print them in readable
 * form. Use s to read the bytes.
 */
void
show_only(const struct report *r, struct search *s, const struct plan *p,
    const struct stretch *st, uint64_t start, uint64_t end)
{
	uint8_t buf[4 * KB + 4];
	uint64_t n;

	for (; start < end; start += n) {
		n = end - start < 4 * KB ? end - start : 4 * KB;
		memset(buf + n, 0, 4);
		search_read(s, st, start, buf, (size_t)n);
		if (!r->terminal && p->pattern->kind != PATTERN_POINTER)
			fwrite(buf, 1, (size_t)n, stdout);
		else
			put_found(r, p->pattern, buf, (size_t)n, SIZE_MAX,
			    false);
	}
	putchar('\n');
}
