/*
 * Print how much memory each pair of processes shares, and how much that saves.
 */
#include "pagestat.h"

enum { M_PID, M_MEMORY, M_OTHER }; /* indexes of columns; one column for
				      each process begins at M_OTHER, and
				      NAME follows */

/*
 * Add process sp to m. l lists the pages of the process.
 */
void
matrix_add(struct matrix *m, const struct space *sp, const struct pagelist *l)
{
	size_t i;

	if (m->sharing == NULL)
		m->sharing = must(sharing_new());
	MUST_ROOM(m->pid, m->n);
	MUST_ROOM(m->kb, m->n);
	MUST_ROOM(m->name, m->n);
	m->pid[m->n] = sp->pid;
	m->kb[m->n] = 0;
	memcpy(m->name[m->n], sp->name, sizeof *m->name);
	for (i = 0; i < l->n; i++) {
		if (l->v[i].kind != PAGES_RAW && l->v[i].kind != PAGES_SHARED)
			continue;
		m->kb[m->n] += (l->v[i].end - l->v[i].start) / KB;
		m->hidden = m->hidden || (l->v[i].kind == PAGES_SHARED &&
		    l->v[i].store == 0);
	}
	m->n++;
	must_do(sharing_add(m->sharing, l, sp->pid));
}

/*
 * Return a new table for m, with options o. The caller must keep c and head
 * until the table is printed. The array c must have room for M_OTHER + 1
 * columns plus one for each process, and head for one heading per process.
 */
static struct table *
matrix_table(const struct matrix *m, const struct tableopts *o,
    struct column *c, char (*head)[24])
{
	size_t k;

	c[M_PID] = (struct column){ "PID", "pid", RIGHT | SHOW };
	c[M_MEMORY] = (struct column){ "MEMORY", "memory", RIGHT | SHOW };
	for (k = 0; k < m->n; k++) {
		snprintf(head[k], sizeof head[k], "%ju",
		    (uintmax_t)m->pid[k]);
		c[M_OTHER + k] = (struct column){ head[k], NULL,
		    RIGHT | SHOW };
	}
	c[M_OTHER + k] = (struct column){ "NAME", "name", CUT | SHOW };
	return table_new(c, M_OTHER + k + 1, o, "sharing");
}

/*
 * Add a line to t for process i of m. common[k] is the number of kilobytes that
 * process i shares with process k. If json is true, print these numbers as an
 * array instead of in columns.
 */
static void
matrix_line(const struct matrix *m, struct table *t, size_t i,
    const uint64_t *common, bool json)
{
	size_t k;

	table_line(t);
	table_number(t, M_PID, m->pid[i]);
	table_bytes(t, M_MEMORY, m->kb[i] * KB);
	table_text(t, M_OTHER + m->n, m->name[i]);
	if (json)
		json_open("shared", '[');
	for (k = 0; k < m->n; k++)
		if (!json && k == i)
			table_text(t, M_OTHER + k, ".");
		else if (!json)
			table_bytes(t, M_OTHER + k, common[k] * KB);
		else if (k != i) {
			json_open(NULL, '{');
			json_number("pid", m->pid[k]);
			json_number("size", common[k] * KB);
			json_close('}');
		}
	if (json)
		json_close(']');
}

/*
 * Print a table, with options o, of the memory that the processes of m share.
 * The line of each process has the size of its memory and how much of this
 * memory the process shares with each other process.
 */
void
matrix_show(const struct matrix *m, const struct tableopts *o)
{
	static const char *const words[] = { "total", "different", "saved" };
	uint64_t *common, sums[3] = { 0 };
	struct column *c;
	struct table *t;
	char (*head)[24];
	size_t i;

	if (m->n == 0)
		return;
	common = must(mem_new(m->n * m->n, sizeof *common));
	c = must(mem_new(m->n + M_OTHER + 1, sizeof *c));
	head = must(mem_new(m->n, sizeof *head));
	must_do(sharing_matrix(m->sharing, m->pid, m->n, common, &sums[2]));
	t = matrix_table(m, o, c, head);
	for (i = 0; i < m->n; i++) {
		matrix_line(m, t, i, &common[i * m->n], o->json);
		sums[0] += m->kb[i];
	}
	sums[1] = sums[0] - sums[2];
	for (i = 0; i < 3 && !o->json && !o->bare; i++) {
		table_line(t);
		table_text(t, M_PID, words[i]);
		table_bytes(t, M_MEMORY, sums[i] * KB);
	}
	table_print(t);
	free(common);
	free(c);
	free(head);
}
