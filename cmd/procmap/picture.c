/*
 * Draw address spaces as SVG without scripts. For each process:
 *
 *	process PID: NAME
 *	a bar of all its memory, and the legend with amounts
 *	ADDRESS PERM SIZE  a strip for each mapping   NAME
 *
 * The length of a strip is the size of the mapping on a logarithmic scale, so
 * that a page can be seen beside a gigabyte; within a strip it is linear.
 */
#include "procmap.h"

enum {				/* positions and sizes in points */
	WIDTH = 1280,
	MARGIN = 20,
	X_PERM = 138,
	X_SIZE = 216,		/* right edge of the size column */
	X_STRIP = 232,
	MIN_STRIP = 15,
	MAX_STRIP = 540,
	X_NAME = X_STRIP + MAX_STRIP + 14,
	NAME_CHARS = 70,
	ROW = 16,
	HIDDEN = 15, /* height of a line that stands for hidden rows */
	BAR = 18
};

struct canvas {
	struct buf	 b;
	const struct album *album; /* borrowed */
	int		 y;
	int		 powers; /* base-16 logarithm, rounded up, of the
				    number of pages of the largest mapping */
};

/*
 * Return the length, in points, of the strip for a mapping of the given number
 * of bytes. The length grows with the logarithm of the size. Between powers of
 * two, the logarithm is interpolated linearly.
 */
static int
strip_width(const struct canvas *cv, uint64_t bytes)
{
	uint64_t pages = bytes / (4 * KB);
	double log2;
	int n;

	if (pages == 0)
		pages = 1;
	for (n = 0; pages >> n > 1; n++)
		continue;
	log2 = n + (double)pages / (double)((uint64_t)1 << n) - 1;
	return (int)(MIN_STRIP + (MAX_STRIP - MIN_STRIP) * log2 / 4 /
	    cv->powers) / 3 * 3;
}

static void
find_powers(struct canvas *cv)
{
	const struct figure *f;
	uint64_t most;
	size_t i, k;

	for (most = 0, i = 0; i < cv->album->n; i++)
		for (f = &cv->album->fig[i], k = 0; k < f->n; k++)
			if (f->row[k].end - f->row[k].start > most)
				most = f->row[k].end - f->row[k].start;
	for (cv->powers = 1; cv->powers < 14 &&
	    most > (uint64_t)4 * KB << (4 * cv->powers); cv->powers++)
		continue;
}

/*
 * Append the name of class c to the picture.
 */
static void
class_name(struct canvas *cv, unsigned int c)
{
	static const char *const name[PAGES_KINDS] = {
		[PAGES_NONE] = "nothing there",
		[PAGES_RAW] = "its own",
		[PAGES_ZERO] = "zero",
		[PAGES_SHARED] = "shared with others",
		[PAGES_SWAPPED] = "swapped out",
		[PAGES_GUARD] = "guard pages",
		[PAGES_MISSING] = "not captured",
		[PAGES_SAME] = "unchanged",
		[PAGES_CHANGED] = "changed",
		[PAGES_NEW] = "new",
		[PAGES_GONE] = "gone"
	};
	const struct partner *p;

	if (c < PAGES_KINDS) {
		buf_puts(&cv->b, name[c]);
		return;
	}
	p = &cv->album->partner[c - PAGES_KINDS];
	buf_puts(&cv->b, "shared with ");
	if (*p->name != '/')
		buf_printf(&cv->b, "%" PRIu64 " ", p->pid);
	svg_end(&cv->b, p->name, 40);
}

/*
 * Draw the legend: for each class c a square, its name and its size kb[c].
 */
static void
draw_legend(struct canvas *cv, const uint64_t kb[CLASSES])
{
	unsigned int c;
	size_t before;
	int x = MARGIN, w;

	for (c = 0; c < CLASSES; c++) {
		if (kb[c] == 0)
			continue;
		before = cv->b.len;
		class_name(cv, c);
		w = (int)(cv->b.len - before) * 7 + 75;
		cv->b.len = before;
		if (x + w > WIDTH - MARGIN && x > MARGIN) {
			x = MARGIN;
			cv->y += 20;
		}
		svg_rect(&cv->b, c, x, cv->y, 12, 12);
		svg_rect(&cv->b, CLASSES, x, cv->y, 12, 12);
		svg_begin(&cv->b, "key", x + 18, cv->y + 10);
		class_name(cv, c);
		buf_puts(&cv->b, " ");
		svg_size(&cv->b, kb[c]);
		buf_puts(&cv->b, "</text>\n");
		x += w;
	}
	cv->y += 26;
}

/*
 * Draw all memory of process f as one bar, with the legend below the bar. Leave
 * out addresses without pages, which would fill most of the bar.
 */
