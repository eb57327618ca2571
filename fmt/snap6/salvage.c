/*
 * Keep what is not damaged of a stream. Lost parts of an image become missing:
 * pages in damaged megabytes (damage.c), the rest of a truncated segment, and
 * everything mapped after the place where reading failed.
 */
#include "read.h"
#include "bisect.h"
#include "record/record.h"

#define DAMAGED		"damaged"

struct lost {			/* lost pages of a mapping in one damaged
				   megabyte */
	uint64_t	 start;	/* start of the address range; "end" is
				   exclusive */
	uint64_t	 end;
	uint64_t	 kb;	/* number of lost kilobytes */
};

struct lossreport {			/* lost pages to report */
	const struct reader *r;
	const struct image *im;
	const struct vmas *l;
	const struct vma *v;	/* mapping that contains the pages, or NULL */
	struct lost	*lost;	/* owned; one element for each megabyte of the
				   stream */
	uint64_t	 nlost;	/* number of megabytes with lost pages */
};

/*
 * Salvage r->seg, a segment of im in which the stream ends. Keep the pages that
 * were read, and mark the rest as missing. Return 0 with errstr unchanged, or
 * -1 with errstr set.
 */
int
salvage_segment(struct reader *r, struct image *im)
{
	char why[256];
	struct segment *s = r->seg;
	uint64_t at, end = memory_end(s->base, s->len);

	strlcpy(why, snap_errstr(), sizeof why);
	at = s->base + s->kb * KB;
	if (image_miss(im, at, end, DAMAGED) == -1)
		return -1;
	salvage_say(r, "%s: lost: %s from %" PRIx64 " to at least %" PRIx64,
	    pid_text(r->proc->pid), im->kind == IMAGE_TEXT ? "text" : "mem",
	    at, end);
	r->seg = NULL;
	if (s->kb == 0)
		segment_free(s);
	else {
		s->len = s->kb * KB;
		if (image_insert(im, s) == -1)
			return -1;
	}
	errstr_set("%s", why);
	return 0;
}

/*
 * Report the lost pages of mapping t->v, with a line for each damaged megabyte.
 */
static void
loss_report(struct lossreport *t)
{
	const struct embedded *c = t->im->proc->embedded;
	const char *name;
	struct lost *l;
	uint64_t mb;

	name = t->v != NULL ? t->v->name : c != NULL ? c->path : "";
	for (mb = 0; mb < t->r->damage.n && t->nlost > 0; mb++) {
		l = &t->lost[mb];
		if (l->kb == 0)
			continue;
		salvage_say(t->r, "%s: lost with megabyte %" PRIu64 ": %" PRIu64
		    "K of %s %" PRIx64 "-%" PRIx64 "%s%s",
		    pid_text(t->im->proc->pid), mb, l->kb,
		    t->im->kind == IMAGE_TEXT ? "text" : "mem", l->start,
		    l->end, *name != '\0' ? " " : "", name);
		l->kb = 0;
		t->nlost--;
	}
}

/*
 * Record that one page was lost because megabyte mb of the stream is damaged.
 * The page extends from address start up to end.
 */
static void
loss_add(struct lossreport *t, uint64_t start, uint64_t end, uint64_t mb)
{
	const struct vma *v;
	struct lost *l;

	v = t->im->kind == IMAGE_MEM ? vmas_find(t->l, start) : NULL;
	if (t->v != v) {
		loss_report(t);
		t->v = v;
	}
	l = &t->lost[mb];
	if (l->kb++ == 0) {
		l->start = start;
		t->nlost++;
	}
	l->end = end;
}

/*
 * Describe segment s again without its damaged pages. Pages in damaged
 * megabytes become missing. Set *lost to true if there are any.
 */
static int
segment_salvage(struct reader *r, struct segment *s, struct lossreport *t,
    bool *lost)
{
	struct segment d = { .base = s->base, .len = s->len };
	const struct extent *e;
	uint64_t k, at, addr, len, mb;
	bool bad;
	int rc;

	if (segment_describe(s) == -1)
		return -1;
	for (rc = 0; d.kb < s->kb && rc == 0;) {
		e = segment_extent(s, d.kb);
		if (e->src == NULL)
			rc = segment_append(&d, e->n, NULL, 0);
		for (k = 0; k < e->n && e->src != NULL && rc == 0; k++) {
			at = e->loc + k * (KB + 1) - (uint64_t)r->in->origin;
			addr = s->base + d.kb * KB;
			len = segment_kblen(s, d.kb);
			bad = damage_in(&r->damage, at - 1, at + len, &mb);
			rc = segment_append(&d, 1, bad ? NULL : e->src,
			    at + (uint64_t)r->in->origin);
			if (!bad || rc == -1)
				continue;
			*lost = true;
			loss_add(t, addr, memory_end(addr, len), mb);
			rc = image_miss(s->image, addr, memory_end(addr, len),
			    DAMAGED);
		}
	}
	if (rc == -1) {
		free(d.ext);
		return -1;
	}
	segment_take(s, &d);
	return 0;
}

