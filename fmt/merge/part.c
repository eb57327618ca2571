/*
 * Parts of a snapshot of several: some kept, others left out.
 */
#include "merge.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

/*
 * Set in keep, for each process of s, which carried files the process p has
 * open.
 */
static void
keep_open(const struct snap *s, const struct proc *p, bool *keep)
{
	static char none[] = "";
	struct carried file = { .path = none };
	struct linuxrec r;
	struct recfile f;
	uint64_t id;
	size_t i, k;

	if (linuxrec_open(&r, proc_file(p, "proc")) == 0)
		for (i = 0; i < r.n; i++) {
			linuxrec_get(&r, i, &f);
			if (!recfile_number(&f, "file/", &id) ||
			    !recfile_open(&f, &file))
				continue;
			for (k = 0; k < s->nproc; k++)
				keep[k] |= s->proc[k]->carried != NULL &&
				    carried_cmp(s->proc[k]->carried, &file) ==
				    0;
		}
	linuxrec_close(&r);
}

/*
 * Set in keep, for each process of s, which carried files the process p has
 * mapped.
 */
static int
keep_mapped(struct snap *s, const struct proc *p, bool *keep)
{
	const struct proc *q, *last = NULL;
	struct vmas l = { 0 };
	size_t i, k;
	int rc;

	rc = proc_vmas(p, &l);
	for (i = 0; rc == 0 && i < l.n; i++) {
		/* a file has mappings that lie one after another */
		if ((q = carried_find(s, &l.v[i])) == NULL || q == last)
			continue;
		last = q;
		for (k = 0; k < s->nproc; k++)
			keep[k] = keep[k] || s->proc[k] == q;
	}
	vmas_free(&l);
	return rc;
}

/*
 * Set keep for what is to be kept of s.  Return how many processes and threads
 * that are, or -1 with errstr.
 */
static ssize_t
keep_choose(struct snap *s, const uint64_t *part, size_t n, bool *keep)
{
	struct proc *p;
	ssize_t found;
	uint64_t of;
	size_t i, k;

	for (found = 0, i = 0; i < s->nproc; i++) {
		p = s->proc[i];
		if (p->carried != NULL)
			continue;
		if (proc_part(p, &of) == -1)
			return -1;
		for (k = 0; k < n && part[k] != of; k++)
			continue;
		if (k == n)
			continue;
		keep[i] = true;
		found++;
		if (proc_isthread(p))
			continue;
		if (keep_mapped(s, p, keep) == -1)
			return -1;
		keep_open(s, p, keep);
	}
	return found;
}

/*
 * Give a snapshot of one part the first line that this had when it was taken,
 * which origin of its processes tells.
 */
static int
header_restore(struct snap *s)
{
	struct linuxrec r;
	char line[8192], *rest;
	bool told;

	if (linuxrec_open(&r, proc_file(s->proc[0], "proc")) != 0)
		return 0;
	told = linuxrec_line(&r, "origin", line, sizeof line) &&
	    (rest = strchr(line, ' ')) != NULL;
	linuxrec_close(&r);
	if (!told)
		return 0;
	free(s->header);
	if (asprintf(&s->header, "process snapshot%s", rest) == -1) {
		s->header = NULL;
		return errstr_set("out of memory");
	}
	return 0;
}

/*
 * Move those processes of s that are to be kept into a new snapshot.  Return
 * NULL with errstr if there is no memory.
 */
static struct snap *
keep_move(struct snap *s, const bool *keep)
{
	struct snap *new;

	if ((new = snap_new()) == NULL)
		return NULL;
	if (snap_move(new, s, keep) == -1) {
		snap_free(new);
		return NULL;
	}
	new->header = s->header;
	new->st = s->st;
	s->header = NULL;
	return new;
}

/*
 * Return a snapshot that has only what was taken in the n parts of s that part
 * lists, as struct identity numbers them, with the files that these processes
 * have mapped or open.  The caller owns it; s is freed.  Return NULL with
 * errstr if nothing is left, or on another failure.
 */
struct snap *
snap_parts(struct snap *s, const uint64_t *part, size_t n)
{
	struct snap *new = NULL;
	ssize_t found;
	bool *keep;

	if ((keep = calloc(s->nproc + 1, sizeof *keep)) == NULL)
		errstr_set("out of memory");
	else if ((found = keep_choose(s, part, n, keep)) == 0)
		errstr_set("nothing in it is of that part");
	else if (found > 0)
		new = keep_move(s, keep);
	if (new != NULL && n == 1 && header_restore(new) == -1) {
		snap_free(new);
		new = NULL;
	}
	snap_free(s);
	free(keep);
	return new;
}
