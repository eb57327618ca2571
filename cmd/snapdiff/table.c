/*
 * Print tables of changed mappings, or of classes of mappings, for people or as
 * JSON.
 */
#include "snapdiff.h"

struct classum {		/* sums over the mappings of a class */
	size_t		 nwas;	/* number of mappings at the earlier moment */
	size_t		 nis;
	uint64_t	 was;	/* size of the mappings at the earlier moment,
				   in bytes */
	uint64_t	 is;
	struct kbchange	 kb;
};

enum { CHANGED, NEW, GONE, UNKNOWN, COUNTS };

#define COUNT_COLUMNS \
	{ "CHANGED", "changed", RIGHT | SHOW }, \
	{ "NEW", "new", RIGHT | SHOW }, \
	{ "GONE", "gone", RIGHT | SHOW }, \
	{ "UNKNOWN", "unknown", RIGHT }

enum { M_HOW, M_ADDRESSES, M_SIZE, M_COUNTS, M_PERMS = M_COUNTS + COUNTS,
	M_NAME, M_COLUMNS };

static const struct column mappings[M_COLUMNS] = {
	[M_HOW] = { "HOW", "how", SHOW },
	[M_ADDRESSES] = { "ADDRESSES", NULL, RIGHT | SHOW },
	[M_SIZE] = { "SIZE", NULL, RIGHT | SHOW },
	[M_COUNTS] = COUNT_COLUMNS,
	[M_PERMS] = { "PERMS", NULL, SHOW },
	[M_NAME] = { "MAPPING", NULL, CUT | SHOW }
};

enum { C_CLASS, C_MAPPINGS, C_SIZE, C_WERE, C_WAS, C_COUNTS,
	C_COLUMNS = C_COUNTS + COUNTS };

static const struct column classes[C_COLUMNS] = {
	[C_CLASS] = { "CLASS", "class", SHOW },
	[C_MAPPINGS] = { "MAPPINGS", "mappings", RIGHT | SHOW },
	[C_SIZE] = { "SIZE", "size", RIGHT | SHOW },
	[C_WERE] = { "WERE", "mappings_were", RIGHT | SHOW },
	[C_WAS] = { "WAS", "was_size", RIGHT | SHOW },
	[C_COUNTS] = COUNT_COLUMNS
};

static const char *const run_words[PAGES_KINDS] = {
	[PAGES_CHANGED] = "changed", [PAGES_NEW] = "new",
	[PAGES_GONE] = "gone", [PAGES_MISSING] = "unknown"
};

/*
 * Return the word that JSON uses for kind or, if json is false, the mark that
 * text tables use.
 */
const char *
how_text(enum change_kind kind, bool json)
{
	static const char *const marks[] = {
		[CHANGE_SAME] = "!", [CHANGE_ADDED] = "+",
		[CHANGE_REMOVED] = "-", [CHANGE_CHANGED] = "!"
	};
	static const char *const words[] = {
		[CHANGE_SAME] = "changed",	/* only the contents changed */
		[CHANGE_ADDED] = "new",
		[CHANGE_REMOVED] = "gone",
		[CHANGE_CHANGED] = "changed"
	};

	return json ? words[kind] : marks[kind];
}

/*
 * Put the sizes in kb into the current line of t. first is the index of the
 * first of their columns.
 */
static void
put_counts(struct table *t, size_t first, const struct kbchange *kb)
{
	table_bytes(t, first + CHANGED, kb->changed * KB);
	table_bytes(t, first + NEW, kb->added * KB);
	table_bytes(t, first + GONE, kb->removed * KB);
	table_bytes(t, first + UNKNOWN, kb->unknown * KB);
}

/*
 * Begin a table with options o and the n columns at columns. In JSON, the table
 * is an array under key. The columns that put_counts() fills begin at index
 * counts. If unknown is true, also show the column UNKNOWN.
 */
static struct table *
table_begin(const struct column *columns, size_t n, size_t counts,
    bool unknown, const struct options *o, const char *key)
{
	static struct column copy[M_COLUMNS];

	memcpy(copy, columns, n * sizeof *copy);
	if (unknown)
		copy[counts + UNKNOWN].flags |= SHOW;
	return table_array(copy, n, &o->table, key);
}

static void
put_vma(const char *key, const struct vma *v)
{
	char perm[5];

	if (v->end == 0) {
		json_text(key, NULL);
		return;
	}
	vma_perms(v, perm);
	json_open(key, '{');
	json_address("start", v->start, false);
	json_address("end", v->end, false);
	json_number("size", v->end - v->start);
	json_text("perms", perm);
	json_text("name", v->name);
	json_text("class", class_word(class_of(v)));
	json_close('}');
}

static void
put_runs(const struct pagelist *l)
{
	size_t i;

	json_open("runs", '[');
	for (i = 0; i < l->n; i++) {
		json_open(NULL, '{');
		json_address("start", l->v[i].start, false);
		json_address("end", l->v[i].end, false);
		json_text("how", run_words[l->v[i].kind]);
		json_close('}');
	}
	json_close(']');
}

/*
 * Add a line to t for each range of l.
 */