static void
draw_summary(struct canvas *cv, const struct figure *f)
{
	uint64_t kb[CLASSES], all, upto;
	int width = WIDTH - 2 * MARGIN, from, to;
	unsigned int c;

	strip_count(cv->album, f, kb);
	for (all = 0, c = PAGES_NONE + 1; c < CLASSES; c++)
		all += kb[c];
	for (upto = 0, from = 0, c = PAGES_NONE + 1; c < CLASSES; c++) {
		if (kb[c] == 0)
			continue;
		upto += kb[c];
		to = (int)((double)upto / (double)all * width);
		if (to <= from)
			to = from + 1;
		svg_rect(&cv->b, c, MARGIN + from, cv->y, to - from, BAR);
		from = to;
	}
	svg_rect(&cv->b, CLASSES, MARGIN, cv->y, width, BAR);
	buf_puts(&cv->b, "\n");
	cv->y += BAR + 10;
	draw_legend(cv, kb);
}

/*
 * Draw the scale above the strips. Its vertical lines end at bottom, a y
 * coordinate.
 */
static void
draw_scale(struct canvas *cv, int bottom)
{
	int i, x;

	for (i = 0; i <= cv->powers; i++) {
		x = X_STRIP + strip_width(cv, (uint64_t)4 * KB << (4 * i));
		buf_printf(&cv->b, "<text class=\"tick\" x=\"%d\" y=\"%d\" "
		    "text-anchor=\"middle\">", x, cv->y + 9);
		svg_size(&cv->b, (uint64_t)4 << (4 * i));
		buf_printf(&cv->b, "</text><path class=\"line\" d=\"M%d.5 "
		    "%dV%d\"/>\n", x, cv->y + 13, bottom);
	}
}

/*
 * Return the height of the gap that is drawn for unmapped addresses before row
 * i.
 */
static int
gap_height(const struct album *a, const struct figure *f, size_t i)
{
	uint64_t gap;

	gap = i == 0 || !row_isshown(a, &f->row[i - 1]) ? 0 :
	    f->row[i].start - f->row[i - 1].end;
	return gap == 0 ? 0 : gap < (uint64_t)1 << 30 ? 4 : 15;
}

static void
draw_gap(struct canvas *cv, const struct figure *f, size_t i)
{
	int h = gap_height(cv->album, f, i);

	if (h > 4) {
		svg_begin(&cv->b, "gap", MARGIN, cv->y + 10);
		svg_size(&cv->b, (f->row[i].start - f->row[i - 1].end) / KB);
		buf_puts(&cv->b, " not mapped</text>\n");
	}
	cv->y += h;
}

/*
 * Draw a line of text in place of the n hidden mappings at r.
 */
static void
draw_hidden(struct canvas *cv, const struct row *r, size_t n)
{
	uint64_t kb;
	size_t i;

	for (kb = 0, i = 0; i < n; i++)
		kb += (r[i].end - r[i].start) / KB;
	svg_begin(&cv->b, "gap", MARGIN, cv->y + 10);
	buf_printf(&cv->b, "%zu mapping%s unchanged, ", n, n == 1 ? "" : "s");
	svg_size(&cv->b, kb);
	buf_puts(&cv->b, "</text>\n");
	cv->y += HIDDEN;
}

static void
draw_row(struct canvas *cv, const struct figure *f, size_t i)
{
	const struct row *r = &f->row[i];
	int end = X_STRIP + strip_width(cv, r->end - r->start);
	bool again;
	int room;

	again = i > 0 && r->name[0] == '/' &&
	    row_isshown(cv->album, &r[-1]) && strcmp(r->name, r[-1].name) == 0;
	buf_printf(&cv->b, "<g><title>%" PRIx64 "-%" PRIx64 " %s %" PRIu64
	    "K ", r->start, r->end, r->perm, (r->end - r->start) / KB);
	svg_text(&cv->b, r->name);
	buf_printf(&cv->b, "</title><text x=\"%d\" y=\"%d\">%016" PRIx64
	    "</text><text x=\"%d\" y=\"%d\">%s</text><text x=\"%d\" "
	    "y=\"%d\" text-anchor=\"end\">", MARGIN, cv->y + 10, r->start,
	    X_PERM, cv->y + 10, r->perm, X_SIZE, cv->y + 10);
	svg_size(&cv->b, (r->end - r->start) / KB);
	buf_puts(&cv->b, "</text>");
	buf_printf(&cv->b, "<path class=\"lead\" d=\"M%d %d.5H%d\"/>",
	    end + 6, cv->y + 6, X_NAME - 6);
	strip_draw(&cv->b, cv->album, f, r, X_STRIP, cv->y, end - X_STRIP);
	buf_printf(&cv->b, "<text x=\"%d\" y=\"%d\"%s>", X_NAME, cv->y + 10,
	    again ? " class=\"dim\"" : "");
	room = NAME_CHARS;
	if (*r->note != '\0') {
		room -= (int)strlen(r->note) + 1;
		buf_printf(&cv->b, "<tspan class=\"note c%d\">",
		    strcmp(r->note, "new") == 0 ? PAGES_NEW :
		    strcmp(r->note, "gone") == 0 ? PAGES_GONE : PAGES_CHANGED);
		svg_text(&cv->b, r->note);
		buf_puts(&cv->b, "</tspan> ");
	}
	svg_end(&cv->b, r->name + strspn(r->name, " "), room);
	buf_puts(&cv->b, "</text></g>\n");
	cv->y += ROW;
}

