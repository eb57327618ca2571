/*
 * A line for each process, or for each of its mappings, and totals.
 */
#include "pagestat.h"

#include <stdlib.h>

struct usecolumn {
	const char	*head;
	const char	*key;	/* in JSON, and of a column of processes */
	size_t		 member; /* of struct pageuse */
	bool		 detail; /* of mappings only */
};

static const struct usecolumn columns[] = {
	{ "RSS", "rss", offsetof(struct pageuse, rss), false },
	{ "PSS", "pss", offsetof(struct pageuse, pss), false },
	{ "USS", "uss", offsetof(struct pageuse, uss), false },
	{ "Shared", "shared", offsetof(struct pageuse, shared), false },
	{ "Swap", "swap", offsetof(struct pageuse, swap), false },
	{ "Huge", "huge", offsetof(struct pageuse, huge), false },
	{ "Zero", "zero", offsetof(struct pageuse, zero), true },
	{ "Guard", "guard", offsetof(struct pageuse, guard), true },
	{ "THP", "thp", offsetof(struct pageuse, thp), true }
};

enum { COLUMNS = sizeof columns / sizeof *columns };

enum { P_PID, P_USE, P_TOUCHED = P_USE + 6, P_NAME, P_COLUMNS };

/* of processes */
static struct column list[P_COLUMNS] = {
	[P_PID] = { "PID", "pid", RIGHT | SHOWN },
	[P_USE] = { "RSS", "rss", RIGHT | SHOWN },
	{ "PSS", "x", RIGHT | SHOWN },
	{ "USS", "x", RIGHT | SHOWN },
	{ "SHARED", "x", RIGHT | SHOWN },
	{ "SWAP", "x", RIGHT | SHOWN },
	{ "HUGE", "x", RIGHT | SHOWN },
	[P_TOUCHED] = { "TOUCHED", "touched", RIGHT },
	[P_NAME] = { "NAME", "name", CUT | SHOWN }
};

static uint64_t *
use_member(struct pageuse *u, size_t i)
{
	return (uint64_t *)(void *)((char *)u + columns[i].member);
}

/*
 * Print the numbers of a line: so many columns of the terminal.
 */
static int
table_numbers(const struct usetable *t, const struct pageuse *use,
    uint64_t touched)
{
	struct pageuse u = *use;
	size_t i;
	int n;

	u.pss /= PSS_KB;
	for (i = 0, n = 0; i < COLUMNS; i++) {
		if (columns[i].detail && !t->mappings)
			continue;
		if (t->hidden && use_member(&u, i) == &u.pss)
			n += printf(" %8s", "-");
		else
			n += printf(" %8ju", (uintmax_t)*use_member(&u, i));
	}
	if (t->touched)
		n += printf(" %8ju", (uintmax_t)touched);
	return n;
}

static void
table_heads(const struct usetable *t, const char *last)
{
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		if (!columns[i].detail || t->mappings)
			printf(" %8s", columns[i].head);
	printf("%s %s\n", t->touched ? "  Touched" : "", last);
}

static void
table_mapping(const struct usetable *t, const struct vma *v,
    const struct pageuse *u, uint64_t touched)
{
	char name[4096 + 16];
	int n;

	name_make(name, sizeof name, v);
	n = printf("%012jx %9ju", (uintmax_t)v->start,
	    (uintmax_t)((v->end - v->start) / KB));
	n += table_numbers(t, u, touched);
	printf(" %s\n", name_fit(name, n + 1));
}

static void
table_mappings(const struct usetable *t, const struct space *sp,
    const struct pageuse *use, const struct pageuse *sum, uint64_t touched)
{
	uint64_t kb;
	size_t i;

	printf("%s%ju: %s\n", t->n > 0 ? "\n" : "", (uintmax_t)sp->pid,
	    sp->name);
	printf("%-12s %9s", "Address", "Kbytes");
	table_heads(t, "Mapping");
	for (i = 0, kb = 0; i < sp->vma.n; i++) {
		table_mapping(t, &sp->vma.v[i], &use[i], sp->m[i].touched);
		kb += (sp->vma.v[i].end - sp->vma.v[i].start) / KB;
	}
	printf("%-12s %9ju", "total", (uintmax_t)kb);
	table_numbers(t, sum, touched);
	printf("\n");
}

/*
 * Put use, and what was touched, as JSON: those of columns of mappings as well
 * if detail is true.
 */