static void
add_runs(struct table *t, const struct pagelist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		table_line(t);
		table_range(t, M_ADDRESSES, l->v[i].start, l->v[i].end - 1);
		table_bytes(t, M_SIZE, l->v[i].end - l->v[i].start);
		table_text(t, M_NAME, run_words[l->v[i].kind]);
	}
}

/*
 * Put the mapping of r into the current line of t, with its old size,
 * permissions and name if they changed.
 */
static void
put_mapping(struct table *t, const struct row *r)
{
	const struct vma *v = row_vma(r);
	char perm[5], before[5], size[24];
	struct buf name = { 0 };
	char *text;

	vma_perms(v, perm);
	table_range(t, M_ADDRESSES, v->start, v->end - 1);
	table_bytes(t, M_SIZE, v->end - v->start);
	table_text(t, M_PERMS, perm);
	buf_puts(&name, *v->name == '\0' ? "-" : v->name);
	if (r->how == CHANGE_CHANGED) {
		vma_perms(&r->was, before);
		if (r->was.start != v->start || r->was.end != v->end)
			buf_printf(&name, " (was %s)", amount_text(size,
			    sizeof size, r->was.end - r->was.start));
		if (strcmp(before, perm) != 0)
			buf_printf(&name, " (was %s)", before);
		if (strcmp(r->was.name, v->name) != 0)
			buf_printf(&name, " (was %s)", *r->was.name == '\0' ?
			    "anonymous" : r->was.name);
	}
	if ((text = buf_text(&name)) != NULL)
		table_text(t, M_NAME, text);
	free(text);
}

/*
 * Exit with status 2 if o names a column that does not exist.
 */
void
columns_check(const struct options *o)
{
	table_check(o->sums ? classes : mappings,
	    o->sums ? (size_t)C_COLUMNS : (size_t)M_COLUMNS, &o->table);
}

/*
 * Print the changed mappings of res, with options o.
 */
void
mappings_print(const struct result *res, const struct options *o)
{
	const struct row *r, *end = res->rows->v + res->rows->n;
	const bool json = o->table.json;
	bool unknown = false;
	struct table *t;

	for (r = res->rows->v; r < end; r++)
		unknown = unknown || r->kb.unknown > 0;
	t = table_begin(mappings, M_COLUMNS, M_COUNTS, unknown, o, "mappings");
	for (r = res->rows->v; r < end; r++) {
		if (!row_differs(r))
			continue;
		table_line(t);
		table_text(t, M_HOW, how_text(r->how, json));
		if (json) {
			put_vma("was", &r->was);
			put_vma("is", &r->is);
		} else
			put_mapping(t, r);
		put_counts(t, M_COUNTS, &r->kb);
		if (json && o->runs)
			put_runs(&r->run);
		else if (o->runs || o->bytes)
			add_runs(t, &r->run);
	}
	table_print(t);
	for (r = res->rows->v; r < end && o->bytes; r++)
		if (row_differs(r))
			print_bytes(res, r);
}

/*
 * Set sum to the sizes and changes of each class of mappings in res.
 */
static void
class_sums(struct classum sum[CLASS_COUNT], const struct result *res)
{
	const struct vmas *was = &res->was->vma, *is = &res->is->vma;
	const struct row *r;
	struct classum *c;
	size_t i;

	memset(sum, 0, CLASS_COUNT * sizeof *sum);
	for (i = 0; i < was->n; i++) {
		c = &sum[class_of(&was->v[i])];
		c->nwas++;
		c->was += was->v[i].end - was->v[i].start;
	}
	for (i = 0; i < is->n; i++) {
		c = &sum[class_of(&is->v[i])];
		c->nis++;
		c->is += is->v[i].end - is->v[i].start;
	}
	for (i = 0; i < res->rows->n; i++) {
		r = &res->rows->v[i];
		kbchange_add(&sum[class_of(row_vma(r))].kb, &r->kb);
	}
}

/*
 * Print the classes of mappings in res, with options o. In text tables, print
 * only those that changed.
 */
void
classes_print(const struct result *res, const struct options *o)
{
	struct classum sum[CLASS_COUNT];
	const struct classum *c;
	bool unknown = false;
	struct table *t;

	class_sums(sum, res);
	for (c = sum; c < sum + CLASS_COUNT; c++)
		unknown = unknown || c->kb.unknown > 0;
	t = table_begin(classes, C_COLUMNS, C_COUNTS, unknown, o, "classes");
	for (c = sum; c < sum + CLASS_COUNT; c++) {
		if (!o->table.json && c->nwas == c->nis && c->was == c->is &&
		    c->kb.changed + c->kb.added + c->kb.removed +
		    c->kb.unknown == 0)
			continue;
		table_line(t);
		table_text(t, C_CLASS, class_word((enum class)(c - sum)));
		table_number(t, C_MAPPINGS, c->nis);
		table_bytes(t, C_SIZE, c->is);
		table_number(t, C_WERE, c->nwas);
		table_bytes(t, C_WAS, c->was);
		put_counts(t, C_COUNTS, &c->kb);
	}
	table_print(t);
}
