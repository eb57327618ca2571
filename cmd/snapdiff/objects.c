/*
 * What changed, for programs: JSON, an object a line.  snapdiff(1) has the
 * names, which stay as they are.
 */
#include "snapdiff.h"

static const char *
how_word(enum how how)
{
	static const char *const words[] = {
		[HOW_SAME] = "changed",	/* its bytes */
		[HOW_ADDED] = "new",
		[HOW_REMOVED] = "gone",
		[HOW_CHANGED] = "changed"
	};

	return words[how];
}

static void
put_moment(const char *key, const struct moment *m)
{
	json_open(key, '{');
	json_text("file", m->path);
	json_number("part", m->part);
	if (m->timed)
		json_number("time", m->time);
	else
		json_text("time", NULL);
	json_number("processes", m->n);
	json_close('}');
}

/*
 * Put which moments are compared, was and is.
 */
void
objects_head(const struct moment *was, const struct moment *is)
{
	json_open(NULL, '{');
	json_text("type", "comparison");
	put_moment("was", was);
	put_moment("is", is);
	json_close('}');
	json_end();
}

static void
put_changes(const struct changes *l)
{
	const struct change *c;
	size_t i;

	json_open("changes", '[');
	for (i = 0; i < l->n; i++) {
		c = &l->v[i];
		json_open(NULL, '{');
		json_text("what", subject_word(c->subject));
		json_text("key", *c->key == '\0' ? NULL : c->key);
		json_text("how", how_word(c->how));
		json_text("was", c->was);
		json_text("is", c->is);
		json_text("more", c->more);
		json_close('}');
	}
	json_close(']');
}

static void
put_counts(const struct kbchange *kb)
{
	json_number("changed", kb->changed * KB);
	json_number("new", kb->added * KB);
	json_number("gone", kb->removed * KB);
	json_number("unknown", kb->unknown * KB);
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
	json_number("size", vma_kb(v) * KB);
	json_text("perms", perm);
	json_text("name", v->name);
	json_text("class", class_word(class_of(v)));
	json_close('}');
}

static void
put_runs(const struct pagelist *l)
{
	static const char *const words[PAGES_KINDS] = {
		[PAGES_CHANGED] = "changed", [PAGES_NEW] = "new",
		[PAGES_GONE] = "gone", [PAGES_MISSING] = "unknown"
	};
	size_t i;

	json_open("runs", '[');
	for (i = 0; i < l->n; i++) {
		json_open(NULL, '{');
		json_address("start", l->v[i].start, false);
		json_address("end", l->v[i].end, false);
		json_text("how", words[l->v[i].kind]);
		json_close('}');
	}
	json_close(']');
}

static void
put_rows(const struct rows *l, bool runs)
{
	const struct row *r;
	size_t i;

	json_open("mappings", '[');
	for (i = 0; i < l->n; i++) {
		r = &l->v[i];
		if (!row_differs(r))
			continue;
		json_open(NULL, '{');
		json_text("how", how_word(r->how));
		put_vma("was", &r->was);
		put_vma("is", &r->is);
		put_counts(&r->kb);
		if (runs)
			put_runs(&r->run);
		json_close('}');
	}
	json_close(']');
}

static void
put_sums(const struct result *res)
{
	struct classum sum[CLASS_COUNT];
	size_t i;

	class_sums(sum, res);
	json_open("classes", '[');
	for (i = 0; i < CLASS_COUNT; i++) {
		json_open(NULL, '{');
		json_text("class", class_word((enum class)i));
		json_number("mappings", sum[i].nis);
		json_number("size", sum[i].is * KB);
		json_number("mappings_were", sum[i].nwas);
		json_number("was_size", sum[i].was * KB);
		put_counts(&sum[i].kb);
		json_close('}');
	}
	json_close(']');
}

/*
 * Put res, what became of a process, as o wants it.
 */
void
objects_result(const struct result *res, const struct options *o)
{
	const struct couple *c = res->couple;
	const struct side *d = c->is.proc == NULL ? &c->was : &c->is;
	bool both = c->was.proc != NULL && c->is.proc != NULL;

	json_open(NULL, '{');
	json_text("type", "process");
	json_number("pid", d->who.pid);
	json_number("part", d->who.part);
	json_text("name", d->who.name);
	json_text("how", c->was.proc == NULL ? "new" : c->is.proc == NULL ?
	    "gone" : "changed");
	if (both) {
		json_number("was_pid", c->was.who.pid);
		put_changes(res->changes);
		if (o->sums)
			put_sums(res);
		else
			put_rows(res->rows, o->runs);
	}
	json_close('}');
	json_end();
}

/*
 * Put which moments are compared, l.
 */
void
objects_moments(const struct moments *l)
{
	size_t i;

	json_open(NULL, '{');
	json_text("type", "moments");
	json_open("moments", '[');
	for (i = 0; i < l->n; i++)
		put_moment(NULL, &l->v[i]);
	json_close(']');
	json_close('}');
	json_end();
}

/*
 * Put g, what grew in a process.
 */
void
objects_growth(const struct growth *g)
{
	enum unit unit;
	size_t i, k;

	json_open(NULL, '{');
	json_text("type", "growth");
	json_number("pid", g->side->who.pid);
	json_number("part", g->side->who.part);
	json_text("name", g->side->who.name);
	json_open("measures", '[');
	for (i = 0; i < g->n; i++) {
		json_open(NULL, '{');
		json_text("what", g->v[i].what->text);
		unit = g->v[i].what->unit;
		json_text("unit", unit == UNIT_COUNT ? "count" : "bytes");
		json_open("values", '[');
		for (k = 0; k < g->moments; k++)
			json_number(NULL, g->v[i].value[k] *
			    (unit == UNIT_KB ? KB : 1));
		json_close(']');
		json_close('}');
	}
	json_close(']');
	json_close('}');
	json_end();
}
