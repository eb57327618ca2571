/*
 * Deduplication. Images are described one after another, and each kilobyte is
 * found to be new, zero, or equal to one described earlier.
 *
 * Each kilobyte of a snapshot has a place: its number in the order of
 * description. Two indexes map hashes to places, one of contents and one of
 * identities (a page frame, an offset in a file). Both are only hints: bytes
 * are compared with the bytes at the place, and an identity with the present
 * identity of the place. Pages whose identity was seen before are neither read
 * nor hashed.
 *
 *	segment -> plan -> block -> fetch, find (threads) -> judge -> finding
 *
 * Memory: at most eleven bytes for each new kilobyte, eleven for each identity
 * that may occur again, and the outcome of these identities if they were not
 * written raw. When the last two take too much memory, no more are recorded.
 */
#include "bisect.h"
#include "engine.h"
#include "vec.h"
#include "worker.h"

#include <sys/random.h>

/*
 * Make a deduplicator for one snapshot. It calls found() with arg and each
 * finding, in order; found() returns -1 to stop. Return the deduplicator, or
 * NULL with errstr set.
 */
struct dedup *
dedup_new(finding_fn found, void *arg)
{
	enum { LEAST = 8, THREADS = 15 };
	size_t threads, n;
	struct dedup *d;

	if ((d = mem_new(1, sizeof *d)) == NULL)
		return NULL;
	d->found = found;
	d->arg = arg;
	index_init(&d->content);
	index_init(&d->identity);
	threads = (size_t)processors_count() - 1;
	threads = threads < THREADS ? threads : THREADS;
	n = 2 * (threads + 1) < LEAST ? LEAST : 2 * (threads + 1);
	if (getrandom(d->secret, sizeof d->secret, 0) != sizeof d->secret)
		errstr_sys("getrandom");
	else if ((d->ring = jobs_new(threads, n, sizeof(struct block),
	    block_fetch, d, true)) != NULL)
		return d;
	dedup_free(d);
	return NULL;
}

/*
 * Free d, which may be NULL. The segments described to d may be freed after
 * this, but not before.
 */
void
dedup_free(struct dedup *d)
{
	if (d == NULL)
		return;
	jobs_free(d->ring, block_drop);
	index_free(&d->content);
	index_free(&d->identity);
	free(d->desc);
	free(d->outcome);
	free(d->kept);
	free(d);
}

/*
 * Return the number of pages of b, starting at page i, that a single finding
 * can report.
 */
static size_t
block_run(const struct dedup *d, const struct block *b, size_t i)
{
	const struct judgement *j = &d->j;
	size_t n;

	for (n = 1; i + n < b->n && j->verdict[i + n] == j->verdict[i]; n++) {
		if (j->verdict[i] == VERDICT_SAME &&
		    j->target[i + n] != j->target[i] + n)
			break;
		if (j->verdict[i] == VERDICT_RAW &&
		    b->slot[i + n] != b->slot[i] + n)
			break;
	}
	return n;
}

/*
 * Complete and report finding f, for the kilobytes of block b from index i on.
 * The caller must have set the members verdict, n, data and why of f; the
 * others are set here. If these kilobytes equal earlier ones, target is the
 * place of the earlier ones; then limit f->n to the segment that contains
 * target.
 */
static int
finding_report(struct dedup *d, const struct block *b, struct finding *f,
    uint64_t i, uint64_t target)
{
	const struct described *at;
	uint64_t kb;

	f->seg = b->seg;
	f->kb = b->kb + i;
	f->place = b->place + i;
	if (f->verdict == VERDICT_SAME) {
		at = place_segment(d, target, &d->lastdesc);
		kb = target - at->place;
		f->same = target;
		f->image = at->seg->image;
		f->addr = at->seg->base + kb * KB;
		if (f->n > segment_kb(at->seg) - kb)
			f->n = segment_kb(at->seg) - kb;
	}
	return d->found(d->arg, f);
}

/*
 * Report the findings for block b, which has been judged.
 */
static int
block_report(struct dedup *d, const struct block *b)
{
	struct finding f;
	size_t i;

	for (i = 0; i < b->n; i += (size_t)f.n) {
		f = (struct finding){ .verdict = d->j.verdict[i],
		    .n = block_run(d, b, i), .why = b->why };
		if (f.verdict == VERDICT_RAW)
			f.data = block_page(b, i);
		if (finding_report(d, b, &f, i, d->j.target[i]) == -1)
			return -1;
	}
	return 0;
}

