/*
 * Collect what a picture shows: a figure for each process, with its mappings,
 * the kinds of their pages, and the processes that share them.
 */
#include "procmap.h"
#include "bisect.h"

/*
 * Add a row for mapping v to f. note says what changed, and is "" if nothing
 * did.
 */
void
row_add(struct figure *f, const struct vma *v, const char *note)
{
	struct row *r;

	MUST_ROOM(f->row, f->n);
	r = &f->row[f->n++];
	r->start = v->start;
	r->end = v->end;
	vma_perms(v, r->perm);
	strlcpy(r->note, note, sizeof r->note);
	r->same = false;
	r->name = must(malloc(strlen(v->name) + 16));
	name_make(r->name, strlen(v->name) + 16, v);
}

/*
 * Return true if row r is drawn. Unchanged mappings are left out when two
 * snapshots are compared, unless a->everything is true.
 */
bool
row_isshown(const struct album *a, const struct row *r)
{
	return !r->same || a->everything;
}

/*
 * Return the number of consecutive rows of f, beginning with row i, that are
 * not drawn.
 */
size_t
rows_hidden(const struct album *a, const struct figure *f, size_t i)
{
	size_t n;

	for (n = 0; i + n < f->n && !row_isshown(a, &f->row[i + n]); n++)
		continue;
	return n;
}

/*
 * Add a figure of process sp, with no mappings yet, to album a. Return the
 * figure.
 */
struct figure *
figure_add(struct album *a, const struct space *sp)
{
	struct figure *f;

	MUST_ROOM(a->fig, a->n);
	f = &a->fig[a->n++];
	memset(f, 0, sizeof *f);
	f->pid = sp->pid;
	strlcpy(f->name, sp->name, sizeof f->name);
	text_sanitize(f->name);
	return f;
}

/*
 * Add a figure of process sp, with all its mappings, to album a. Return the
 * figure.
 */
static struct figure *
figure_rows(struct album *a, const struct space *sp)
{
	struct figure *f = figure_add(a, sp);
	size_t i;

	for (i = 0; i < sp->vma.n; i++)
		row_add(f, &sp->vma.v[i], "");
	return f;
}

CMP(partner_pidcmp, struct partner, pid)
CMP_BY(partner_cmp, struct partner, x->kb != y->kb ? ORDER(y->kb, x->kb) :
    ORDER(x->pid, y->pid))

/*
 * Count p, a run of pages shared with another process, in the *n elements of
 * *v. If the last element is for that process, add the size of p to it.
 * Otherwise append an element with this size.
 */
static void
share_add(struct partner **v, size_t *n, const struct pagespan *p)
{
	uint64_t kb = (p->end - p->start) / KB;

	if (*n > 0 && (*v)[*n - 1].pid == p->with) {
		(*v)[*n - 1].kb += kb;
		return;
	}
	MUST_ROOM(*v, *n);
	(*v)[(*n)++] = (struct partner){ .pid = p->with, .kb = kb };
}

/*
 * Find the processes that share memory with the processes in album a. Set *v to
 * an array with one element for each process found. Each element has the amount
 * of memory that its process shares. Sort the elements by amount, largest
 * first. The caller frees *v. Return the number of elements.
 */
static size_t
album_shares(const struct album *a, struct partner **v)
{
	const struct pagelist *l;
	size_t i, k, n = 0;

	for (i = 0; i < a->n; i++)
		for (l = &a->fig[i].pages, k = 0; k < l->n; k++)
			if (l->v[k].kind == PAGES_SHARED &&
			    l->v[k].with != 0)
				share_add(v, &n, &l->v[k]);
	SORT(*v, n, partner_pidcmp);
	for (i = k = 0; i < n; i++)
		if (k > 0 && (*v)[i].pid == (*v)[k - 1].pid)
			(*v)[k - 1].kb += (*v)[i].kb;
		else
			(*v)[k++] = (*v)[i];
	SORT(*v, k, partner_cmp);
	return k;
}

/*
 * Set the name of p, which is a process or an embedded file of snapshot s.
 */
static void
name_partner(struct snap *s, struct partner *p)
{
	struct space sp;
	struct proc *pr;

	if ((pr = snap_process(s, p->pid)) == NULL)
		return;
	if (pr->embedded != NULL) {
		strlcpy(p->name, pr->embedded->path, sizeof p->name);
		if (strlen(pr->embedded->path) >= sizeof p->name)
			strlcpy(p->name, path_base(pr->embedded->path),
			    sizeof p->name);
		text_sanitize(p->name);
		return;
	}
	if (space_snap(&sp, s, p->pid) == 0)
		strlcpy(p->name, text_sanitize(sp.name), sizeof p->name);
	space_free(&sp);
}

