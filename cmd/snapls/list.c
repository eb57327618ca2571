/*
 * List a snapshot: one line per process, and the contents of each.
 */
#include "snapls.h"

enum { C_PID, C_NAME, C_USER, C_STATE, C_THREADS, C_MEMORY, C_RAW, C_ZERO,
	C_SHARED, C_PPID, C_NSPID, C_UNIT, C_CONTAINER, C_POD, C_EXE, C_CWD,
	C_COMMAND, C_FILE, COLUMNS };

static const struct column columns[COLUMNS] = {
	[C_PID] = { "PID", "pid", RIGHT | SHOW },
	[C_NAME] = { "NAME", "name", 0 },
	[C_USER] = { "USER", "user", SHOW },
	[C_STATE] = { "STATE", "state", SHOW },
	[C_THREADS] = { "THREADS", "threads", RIGHT | SHOW },
	[C_MEMORY] = { "MEMORY", "memory", RIGHT | SHOW },
	[C_RAW] = { "RAW", "raw", RIGHT | SHOW },
	[C_ZERO] = { "ZERO", "zero", RIGHT },
	[C_SHARED] = { "SHARED", "shared", RIGHT },
	[C_PPID] = { "PPID", "parent", RIGHT },
	[C_NSPID] = { "NSPID", "ns_pid", RIGHT },
	[C_UNIT] = { "UNIT", "unit", CUT },
	[C_CONTAINER] = { "CONTAINER", "container", CUT },
	[C_POD] = { "POD", "pod", CUT },
	[C_EXE] = { "EXE", "executable", CUT },
	[C_CWD] = { "CWD", "directory", CUT },
	[C_COMMAND] = { "COMMAND", "arguments", CUT | SHOW },
	[C_FILE] = { "FILE", "file", CUT }
};

enum { R_ADDRESSES, R_SIZE, R_PERMS, R_NAME, RANGES };

static const struct column ranges[RANGES] = {
	[R_ADDRESSES] = { "ADDRESSES", "start", RIGHT | SHOW },
	[R_SIZE] = { "SIZE", "size", RIGHT | SHOW },
	[R_PERMS] = { "PERMS", "perms", SHOW },
	[R_NAME] = { "MAPPING", "name", SHOW | CUT }
};

/* columns of missing ranges in JSON; tables for people use ranges[] */
static const struct column holes[RANGES] = {
	[R_ADDRESSES] = { NULL, "start", 0 },
	[R_SIZE] = { NULL, "size", 0 },
	[R_NAME] = { NULL, "reason", 0 }
};

/*
 * Return s, or NULL if s is "" or "-", both of which mean unknown.
 */
static const char *
known(const char *s)
{
	return *s == '\0' || strcmp(s, "-") == 0 ? NULL : s;
}

static void
row_place(struct table *t, const struct proc *p)
{
	struct place pl;

	proc_place(&pl, p);
	table_number(t, C_NSPID, pl.pid);
	table_text(t, C_UNIT, known(pl.unit));
	table_text(t, C_CONTAINER, known(pl.container));
	table_text(t, C_POD, known(pl.pod));
}

/*
 * Return the command line in f without the directory of the program, to save
 * space. If there is no command line, write the process name in brackets to s,
 * which has room for n bytes, and return s.
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
 * Add a line to t for process p of the snapshot at path. f has the facts about
 * p. json is true if t is JSON.
 */
static void
row_add(struct table *t, const struct proc *p, const struct facts *f,
    const char *path, bool json)
{
	const char *parent = known(facts_value(f, SUBJECT_PARENT));
	char bare[sizeof f->name + 2];

	table_line(t);
	table_text(t, C_FILE, path);
	table_number(t, C_PID, p->pid);
	table_text(t, C_NAME, *f->comm != '\0' ? f->comm : f->name);
	table_text(t, C_USER, known(f->user));
	table_text(t, C_STATE, known(f->state));
	table_number(t, C_THREADS, f->threads);
	table_bytes(t, C_MEMORY, image_bytes(p->mem));
	table_bytes(t, C_RAW, p->count.raw * KB);
	table_bytes(t, C_ZERO, p->count.zero * KB);
	table_bytes(t, C_SHARED, p->count.same * KB);
	if (parent != NULL)
		table_number(t, C_PPID, strtoull(parent, NULL, 10));
	else
		table_text(t, C_PPID, NULL);
	row_place(t, p);
	table_text(t, C_EXE, known(facts_value(f, SUBJECT_EXECUTABLE)));
	table_text(t, C_CWD, known(facts_value(f, SUBJECT_DIRECTORY)));
	if (!json)
		table_text(t, C_COMMAND, row_command(f, bare, sizeof bare));
	else if (table_shows(t, C_COMMAND))
		object_arguments(p);
}

/*
 * Add range r to table, which is a struct table. This is a range_fn.
 */
static void
range_add(void *table, const struct range *r)
{
	table_line(table);
	table_range(table, R_ADDRESSES, r->first, r->last);
	table_bytes(table, R_SIZE, r->last - r->first + 1);
	table_text(table, R_PERMS, known(r->perm));
	table_text(table, R_NAME, r->name);
}

