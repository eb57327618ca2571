/*
 * Print tables. For people, columns fit their contents, and lines fit the
 * terminal, as those of lsblk(8) do. For programs, each line is a JSON object,
 * printed at once; the caller may add members that are not columns.
 */
#include "common.h"

#include <err.h>

struct table {
	struct tableopts o;
	const char	*type;	/* value of "type" in each JSON object; NULL:
				   the objects are elements of an array */
	bool		 open;	/* a JSON object is being written */
	const struct column *columns; /* borrowed */
	size_t		 n;
	int		*place;	/* owned; position of each column; -1: not
				   shown */
	const struct column **shown; /* owned; columns by position */
	size_t		 nshown;
	char		**cell;	/* owned, as are its strings; nshown cells for
				   each line; NULL: an empty cell */
	size_t		 ncell;
};

/*
 * Return the index of the column of t whose name is the len bytes at name,
 * ignoring case. If there is none, print the existing names and exit with
 * status 2.
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
	errx(2, "%s: unknown column \"%.*s\"; the columns are %.*s",
	    t->o.option == NULL ? "-o" : t->o.option, (int)len, name,
	    (int)b.len, (const char *)b.data);
}

/*
 * Show column i of t to the right of the columns already shown.
 */
static void
column_show(struct table *t, size_t i)
{
	const struct column *c = &t->columns[i];

	if (t->place[i] != -1 || (t->o.json ? c->key : c->name) == NULL)
		return;
	t->place[i] = (int)t->nshown;
	MUST_ROOM(t->shown, t->nshown);
	t->shown[t->nshown++] = c;
}

static void
table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->ncell; i++)
		free(t->cell[i]);
	free(t->cell);
	free(t->shown);
	free(t->place);
	free(t);
}

/*
 * Return a new table with options o and the n columns at columns, which are
 * borrowed. table_print() frees the table. In JSON, all columns are shown by
 * default, and type is the type of each object. Exit with status 2 if o names a
 * column that does not exist.
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
	t->o = *o;
	t->type = type;
	t->columns = columns;
	t->n = n;
	for (i = 0; i < n; i++)
		t->place[i] = -1;
	for (i = 0; i < n; i++)
		if ((list == NULL || *list == '+') &&
		    (o->json || columns[i].flags & SHOW))
			column_show(t, i);
	for (; list != NULL; list = list[len] == ',' ? list + len + 1 : NULL) {
		list += *list == '+';
		len = strcspn(list, ",");
		column_show(t, column_find(t, list, len));
	}
	return t;
}

/*
 * Exit with status 2 if o names a column that is not one of the n columns at
 * columns.
 */
void
table_check(const struct column *columns, size_t n, const struct tableopts *o)
{
	table_free(table_new(columns, n, o, NULL));
}

/*
 * Return a new table as table_new() does. In JSON, the table is an array under
 * key in the open object.
 */
struct table *
table_array(const struct column *columns, size_t n, const struct tableopts *o,
    const char *key)
{
	if (o->json)
		json_open(key, '[');
	return table_new(columns, n, o, NULL);
}

/*
 * Return true if t shows column i.
 */
bool
table_shows(const struct table *t, size_t i)
{
	return t->place[i] != -1;
}

/*
 * End the JSON object that is being written, if any.
 */
static void
object_end(struct table *t)
{
	if (t->open && t->type != NULL)
		json_end();
	else if (t->open)
		json_close('}');
	t->open = false;
}

/*
 * Begin a new line of t.
 */
void
table_line(struct table *t)
{
	size_t i;

	for (i = 0; i < t->nshown && !t->o.json; i++) {
		MUST_ROOM(t->cell, t->ncell);
		t->cell[t->ncell++] = NULL;
	}
	if (!t->o.json)
		return;
	object_end(t);
	if (t->type != NULL)
		json_begin(t->type);
	else
		json_open(NULL, '{');
	t->open = true;
}

/*
 * Put s into column i of the current line of t; NULL means unknown. In text
 * tables, replace control characters, and show NULL and "" as "-".
 */
