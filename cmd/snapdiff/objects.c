/*
 * Print changes as JSON, one object per line. The names are documented in
 * snapdiff(1), and must not change.
 */
#include "snapdiff.h"

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
 * Print a JSON object that describes the compared moments old and new.
 */
void
objects_head(const struct moment *old, const struct moment *new)
{
	json_begin("comparison");
	put_moment("was", old);
	put_moment("is", new);
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
		json_text("how", how_text(c->how, true));
		json_text("was", c->was);
		json_text("is", c->is);
		json_text("more", c->more);
		json_close('}');
	}
	json_close(']');
}

/*
 * Print a JSON object for res, the changes of a process, with options o.
 */
void
objects_result(const struct result *res, const struct options *o)
{
	const struct couple *c = res->couple;
	const struct side *d = c->is.proc == NULL ? &c->was : &c->is;
	bool both = c->was.proc != NULL && c->is.proc != NULL;

	json_begin("process");
	json_number("pid", d->id.pid);
	json_number("part", d->id.part);
	json_text("name", d->id.name);
	json_text("how", c->was.proc == NULL ? "new" : c->is.proc == NULL ?
	    "gone" : "changed");
	if (both) {
		json_number("was_pid", c->was.id.pid);
		put_changes(res->changes);
		(o->sums ? classes_print : mappings_print)(res, o);
	}
	json_end();
}

/*
 * Print a JSON object that describes the moments compared, which are in l.
 */
void
objects_moments(const struct moments *l)
{
	size_t i;

	json_begin("moments");
	json_open("moments", '[');
	for (i = 0; i < l->n; i++)
		put_moment(NULL, &l->v[i]);
	json_close(']');
	json_end();
}

/*
 * Print a JSON object for g, the growth of a process.
 */
void
objects_growth(const struct growth *g)
{
	size_t i, k;

	json_begin("growth");
	json_number("pid", g->side->id.pid);
	json_number("part", g->side->id.part);
	json_text("name", g->side->id.name);
	json_open("measures", '[');
	for (i = 0; i < g->n; i++) {
		json_open(NULL, '{');
		json_text("what", g->v[i].what->text);
		json_text("unit", g->v[i].what->unit == UNIT_COUNT ? "count" :
		    "bytes");
		json_open("values", '[');
		for (k = 0; k < g->moments; k++)
			json_number(NULL, g->v[i].value[k]);
		json_close(']');
		json_close('}');
	}
	json_close(']');
	json_end();
}
