/*
 * Print tables. For people, libsmartcols prints them as lsblk(8) does: columns
 * fit their contents, and lines fit the terminal. For programs, each line is a
 * JSON object, printed at once; the caller may add members that are not
 * columns.
 */
#include "common.h"

#include <err.h>
#include <libsmartcols/libsmartcols.h>

struct table {
	struct libscols_table *tb; /* owned; NULL: print JSON */
	struct libscols_line *line; /* borrowed from tb; the line being
				       filled in */
	const char	*type;	/* value of "type" in each JSON object; NULL:
				   the objects are elements of an array */
	bool		 open;	/* a JSON object is being written */
	const struct column *columns; /* borrowed */
	size_t		 n;
	bool		 bytes;	/* print exact sizes */
	int		*place;	/* owned; position of each column; -1: not
				   shown */
};

/*
 * Exit with status 2 if rc is an error from a libsmartcols function, which
 * means that memory ran out.
 */
static void
check(int rc)
{
	if (rc != 0)
		program_nomem();
}

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
	errx(2, "-o: unknown column \"%.*s\"; the columns are %.*s", (int)len,
	    name, (int)b.len, (const char *)b.data);
}

/*
 * Show column i of t to the right of the columns already shown.
 */
static void
column_show(struct table *t, size_t i)
{
	const struct column *c = &t->columns[i];
	int flags = (c->flags & RIGHT ? SCOLS_FL_RIGHT : 0) |
	    (c->flags & CUT ? SCOLS_FL_TRUNC : 0);

	if (t->place[i] != -1 || (t->tb == NULL ? c->key : c->name) == NULL)
		return;
	t->place[i] = 0;
	if (t->tb == NULL)
		return;
	t->place[i] = (int)scols_table_get_ncols(t->tb);
	check(scols_table_new_column(t->tb, c->name, 0, flags) == NULL);
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
	if (!o->json)
		t->tb = must(scols_new_table());
	t->type = type;
	t->columns = columns;
	t->n = n;
	t->bytes = o->bytes;
	for (i = 0; i < n; i++)
		t->place[i] = -1;
	if (t->tb != NULL)
		check(scols_table_enable_noheadings(t->tb, o->bare));
	for (i = 0; i < n; i++)
		if ((list == NULL || *list == '+') &&
		    (o->json || columns[i].flags & SHOW))
			column_show(t, i);
	for (; list != NULL && *list != '\0'; list += len + (list[len] != 0)) {
		list += *list == '+';
		len = strcspn(list, ",");
		column_show(t, column_find(t, list, len));
	}
	return t;
}

/*
 * Return a new table as table_new() does. In JSON, the table is an array under
 * key in the open object, and has all columns, regardless of o.
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
	if (t->tb != NULL) {
		check((t->line = scols_table_new_line(t->tb, NULL)) == NULL);
		return;
	}
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
	if (t->tb == NULL) {
		json_text(t->columns[i].key, s);
		return;
	}
	copy = must(strdup(s == NULL || *s == '\0' ? "-" : s));
	check(scols_line_refer_data(t->line, (size_t)t->place[i],
	    text_sanitize(copy)));
}

/*
 * Put number v into column i of the current line of t.
 */
void
table_number(struct table *t, size_t i, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof s, "%ju", (uintmax_t)v);
	if (t->tb != NULL)
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

	if (t->tb == NULL || t->bytes)
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

	if (t->tb == NULL && t->place[i] != -1) {
		json_address("start", first, false);
		json_address("end", last, true);
	} else if (t->tb != NULL) {
		snprintf(s, sizeof s, "%jx-%s%jx", (uintmax_t)first,
		    last == UINT64_MAX ? "1000000000000000" : "",
		    (uintmax_t)(last + 1));
		table_text(t, i, s);
	}
}

/*
 * Print t to standard output, and free it.
 */
void
table_print(struct table *t)
{
	if (t->tb == NULL) {
		object_end(t);
		if (t->type == NULL)
			json_close(']');
	} else {
		/* loading the locale maps a file and so changes what
		   pagestat measures */
		text_locale();
		check(scols_print_table(t->tb));
		scols_unref_table(t->tb);
	}
	free(t->place);
	free(t);
}
