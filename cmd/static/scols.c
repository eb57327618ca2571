/*
 * Print tables in programs without shared libraries, because Debian has no
 * libsmartcols.a. These functions replace those of libsmartcols that table.c
 * calls, but they do not truncate lines that are longer than the terminal.
 */
#include "library.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>

struct libscols_line {
	struct libscols_line *next; /* owned */
	char		*cell[]; /* owned; one for each column */
};

struct libscols_column {
	const char	*name;	/* borrowed */
	int		 flags;
	size_t		 width;
};

struct libscols_table {
	struct libscols_column *column; /* owned */
	size_t		 n;
	struct libscols_line *first; /* owned */
	struct libscols_line **last; /* where to link the next line */
	int		 bare;	/* the table has no headings */
};

static size_t
text_width(const char *s)
{
	size_t n;

	for (n = 0; *s != '\0';)
		n += (size_t)text_columns(&s);
	return n;
}

struct libscols_table *
scols_new_table(void)
{
	struct libscols_table *tb;

	if ((tb = calloc(1, sizeof *tb)) != NULL)
		tb->last = &tb->first;
	return tb;
}

int
scols_table_enable_noheadings(struct libscols_table *tb, int enable)
{
	tb->bare = enable;
	return 0;
}

size_t
scols_table_get_ncols(const struct libscols_table *tb)
{
	return tb->n;
}

struct libscols_column *
scols_table_new_column(struct libscols_table *tb, const char *name,
    double hint, int flags)
{
	struct libscols_column *c;

	(void)hint;
	c = reallocarray(tb->column, tb->n + 1, sizeof *c);
	if (c == NULL)
		return NULL;
	tb->column = c;
	c += tb->n++;
	c->name = name;
	c->flags = flags;
	c->width = tb->bare ? 0 : text_width(name);
	return c;
}

struct libscols_line *
scols_table_new_line(struct libscols_table *tb, struct libscols_line *parent)
{
	struct libscols_line *l;

	(void)parent;
	if ((l = calloc(1, sizeof *l + tb->n * sizeof(char *))) != NULL) {
		*tb->last = l;
		tb->last = &l->next;
	}
	return l;
}

int
scols_line_refer_data(struct libscols_line *l, size_t n, char *data)
{
	l->cell[n] = data;
	return 0;
}

/*
 * Print s in column i of tb. Do not pad the last column.
 */
static void
cell_print(const struct libscols_table *tb, size_t i, const char *s)
{
	const struct libscols_column *c = &tb->column[i];
	int blanks;

	if (s == NULL)
		s = "";
	blanks = (int)(c->width - text_width(s));
	if (c->flags & SCOLS_FL_RIGHT)
		printf("%*s%s", blanks, "", s);
	else
		printf("%s%*s", s, i + 1 < tb->n ? blanks : 0, "");
	putchar(i + 1 < tb->n ? ' ' : '\n');
}

int
scols_print_table(struct libscols_table *tb)
{
	const struct libscols_line *l;
	size_t i, w;

	for (l = tb->first; l != NULL; l = l->next)
		for (i = 0; i < tb->n; i++)
			if (l->cell[i] != NULL && (w = text_width(l->cell[i])) >
			    tb->column[i].width)
				tb->column[i].width = w;
	for (i = 0; i < tb->n && !tb->bare && tb->first != NULL; i++)
		cell_print(tb, i, tb->column[i].name);
	for (l = tb->first; l != NULL; l = l->next)
		for (i = 0; i < tb->n; i++)
			cell_print(tb, i, l->cell[i]);
	return 0;
}

void
scols_unref_table(struct libscols_table *tb)
{
	struct libscols_line *l, *next;
	size_t i;

	for (l = tb->first; l != NULL; l = next) {
		next = l->next;
		for (i = 0; i < tb->n; i++)
			free(l->cell[i]);
		free(l);
	}
	free(tb->column);
	free(tb);
}
