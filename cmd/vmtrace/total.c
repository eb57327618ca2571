/*
 * Print totals: faults by mapping and by instruction, and kernel allocations by
 * kind and caller.
 */
#include "vmtrace.h"
#include "bisect.h"

enum {				/* indexes into the counts of a mapping */
	FAULTS,
	MINOR,
	MAJOR,
	FAILED,
	READS,
	WRITES,
	EXECS,
	COWS
};

enum { ALLOCS, FREES, BYTES };	/* indexes into the counts of allocations */

/*
 * Add the fault in line l to the totals in o.
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
	r = tally_get(&o->maps, &key);
	r->count[FAULTS]++;
	r->count[l->result == RESULT_MINOR ? MINOR :
	    l->result == RESULT_MAJOR ? MAJOR : FAILED]++;
	if (access[l->access] != -1)
		r->count[access[l->access]]++;
	if (l->where.end > r->end)
		r->end = l->where.end;
	key = (struct row){ .num = l->ip, .name = none, .flags = l->kernel };
	if (l->code.name != NULL && *l->code.name == '/') {
		key.num = l->ip - l->code.start + l->code.off;
		key.ino = l->code.ino;
		key.name = l->code.name;
	}
	tally_get(&o->code, &key)->count[FAULTS]++;
}

/*
 * Add a kernel allocation of the given number of bytes to the totals in o. If
 * alloc is false, add a free instead. name is the name of the objects, and site
 * the address of the code that allocates or frees them.
 */
void
total_slab(struct output_state *o, const char *name, uint64_t site,
    bool alloc, uint64_t bytes)
{
	char copy[64];
	struct row key = { .num = site, .name = copy }, *r;

	strlcpy(copy, name, sizeof copy);
	r = tally_get(&o->slab, &key);
	r->count[alloc ? ALLOCS : FREES]++;
	if (alloc)
		r->count[BYTES] += bytes;
}

/* largest count first */
CMP_BY(count_cmp, struct row *const,
    (*x)->count[0] != (*y)->count[0] ?
    ORDER((*y)->count[0], (*x)->count[0]) :
    (*x)->pid != (*y)->pid ? ORDER((*x)->pid, (*y)->pid) :
    ORDER((*x)->num, (*y)->num))

/*
 * Join the rows of each mapping that grew while faults were counted. The ranges
 * of such rows overlap. Add their counts to the first of them, and set the
 * counts of the others to zero. The n rows at v must be sorted.
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

/*
 * Return an array of the rows of t, largest count first, and set *n to its
 * length. The caller frees the array.
 */
static struct row **
rows_sorted(const struct tally *t, size_t *n)
{
	struct row **v = tally_rows(t, n);

	rows_join(v, *n);
	SORT(v, *n, count_cmp);
	return v;
}

static void
maps_print(const struct tally *t, const struct tableopts *o)
{
	enum { PID = COUNTS, ADDRESSES, PERMS, MAPPING, COLUMNS };
	static const struct column columns[COLUMNS] = {
		[FAULTS] = { "FAULTS", "faults", RIGHT | SHOW },
		[MINOR] = { "MINOR", "minor", RIGHT | SHOW },
		[MAJOR] = { "MAJOR", "major", RIGHT | SHOW },
		[FAILED] = { "FAILED", "failed", RIGHT | SHOW },
		[READS] = { "READ", "read", RIGHT | SHOW },
		[WRITES] = { "WRITE", "write", RIGHT | SHOW },
		[EXECS] = { "EXEC", "exec", RIGHT | SHOW },
		[COWS] = { "COW", "cow", RIGHT | SHOW },
		[PID] = { "PID", "pid", RIGHT | SHOW },
		[ADDRESSES] = { "ADDRESSES", "start", RIGHT | SHOW },
		[PERMS] = { "PERMS", "perms", SHOW },
		[MAPPING] = { "MAPPING", "name", CUT | SHOW }
	};
	struct table *const tb = table_new(columns, COLUMNS, o, "mapping");
	struct vma m = { 0 };
	struct row **v;
	char perm[5];
	size_t i, j, n;

	v = rows_sorted(t, &n);
	for (i = 0; i < n && v[i]->count[FAULTS] > 0; i++) {
		table_line(tb);
		for (j = 0; j < COUNTS; j++)
			table_number(tb, j, v[i]->count[j]);
		if (v[i]->rest) {
			table_text(tb, MAPPING, v[i]->name);
			continue;
		}
		table_number(tb, PID, (uint64_t)v[i]->pid);
		if (v[i]->end == 0)
			continue;	/* the faults were not in a mapping */
		m.flags = v[i]->flags;
		m.name = v[i]->name;
		vma_perms(&m, perm);
		table_range(tb, ADDRESSES, v[i]->num, v[i]->end - 1);
		table_text(tb, PERMS, perm);
		table_text(tb, MAPPING, o->json ? m.name : vma_label(&m));
	}
	free(v);
	table_print(tb);
}

