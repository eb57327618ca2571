/*
 * List the moments of a series.
 */
#include "snapls.h"

#include <time.h>

enum { C_MOMENT, C_TIME, C_PROCESSES, C_NEW, COLUMNS };

static const struct column columns[COLUMNS] = {
	[C_MOMENT] = { "MOMENT", "moment", RIGHT | SHOW },
	[C_TIME] = { "TIME", "time", SHOW },
	[C_PROCESSES] = { "PROCESSES", "processes", RIGHT | SHOW },
	[C_NEW] = { "NEW", "new", RIGHT | SHOW }
};

/*
 * If s, which was read from path with all its moments, is a series, print a
 * line for each of them, and return true. Exit with status 2 if options select
 * processes or their columns.
 */
bool
list_moments(struct snap *s, const char *path, const struct listing *ls)
{
	struct tableopts o = ls->table;
	struct instant *v;
	struct table *t;
	char text[32];
	struct tm tm;
	size_t i, n;

	must_do(snap_instants(s, &v, &n));
	if (n > 0 && (o.list != NULL || ls->segments ||
	    ls->sources->pick.n > 0)) {
		program_warn("%s: a series: -l, -o and -p require -@ moment",
		    path);
		exit(2);
	}
	t = n == 0 ? NULL : table_new(columns, COLUMNS, &o, "moment");
	for (i = 0; i < n; i++) {
		table_line(t);
		table_number(t, C_MOMENT, i + 1);
		if (localtime_r(&v[i].time, &tm) == NULL ||
		    strftime(text, sizeof text, "%F %T", &tm) == 0)
			*text = '\0';
		if (o.json)
			table_number(t, C_TIME, (uint64_t)v[i].time);
		else
			table_text(t, C_TIME, text);
		table_number(t, C_PROCESSES, v[i].processes);
		table_bytes(t, C_NEW, v[i].kb * KB);
	}
	if (t != NULL)
		table_print(t);
	instants_free(v, n);
	return n > 0;
}