static void
draw_figure(struct canvas *cv, const struct figure *f)
{
	uint64_t kb;
	size_t i, n;
	int bottom;

	for (kb = 0, i = 0; i < f->n; i++)
		kb += (f->row[i].end - f->row[i].start) / KB;
	svg_begin(&cv->b, "head", MARGIN, cv->y + 14);
	if (f->pid == 0)
		buf_puts(&cv->b, "kernel");
	else
		buf_printf(&cv->b, "process %" PRIu64, f->pid);
	if (*f->name != '\0') {
		buf_puts(&cv->b, ": ");
		svg_text(&cv->b, f->name);
	}
	buf_printf(&cv->b, "<tspan class=\"sub\" dx=\"12\">%zu mapping%s, ",
	    f->n, f->n == 1 ? "" : "s");
	svg_size(&cv->b, kb);
	buf_puts(&cv->b, " of addresses</tspan></text>\n");
	cv->y += 24;
	draw_summary(cv, f);
	for (bottom = cv->y + 18, i = 0; i < f->n; i += n > 0 ? n : 1) {
		n = rows_hidden(cv->album, f, i);
		bottom += n > 0 ? HIDDEN : ROW + gap_height(cv->album, f, i);
	}
	draw_scale(cv, bottom);
	cv->y += 18;
	for (i = 0; i < f->n; i += n > 0 ? n : 1) {
		if ((n = rows_hidden(cv->album, f, i)) > 0) {
			draw_hidden(cv, &f->row[i], n);
			continue;
		}
		draw_gap(cv, f, i);
		draw_row(cv, f, i);
	}
	cv->y += 34;
}

/*
 * Draw the processes, and a line with the number of hidden processes. Unchanged
 * processes are hidden, unless everything is to be drawn.
 */
static void
draw_figures(struct canvas *cv)
{
	const struct album *a = cv->album;
	const struct figure *f;
	size_t i, n;

	for (i = n = 0; i < a->n; i++) {
		f = &a->fig[i];
		if (f->nsame < f->n || f->n == 0 || a->everything)
			draw_figure(cv, f);
		else
			n++;
	}
	if (n == 0)
		return;
	svg_begin(&cv->b, "sub", MARGIN, cv->y + 10);
	buf_printf(&cv->b, "%zu process%s unchanged</text>\n", n,
	    n == 1 ? "" : "es");
	cv->y += 34;
}

/*
 * Draw all figures into cv. This determines the height of the picture. Then
 * write the start of the picture, with its height and title, to head. Return 0,
 * or -1 with errstr set.
 */
static int
draw(struct canvas *cv, const char *title, struct buf *head)
{
	find_powers(cv);
	cv->y = *cv->album->times == '\0' ? 84 : 104;
	draw_figures(cv);
	buf_printf(head, "<svg xmlns=\"http://www.w3.org/2000/svg\" "
	    "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", WIDTH,
	    cv->y, WIDTH, cv->y);
	buf_puts(head, svg_style);
	buf_printf(head, "<rect width=\"%d\" height=\"%d\" "
	    "fill=\"#ffffff\"/>\n", WIDTH, cv->y);
	svg_begin(head, "title", MARGIN, 34);
	buf_puts(head, cv->album->compare ? "What changed" : "Memory map");
	buf_puts(head, *title == '\0' ? "" : ": ");
	svg_end(head, title, 80);
	buf_puts(head, "</text>\n");
	if (*cv->album->times != '\0') {
		svg_begin(head, "sub", MARGIN, 54);
		buf_printf(head, "%s</text>\n", cv->album->times);
	}
	svg_begin(head, "sub", MARGIN, *cv->album->times == '\0' ? 54 : 74);
	buf_puts(head, "Each strip is a mapping: its length shows the size, on "
	    "the scale above the strips; its colours show the pages, by "
	    "address from left to right.</text>\n");
	return buf_check(head) == -1 ? -1 : buf_check(&cv->b);
}

/*
 * Write a picture of all figures of a, with the given title, to the file at
 * path, or to standard output if path is "-". Return 0, or -1 with errstr set.
 */
int
picture_write(const struct album *a, const char *title, const char *path)
{
	static const char tail[] = "</svg>\n";
	struct canvas cv = { .album = a };
	struct buf head = { 0 };
	struct output *o;
	int rc = -1;

	if (draw(&cv, title, &head) == -1 || (o = output_open(path)) == NULL)
		goto out;
	output_put(o, head.data, head.len);
	output_put(o, cv.b.data, cv.b.len);
	output_put(o, tail, sizeof tail - 1);
	if (output_flush(o) == -1) {
		output_abort(o);
		goto out;
	}
	rc = output_commit(o);
out:
	buf_free(&head);
	buf_free(&cv.b);
	return rc;
}
