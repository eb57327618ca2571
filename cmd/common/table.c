/*
 * Tables for people, printed by libsmartcols as those of lsblk(8): columns as
 * wide as what is in them, and lines as long as the terminal.
 */
#include "common.h"

#include <err.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

struct table {
	struct libscols_table *tb; /* owned */
	struct libscols_line *line; /* borrowed from tb */
	const struct column *columns; /* borrowed */
	size_t		 n;
	bool		 bytes;	/* sizes are exact */
	int		*place;	/* owned; where a column is, or -1 */
};

/*
 * Exit with 2 if rc, which a function of libsmartcols returned, is an error:
 * memory ran out.
 */
static void
check(int rc)
{
	if (rc != 0)
		errx(2, "out of memory");
}

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
		if (strncasecmp(t->columns[i].name, name, len) == 0 &&
		    t->columns[i].name[len] == '\0')
			return i;
	for (i = 0; i < t->n; i++)
		buf_printf(&b, "%s%s", i == 0 ? "" : ", ", t->columns[i].name);
	errx(2, "-o: no column \"%.*s\"; there are %.*s", (int)len, name,
	    (int)b.len, (const char *)b.data);
}

/*
 * Show column i of t behind those that are shown.
 */
static void
column_show(struct table *t, size_t i)
{
	const struct column *c = &t->columns[i];
	int flags = (c->right ? SCOLS_FL_RIGHT : 0) |
	    (c->cut ? SCOLS_FL_TRUNC : 0);

	if (t->place[i] != -1)
		return;
	t->place[i] = (int)scols_table_get_ncols(t->tb);
	check(scols_table_new_column(t->tb, c->name, 0, flags) == NULL);
}

/*
 * Make a table of the n columns, which are borrowed, as o has it.  Exit with 2
 * if that names a column which is none.  table_print frees the table.
 */
struct table *
table_new(const struct column *columns, size_t n, const struct tableopts *o)
{
	const char *list = o->list;
	struct table *t;
	size_t i, len;

	text_locale();
	if ((t = calloc(1, sizeof *t)) == NULL ||
	    (t->place = reallocarray(NULL, n, sizeof *t->place)) == NULL ||
	    (t->tb = scols_new_table()) == NULL)
		err(2, NULL);
	t->columns = columns;
	t->n = n;
	t->bytes = o->bytes;
	for (i = 0; i < n; i++)
		t->place[i] = -1;
	check(scols_table_enable_noheadings(t->tb, o->bare));
	for (i = 0; i < n; i++)
		if ((list == NULL || *list == '+') && columns[i].shown)
			column_show(t, i);
	for (; list != NULL && *list != '\0'; list += len + (list[len] != 0)) {
		list += *list == '+';
		len = strcspn(list, ",");
		column_show(t, column_find(t, list, len));
	}
	return t;
}

/*
 * Begin a line of t.
 */
void
table_line(struct table *t)
{
	check((t->line = scols_table_new_line(t->tb, NULL)) == NULL);
}

/*
 * Put s into column i of the line of t, without what would control a terminal;
 * "-" where s is "".
 */
void
table_text(struct table *t, size_t i, const char *s)
{
	char *copy;

	if (t->place[i] == -1)
		return;
	if ((copy = strdup(*s == '\0' ? "-" : s)) == NULL)
		err(2, NULL);
	check(scols_line_refer_data(t->line, (size_t)t->place[i],
	    text_harmless(copy)));
}

/*
 * Put number v into column i of the line of t.
 */
void
table_number(struct table *t, size_t i, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof s, "%ju", (uintmax_t)v);
	table_text(t, i, s);
}

/*
 * Put a number of bytes into column i of the line of t, as ls -h has it, 9.8M;
 * or exact, if that is what was asked for.
 */
void
table_bytes(struct table *t, size_t i, uint64_t bytes)
{
	static const char unit[] = "BKMGTPE";
	char s[24];
	double v = (double)bytes;
	size_t k;

	if (t->bytes) {
		table_number(t, i, bytes);
		return;
	}
	for (k = 0; v >= 1023.5 && unit[k + 1] != '\0'; k++)
		v /= KB;
	snprintf(s, sizeof s, v < 9.95 && k > 0 ? "%.1f%c" : "%.0f%c", v,
	    unit[k]);
	table_text(t, i, s);
}

/*
 * Print t to standard output, and free it.
 */
void
table_print(struct table *t)
{
	check(scols_print_table(t->tb));
	scols_unref_table(t->tb);
	free(t->place);
	free(t);
}
