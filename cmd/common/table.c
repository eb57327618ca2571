/*
 * Lines of columns.  For people they are a table as that of lsblk(8): columns
 * as wide as what is in them, and lines as long as the terminal.  For programs
 * each is an object of JSON, printed at once.  The caller may add members to it
 * that are not columns.
 */
#include "common.h"

#include <sys/ioctl.h>

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct table {
	const struct column *columns; /* borrowed */
	size_t		 n;
	int		*place;	/* owned; where a column is; -1: not shown */
	size_t		*shown;	/* owned; the columns in these places */
	size_t		 nshown;
	char		**cell;	/* owned, as they; nshown of each line, first
				   of the headings; NULL: empty */
	size_t		 ncell;
	const char	*type;	/* of objects of JSON; NULL: in an array */
	bool		 json;
	bool		 bytes;	/* sizes are exact */
	bool		 bare;	/* the headings are not printed */
	bool		 open;	/* an object of JSON is */
};

/*
 * Return the number of the column that the len bytes at name are the name of,
 * in either case.  Exit with 2, and print which there are, if it is none.
 */
static size_t
column_find(const struct table *t, const char *name, size_t len)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->columns[i].name != NULL &&
		    strncasecmp(t->columns[i].name, name, len) == 0 &&
		    t->columns[i].name[len] == '\0')
			return i;
	for (i = 0; i < t->n; i++)
		if (t->columns[i].name != NULL)
			buf_printf(&b, "%s%s", b.len == 0 ? "" : ", ",
			    t->columns[i].name);
	errx(2, "-o: no column \"%.*s\"; there are %.*s", (int)len, name,
	    (int)b.len, (const char *)b.data);
}

/*
 * Show column i of t after those that are shown.
 */
static void
column_show(struct table *t, size_t i)
{
	const struct column *c = &t->columns[i];

	if (t->place[i] != -1 || (t->json ? c->key : c->name) == NULL)
		return;
	t->place[i] = (int)t->nshown;
	t->shown[t->nshown++] = i;
}

/*
 * Return a table of the n columns, which are borrowed, as o has it.  As JSON it
 * has all columns by default; each line is an object of that type.  Exit with 2
 * if o names a column which is none.  table_print frees the table.
 */
struct table *
table_new(const struct column *columns, size_t n, const struct tableopts *o,
    const char *type)
{
	const char *list = o->list;
	struct table *t;
	size_t i, len;

	t = must(calloc(1, sizeof *t));
	t->place = must(reallocarray(NULL, n, sizeof *t->place));
	t->shown = must(reallocarray(NULL, n, sizeof *t->shown));
	t->type = type;
	t->columns = columns;
	t->n = n;
	t->json = o->json;
	t->bytes = o->bytes;
	t->bare = o->bare;
	for (i = 0; i < n; i++)
		t->place[i] = -1;
	for (i = 0; i < n; i++)
		if ((list == NULL || *list == '+') &&
		    (o->json || columns[i].flags & SHOW))
			column_show(t, i);
	for (; list != NULL && *list != '\0'; list += len + (list[len] != 0)) {
		list += *list == '+';
		len = strcspn(list, ",");
		column_show(t, column_find(t, list, len));
	}
	if (!t->json) {
		table_line(t);
		for (i = 0; i < t->nshown; i++)
			table_text(t, t->shown[i], columns[t->shown[i]].name);
	}
	return t;
}

/*
 * Return a table as table_new does; but as JSON it is an array under key, in
 * the object that is open, and has all columns.
 */
struct table *
table_array(const struct column *columns, size_t n, const struct tableopts *o,
    const char *key)
{
	struct tableopts all = *o;

	if (o->json) {
		all.list = NULL;
		json_open(key, '[');
	}
	return table_new(columns, n, &all, NULL);
}

/*
 * End the object of JSON that is open, if one is.
 */
static void
object_end(struct table *t)
{
	if (!t->open)
		return;
	json_close('}');
	if (t->type != NULL)
		json_end();
	t->open = false;
}

/*
 * Begin a line of t.
 */
void
table_line(struct table *t)
{
	size_t i;

	for (i = 0; i < t->nshown && !t->json; i++) {
		MUST_ROOM(t->cell, t->ncell);
		t->cell[t->ncell++] = NULL;
	}
	if (!t->json)
		return;
	object_end(t);
	json_open(NULL, '{');
	if (t->type != NULL)
		json_text("type", t->type);
	t->open = true;
}

/*
 * Put s into column i of the line of t, for people without what would control a
 * terminal.  If s is NULL, it is not known; for people that and "" are "-".
 */