static void
code_print(const struct tally *t, const struct tableopts *o)
{
	enum { COUNT, ADDRESS, INSTRUCTION, FILENAME, COLUMNS };
	static const struct column columns[COLUMNS] = {
		[COUNT] = { "FAULTS", "faults", RIGHT | SHOW },
		[ADDRESS] = { "ADDRESS", "address", RIGHT | SHOW },
		[INSTRUCTION] = { "INSTRUCTION", "symbol", SHOW },
		[FILENAME] = { "FILE", "file", CUT | SHOW }
	};
	struct table *const tb = table_new(columns, COLUMNS, o, "instruction");
	struct row **v;
	char sym[512], at[24];
	size_t i, n;

	v = rows_sorted(t, &n);
	for (i = 0; i < n; i++) {
		*sym = '\0';
		if (*v[i]->name != '\0')
			symbol_name(v[i], sym, sizeof sym);
		else if (v[i]->flags != 0)
			kernel_name(v[i]->num, sym, sizeof sym);
		snprintf(at, sizeof at, "%jx", (uintmax_t)v[i]->num);
		table_line(tb);
		table_number(tb, COUNT, v[i]->count[FAULTS]);
		table_text(tb, ADDRESS, v[i]->rest ? NULL : at);
		table_text(tb, INSTRUCTION, *sym == '\0' ? NULL : sym);
		table_text(tb, FILENAME, *v[i]->name != '\0' ? v[i]->name :
		    v[i]->flags != 0 ? "kernel" : NULL);
	}
	free(v);
	table_print(tb);
}

static void
slab_print(const struct tally *t, const struct tableopts *o)
{
	enum { WHAT = BYTES + 1, SITE, COLUMNS };
	static const struct column columns[COLUMNS] = {
		[ALLOCS] = { "ALLOCS", "allocations", RIGHT | SHOW },
		[FREES] = { "FREES", "frees", RIGHT | SHOW },
		[BYTES] = { "BYTES", "size", RIGHT | SHOW },
		[WHAT] = { "WHAT", "what", SHOW },
		[SITE] = { "BY", "symbol", CUT | SHOW }
	};
	struct table *const tb = table_new(columns, COLUMNS, o, "allocation");
	struct row **v;
	char site[128];
	size_t i, n;

	v = rows_sorted(t, &n);
	for (i = 0; i < n; i++) {
		kernel_name(v[i]->num, site, sizeof site);
		table_line(tb);
		table_number(tb, ALLOCS, v[i]->count[ALLOCS]);
		table_number(tb, FREES, v[i]->count[FREES]);
		table_number(tb, BYTES, v[i]->count[BYTES]);
		table_text(tb, WHAT, v[i]->name);
		table_text(tb, SITE, *site == '\0' ? NULL : site);
	}
	free(v);
	table_print(tb);
}

/*
 * Print the totals of o, as tables separated by empty lines or as JSON objects.
 * A table without lines is not printed.
 */
void
total_print(struct output_state *o)
{
	const struct tableopts *t = &o->opts->table;
	const char *gap = t->json || o->maps.n == 0 ? "" : "\n";

	maps_print(&o->maps, t);
	fputs(gap, stdout);
	code_print(&o->code, t);
	if (o->opts->kernel) {
		fputs(o->slab.n > 0 ? gap : "", stdout);
		slab_print(&o->slab, t);
	}
}
