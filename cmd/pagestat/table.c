/*
 * Print one line per process, or per mapping, and totals.
 */
#include "pagestat.h"

enum { P_PID, P_START, P_SIZE, P_PERMS, P_USE, P_DETAIL = P_USE + 6,
	P_TOUCHED = P_DETAIL + 3, P_NAME, COLUMNS };

static struct column columns[COLUMNS] = {
	[P_PID] = { "PID", "pid", RIGHT },
	[P_START] = { "START", "start", RIGHT },
	[P_SIZE] = { "SIZE", "size", RIGHT },
	[P_PERMS] = { "PERMS", "perms", 0 },
	[P_USE] = { "RSS", "rss", RIGHT | SHOW },
	{ "PSS", "pss", RIGHT | SHOW },
	{ "USS", "uss", RIGHT | SHOW },
	{ "SHARED", "shared", RIGHT | SHOW },
	{ "SWAP", "swap", RIGHT | SHOW },
	{ "HUGE", "huge", RIGHT | SHOW },
	[P_DETAIL] = { "ZERO", "zero", RIGHT },
	{ "GUARD", "guard", RIGHT },
	{ "THP", "thp", RIGHT },
	[P_TOUCHED] = { "TOUCHED", "touched", RIGHT },
	[P_NAME] = { "NAME", "name", CUT | SHOW }
};

/* offsets in struct pageuse, in the order of the columns */
static const size_t uses[P_TOUCHED - P_USE] = {
	offsetof(struct pageuse, rss), offsetof(struct pageuse, pss),
	offsetof(struct pageuse, uss), offsetof(struct pageuse, shared),
	offsetof(struct pageuse, swap), offsetof(struct pageuse, huge),
	offsetof(struct pageuse, zero), offsetof(struct pageuse, guard),
	offsetof(struct pageuse, thp)
};

static uint64_t *
use_member(struct pageuse *u, size_t i)
{
	return (uint64_t *)(void *)((char *)u + uses[i]);
}

/*
 * Begin table t. many is true if the table shows several processes. Columns
 * that line_numbers() and table_mappings() would leave empty cannot be chosen.
 */
void
table_begin(struct usetable *t, bool many)
{
	size_t i;

	for (i = P_START; i < P_TOUCHED; i++)
		if (t->mappings)
			columns[i].flags |= i == P_PERMS ? 0 : SHOW;
		else if (i < P_USE || i >= P_DETAIL)
			columns[i].name = NULL;
	if (!t->touched)
		columns[P_TOUCHED].name = NULL;
	if (many || !t->mappings)
		columns[P_PID].flags |= SHOW;
	if (t->touched)
		columns[P_TOUCHED].flags |= SHOW;
	t->list = table_new(columns, COLUMNS, &t->opts, t->mappings ?
	    "mapping" : "process");
}

/*
 * Put the sizes in *use into the current line of t, and also touched, a number
 * of kilobytes.
 */
static void
line_numbers(struct usetable *t, const struct pageuse *use, uint64_t touched)
{
	struct pageuse u = *use;
	size_t i;

	u.pss /= PSS_KB;
	for (i = 0; P_USE + i < P_TOUCHED; i++)
		if (t->hidden && use_member(&u, i) == &u.pss)
			table_text(t->list, P_USE + i, NULL);
		else if (t->mappings || P_USE + i < P_DETAIL)
			table_bytes(t->list, P_USE + i,
			    *use_member(&u, i) * KB);
	if (t->touched)
		table_bytes(t->list, P_TOUCHED, touched * KB);
}

/*
 * Add a line to t for each mapping of sp. use[i] is the memory use of mapping
 * i.
 */
static void
table_mappings(struct usetable *t, const struct space *sp,
    const struct pageuse *use)
{
	const struct vma *v;
	char start[24], perms[5];
	size_t i;

	for (i = 0; i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		vma_perms(v, perms);
		table_line(t->list);
		table_number(t->list, P_PID, sp->pid);
		snprintf(start, sizeof start, "%jx", (uintmax_t)v->start);
		if (t->opts.json)
			table_range(t->list, P_START, v->start, v->end - 1);
		else
			table_text(t->list, P_START, start);
		table_bytes(t->list, P_SIZE, v->end - v->start);
		table_text(t->list, P_PERMS, perms);
		line_numbers(t, &use[i], sp->m[i].touched);
		table_text(t->list, P_NAME, v->name);
	}
}

/*
 * Add a line of totals to t: label in the first column, *sum and touched
 * (kilobytes) in the middle, and name in the last column.
 */
static void
table_sum(struct usetable *t, const char *label, const char *name,
    const struct pageuse *sum, uint64_t touched)
{
	table_line(t->list);
	table_text(t->list, P_PID, label);
	if (t->mappings)
		table_text(t->list, P_START, "total");
	line_numbers(t, sum, touched);
	table_text(t->list, P_NAME, name);
}

/*
 * Add live process sp to t. Return 0, or -1 with errstr set.
 */
int
table_add(struct usetable *t, const struct space *sp)
{
	struct pageuse *use, sum = { 0 };
	uint64_t touched;
	char pid[24];
	bool hidden;
	size_t i, k;
	int rc;

	use = must(mem_new(sp->vma.n, sizeof *use));
	rc = pageuse_live(use, sp, t->counts, t->flags, t->mappings, &hidden);
	if (rc == -1)
		goto out;
	t->hidden = t->hidden || hidden;
	for (i = 0, touched = 0; i < sp->vma.n; i++) {
		for (k = 0; k < sizeof uses / sizeof *uses; k++)
			*use_member(&sum, k) += *use_member(&use[i], k);
		touched += sp->m[i].touched;
	}
	snprintf(pid, sizeof pid, "%ju", (uintmax_t)sp->pid);
	if (t->mappings)
		table_mappings(t, sp, use);
	else {
		table_line(t->list);
		table_number(t->list, P_PID, sp->pid);
		line_numbers(t, &sum, touched);
		table_text(t->list, P_NAME, sp->name);
	}
	if (t->mappings && !t->opts.json && !t->opts.bare)
		table_sum(t, pid, sp->name, &sum, touched);
	for (k = 0; k < sizeof uses / sizeof *uses; k++)
		*use_member(&t->sum, k) += *use_member(&sum, k);
	t->sumtouched += touched;
	t->n++;
out:
	free(use);
	return rc;
}

/*
 * Print t, with a total if there are several processes.
 */
void
table_end(struct usetable *t)
{
	if (t->n > 1 && !t->opts.json && !t->opts.bare)
		table_sum(t, t->mappings ? "all" : "total", "", &t->sum,
		    t->sumtouched);
	table_print(t->list);
}
