/*
 * Totals: faults by mapping and by instruction, allocations of the kernel by
 * what is allocated and by whom.
 */
#include "vmtrace.h"

#include <stdlib.h>
#include <string.h>

enum {				/* the counts of a mapping */
	FAULTS,
	MINOR,
	MAJOR,
	FAILED,
	READS,
	WRITES,
	EXECS,
	COWS
};

enum { ALLOCS, FREES, BYTES };	/* of allocations */

/*
 * Count the fault of line l in o.  What cannot be counted for want of memory is
 * not.
 */
void
total_fault(struct output_state *o, const struct line *l)
{
	static const int access[ACCESSES] = { -1, READS, WRITES, EXECS,
	    COWS };
	static char none[] = "";
	struct row key = { .pid = l->pid, .name = none }, *r;

	if (l->where.name != NULL) {
		key.num = l->where.start;
		key.end = l->where.end;
		key.flags = l->where.flags;
		key.name = l->where.name;
	}
	if ((r = tally_get(o->maps, &key)) != NULL) {
		r->count[FAULTS]++;
		r->count[l->result == RESULT_MINOR ? MINOR :
		    l->result == RESULT_MAJOR ? MAJOR : FAILED]++;
		if (access[l->access] != -1)
			r->count[access[l->access]]++;
		if (l->where.end > r->end)
			r->end = l->where.end;
	}
	key = (struct row){ .num = l->ip, .name = none, .flags = l->kernel };
	if (l->code.name != NULL && *l->code.name == '/') {
		key.num = l->ip - l->code.start + l->code.off;
		key.dev = l->code.dev;
		key.ino = l->code.ino;
		key.name = l->code.name;
	}
	if ((r = tally_get(o->code, &key)) != NULL)
		r->count[FAULTS]++;
}

/*
 * Count in o an allocation (alloc) of so many bytes, or a free, of that name at
 * address site.
 */
void
total_slab(struct output_state *o, const char *name, uint64_t site,
    bool alloc, uint64_t bytes)
{
	char copy[64];
	struct row key = { .num = site, .name = copy }, *r;

	strlcpy(copy, name, sizeof copy);
	if ((r = tally_get(o->slab, &key)) == NULL)
		return;
	r->count[alloc ? ALLOCS : FREES]++;
	if (alloc)
		r->count[BYTES] += bytes;
}

/*
 * Most first.
 */
static int
count_cmp(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a;
	const struct row *y = *(struct row *const *)b;

	if (x->count[0] != y->count[0])
		return x->count[0] > y->count[0] ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->num < y->num ? -1 : x->num > y->num;
}

/*
 * A mapping may have grown while faults were counted: then it has several
 * rows, which touch.  The counts go to the first; the others have none.
 */
static void
rows_join(struct row **v, size_t n)
{
	struct row *r = NULL;
	size_t i, j;

	for (i = 0; i < n; i++) {
		if (r != NULL && r->pid == v[i]->pid &&
		    v[i]->num < r->end && r->flags == v[i]->flags &&
		    strcmp(r->name, v[i]->name) == 0) {
			for (j = 0; j < COUNTS; j++) {
				r->count[j] += v[i]->count[j];
				v[i]->count[j] = 0;
			}
			if (v[i]->end > r->end)
				r->end = v[i]->end;
		} else
			r = v[i];
	}
}

static void
maps_print(const struct tally *t)
{
	struct row **v;
	struct vma m = { 0 };
	char perm[5];
	size_t i, j, n;

	printf("%8s %8s %8s %8s %8s %8s %8s %8s %7s MAPPING\n", "FAULTS",
	    "MINOR", "MAJOR", "FAILED", "READ", "WRITE", "EXEC", "COW",
	    "PID");
	v = tally_rows(t, &n);
	rows_join(v, n);
	if (n > 1)
		qsort(v, n, sizeof *v, count_cmp);
	for (i = 0; i < n && v[i]->count[FAULTS] > 0; i++) {
		for (j = 0; j < COUNTS; j++)
			printf("%8ju ", (uintmax_t)v[i]->count[j]);
		printf("%7d ", v[i]->pid);
		m.flags = v[i]->flags;
		m.name = text_harmless(v[i]->name);
		vma_perms(&m, perm);
		if (v[i]->end == 0)
			printf("no mapping\n");
		else
			printf("%jx-%jx %s %s\n", (uintmax_t)v[i]->num,
			    (uintmax_t)v[i]->end, perm, vma_label(&m));
	}
	free(v);
}

static void
code_print(const struct tally *t)
{
	struct row **v;
	char sym[512];
	size_t i, n;

	printf("\n%8s %16s INSTRUCTION\n", "FAULTS", "ADDRESS");
	v = tally_rows(t, &n);
	if (n > 1)
		qsort(v, n, sizeof *v, count_cmp);
	for (i = 0; i < n; i++) {
		if (*v[i]->name != '\0')
			symbol_name(v[i], sym, sizeof sym);
		else if (v[i]->flags != 0)
			kernel_name(v[i]->num, sym, sizeof sym);
		else
			strlcpy(sym, "-", sizeof sym);
		printf("%8ju %16jx %s%s%s\n",
		    (uintmax_t)v[i]->count[FAULTS], (uintmax_t)v[i]->num,
		    text_harmless(sym), *v[i]->name == '\0' ? "" : " ",
		    *v[i]->name == '\0' && v[i]->flags != 0 ? " kernel" :
		    text_harmless(v[i]->name));
	}
	free(v);
}

static void
slab_print(const struct tally *t)
{
	struct row **v;
	char site[128];
	size_t i, n;

	printf("\n%8s %8s %12s WHAT\n", "ALLOCS", "FREES", "BYTES");
	v = tally_rows(t, &n);
	if (n > 1)
		qsort(v, n, sizeof *v, count_cmp);
	for (i = 0; i < n; i++) {
		kernel_name(v[i]->num, site, sizeof site);
		printf("%8ju %8ju %12ju %s%s%s\n",
		    (uintmax_t)v[i]->count[ALLOCS],
		    (uintmax_t)v[i]->count[FREES],
		    (uintmax_t)v[i]->count[BYTES],
		    text_harmless(v[i]->name),
		    *site == '\0' ? "" : " by ", site);
	}
	free(v);
}

/*
 * Print the sums of o.
 */
void
total_print(struct output_state *o)
{
	maps_print(o->maps);
	code_print(o->code);
	if (o->opts->kernel)
		slab_print(o->slab);
}