static void
object_numbers(const struct usetable *t, const struct pageuse *use,
    uint64_t touched, bool detail)
{
	struct pageuse u = *use;
	size_t i;

	u.pss /= PSS_KB;
	for (i = 0; i < COLUMNS; i++)
		if (t->hidden && use_member(&u, i) == &u.pss)
			json_text(columns[i].key, NULL);
		else if (detail || !columns[i].detail)
			json_number(columns[i].key, *use_member(&u, i) * KB);
	if (t->touched)
		json_number("touched", touched * KB);
	json_close('}');
	json_end();
}

/*
 * Add a line to the table of processes: first and name are its ends.
 */
static void
process_line(struct usetable *t, const char *first, const char *name,
    const struct pageuse *use, uint64_t touched)
{
	struct pageuse u = *use;
	size_t i;

	if (t->list == NULL) {
		list[P_TOUCHED].flags |= t->touched ? SHOWN : 0;
		t->list = table_new(list, P_COLUMNS, &t->opts, "process");
	}
	u.pss /= PSS_KB;
	table_line(t->list);
	table_text(t->list, P_PID, first);
	for (i = 0; P_USE + i < P_TOUCHED; i++)
		if (t->hidden && use_member(&u, i) == &u.pss)
			table_text(t->list, P_USE + i, "-");
		else
			table_bytes(t->list, P_USE + i,
			    *use_member(&u, i) * KB);
	table_bytes(t->list, P_TOUCHED, touched * KB);
	table_text(t->list, P_NAME, name);
}

static void
table_process(struct usetable *t, const struct space *sp,
    const struct pageuse *sum, uint64_t touched)
{
	char pid[24];

	if (!t->json) {
		snprintf(pid, sizeof pid, "%ju", (uintmax_t)sp->pid);
		process_line(t, pid, sp->name, sum, touched);
		return;
	}
	json_open(NULL, '{');
	json_text("type", "process");
	json_number("pid", sp->pid);
	json_text("name", sp->name);
	object_numbers(t, sum, touched, false);
}

/*
 * Put each mapping of sp as an object of JSON.
 */
static void
object_mappings(const struct usetable *t, const struct space *sp,
    const struct pageuse *use)
{
	const struct vma *v;
	char perms[5];
	size_t i;

	for (i = 0; i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		vma_perms(v, perms);
		json_open(NULL, '{');
		json_text("type", "mapping");
		json_number("pid", sp->pid);
		json_address("start", v->start, false);
		json_address("end", v->end, false);
		json_number("size", v->end - v->start);
		json_text("perms", perms);
		json_text("name", v->name);
		object_numbers(t, &use[i], sp->m[i].touched, true);
	}
}

/*
 * Show sp, a live process, in t.  Return 0, or -1 with errstr.
 */
int
table_show(struct usetable *t, const struct space *sp)
{
	struct pageuse *use, sum = { 0 };
	uint64_t touched;
	bool hidden;
	size_t i, k;
	int rc;

	if ((use = calloc(sp->vma.n + 1, sizeof *use)) == NULL)
		return errstr_set("out of memory");
	rc = pageuse_live(use, sp, t->counts, t->flags, t->mappings, &hidden);
	if (rc == -1)
		goto out;
	t->hidden = t->hidden || hidden;
	for (i = 0, touched = 0; i < sp->vma.n; i++) {
		for (k = 0; k < COLUMNS; k++)
			*use_member(&sum, k) += *use_member(&use[i], k);
		touched += sp->m[i].touched;
	}
	if (t->mappings && t->json)
		object_mappings(t, sp, use);
	else if (t->mappings)
		table_mappings(t, sp, use, &sum, touched);
	else
		table_process(t, sp, &sum, touched);
	for (k = 0; k < COLUMNS; k++)
		*use_member(&t->sum, k) += *use_member(&sum, k);
	t->sumtouched += touched;
	t->n++;
out:
	free(use);
	return rc;
}

/*
 * Print the table of processes, and the total of several processes of t.
 */
void
table_end(struct usetable *t)
{
	if (t->n > 1 && !t->json && t->mappings) {
		printf("\n%-12s %9s", "all", "");
		table_numbers(t, &t->sum, t->sumtouched);
		printf("\n");
	} else if (t->n > 1 && !t->json && !t->opts.bare)
		process_line(t, "total", "", &t->sum, t->sumtouched);
	if (t->list != NULL)
		table_print(t->list);
}
