/*
 * The list of a snapshot for programs: JSON, an object a line.  snapls(1) has
 * the names, which stay as they are.
 */
#include "snapls.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

/*
 * Put a range of a process into an array: a range_fn.
 */
static void
put_range(void *arg, const struct range *r)
{
	(void)arg;
	json_open(NULL, '{');
	json_address("start", r->first, false);
	json_address("end", r->last, true);
	json_number("size", r->last - r->first + 1);
	json_text("perms", *r->perm == '\0' ? NULL : r->perm);
	json_text("name", r->name);
	json_close('}');
}

static void
put_missing(const struct image *im)
{
	const struct missing *m;
	size_t i;

	json_open("missing", '[');
	for (i = 0; im != NULL && i < im->nmissing; i++) {
		m = &im->missing[i];
		json_open(NULL, '{');
		json_address("start", m->start, false);
		json_address("end", m->end, false);
		json_number("size", m->end - m->start);
		json_text("reason", m->reason);
		json_close('}');
	}
	json_close(']');
}

static void
put_counts(uint64_t bytes, const struct kbcount *c)
{
	json_number("memory", bytes);
	json_number("raw", c->raw * KB);
	json_number("zero", c->zero * KB);
	json_number("shared", c->same * KB);
}

/*
 * Put what is told of values that were left out.  text is changed.
 */
static void
put_excluded(char *text)
{
	char *s;

	json_open("excluded", '[');
	while ((s = strsep(&text, "\n")) != NULL)
		if (*s != '\0')
			json_text(NULL, s);
	json_close(']');
}

/*
 * Put which part of the snapshot a process is of, and what it was there.
 */
static void
put_origin(const struct facts *f)
{
	json_number("part", f->part);
	if (f->header == NULL) {
		json_text("origin", NULL);
		return;
	}
	json_open("origin", '{');
	json_number("pid", f->origin);
	json_text("header", f->header);
	json_close('}');
}

static void
put_place(const struct proc *p)
{
	struct place pl;

	proc_place(&pl, p);
	json_number("ns_pid", pl.pid);
	json_text("unit", *pl.unit == '\0' ? NULL : pl.unit);
	json_text("container", *pl.container == '\0' ? NULL : pl.container);
	json_text("pod", *pl.pod == '\0' ? NULL : pl.pod);
}

/*
 * Put the string at s, of at most n bytes, into an array.
 */
static void
put_bytes(const char *s, size_t n)
{
	char *copy;

	if ((copy = strndup(s, n)) == NULL)
		err(1, NULL);
	json_text(NULL, copy);
	free(copy);
}

/*
 * Put the fact on subject in f, or null.
 */
static void
put_fact(const struct facts *f, enum subject subject, const char *key)
{
	const char *s = facts_value(f, subject);

	json_text(key, *s == '\0' ? NULL : s);
}

/*
 * Put what process p is, of which f is known: its command line as it was given,
 * and its descriptors.
 */
static void
put_facts(const struct proc *p, const struct facts *f)
{
	const struct fact *fact;
	struct linuxrec r;
	struct recfile file;
	const char *s, *end;
	size_t i;

	json_open("arguments", '[');
	if (linuxrec_open(&r, proc_file(p, "proc")) == 0 &&
	    linuxrec_find(&r, "cmdline", &file)) {
		s = (const char *)file.data;
		for (end = s + file.len; s < end; s += strnlen(s, (size_t)(end -
		    s)) + 1)
			put_bytes(s, (size_t)(end - s));
	}
	linuxrec_close(&r);
	json_close(']');
	put_fact(f, SUBJECT_EXECUTABLE, "executable");
	put_fact(f, SUBJECT_DIRECTORY, "directory");
	json_open("descriptors", '[');
	for (i = 0; i < f->list.n; i++) {
		fact = &f->list.v[i];
		if (fact->subject != SUBJECT_DESCRIPTOR)
			continue;
		json_open(NULL, '{');
		json_number("fd", fact->order);
		json_text("path", fact->value);
		json_text("socket", fact->more);
		json_close('}');
	}
	json_close(']');
}

static void
put_process(struct snap *s, struct proc *p, const char *path,
    const struct listing *ls)
{
	struct facts f;

	facts_get(&f, s, p, ls);
	json_open(NULL, '{');
	json_text("type", "process");
	json_text("file", path);
	json_number("pid", p->pid);
	json_text("name", *f.comm != '\0' ? f.comm : f.name);
	json_text("user", strcmp(f.user, "-") == 0 ? NULL : f.user);
	json_text("state", strcmp(f.state, "-") == 0 ? NULL : f.state);
	json_number("threads", f.threads);
	if (*facts_value(&f, SUBJECT_PARENT) == '\0')
		json_text("parent", NULL);
	else
		json_number("parent", strtoull(facts_value(&f, SUBJECT_PARENT),
		    NULL, 10));
	put_facts(p, &f);
	put_place(p);
	put_counts(image_bytes(p->mem), &p->count);
	json_open("mappings", '[');
	ranges_each(p, put_range, NULL);
	json_close(']');
	put_missing(p->mem);
	put_excluded(f.excluded);
	put_origin(&f);
	facts_free(&f);
	json_close('}');
	json_end();
}

static void
put_carried(const struct proc *p, const char *path)
{
	json_open(NULL, '{');
	json_text("type", "mapped");
	json_text("file", path);
	json_text("path", p->carried->path);
	put_counts(image_bytes(p->mem) + image_bytes(p->text), &p->count);
	json_close('}');
	json_end();
}

/*
 * Put how the parts of a snapshot were taken.
 */
static void
put_taken(const struct snap *s)
{
	struct taken t;
	size_t i, k;

	json_open("taken", '[');
	for (i = 0; i < s->nproc; i++) {
		if (!taken_get(&t, s->proc[i]))
			continue;
		json_open(NULL, '{');
		json_number("part", t.part);
		for (k = 0; k < TAKEN_KEYS; k++)
			if (k == TAKEN_TIME && t.value[k] != NULL)
				json_number(taken_key(k), strtoull(t.value[k],
				    NULL, 10));
			else
				json_text(taken_key(k), t.value[k]);
		json_close('}');
		taken_free(&t);
	}
	json_close(']');
}

static void
put_head(const struct snap *s, const char *path)
{
	struct header h;
	struct sums sum;

	sums_get(&sum, s);
	header_parse(&h, s->header);
	json_open(NULL, '{');
	json_text("type", "snapshot");
	json_text("file", path);
	json_text("header", s->header);
	if (h.timed)
		json_number("time", h.time);
	else
		json_text("time", NULL);
	json_number("processes", sum.processes);
	json_number("threads", sum.threads);
	json_number("mapped", sum.files);
	put_counts(sum.mem, &sum.count);
	put_taken(s);
	json_close('}');
	json_end();
}

/*
 * Print what snapshot s holds, which was read from path: an object for it, one
 * for each process that ls wants, and one for each file that is carried along.
 */
void
objects_snap(struct snap *s, const char *path, const struct listing *ls)
{
	size_t i;

	put_head(s, path);
	for (i = 0; i < s->nproc; i++)
		if (sources_wants(ls->sources, s, s->proc[i]))
			put_process(s, s->proc[i], path, ls);
	for (i = 0; i < s->nproc; i++)
		if (s->proc[i]->carried != NULL)
			put_carried(s->proc[i], path);
}
