/*
 * Write pieces of SVG: text, sizes and colours. The colours can be
 * distinguished by people who do not see red or green, which
 * tests/procmap/picture.t simulates.
 */
#include "procmap.h"

const char svg_style[] =
    "<style>\n"
    "text { font: 11px 'DejaVu Sans Mono', Menlo, Consolas, monospace;"
    " fill: #263238; white-space: pre }\n"
    ".title { font: bold 20px 'DejaVu Sans', Helvetica, sans-serif }\n"
    ".head { font: bold 15px 'DejaVu Sans', Helvetica, sans-serif }\n"
    ".sub, .key { font: 12px 'DejaVu Sans', Helvetica, sans-serif }\n"
    ".dim, .tick, .gap { fill: #5a707b }\n"
    ".tick, .gap { font-size: 10px }\n"
    ".note { font-weight: bold }\n"
    ".line { stroke: #e4e9ec; stroke-width: 1 }\n"
    ".lead { stroke: #b0bec5; stroke-width: 1; stroke-dasharray: 1 5 }\n"
    ".edge { fill: none; stroke: #90a4ae; stroke-width: 0.6 }\n"
    ".c0 { fill: #ffffff }\n"		/* PAGES_NONE */
    ".c1 { fill: #4492da }\n"		/* PAGES_RAW */
    ".c2 { fill: #cfd8dc }\n"		/* PAGES_ZERO */
    ".c3 { fill: #b9a44c }\n"		/* PAGES_SHARED */
    ".c4 { fill: #cd3525 }\n"		/* PAGES_SWAPPED */
    ".c5 { fill: #2b3539 }\n"		/* PAGES_GUARD */
    ".c6 { fill: url(#missing) }\n"
    ".c7 { fill: #cfd8dc }\n"		/* PAGES_SAME */
    ".c8 { fill: #d1470c }\n"		/* PAGES_CHANGED */
    ".c9 { fill: #1565c0 }\n"		/* PAGES_NEW */
    ".c10 { fill: #3b1054 }\n"		/* PAGES_GONE */
    ".c11 { fill: #ee920e }\n"		/* first sharing process */
    ".c12 { fill: #2f9e6f }\n"
    ".c13 { fill: #c85691 }\n"
    ".c14 { fill: #8cc8f5 }\n"
    ".c15 { fill: #7d5ba4 }\n"
    ".c16 { fill: #c2d754 }\n"
    ".c17 { fill: #5c391f }\n"
    ".c18 { fill: #21a4b9 }\n"
    "</style>\n"
    "<defs><pattern id=\"missing\" width=\"5\" height=\"5\" "
    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<rect width=\"5\" height=\"5\" fill=\"#ffffff\"/>"
    "<rect width=\"2\" height=\"5\" fill=\"#a1887f\"/></pattern></defs>\n";

/*
 * Append to b a rectangle with its corner at (x, y), w points wide and h points
 * high. Fill it with the colour of class c. If c is CLASSES, draw only its
 * outline.
 */
void
svg_rect(struct buf *b, unsigned int c, int x, int y, int w, int h)
{
	char class[16] = "edge";

	if (c < CLASSES)
		snprintf(class, sizeof class, "c%u", c);
	buf_printf(b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" "
	    "height=\"%d\"/>", class, x, y, w, h);
}

/*
 * Append to b the start of a text element of the given CSS class at (x, y).
 */
void
svg_begin(struct buf *b, const char *class, int x, int y)
{
	buf_printf(b, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
}

/*
 * Append text s to b. Replace characters that XML does not allow with question
 * marks.
 */
void
svg_text(struct buf *b, const char *s)
{
	uint32_t c;
	size_t n;

	for (; *s != '\0'; s += n == 0 ? 1 : n) {
		n = text_utf8(s, &c);
		if (text_iscontrol(c) || c == 0xfffe || c == 0xffff)
			n = 0;
		if (*s == '&')
			buf_puts(b, "&amp;");
		else if (*s == '<')
			buf_puts(b, "&lt;");
		else if (*s == '>')
			buf_puts(b, "&gt;");
		else if (n == 0)
			buf_puts(b, "?");
		else
			buf_add(b, s, n);
	}
}

/*
 * Append s to b if it is at most max columns wide. Otherwise append an ellipsis
 * and the end of s.
 */
void
svg_end(struct buf *b, const char *s, int max)
{
	int n;

	if ((n = text_width(s)) <= max) {
		svg_text(b, s);
		return;
	}
	while (n > max - 1)
		n -= text_columns(&s);
	buf_puts(b, "\xe2\x80\xa6");	/* an ellipsis */
	svg_text(b, s);
}

/*
 * Append kb, a number of kilobytes, to b with a unit, as in 9.8M.
 */
void
svg_size(struct buf *b, uint64_t kb)
{
	static const char unit[] = "KMGTPE";
	double n = (double)kb;
	size_t i;

	for (i = 0; n >= 1000 && unit[i + 1] != '\0'; i++)
		n /= 1024;
	buf_printf(b, i > 0 && n < 10 && n > (double)(int)n ? "%.1f%c" :
	    "%.0f%c", n, unit[i]);
}
