/*
 * Judge a fetched block: find out which of its pages are new, and which equal
 * pages described earlier.
 *
 * Threads that fetch (candidates.c) have found most equal pages that were
 * described much earlier. This file finds those described since.
 */
#include "bisect.h"
#include "engine.h"

/*
 * Compare page i of block b with the page at place. Return 1 if they are equal.
 * Return 0 if they differ or the page at place cannot be read. Return -1 with
 * errstr set on other errors.
 */
static int
page_equals(struct dedup *d, const struct block *b, size_t i, uint64_t place)
{
	uint8_t there[KB];
	struct source *src;
	struct run r;
	uint64_t n;
	int rc;

	if (place >= b->place)
		return memcmp(block_page(b, i), block_page(b,
		    (size_t)(place - b->place)), KB) == 0;
	src = place_source(d, place, &d->lastdesc, &r.loc, &n);
	r.n = 1;
	if ((rc = source_read(src, &r, 1, there)) == -1)
		return -1;
	return rc == SOURCE_OK && memcmp(block_page(b, i), there, KB) == 0;
}

/*
 * Record page i of b as new, and add it to the index for later pages.
 */
static int
judge_raw(struct dedup *d, const struct block *b, size_t i)
{
	d->j.verdict[i] = VERDICT_RAW;
	d->unique++;
	if (!segment_referable(b->seg))
		return 0;
	return index_add(&d->content, b->hash[i], b->place + i);
}

/*
 * Compare page i of b with all earlier pages that have the same hash. Set
 * *place to the place of one that equals it, or to PLACE_NONE if there is none.
 */
static int
find_same(struct dedup *d, const struct block *b, size_t i, uint64_t *place)
{
	struct cursor c;
	int rc;

	for (*place = index_first(&d->content, b->hash[i], &c);
	    *place != PLACE_NONE; *place = index_next(&c)) {
		if (*place > b->place + i)
			continue; /* this is a later page of the block, not yet
				     written */
		if ((rc = page_equals(d, b, i, *place)) != 0)
			return rc == -1 ? -1 : 0;
	}
	return 0;
}

/*
 * Judge page i of b by comparing it with the pages at all places under its
 * hash.
 */
static int
judge_slowly(struct dedup *d, const struct block *b, size_t i)
{
	uint64_t p;

	if (find_same(d, b, i, &p) == -1)
		return -1;
	if (p == PLACE_NONE)
		return judge_raw(d, b, i);
	d->j.verdict[i] = VERDICT_SAME;
	d->j.target[i] = p;
	return 0;
}

/*
 * Record page i of b as written raw, whether it is new or not. Later pages can
 * refer to it only if it is new and a whole kilobyte.
 */
static int
judge_unshared(struct dedup *d, const struct block *b, size_t i)
{
	uint64_t p;

	d->j.verdict[i] = VERDICT_RAW;
	if (segment_kblen(b->seg, b->kb + i) < KB)
		return 0;
	return find_same(d, b, i, &p) == -1 ? -1 :
	    p == PLACE_NONE ? judge_raw(d, b, i) : 0;
}

/*
 * Make the first pass over block b: judge each page. A page is new if the index
 * has no page with its hash. Otherwise its target is the first page with that
 * hash. The two are compared in the second pass, or at once if the target is in
 * this block.
 */
static int
judge_candidates(struct dedup *d, const struct block *b)
{
	struct judgement *j = &d->j;
	struct cursor c;
	enum verdict v;
	uint64_t p;
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->state[i] == PAGE_READ)
			index_prefetch(&d->content, b->hash[i]);
	for (i = 0; i < b->n; i++) {
		j->target[i] = PLACE_NONE;
		if (b->state[i] == PAGE_ZERO)
			j->verdict[i] = VERDICT_ZERO;
		if (b->state[i] == PAGE_LOST)
			j->verdict[i] = VERDICT_LOST;
		if (b->state[i] == PAGE_FOUND) {
			/* the page of an earlier copy may be a reference */
			judge_run(d, b->same[i], 1, &j->target[i], &v);
			j->verdict[i] = (uint8_t)v;
			if (v == VERDICT_LOST && judge_slowly(d, b, i) == -1)
				return -1;
		}
		if (b->state[i] != PAGE_READ)
			continue;
		if (page_unshared(d, b->seg, b->kb + i)) {
			if (judge_unshared(d, b, i) == -1)
				return -1;
			continue;
		}
		p = index_first(&d->content, b->hash[i], &c);
		if (p == PLACE_NONE || p >= b->place) {
			if ((p == PLACE_NONE ? judge_raw(d, b, i) :
			    judge_slowly(d, b, i)) == -1)
				return -1;
			continue;
		}
		j->verdict[i] = VERDICT_SAME;
		j->target[i] = p;
	}
	return 0;
}

/*
 * Make the second pass over block b: compare pages with their targets in
 * earlier blocks, in a few reads. Judge the pages that differ one at a time.
 */