static int
image_salvage(struct reader *r, struct image *im, const struct vmas *l,
    bool *lost)
{
	struct lossreport t = { .r = r, .im = im, .l = l };
	size_t i, had;
	int rc;

	if (im == NULL)
		return 0;
	if ((t.lost = calloc((size_t)r->damage.n + 1, sizeof *t.lost)) == NULL)
		return errstr_set("out of memory");
	for (i = 0, had = im->nmissing; i < had; i++)
		*lost |= strcmp(im->missing[i].reason, DAMAGED) == 0;
	for (i = 0, rc = 0; i < im->nseg && rc == 0 &&
	    r->damage.bad != NULL; i++)
		rc = segment_salvage(r, im->seg[i], &t, lost);
	loss_report(&t);
	free(t.lost);
	for (i = had; i < im->nmissing && rc == 0; i++)
		rc = image_punch(im, im->missing[i].start,
		    im->missing[i].end);
	return rc;
}

/*
 * Mark the memory of im from address start up to end as damaged. Leave out the
 * ranges in the first nold entries of im->missing.
 */
static int
rest_miss(struct image *im, size_t nold, uint64_t start, uint64_t end)
{
	size_t i;
	uint64_t to;

	for (i = BISECT_WHILE(n, nold, im->missing[n].end <= start); i < nold &&
	    im->missing[i].start < end; i++) {
		to = im->missing[i].end;
		if (im->missing[i].start > start && image_miss(im, start,
		    im->missing[i].start, DAMAGED) == -1)
			return -1;
		start = to;
	}
	return start < end ? image_miss(im, start, end, DAMAGED) : 0;
}

/*
 * After a read error, mark as missing all mapped memory of p that has not been
 * read. l has the mappings of p. Set *lost to true if there is any such memory.
 */
static int
proc_rest(struct reader *r, struct proc *p, const struct vmas *l, bool *lost)
{
	uint64_t from, start;
	size_t i, had;

	from = p->mem == NULL ? 0 : r->memend;
	if (l->n == 0 || l->v[l->n - 1].end <= from)
		return 0;
	if (p->mem == NULL && (p->mem = image_new(p, IMAGE_MEM)) == NULL)
		return -1;
	image_sortmissing(p->mem);
	had = p->mem->nmissing;
	for (i = 0; i < l->n; i++) {
		start = l->v[i].start > from ? l->v[i].start : from;
		if (rest_miss(p->mem, had, start, l->v[i].end) == -1)
			return -1;
	}
	*lost = true;
	salvage_say(r, "%s: lost: all mapped memory from %" PRIx64 " on",
	    pid_text(p->pid), from);
	return 0;
}

/*
 * Update the list of missing memory in the Linux record of process p. Create
 * the record if p has none.
 */
static int
proc_list(struct reader *r, struct proc *p)
{
	struct header h;
	int rc;

	if (proc_file(p, "proc") == NULL) {
		header_parse(&h, r->snap->header);
		if (linuxrec_pack(p, *h.cputype == '\0' ? "unknown" :
		    h.cputype, NULL, 0) == -1)
			return -1;
	}
	if ((rc = linuxrec_update(p)) == 0)
		salvage_say(r, "%s: no Linux record in which to list the "
		    "missing memory", pid_text(p->pid));
	return rc == -1 ? -1 : 0;
}

/*
 * Remove the damaged parts from the snapshot that r has read. failed is true if
 * reading failed: then also remove the last process, if nothing but its ID was
 * read. Return 0, or -1 with errstr set.
 */
int
salvage_snap(struct reader *r, bool failed)
{
	struct vmas l = { 0 };
	struct proc *p;
	size_t i;
	bool lost;
	int rc;

	for (i = 0, rc = 0; i < r->snap->nproc && rc == 0; i++) {
		p = r->snap->proc[i];
		if (proc_vmas(p, &l) == -1)
			salvage_say(r, "%s: %s", pid_text(p->pid),
			    snap_errstr());
		lost = false;
		rc = image_salvage(r, p->text, &l, &lost);
		if (rc == 0 && failed && p == r->proc)
			rc = proc_rest(r, p, &l, &lost);
		if (rc == 0)
			rc = image_salvage(r, p->mem, &l, &lost);
		if (rc == 0 && lost)
			rc = proc_list(r, p);
		vmas_free(&l);
		memset(&l, 0, sizeof l);
	}
	p = i == 0 ? NULL : r->snap->proc[i - 1];
	if (rc == 0 && failed && p == r->proc && proc_isempty(p))
		snap_drop(r->snap);
	return rc;
}
