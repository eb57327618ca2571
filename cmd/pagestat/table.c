/*
 * A line for each process, or for each of its mappings, and totals.
 */
#include "pagestat.h"

#include <stdlib.h>

struct usecolumn {
	const char	*head;
	size_t		 member; /* of struct pageuse */
	bool		 detail; /* of mappings only */
};

static const struct usecolumn columns[] = {
	{ "RSS", offsetof(struct pageuse, rss), false },
	{ "PSS", offsetof(struct pageuse, pss), false },
	{ "USS", offsetof(struct pageuse, uss), false },
	{ "Shared", offsetof(struct pageuse, shared), false },
	{ "Swap", offsetof(struct pageuse, swap), false },
	{ "Huge", offsetof(struct pageuse, huge), false },
	{ "Zero", offsetof(struct pageuse, zero), true },
	{ "Guard", offsetof(struct pageuse, guard), true },
	{ "THP", offsetof(struct pageuse, thp), true }
};

enum { COLUMNS = sizeof columns / sizeof *columns };

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

static void
table_process(const struct usetable *t, const struct space *sp,
    const struct pageuse *sum, uint64_t touched)
{
	int n;

	if (t->n == 0) {
		printf("%10s", "PID");
		table_heads(t, "Name");
	}
	n = printf("%10ju", (uintmax_t)sp->pid);
	n += table_numbers(t, sum, touched);
	printf(" %s\n", name_fit(sp->name, n + 1));
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
	if (t->mappings)
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
 * Print the total of several processes of t, behind them.
 */
void
table_end(struct usetable *t)
{
	if (t->n < 2)
		return;
	if (t->mappings)
		printf("\n%-12s %9s", "all", "");
	else
		printf("%10s", "total");
	table_numbers(t, &t->sum, t->sumtouched);
	printf("\n");
}
