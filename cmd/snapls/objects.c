/*
 * Print the JSON members of a listing that are not columns. Their names are
 * documented in snapls(1), and must not change.
 */
#include "snapls.h"

static void
put_counts(uint64_t bytes, const struct kbcount *c)
{
	json_number("memory", bytes);
	json_number("raw", c->raw * KB);
	json_number("zero", c->zero * KB);
	json_number("shared", c->same * KB);
}

/*
 * Print an array of the values that were left out. text has one value per line,
 * and is modified.
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
 * Print the number of the snapshot part that the process in f belongs to. If
 * snapcat(1) copied the process, also print its original process ID and
 * snapshot.
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

/*
 * Print the string at s, which ends at a NUL or after n bytes, as an element of
 * an array.
 */
static void
put_bytes(const char *s, size_t n)
{
	char *copy = must(strndup(s, n));

	json_text(NULL, copy);
	free(copy);
}

/*
 * Print an array of the arguments of process p.
 */
void
object_arguments(const struct proc *p)
{
	struct linuxrec r;
	struct recfile file;
	const char *s, *end;

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
}

/*
 * Print the members of a process that are not columns: its descriptors, values
 * left out, and origin. f has the facts about the process.
 */
void
object_process(const struct facts *f)
{
	const struct fact *fact;
	size_t i;

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
	put_excluded(f->excluded);
	put_origin(f);
}

/*
 * Print an array that says how each part of snapshot s was taken.
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

/*
 * Print an object for snapshot s, which was read from path.
 */
void
object_snap(const struct snap *s, const char *path)
{
	struct header h;
	struct sums sum;

	sums_get(&sum, s);
	header_parse(&h, s->header);
	json_begin("snapshot");
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
	json_end();
}

/*
 * Print an object for each embedded file of snapshot s, that is, for each
 * mapped file stored in it. s was read from path.
 */
void
objects_embedded(const struct snap *s, const char *path)
{
	const struct proc *p;
	size_t i;

	for (i = 0; i < s->nproc; i++) {
		if ((p = s->proc[i])->embedded == NULL)
			continue;
		json_begin("mapped");
		json_text("file", path);
		json_text("path", p->embedded->path);
		put_counts(image_bytes(p->mem) + image_bytes(p->text),
		    &p->count);
		json_end();
	}
}
