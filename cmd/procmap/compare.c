/*
 * Compare the mappings and memory of processes in two snapshots.
 */
#include "procmap.h"
#include "bisect.h"

#include <time.h>

/*
 * Write to note, which has room for size bytes, how mapping v differs from the
 * mappings in old. The note is "new" if old has no mapping there, "was 8K" (the
 * old size) if the addresses differ, "was rw-p" (the old permissions) if these
 * differ, "other" if only the name differs, and "" if nothing differs.
 */
static void
row_note(const struct vmas *old, const struct vma *v, char *note, size_t size)
{
	const struct vma *o;
	char perm[5];

	o = vmas_next(old, v->start);
	if (o == NULL || o->start >= v->end)
		strlcpy(note, "new", size);
	else if (o->start != v->start || o->end != v->end)
		snprintf(note, size, "was %" PRIu64 "K", entry_kb(o));
	else if ((o->flags ^ v->flags) & (VMA_READ | VMA_WRITE | VMA_EXEC |
	    VMA_SHARED)) {
		vma_perms(o, perm);
		snprintf(note, size, "was %s", perm);
	} else
		strlcpy(note, strcmp(o->name, v->name) == 0 ? "" : "other",
		    size);
}

/*
 * Add a row with the note "gone" to f for each part of v that no mapping in new
 * covers. v is a mapping of the old snapshot.
 */
static void
rows_gone(struct figure *f, const struct vmas *new, struct vma v)
{
	const struct vma *n;
	uint64_t end = v.end;

	while (v.start < end) {
		n = vmas_next(new, v.start);
		v.end = n == NULL || n->start > end ? end : n->start;
		if (v.end > v.start)
			row_add(f, &v, "gone");
		if (n == NULL || n->start >= end)
			break;
		v.start = n->end;
	}
}

CMP(row_cmp, struct row, start)

/*
 * Add rows to f for all mappings of old and new, sorted by address.
 */
static void
rows_compare(struct figure *f, const struct vmas *old, const struct vmas *new)
{
	char note[sizeof f->row->note];
	size_t i;

	for (i = 0; i < new->n; i++) {
		row_note(old, &new->v[i], note, sizeof note);
		row_add(f, &new->v[i], note);
	}
	for (i = 0; i < old->n; i++)
		rows_gone(f, new, old->v[i]);
	SORT(f->row, f->n, row_cmp);
}

/*
 * Return the ID that process pid of snapshot new has in snapshot old. This is
 * usually pid itself. However, if each snapshot has only one process, the two
 * are compared even if their IDs differ: return the ID of the process in old.
 */
uint64_t
pid_before(struct snap *old, struct snap *new, uint64_t pid)
{
	uint64_t other = 0;
	size_t i, n[2] = { 0, 0 };

	for (i = 0; i < new->nproc; i++)
		n[0] += new->proc[i]->mem != NULL &&
		    new->proc[i]->embedded == NULL;
	for (i = 0; i < old->nproc; i++)
		if (old->proc[i]->mem != NULL &&
		    old->proc[i]->embedded == NULL) {
			other = old->proc[i]->pid;
			n[1]++;
		}
	return n[0] == 1 && n[1] == 1 && snap_process(old, pid) == NULL ?
	    other : pid;
}

/*
 * Read the address space of process pid of s into *sp. Leave *sp empty if there
 * is no such process. Return 0, or -1 with errstr set.
 */
static int
space_or_none(struct space *sp, struct snap *s, uint64_t pid)
{
	return space_snap(sp, s, pid) == -1 && !sp->gone ? -1 : 0;
}

/*
 * Find the rows of f whose mapping and contents are the same in both snapshots.
 * Set the member same of each such row, and count them in f->nsame.
 */
static void
rows_same(struct figure *f)
{
	const struct pagelist *l = &f->pages;
	const struct pagespan *p;
	struct row *r;
	size_t i, k;

	for (i = k = 0; i < f->n; i++) {
		r = &f->row[i];
		r->same = *r->note == '\0';
		while (k < l->n && l->v[k].end <= r->start)
			k++;
		for (; k < l->n && l->v[k].start < r->end; k++) {
			p = &l->v[k];
			if (p->kind == PAGES_CHANGED || p->kind == PAGES_NEW ||
			    p->kind == PAGES_GONE)
				r->same = false;
			if (p->end > r->end)
				break;
		}
		f->nsame += r->same;
	}
}

static int
figure_compare(struct figure *f, struct snap *old, struct snap *new)
{
	struct space was = { 0 }, is = { 0 };
	struct proc *a, *b;
	uint64_t before;
	int rc = -1;

	before = pid_before(old, new, f->pid);
	if (space_or_none(&was, old, before) == -1 ||
	    space_or_none(&is, new, f->pid) == -1)
		goto out;
	rows_compare(f, &was.vma, &is.vma);
	a = snap_process(old, before);
	b = snap_process(new, f->pid);
	rc = pages_compare(&f->pages, a == NULL ? NULL : a->mem, &was.vma,
	    b == NULL ? NULL : b->mem, &is.vma);
	rows_same(f);
out:
	space_free(&was);
	space_free(&is);
	return rc;
}

/*
 * Write the times of snapshots old and new, and the time between them, to s,
 * which has room for size bytes. Set s to "" if either snapshot does not record
 * its time.
 */
static void
times_put(char *s, size_t size, const struct snap *old, const struct snap *new)
{
	const struct snap *both[2] = { old, new };
	char when[2][40], apart[40];
	struct header h[2];
	struct tm tm;
	time_t t;
	size_t i;

	*s = '\0';
	for (i = 0; i < 2; i++) {
		header_parse(&h[i], both[i]->header);
		t = (time_t)h[i].time;
		if (!h[i].timed || h[i].time > INT32_MAX * 100ULL ||
		    gmtime_r(&t, &tm) == NULL)
			return;
		strftime(when[i], sizeof when[i], "%F %T UTC", &tm);
	}
	t = (time_t)(h[1].time < h[0].time ? h[0].time - h[1].time :
	    h[1].time - h[0].time);
	text_time(apart, sizeof apart, (uint64_t)t * 1000000);
	if (t == 0)
		snprintf(s, size, "both at %s", when[0]);
	else
		snprintf(s, size, "from %s to %s, %s %s", when[0], when[1],
		    apart, h[1].time < h[0].time ? "before" : "later");
}

/*
 * Add a figure to album a for each of the n processes at sp. Each figure shows
 * how its process changed from snapshot old to snapshot new. Return 0, or -1
 * with errstr set.
 */
int
album_compare(struct album *a, struct snap *old, struct snap *new,
    const struct space *sp, size_t n)
{
	size_t i;

	a->compare = true;
	times_put(a->times, sizeof a->times, old, new);
	for (i = 0; i < n; i++)
		if (figure_compare(figure_add(a, &sp[i]), old, new) == -1)
			return -1;
	return 0;
}
