/*
 * Draw a mapping as a strip of columns a few points wide. A column that stands
 * for pages of several classes shows each with a height proportional to its
 * share.
 */
#include "procmap.h"
#include "bisect.h"

enum { CELL = 3 };		/* width of a column in points */

struct bar {			/* a rectangle that may still grow */
	int	 x, y, w, h;
};

struct strip {			/* parts of a strip, by class */
	struct bar	 bar[CLASSES];
	struct buf	 path[CLASSES]; /* owned */
};

/*
 * Return the class of pages p. The class determines their colour. If p is
 * shared with a partner of a, return the class of that partner. Otherwise
 * return the kind of the pages.
 */
static unsigned int
strip_class(const struct album *a, const struct pagespan *p)
{
	size_t i;

	if (p->kind == PAGES_SHARED && p->with != 0)
		for (i = 0; i < a->npartner; i++)
			if (a->partner[i].pid == p->with)
				return (unsigned int)(PAGES_KINDS + i);
	return p->kind;
}

/*
 * Count the bytes of each class in the address range that begins at start and
 * ends before end. Add these counts to sum. l lists the pages.
 */
static void
count_range(const struct album *a, const struct pagelist *l, uint64_t start,
    uint64_t end, uint64_t sum[CLASSES])
{
	uint64_t from, to, left;
	size_t i;

	i = BISECT(l->v, l->n, end, start);
	for (left = end - start; i < l->n && l->v[i].start < end; i++) {
		from = l->v[i].start > start ? l->v[i].start : start;
		to = l->v[i].end < end ? l->v[i].end : end;
		sum[strip_class(a, &l->v[i])] += to - from;
		left -= to - from;
	}
	sum[PAGES_NONE] += left;
}

/*
 * Set kb to the number of kilobytes in each class in the mappings of f.
 */
void
strip_count(const struct album *a, const struct figure *f,
    uint64_t kb[CLASSES])
{
	size_t i;

	memset(kb, 0, CLASSES * sizeof *kb);
	for (i = 0; i < f->n; i++)
		count_range(a, &f->pages, f->row[i].start, f->row[i].end, kb);
	for (i = 0; i < CLASSES; i++)
		kb[i] /= KB;
}

static void
bar_flush(struct strip *s, unsigned int class)
{
	struct bar *r = &s->bar[class];

	if (r->w > 0 && r->h > 0)
		buf_printf(&s->path[class], "M%d %dh%dv%dh-%dz", r->x, r->y,
		    r->w, r->h, r->w);
	r->w = 0;
}

static void
bar_add(struct strip *s, unsigned int class, int x, int y, int h)
{
	struct bar *r = &s->bar[class];

	if (r->w > 0 && r->x + r->w == x && r->y == y && r->h == h) {
		r->w += CELL;
		return;
	}
	bar_flush(s, class);
	*r = (struct bar){ x, y, CELL, h };
}

/*
 * Draw a column h points high at (x, y) that shows the classes in sum from top
 * to bottom. Round the heights of the classes so that they fill the column and
 * none vanishes.
 */
static void
draw_column(struct strip *s, const uint64_t sum[CLASSES], int x, int y, int h)
{
	uint64_t all, upto;
	unsigned int c;
	int from, to;

	for (all = 0, c = 0; c < CLASSES; c++)
		all += sum[c];
	for (upto = 0, from = 0, c = CLASSES; c-- > 0 && from < h;) {
		if (sum[c] == 0)
			continue;
		upto += sum[c];
		to = (int)((double)upto / (double)all * h + 0.5);
		if (to <= from)
			to = from + 1;
		if (c != PAGES_NONE)
			bar_add(s, c, x, y + from, to - from);
		from = to;
	}
}

/*
 * Append to b a strip for mapping r of figure f in album a, with its corner at
 * (x, y). It is width points wide, a multiple of three.
 */
void
strip_draw(struct buf *b, const struct album *a, const struct figure *f,
    const struct row *r, int x, int y, int width)
{
	enum { HEIGHT = 11 };
	struct strip s = { 0 };
	uint64_t sum[CLASSES], start, end, size;
	int i, n;
	unsigned int c;

	size = r->end - r->start;
	n = width / CELL;
	svg_rect(b, PAGES_NONE, x, y, n * CELL, HEIGHT);
	for (i = 0; i < n; i++) {
		start = r->start + (uint64_t)((double)size * i / n);
		end = i + 1 == n ? r->end :
		    r->start + (uint64_t)((double)size * (i + 1) / n);
		if (end <= start)
			continue;
		memset(sum, 0, sizeof sum);
		count_range(a, &f->pages, start, end, sum);
		draw_column(&s, sum, x + i * CELL, y, HEIGHT);
	}
	for (c = 0; c < CLASSES; c++) {
		bar_flush(&s, c);
		if (s.path[c].len > 0) {
			buf_printf(b, "<path class=\"c%u\" d=\"", c);
			buf_add(b, s.path[c].data, s.path[c].len);
			buf_puts(b, "\"/>");
		}
		b->failed |= s.path[c].failed;
		buf_free(&s.path[c]);
	}
	svg_rect(b, CLASSES, x, y, n * CELL, HEIGHT);
	buf_puts(b, "\n");
}