void
table_text(struct table *t, size_t i, const char *s)
{
	char **cell;

	if (t->place[i] == -1)
		return;
	if (t->json) {
		json_text(t->columns[i].key, s);
		return;
	}
	cell = &t->cell[t->ncell - t->nshown + (size_t)t->place[i]];
	free(*cell);
	*cell = must(strdup(s == NULL || *s == '\0' ? "-" : s));
	text_harmless(*cell);
}

/*
 * Put number v into column i of the line of t.
 */
void
table_number(struct table *t, size_t i, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof s, "%ju", (uintmax_t)v);
	if (!t->json)
		table_text(t, i, s);
	else if (t->place[i] != -1)
		json_number(t->columns[i].key, v);
}

/*
 * Put a number of bytes into column i of the line of t: for people as ls -h has
 * it, 9.8M, unless they asked for exact sizes.
 */
void
table_bytes(struct table *t, size_t i, uint64_t bytes)
{
	char s[24];

	if (t->json || t->bytes)
		table_number(t, i, bytes);
	else
		table_text(t, i, amount_text(s, sizeof s, bytes));
}

/*
 * Put the addresses from first to last, inclusive, into column i of the line of
 * t; in JSON they are "start" and "end", the address after last.
 */
void
table_range(struct table *t, size_t i, uint64_t first, uint64_t last)
{
	char s[40];

	if (t->json && t->place[i] != -1) {
		json_address("start", first, false);
		json_address("end", last, true);
	} else if (!t->json) {
		snprintf(s, sizeof s, "%jx-%s%jx", (uintmax_t)first,
		    last == UINT64_MAX ? "1000000000000000" : "",
		    (uintmax_t)(last + 1));
		table_text(t, i, s);
	}
}

/*
 * Return how many columns of a terminal s takes, or those of its characters
 * that most columns have room for; set *len to the bytes of these.
 */
static size_t
text_width(const char *s, size_t most, size_t *len)
{
	const char *next = s, *end = s;
	size_t w, width;

	for (width = 0; *end != '\0'; width += w, end = next) {
		w = (size_t)text_columns(&next);
		if (w > most - width)
			break;
	}
	*len = (size_t)(end - s);
	return width;
}

/*
 * Make lines shorter that are longer than the terminal, of columns of these
 * widths: cut the first column that may be cut, down to its heading, then the
 * next one.
 */
static void
widths_cut(const struct table *t, size_t *width)
{
	struct winsize w;
	size_t i, sum, less, len;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == -1)
		return;
	w.ws_col = w.ws_col == 0 ? 80 : w.ws_col;
	for (sum = t->nshown - 1, i = 0; i < t->nshown; i++)
		sum += width[i];
	for (i = 0; i < t->nshown && sum > w.ws_col; i++) {
		if ((t->columns[t->shown[i]].flags & CUT) == 0)
			continue;
		less = width[i] - text_width(t->cell[i], width[i], &len);
		less = less < sum - w.ws_col ? less : sum - w.ws_col;
		width[i] -= less;
		sum -= less;
	}
}

/*
 * Print s, or nothing if it is NULL, in column k of t, which has that width.
 */
static void
cell_print(const struct table *t, size_t k, const char *s, size_t width)
{
	const bool last = k + 1 == t->nshown;
	size_t len;
	int blanks;

	s = s == NULL ? "" : s;
	blanks = (int)(width - text_width(s, width, &len));
	if (t->columns[t->shown[k]].flags & RIGHT)
		printf("%*s%.*s", blanks, "", (int)len, s);
	else
		printf("%.*s%*s", (int)len, s, last ? 0 : blanks, "");
	putchar(last ? '\n' : ' ');
}

/*
 * Print the lines of t to standard output.
 */
static void
lines_print(const struct table *t)
{
	const size_t n = t->ncell;
	size_t *width, w, i, len;

	width = must(calloc(t->nshown + 1, sizeof *width));
	for (i = 0; i < n; i++)
		if (t->cell[i] != NULL && (w = text_width(t->cell[i], SIZE_MAX,
		    &len)) > width[i % t->nshown])
			width[i % t->nshown] = w;
	if (n > 0)
		widths_cut(t, width);
	for (i = t->bare ? t->nshown : 0; i < n && n > t->nshown; i++)
		cell_print(t, i % t->nshown, t->cell[i],
		    width[i % t->nshown]);
	free(width);
}

/*
 * Print t to standard output, and free it.
 */
void
table_print(struct table *t)
{
	size_t i;

	if (t->json) {
		object_end(t);
		if (t->type == NULL)
			json_close(']');
	} else
		lines_print(t);
	for (i = 0; i < t->ncell; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t->shown);
	free(t->place);
	free(t);
}