/*
 * Store in a->partner the processes that share the most memory with the
 * processes in album a. Each partner is drawn in its own colour. The processes
 * are from snapshot s; if s is NULL, they are live.
 */
static void
album_partners(struct album *a, struct snap *s)
{
	struct partner *v = NULL, *p;
	size_t i, k, n;

	n = album_shares(a, &v);
	a->npartner = n < PARTNERS ? n : PARTNERS;
	for (i = 0; i < a->npartner; i++) {
		p = &a->partner[i];
		*p = v[i];
		if (s != NULL)
			name_partner(s, p);
		for (k = 0; k < a->n; k++)
			if (a->fig[k].pid == p->pid)
				strlcpy(p->name, a->fig[k].name,
				    sizeof p->name);
	}
	free(v);
}

/*
 * Record, for the pages in each figure of album a, which processes share them.
 * s has the pages of all processes.
 */
static void
album_share(struct album *a, struct sharing *s)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		must_do(sharing_record(s, &a->fig[i].pages, a->fig[i].pid));
}

/*
 * Mark all pages of f as unknown.
 */
static void
figure_unknown(struct figure *f)
{
	struct pagespan p = { .kind = PAGES_MISSING };
	size_t i;

	pagelist_free(&f->pages);
	for (i = 0; i < f->n; i++) {
		p.start = f->row[i].start;
		p.end = f->row[i].end;
		must_do(pagelist_add(&f->pages, &p));
	}
}

/*
 * Add figures of the n live processes at sp to album a. Return 0, or 1 after a
 * message if the pages of a process could not be read.
 */
int
album_live(struct album *a, const struct space *sp, size_t n)
{
	struct sharing *s = must(sharing_new());
	struct figure *f;
	size_t i;
	int lost = 0;

	for (i = 0; i < n; i++) {
		f = figure_rows(a, &sp[i]);
		if (sp[i].pid == 0)
			figure_unknown(f);
		else if (pages_live(&f->pages, &sp[i]) == -1) {
			program_warn("%s", snap_errstr());
			lost = 1;
			figure_unknown(f);
		}
		must_do(sharing_add(s, &f->pages, f->pid));
	}
	album_share(a, s);
	sharing_free(s);
	album_partners(a, NULL);
	return lost;
}

/*
 * Add the pages of im, an image of process p, to s. Return 0, or -1 with errstr
 * set.
 */
static int
sharing_image(struct sharing *s, const struct proc *p, struct image *im)
{
	struct pagelist l = { 0 };
	int rc;

	if ((rc = pages_snap(&l, im)) == 0)
		must_do(sharing_add(s, &l, p->pid));
	pagelist_free(&l);
	return rc;
}

/*
 * Add figures of the n processes at sp, all from snapshot snap, to album a.
 * Return 0, or -1 with errstr set.
 */
int
album_snap(struct album *a, struct snap *snap, const struct space *sp,
    size_t n)
{
	struct sharing *s = must(sharing_new());
	struct figure *f;
	struct proc *p;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < snap->nproc; i++) {
		p = snap->proc[i];
		rc = sharing_image(s, p, p->mem);
		if (rc == 0 && p->embedded != NULL)
			rc = sharing_image(s, p, p->text);
	}
	for (i = 0; rc == 0 && i < n; i++) {
		f = figure_rows(a, &sp[i]);
		if ((p = snap_process(snap, sp[i].pid)) == NULL)
			continue;
		f->pid = p->pid;
		if (p->mem == NULL)
			figure_unknown(f);
		else
			rc = pages_snap(&f->pages, p->mem);
	}
	if (rc == 0) {
		album_share(a, s);
		album_partners(a, snap);
	}
	sharing_free(s);
	return rc;
}

/*
 * Empty album a, and free its figures.
 */
void
album_free(struct album *a)
{
	size_t i, k;

	for (i = 0; i < a->n; i++) {
		for (k = 0; k < a->fig[i].n; k++)
			free(a->fig[i].row[k].name);
		free(a->fig[i].row);
		pagelist_free(&a->fig[i].pages);
	}
	free(a->fig);
	memset(a, 0, sizeof *a);
}