void
table_text(struct table *t, size_t i, const char *s)
{
	char *copy;

	if (t->place[i] == -1)
		return;
	if (t->o.json) {
		json_text(t->columns[i].key, s);
		return;
	}
	copy = must(strdup(s == NULL || *s == '\0' ? "-" : s));
	t->cell[t->ncell - t->nshown + (size_t)t->place[i]] =
	    text_sanitize(copy);
}

/*
 * Put number v into column i of the current line of t.
 */
void
table_number(struct table *t, size_t i, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof s, "%ju", (uintmax_t)v);
	if (!t->o.json)
		table_text(t, i, s);
	else if (t->place[i] != -1)
		json_number(t->columns[i].key, v);
}

/*
 * Put bytes, a size, into column i of the current line of t. In text tables it
 * looks like 9.8M, unless exact sizes were requested.
 */
void
table_bytes(struct table *t, size_t i, uint64_t bytes)
{
	char s[24];

	if (t->o.json || t->o.bytes)
		table_number(t, i, bytes);
	else
		table_text(t, i, amount_text(s, sizeof s, bytes));
}

/*
 * Put the addresses from first to last, inclusive, into column i of the current
 * line of t. In JSON, "start" is first and "end" is the address after last.
 */
void
table_range(struct table *t, size_t i, uint64_t first, uint64_t last)
{
	char s[40];

	if (t->o.json && t->place[i] != -1) {
		json_address("start", first, false);
		json_address("end", last, true);
	} else if (!t->o.json) {
		snprintf(s, sizeof s, "%jx-%s%jx", (uintmax_t)first,
		    last == UINT64_MAX ? "1000000000000000" : "",
		    (uintmax_t)(last + 1));
		table_text(t, i, s);
	}
}

/*
 * Print the first width columns of s, which may be NULL, aligned as c says. If
 * last is true, do not pad them to the right, and end the line.
 */
static void
cell_print(const struct column *c, const char *s, int width, bool last)
{
	const char *end = s == NULL ? "" : s, *next = end;
	const char *const begin = end;
	int n = 0, w;

	for (; *end != '\0'; end = next, n += w)
		if (n + (w = text_columns(&next)) > width)
			break;
	width -= n;
	printf("%*s%.*s%*s%c", c->flags & RIGHT ? width : 0, "",
	    (int)(end - begin), begin, c->flags & RIGHT || last ? 0 : width,
	    "", last ? '\n' : ' ');
}

/*
 * Return the number of columns that string s needs, at least min. s may be
 * NULL.
 */
static int
width_of(const char *s, int min)
{
	const int n = s == NULL ? 0 : text_width(s);

	return n > min ? n : min;
}

/*
 * Print the lines of t as text. If they do not fit the terminal, cut the widest
 * of the columns that may be cut, but not their headings.
 */
static void
lines_print(const struct table *t)
{
	const int room = terminal_width();
	const struct column *const *c = t->shown;
	const size_t n = t->nshown;
	int *width = must(calloc(n + 1, sizeof *width));
	int over = (int)n - 1 - room;
	size_t i, k;

	for (i = 0; i < n; i++) {
		width[i] = width_of(c[i]->name, 0);
		for (k = i; k < t->ncell; k += n)
			width[i] = width_of(t->cell[k], width[i]);
		over += width[i];
	}
	for (; room > 0 && over > 0; over--) {
		for (i = 0, k = n; i < n; i++)
			if (c[i]->flags & CUT &&
			    width[i] > width_of(c[i]->name, 0) &&
			    (k == n || width[i] > width[k]))
				k = i;
		if (k == n)
			break;
		width[k]--;
	}
	for (i = 0; i < n && !t->o.bare && t->ncell > 0; i++)
		cell_print(c[i], c[i]->name, width[i], i + 1 == n);
	for (i = 0; i < t->ncell; i++)
		cell_print(c[i % n], t->cell[i], width[i % n], i % n + 1 == n);
	free(width);
}

/*
 * Print t to standard output, and free it.
 */
void
table_print(struct table *t)
{
	if (t->o.json) {
		object_end(t);
		if (t->type == NULL)
			json_close(']');
	} else
		lines_print(t);
	table_free(t);
}