/*
 * Print the mappings of p and the missing ranges of its memory. p is a process
 * or an embedded file, that is, a mapped file stored in the snapshot.
 */
static void
list_segments(struct proc *p, const struct listing *ls)
{
	const struct tableopts o = { .bare = ls->table.bare,
	    .bytes = ls->table.bytes, .json = ls->table.json };
	struct table *t = table_array(ranges, RANGES, &o, "mappings");
	const struct missing *m;
	char reason[64];
	size_t i;

	ranges_each(p, range_add, t);
	if (o.json) {
		table_print(t);
		t = table_array(holes, RANGES, &o, "missing");
	}
	for (i = 0; p->mem != NULL && i < p->mem->nmissing; i++) {
		m = &p->mem->missing[i];
		table_line(t);
		table_range(t, R_ADDRESSES, m->start, m->end - 1);
		table_bytes(t, R_SIZE, m->end - m->start);
		snprintf(reason, sizeof reason, "%s%s", o.json ? "" :
		    "missing: ", m->reason);
		table_text(t, R_NAME, reason);
	}
	table_print(t);
}

/*
 * Print text, a list of values left out of the snapshot, with one value per
 * line.
 */
static void
list_excluded(const char *text)
{
	char *copy = must(strdup(text)), *next, *s;

	for (next = copy; (s = strsep(&next, "\n")) != NULL;)
		if (*s != '\0')
			printf("%47s: %s\n", "excluded", text_sanitize(s));
	free(copy);
}

/*
 * Print the facts about subject in f, one per line. Each line begins with word,
 * followed by the key, value and details of the fact.
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
 * Print the facts and the memory of process p of snapshot s.
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
	list_segments(p, ls);
	if (f.excluded != NULL)
		list_excluded(f.excluded);
	facts_free(&f);
}

/*
 * Print word, then an amount of n bytes as ls asks for.
 */
static void
list_amount(const char *word, uint64_t n, const struct listing *ls)
{
	char rounded[24];

	if (ls->table.bytes)
		printf("%s%" PRIu64, word, n);
	else {
		text_bytes(rounded, sizeof rounded, n);
		printf("%s%s", word, rounded);
	}
}

/*
 * Print the amount of each kind of memory in c.
 */
static void
list_count(const struct kbcount *c, const struct listing *ls)
{
	list_amount("raw ", c->raw * KB, ls);
	list_amount(", zero ", c->zero * KB, ls);
	list_amount(", shared ", c->same * KB, ls);
}

/*
 * Print the totals of snapshot s.
 */
static void
total_snap(const struct snap *s, const struct listing *ls)
{
	struct sums sum;
	uint64_t all;

	sums_get(&sum, s);
	if (sum.files > 0) {
		printf("with %zu mapped file%s: ", sum.files,
		    sum.files == 1 ? "" : "s");
		list_count(&sum.embedded, ls);
		putchar('\n');
	}
	all = sum.count.raw + sum.count.zero + sum.count.same;
	printf("all: ");
	list_count(&sum.count, ls);
	printf("; %.1f%% saved\n", all == 0 ? 0 :
	    100 - 100 * (double)sum.count.raw / (double)all);
	printf("total %zu process%s, %zu thread%s", sum.processes,
	    sum.processes == 1 ? "" : "es", sum.threads,
	    sum.threads == 1 ? "" : "s");
	list_amount(", ", sum.mem, ls);
	putchar('\n');
}

/*
 * Print the contents of the processes of s that ls selects. Without -p, also
 * print the mapped files stored in s.
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
		if ((p = s->proc[i])->embedded == NULL)
			continue;
		printf("\nfile %" PRIu64 ": ", p->pid);
		list_count(&p->count, ls);
		putchar('\n');
		list_segments(p, ls);
	}
}

/*
 * Print how each part of snapshot s was taken. If all is false, print only the
 * notes.
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
 * Exit with status 2 if ls names a column that does not exist.
 */
void
list_check(const struct listing *ls)
{
	table_check(columns, COLUMNS, &ls->table);
}

/*
 * List snapshot s, which was read from path, with options ls. As JSON, print
 * one object for the snapshot, one for each process, and one for each mapped
 * file stored in it.
 */
void
list_snap(struct snap *s, const char *path, const struct listing *ls)
{
	const bool json = ls->table.json;
	struct table *t;
	struct facts f;
	size_t i;

	if (json)
		object_snap(s, path);
	else if (!ls->table.bare)
		list_taken(s, ls->segments || ls->records);
	t = table_new(columns, COLUMNS, &ls->table, "process");
	for (i = 0; i < s->nproc; i++) {
		if (!sources_wants(ls->sources, s, s->proc[i]))
			continue;
		facts_get(&f, s, s->proc[i], ls);
		row_add(t, s->proc[i], &f, path, json);
		if (json && ls->table.list == NULL) {
			object_process(&f);
			list_segments(s->proc[i], ls);
		}
		facts_free(&f);
	}
	table_print(t);
	if (json)
		objects_embedded(s, path);
	else if (ls->sources->pick.n == 0 && !ls->table.bare)
		total_snap(s, ls);
	if (ls->segments)
		list_all(s, ls);
}
