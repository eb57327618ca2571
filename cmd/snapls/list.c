/*
 * The list of a snapshot for people: a line a process, and what there is in it.
 */
#include "snapls.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { C_PID, C_NAME, C_USER, C_STATE, C_THREADS, C_MEMORY, C_RAW, C_ZERO,
	C_SHARED, C_PPID, C_NSPID, C_UNIT, C_CONTAINER, C_POD, C_EXE, C_CWD,
	C_COMMAND, COLUMNS };

static const struct column columns[COLUMNS] = {
	[C_PID] = { "PID", true, false, true },
	[C_NAME] = { "NAME", false, false, false },
	[C_USER] = { "USER", false, false, true },
	[C_STATE] = { "STATE", false, false, true },
	[C_THREADS] = { "THREADS", true, false, true },
	[C_MEMORY] = { "MEMORY", true, false, true },
	[C_RAW] = { "RAW", true, false, true },
	[C_ZERO] = { "ZERO", true, false, false },
	[C_SHARED] = { "SHARED", true, false, false },
	[C_PPID] = { "PPID", true, false, false },
	[C_NSPID] = { "NSPID", true, false, false },
	[C_UNIT] = { "UNIT", false, true, false },
	[C_CONTAINER] = { "CONTAINER", false, true, false },
	[C_POD] = { "POD", false, true, false },
	[C_EXE] = { "EXE", false, true, false },
	[C_CWD] = { "CWD", false, true, false },
	[C_COMMAND] = { "COMMAND", false, true, true }
};

static void
row_place(struct table *t, const struct proc *p)
{
	struct place pl;

	proc_place(&pl, p);
	table_number(t, C_NSPID, pl.pid);
	table_text(t, C_UNIT, pl.unit);
	table_text(t, C_CONTAINER, pl.container);
	table_text(t, C_POD, pl.pod);
}

/*
 * Return the command line in f without the folder of the program, so that more
 * of it is seen; or, in s, of n bytes, the name of a process that has none.
 */
static const char *
row_command(const struct facts *f, char *s, size_t n)
{
	const char *command = facts_value(f, SUBJECT_ARGUMENTS), *at, *base;

	if (*command == '\0') {
		snprintf(s, n, "[%s]", f->name);
		return s;
	}
	for (at = base = command; *command == '/' && *at > ' '; at++)
		if (*at == '/')
			base = at + 1;
	return *base > ' ' ? base : command;
}

/*
 * Add the line of process p, of which f is known, to t.
 */
static void
row_add(struct table *t, const struct proc *p, const struct facts *f)
{
	char bare[sizeof f->name + 2];

	table_line(t);
	table_number(t, C_PID, p->pid);
	table_text(t, C_NAME, f->name);
	table_text(t, C_USER, f->user);
	table_text(t, C_STATE, f->state);
	table_number(t, C_THREADS, f->threads);
	table_bytes(t, C_MEMORY, image_bytes(p->mem));
	table_bytes(t, C_RAW, p->count.raw * KB);
	table_bytes(t, C_ZERO, p->count.zero * KB);
	table_bytes(t, C_SHARED, p->count.same * KB);
	table_text(t, C_PPID, facts_value(f, SUBJECT_PARENT));
	row_place(t, p);
	table_text(t, C_EXE, facts_value(f, SUBJECT_EXECUTABLE));
	table_text(t, C_CWD, facts_value(f, SUBJECT_DIRECTORY));
	table_text(t, C_COMMAND, row_command(f, bare, sizeof bare));
}

/*
 * Print a range with its mapping: a range_fn.
 */
static void
list_range(void *arg, const struct range *r)
{
	(void)arg;
	printf("%18" PRIx64 "-%-16" PRIx64 " %9" PRIu64 "K %-4s ", r->first,
	    r->last + 1, (r->last - r->first) / KB + 1, r->perm);
	text_put(r->name == NULL ? "(gap)" : r->name);
	putchar('\n');
}

static void
list_segments(struct proc *p)
{
	struct missing *m;
	size_t i;

	ranges_each(p, list_range, NULL);
	for (i = 0; p->mem != NULL && i < p->mem->nmissing; i++) {
		m = &p->mem->missing[i];
		printf("%18" PRIx64 "-%-16" PRIx64 " %9" PRIu64
		    "K missing: %s\n", m->start, m->end,
		    (m->end - m->start) / KB, text_harmless(m->reason));
	}
}

/*
 * Print what is told of values that were left out, a line each.
 */
static void
list_excluded(const char *text)
{
	char *copy, *next, *s;

	if ((copy = strdup(text)) == NULL)
		err(1, NULL);
	for (next = copy; (s = strsep(&next, "\n")) != NULL;)
		if (*s != '\0')
			printf("%47s: %s\n", "excluded", text_harmless(s));
	free(copy);
}

/*
 * Print the facts on subject in f, a line each: word, what it is about, what it
 * is, and what else is known.
 */