static int
judge_checked(struct dedup *d, const struct block *b)
{
	struct judgement *j = &d->j;
	struct candidates l;
	size_t i;

	for (i = l.n = 0; i < b->n; i++)
		if (b->state[i] == PAGE_READ &&
		    j->verdict[i] == VERDICT_SAME && j->target[i] < b->place)
			l.page[l.n++] = (uint16_t)i;
	if (candidates_check(d, &d->lastdesc, b, &l, j->target) == -1)
		return -1;
	for (i = 0; i < l.n; i++)
		if (j->target[l.page[i]] == PLACE_NONE &&
		    judge_slowly(d, b, l.page[i]) == -1)
			return -1;
	return 0;
}

/*
 * Return how many consecutive places, starting at place and at most n, have the
 * same verdict as the first. The places must have identities and be in earlier
 * blocks of d. Set *verdict to that verdict. Set *target to the place of the
 * page that equals the first one; for a page that was written raw, this is
 * place itself. Replaced places count as written raw.
 */
uint64_t
judge_run(struct dedup *d, uint64_t place, uint64_t n, uint64_t *target,
    enum verdict *verdict)
{
	const struct outcome *f;
	uint64_t skip;
	size_t i;

	*verdict = VERDICT_SAME;
	*target = place;
	if (place < d->recent)	/* the same page, in an earlier copy */
		return n < d->recent - place ? n : d->recent - place;
	/* runs are mostly queried in order */
	i = d->lastoutcome;
	if (i >= d->noutcome ||
	    d->outcome[i].place + d->outcome[i].n <= place ||
	    (i > 0 && d->outcome[i - 1].place + d->outcome[i - 1].n > place))
		i = BISECT_WHILE(k, d->noutcome,
		    d->outcome[k].place + d->outcome[k].n <= place);
	d->lastoutcome = i;
	if (i == d->noutcome)
		return n;
	f = &d->outcome[i];
	if (f->place > place)
		return f->place - place < n ? f->place - place : n;
	skip = place - f->place;
	*verdict = (enum verdict)f->verdict;
	/* another image may refer to this copy only */
	*target = f->target < d->recent ? place : f->target + skip;
	d->lastoutcome = f->n - skip <= n ? i + 1 : i;
	return f->n - skip < n ? f->n - skip : n;
}

/*
 * Make the third pass over block b: judge the pages whose identity was seen
 * before. Each gets the verdict of the earlier page.
 */
static void
judge_identical(struct dedup *d, const struct block *b)
{
	struct judgement *j = &d->j;
	enum verdict v;
	uint64_t p;
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (b->state[i] != PAGE_IDENTICAL)
			continue;
		p = b->same[i];
		if (p < b->place) {
			judge_run(d, p, 1, &j->target[i], &v);
			j->verdict[i] = (uint8_t)v;
			continue;
		}
		j->verdict[i] = j->verdict[p - b->place];
		j->target[i] = j->target[p - b->place];
		/* another address may not refer to an earlier copy */
		if (j->verdict[i] == VERDICT_RAW ||
		    (j->verdict[i] == VERDICT_SAME &&
		    j->target[i] < d->recent)) {
			j->verdict[i] = VERDICT_SAME;
			j->target[i] = p;
		}
	}
}

/*
 * Record the outcome of the n kilobytes from place on: the verdict and, for the
 * first of them, the place of the page that it equals. Their identities may
 * occur again. Return 0, or -1 with errstr set.
 */
int
outcome_add(struct dedup *d, uint64_t place, uint64_t n, enum verdict verdict,
    uint64_t target)
{
	struct outcome *f;
	uint64_t part;
	size_t cap;

	for (; n > 0; n -= part, place += part, target += part) {
		part = n < MAX_OUTCOME ? n : MAX_OUTCOME;
		f = d->noutcome > 0 ? &d->outcome[d->noutcome - 1] : NULL;
		if (f != NULL && f->place + f->n == place &&
		    f->verdict == verdict && f->n + part <= MAX_OUTCOME &&
		    (verdict != VERDICT_SAME || f->target + f->n == target)) {
			f->n = (f->n + part) & MAX_OUTCOME;
			continue;
		}
		if (d->noutcome == d->capoutcome) {
			cap = d->capoutcome + d->capoutcome / 8 + 64;
			f = reallocarray(d->outcome, cap, sizeof *f);
			if (f == NULL)
				return errstr_set("out of memory");
			d->outcome = f;
			d->capoutcome = cap;
		}
		f = &d->outcome[d->noutcome++];
		f->place = place & MAX_PLACE;
		f->n = part & MAX_OUTCOME;
		f->target = target;
		f->verdict = verdict & 3U;
	}
	return 0;
}

/*
 * Record the outcome of each page of b whose identity may occur again, except
 * of pages that were written raw.
 */
static int
outcomes_record(struct dedup *d, const struct block *b)
{
	const struct judgement *j = &d->j;
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->recorded[i] && j->verdict[i] != VERDICT_RAW &&
		    outcome_add(d, b->place + i, 1,
		    (enum verdict)j->verdict[i], j->target[i]) == -1)
			return -1;
	return 0;
}

/*
 * Judge all pages of block b, and store the verdicts in d->j. Return 0, or -1
 * with errstr set.
 */
int
judge_block(struct dedup *d, const struct block *b)
{
	if (judge_candidates(d, b) == -1 || judge_checked(d, b) == -1)
		return -1;
	judge_identical(d, b);
	return outcomes_record(d, b);
}