/*
 * Report the findings for block b, which is one long run.
 */
static int
run_report(struct dedup *d, const struct block *b)
{
	struct finding f;
	uint64_t i, target = 0;

	for (i = 0; i < b->all; i += f.n) {
		f = (struct finding){ .verdict = VERDICT_ZERO,
		    .n = b->all - i, .why = "" };
		if (b->state[0] == PAGE_IDENTICAL)
			f.n = judge_run(d, b->same[0] + i, b->all - i, &target,
			    &f.verdict);
		if (finding_report(d, b, &f, i, target) == -1 ||
		    (b->recorded[0] && outcome_add(d, b->place + i, f.n,
		    f.verdict, target) == -1))
			return -1;
	}
	return 0;
}

/*
 * Judge the oldest block, and report its findings.
 */
static int
dedup_judge(struct dedup *d)
{
	struct block *b;
	int rc;

	b = jobs_oldest(d->ring, true);
	rc = -1;
	if (b->all > 0)
		rc = run_report(d, b);
	else if (b->rc == -1)
		errstr_set("%s", b->why);
	else if (judge_block(d, b) == 0)
		rc = block_report(d, b);
	jobs_retire(d->ring);
	return rc;
}

/*
 * Plan and submit the blocks of a described segment. When all blocks are in
 * use, judge the oldest one.
 */
static int
segment_submit(struct dedup *d, const struct described *desc)
{
	struct block *b;
	uint64_t kb;

	for (kb = 0; kb < segment_kb(desc->seg);) {
		if ((b = jobs_idle(d->ring)) == NULL) {
			if (dedup_judge(d) == -1)
				return -1;
			continue;
		}
		if (plan_block(d, b, desc, kb) == -1)
			return -1;
		kb += b->all > 0 ? b->all : b->n;
		jobs_submit(d->ring, b->nwant == 0);
	}
	return 0;
}

/*
 * A later copy of the same processes follows. Pages of the copy before are
 * found by their identity only through an image that names it (its member
 * before), at the same address. The sources of that copy must exist until the
 * next call. all must be true if some images name no copy, and their pages may
 * be the same as those of other images. If replaced is true, pages of earlier
 * copies are found in no other way, because later copies are written over them.
 */
void
dedup_next(struct dedup *d, bool all, bool replaced)
{
	const uint64_t first = replaced ? d->places : d->start;
	size_t i, n;

	index_clear(&d->identity);
	n = BISECT_WHILE(k, d->nkept, d->kept[k].place +
	    d->kept[k].n <= first);
	d->nkept -= n;
	for (i = 0; i < d->nkept; i++)
		d->kept[i] = d->kept[i + n];
	n = BISECT_WHILE(k, d->noutcome, d->outcome[k].place +
	    d->outcome[k].n <= first);
	d->noutcome -= n;
	for (i = 0; i < d->noutcome; i++)
		d->outcome[i] = d->outcome[i + n];
	d->lastoutcome = 0;
	d->startbefore = d->start;
	d->start = d->places;
	d->all = all;
	d->again = d->earlier = (struct again){ .image = NULL };
	d->window.seg = NULL;
	if (replaced) {
		index_clear(&d->content);
		d->recent = d->places;
	}
}

/*
 * Describe the n segments at seg: report findings for all of their pages, in
 * page order, before returning. The segments must live as long as d. If last is
 * set, report the very last page as RAW, ZERO or LOST, never as SAME. Return 0,
 * or -1 with errstr set on failure or if found() returned -1.
 */
int
dedup_segments(struct dedup *d, struct segment *const *seg, size_t n, bool last)
{
	size_t i, first;
	int rc;

	d->last = last && n > 0 ? seg[n - 1] : NULL;
	first = d->ndesc;
	for (i = 0, rc = 0; i < n && rc == 0; i++)
		rc = place_give(d, seg[i]);
	for (i = 0; i < n && rc == 0; i++)
		rc = segment_submit(d, &d->desc[first + i]);
	while (jobs_oldest(d->ring, true) != NULL)
		if (rc == 0)
			rc = dedup_judge(d);
		else
			jobs_retire(d->ring);
	return rc;
}