static void
list_facts(const struct facts *f, enum subject subject, const char *word)
{
	const struct fact *fact;
	size_t i;

	for (i = 0; i < f->list.n; i++) {
		fact = &f->list.v[i];
		if (fact->subject != subject || *fact->value == '\0')
			continue;
		printf("  %s ", word);
		if (*fact->key != '\0') {
			text_put(fact->key);
			putchar(' ');
		}
		text_put(fact->value);
		if (fact->more != NULL) {
			putchar(' ');
			text_put(fact->more);
		}
		putchar('\n');
	}
}

/*
 * Print what process p of snapshot s is, and its memory.
 */
static void
list_proc(struct snap *s, struct proc *p, const struct listing *ls)
{
	struct facts f;
	struct place pl;

	facts_get(&f, s, p, ls);
	printf("\nprocess %" PRIu64 " (%s)\n", p->pid, f.name);
	list_facts(&f, SUBJECT_ARGUMENTS, "command");
	list_facts(&f, SUBJECT_EXECUTABLE, "executable");
	list_facts(&f, SUBJECT_DIRECTORY, "directory");
	list_facts(&f, SUBJECT_PARENT, "parent");
	proc_place(&pl, p);
	list_place(&pl, p->pid);
	list_facts(&f, SUBJECT_DESCRIPTOR, "file");
	list_segments(p);
	if (f.excluded != NULL)
		list_excluded(f.excluded);
	facts_free(&f);
}

/*
 * Print how many kilobytes c has of each kind.
 */
static void
list_count(const struct kbcount *c)
{
	char raw[24], zero[24], same[24];

	text_bytes(raw, sizeof raw, c->raw * KB);
	text_bytes(zero, sizeof zero, c->zero * KB);
	text_bytes(same, sizeof same, c->same * KB);
	printf("raw %s, zero %s, shared %s", raw, zero, same);
}

/*
 * Print how many files are carried along in s, and how much of them.
 */
static void
total_files(const struct snap *s)
{
	struct kbcount sum = { 0 };
	const struct kbcount *c;
	size_t i, n;

	for (i = n = 0; i < s->nproc; i++) {
		if (s->proc[i]->carried == NULL)
			continue;
		n++;
		c = &s->proc[i]->count;
		sum.raw += c->raw;
		sum.zero += c->zero;
		sum.same += c->same;
	}
	if (n == 0)
		return;
	printf("with %zu mapped file%s: ", n, n == 1 ? "" : "s");
	list_count(&sum);
	putchar('\n');
}

/*
 * Print the totals of snapshot s.
 */
static void
total_snap(const struct snap *s)
{
	char memory[24];
	struct sums sum;
	uint64_t all;

	total_files(s);
	sums_get(&sum, s);
	text_bytes(memory, sizeof memory, sum.mem);
	all = sum.count.raw + sum.count.zero + sum.count.same;
	printf("all: ");
	list_count(&sum.count);
	printf("; %.1f%% saved\n", all == 0 ? 0 :
	    100 - 100 * (double)sum.count.raw / (double)all);
	printf("total %zu process%s, %zu thread%s, %s\n", sum.processes,
	    sum.processes == 1 ? "" : "es", sum.threads,
	    sum.threads == 1 ? "" : "s", memory);
}

/*
 * Print what is in each process and each carried file of s that ls wants.
 */
static void
list_all(struct snap *s, const struct listing *ls)
{
	struct proc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++)
		if (sources_wants(ls->sources, s, s->proc[i]))
			list_proc(s, s->proc[i], ls);
	for (i = 0; i < s->nproc && ls->sources->pick.n == 0; i++) {
		if ((p = s->proc[i])->carried == NULL)
			continue;
		printf("\nfile %" PRIu64 ": ", p->pid);
		list_count(&p->count);
		putchar('\n');
		list_segments(p);
	}
}

/*
 * Print how the parts of snapshot s were taken: all that is noted of it, or
 * only why.
 */
static void
list_taken(const struct snap *s, bool all)
{
	struct taken t;
	size_t i;

	for (i = 0; i < s->nproc; i++)
		if (taken_get(&t, s->proc[i])) {
			taken_print(&t, all);
			taken_free(&t);
		}
}

/*
 * Print what snapshot s holds, as ls wants it.
 */
void
list_snap(struct snap *s, const struct listing *ls)
{
	struct table *t;
	struct facts f;
	size_t i;

	if (!ls->table.bare)
		list_taken(s, ls->segments || ls->records);
	t = table_new(columns, COLUMNS, &ls->table);
	for (i = 0; i < s->nproc; i++) {
		if (!sources_wants(ls->sources, s, s->proc[i]))
			continue;
		facts_get(&f, s, s->proc[i], ls);
		row_add(t, s->proc[i], &f);
		facts_free(&f);
	}
	table_print(t);
	if (ls->sources->pick.n == 0 && !ls->table.bare)
		total_snap(s);
	if (ls->segments)
		list_all(s, ls);
}
