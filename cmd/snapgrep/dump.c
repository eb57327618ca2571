/*
 * Print a match and the bytes around it with their addresses, as "hexdump -C"
 * does.
 */
#include "snapgrep.h"

enum { LINE = 16 };

/*
 * Print text, which represents a byte, in colour if color is true.
 */
static void
put_shown(const char *text, bool color)
{
	printf("%s%s%s", color ? "\033[1;31m" : "", text,
	    color ? "\033[m" : "");
}

/*
 * Print the n bytes at s, whose address is addr, as one line of a dump. The
 * bytes from address first to end (exclusive) belong to the match.
 */
static void
put_line(uint64_t addr, const uint8_t *s, size_t n, uint64_t first,
    uint64_t end, bool color)
{
	bool in[LINE];
	char shown[4];
	size_t i;

	printf("%08" PRIx64, addr);
	for (i = 0; i < LINE; i++) {
		printf("%s", i % 8 == 0 ? "  " : " ");
		in[i] = color && addr + i >= first && addr + i < end;
		if (i < n)
			snprintf(shown, sizeof shown, "%02x", s[i]);
		put_shown(i < n ? shown : "  ", i < n && in[i]);
	}
	printf("  |");
	for (i = 0; i < n; i++) {
		snprintf(shown, sizeof shown, "%c",
		    s[i] >= ' ' && s[i] < 0x7f ? s[i] : '.');
		put_shown(shown, in[i]);
	}
	printf("|\n");
}

/*
 * Dump the match between offsets start and end (exclusive) of stretch st.
 * Include the context that r requests, as far as st contains it. Use s to read
 * the bytes.
 */
void
dump_match(const struct report *r, struct search *s, const struct stretch *st,
    uint64_t start, uint64_t end)
{
	uint8_t buf[LINE];
	uint64_t at, to;
	size_t n;

	at = start - (start < r->before ? start : r->before);
	to = st->len - end < r->behind ? st->len : end + r->behind;
	for (; at < to; at += n) {
		n = to - at < LINE ? (size_t)(to - at) : LINE;
		search_read(s, st, at, buf, n);
		put_line(st->addr + at, buf, n, st->addr + start,
		    st->addr + end, r->color);
	}
}
