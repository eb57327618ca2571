/*
 * Reduce a snapshot to some of its processes, with everything that they use.
 */
#include "merge.h"
#include "model.h"
#include "vec.h"

/*
 * If the mapping *key refers to an embedded file, keep that file.
 */
static void
keep_embedded(struct keeping *k, const struct vma *key)
{
	const ssize_t i = embedded_index(k->s, key);

	if (i != -1)
		k->keep[i] = true;
}

/*
 * Keep the embedded files that process p has mapped.
 */
static int
keep_mapped(struct keeping *k, const struct proc *p)
{
	struct vmas l = { 0 };
	const struct vma *v;
	size_t i;
	int rc;

	rc = proc_vmas(p, &l);
	for (i = 0, v = NULL; rc == 0 && i < l.n; v = &l.v[i++])
		/* skip adjacent mappings of the same file */
		if (v == NULL || v->ino != l.v[i].ino ||
		    v->dev != l.v[i].dev || strcmp(v->name, l.v[i].name) != 0)
			keep_embedded(k, &l.v[i]);
	vmas_free(&l);
	return rc;
}

/*
 * Keep the embedded files that a process has open according to its record r.
 */
static void
keep_open(struct keeping *k, const struct linuxrec *r)
{
	static char none[] = "";
	struct embedded c = { .path = none };
	struct vma key = { .name = none };
	struct recfile f;
	uint64_t id;
	size_t i;

	for (i = 0; i < r->n; i++) {
		linuxrec_get(r, i, &f);
		if (!recfile_number(&f, "file/", &id) ||
		    !recfile_open(&f, &c))
			continue;
		key.dev = c.dev;
		key.ino = c.ino;
		keep_embedded(k, &key);
	}
}

/*
 * Choose the processes to keep, and fill the arrays of k. Keep the processes
 * for which want(arg, ...) returns 1, and their threads. Set *left to the
 * number of dropped processes. A part is a set of processes captured at one
 * instant; embedded files belong to no part.
 */
static int
keep_choose(struct keeping *k, snap_want want, void *arg, size_t *left)
{
	struct proc *p, *q;
	size_t i, found;
	int rc;

	for (i = found = *left = 0; i < k->n; i++) {
		p = k->s->proc[i];
		k->part[i] = UINT64_MAX;
		if (p->embedded != NULL)
			continue;
		q = proc_isthread(p) ? snap_find(k->s, p->leader) : NULL;
		if (proc_part(p, &k->part[i]) == -1 ||
		    linuxrec_open(&k->rec[i], proc_file(p, "proc")) == -1 ||
		    (rc = want(arg, k->s, q == NULL ? p : q)) == -1)
			return -1;
		k->keep[i] = rc == 1;
		found += k->keep[i];
		*left += !k->keep[i];
	}
	return found == 0 ? errstr_set("no such process in the snapshot") : 0;
}

/*
 * Keep the processes that want(arg, ...) chooses and the files that they need.
 */
static int
keep_find(struct keeping *k, snap_want want, void *arg)
{
	size_t i, left;

	if (keep_choose(k, want, arg, &left) == -1 ||
	    (left > 0 && common_move(k) == -1))
		return -1;
	for (i = 0; i < k->n; i++) {
		if (!k->keep[i] || k->s->proc[i]->embedded != NULL)
			continue;
		if (keep_mapped(k, k->s->proc[i]) == -1)
			return -1;
		keep_open(k, proc_record(k->s->proc[i]));
	}
	return 0;
}

/*
 * If the first process was merged from another snapshot, restore the first line
 * of that snapshot from the file "origin" in the process's record. Otherwise do
 * nothing.
 */
static int
header_restore(struct snap *s)
{
	char line[8192], *rest;

	if (!linuxrec_line(proc_record(s->proc[0]), "origin", line,
	    sizeof line) || (rest = strchr(line, ' ')) == NULL)
		return 0;
	free(s->header);
	s->header = str_printf("process snapshot%s", rest);
	return s->header == NULL ? -1 : 0;
}

/*
 * Move the kept processes into a new snapshot, and return it. Return NULL with
 * errstr set if memory runs out.
 */
static struct snap *
keep_move(struct snap *s, const bool *keep)
{
	struct snap *new;

	if ((new = snap_new()) == NULL)
		return NULL;
	new->header = s->header;
	new->st = s->st;
	s->header = NULL;
	if (snap_move(new, s, keep) == 0 && header_restore(new) == 0)
		return new;
	snap_free(new);
	return NULL;
}

/*
 * Return a snapshot with the processes of s for which want(arg, s, process)
 * returns 1, and their threads. Also keep the embedded files that they use, and
 * the state that they share with other processes. The caller owns the new
 * snapshot; s is freed. Return NULL with errstr set if no process is left, or
 * on any other failure.
 */
struct snap *
snap_keep(struct snap *s, snap_want want, void *arg)
{
	struct keeping k = { .s = s, .n = s->nproc };
	struct pool pool = { 0 };
	struct snap *new = NULL;
	size_t i;

	if ((k.keep = pool_new(&pool, k.n, sizeof *k.keep)) != NULL &&
	    (k.part = pool_new(&pool, k.n, sizeof *k.part)) != NULL &&
	    (k.rec = pool_new(&pool, k.n, sizeof *k.rec)) != NULL &&
	    keep_find(&k, want, arg) == 0)
		new = keep_move(s, k.keep);
	for (i = 0; k.rec != NULL && i < k.n; i++)
		linuxrec_close(&k.rec[i]);
	pool_free(&pool);
	snap_free(s);
	return new;
}
