/*
 * Plan a block: which of its pages must be read. Zero pages and pages whose
 * identity was described before need not be.
 *
 * Identities are queried for a window of 64 MiB at a time: processes forked
 * from one another share long runs, which are found and reported as runs.
 */
#include "bisect.h"
#include "engine.h"

/*
 * Return id with its bits mixed by the finalizer of MurmurHash3. Different
 * identities have different results.
 */
static uint64_t
identity_hash(uint64_t id)
{
	id ^= id >> 33;
	id *= 0xff51afd7ed558ccd;
	id ^= id >> 33;
	id *= 0xc4ceb9fe1a85ec53;
	return id ^ id >> 33;
}

/*
 * Record that the outcome of n groups, from place on, is known. Return 0, or -1
 * with errstr set.
 */
static int
kept_add(struct dedup *d, uint64_t place, size_t n)
{
	struct kept *k;
	size_t cap;

	k = d->nkept > 0 ? &d->kept[d->nkept - 1] : NULL;
	if (k != NULL && k->place + k->n == place) {
		k->n += n * IDENTITY_KB;
		return 0;
	}
	if (d->nkept == d->capkept) {
		cap = d->capkept + d->capkept / 8 + 64;
		if ((k = reallocarray(d->kept, cap, sizeof *k)) == NULL)
			return errstr_set("out of memory");
		d->kept = k;
		d->capkept = cap;
	}
	d->kept[d->nkept++] = (struct kept){ place, n * IDENTITY_KB };
	return 0;
}

/*
 * Check that the n groups of pages from place on still have the identities in
 * id: page frames may have moved since they were described. Return the number
 * of groups before the first with a different identity.
 */
static size_t
identity_holds(struct dedup *d, uint64_t place, const uint64_t *id, size_t n)
{
	uint64_t loc, rest, known;
	struct source *src;
	size_t i;

	src = place_source(d, place, &d->lastdesc, &loc, &rest);
	if (src == NULL || src->ops->identify == NULL)
		return 0;
	/* a place without a known outcome may not have been written */
	known = again_known(d, place);
	if (rest > known)
		rest = known;
	if (n > rest / IDENTITY_KB)
		n = (size_t)(rest / IDENTITY_KB);
	if (n == 0 || src->ops->identify(src, loc, n, d->now) == -1)
		return 0;
	for (i = 0; i < n && id[i] != 0 && id[i] == d->now[i]; i++)
		continue;
	return i;
}

/*
 * Look for a place of the group with identity id[0]. Set *p to it, and return
 * for how many of the n groups in id the following places have the same
 * identities. Return 0 if there is none.
 */
static size_t
identity_seek(struct dedup *d, const uint64_t *id, size_t n, uint64_t *p)
{
	struct cursor c;
	size_t held;

	*p = index_first(&d->identity, identity_hash(id[0]), &c);
	for (; *p != PLACE_NONE; *p = index_next(&c))
		if ((held = identity_holds(d, *p, id, n)) > 0)
			return held;
	return 0;
}

/*
 * For each of n groups of pages, find the place where the group was described
 * before. id[i] is the identity of group i; set place[i] to its place, if that
 * is PLACE_NONE and a place is found. Groups that followed each other before
 * are likely to do so again, so after a match compare longer runs.
 */
static void
identity_find(struct dedup *d, const uint64_t *id, size_t n, uint64_t *place)
{
	enum { AHEAD = 64 };	/* factor by which the number of compared groups
				   grows after a match */
	uint64_t p;
	size_t i, k, held, most;

	for (i = 0, most = 1; i < n; i += held) {
		held = 1;
		if (id[i] == 0 || place[i] != PLACE_NONE)
			continue;
		if (most > n - i)
			most = n - i;
		held = identity_seek(d, &id[i], most, &p);
		for (k = 0; k < held; k++)
			place[i + k] = p + k * IDENTITY_KB;
		/* after a long run, expect another */
		most = held < most || held == 0 ? 1 : most * AHEAD;
		if (held == 0)
			held = 1;
	}
}

/*
 * Return true if identities and outcomes may take more memory. The limit for
 * everything together is 1.5% of the unique bytes, plus 8 MiB. Of this, the
 * index of contents takes up to 1.1% of the unique bytes.
 */
static bool
identity_affordable(const struct dedup *d)
{
	return index_bytes(&d->identity) +
	    d->capoutcome * sizeof *d->outcome +
	    d->capkept * sizeof *d->kept <
	    d->unique * KB / 250 + (8 << 20);
}

/*
 * Make the window contain kilobyte kb of segment seg. A group of pages must
 * begin there. e is the extent that contains this kilobyte; the source of e
 * must be one that can identify pages. The window ends at or before the end of
 * e.
 */
static void
window_open(struct dedup *d, const struct segment *seg,
    const struct extent *e, uint64_t kb)
{
	struct window *w = &d->window;
	uint64_t n;

	if (w->seg == seg && w->ext == e && kb >= w->kb &&
	    kb < w->kb + w->n * IDENTITY_KB)
		return;
	n = e->kb + e->n - kb;
	if (n > 0 && page_unshared(d, seg, kb + n - 1))
		n--;
	n /= IDENTITY_KB;
	w->seg = seg;
	w->ext = e;
	w->kb = kb;
	w->n = n < WINDOW ? (size_t)n : WINDOW;
	if (e->src->ops->identify(e->src, e->loc + (kb - e->kb) * KB, w->n,
	    w->id) == -1)
		w->n = 0;
	copy_find(d);
	identity_find(d, w->id, w->n, d->before);
}

/*
 * Return how many groups of pages in the window, from g on, were described
 * earlier as one run. Return 0 if group g was not described.
 */
static size_t
window_run(const struct dedup *d, size_t g)
{
	const uint64_t *place = d->before;
	size_t n;

	if (place[g] == PLACE_NONE)
		return 0;
	for (n = 1; g + n < d->window.n && place[g + n] == place[g] +
	    n * IDENTITY_KB; n++)
		continue;
	return n;
}

static void
plan_read(struct block *b, size_t n, struct source *src, uint64_t loc)
{
	struct want *w;
	size_t i;

	for (i = b->n; i < b->n + n; i++) {
		b->state[i] = PAGE_READ;
		b->same[i] = PLACE_NONE;
		b->slot[i] = (uint16_t)b->nslot++;
	}
	w = b->nwant > 0 ? &b->want[b->nwant - 1] : NULL;
	if (w != NULL && w->src == src && w->kb + w->run.n == b->n &&
	    w->run.loc + w->run.n * src->pitch == loc)
		w->run.n += n;
	else
		b->want[b->nwant++] = (struct want){ .src = src,
		    .run = { .loc = loc, .n = n }, .kb = b->n };
	b->n += n;
}

/*
 * Record n groups of the window, from group g on, so that later groups can be
 * found equal to them. place is the place of the first of them in segment seg.
 * Do nothing if that is not useful, or would take too much memory. Set *added
 * to true if they were recorded. The index gets groups that are new. The next
 * copy finds groups that are the same as in an earlier copy without the index;
 * it gets them only if d->all is true. Return 0, or -1 with errstr set.
 */
static int
groups_add(struct dedup *d, const struct segment *seg, size_t g, size_t n,
    uint64_t place, bool *added)
{
	const struct window *w = &d->window;
	const bool fresh = d->before[g] == PLACE_NONE;
	size_t i;

	*added = w->id[g] != 0 && (fresh || (d->before[g] < d->start &&
	    (d->all || d->recent == 0))) &&
	    segment_referable(seg) && identity_affordable(d);
	if (!*added)
		return 0;
	for (i = 0; i < n && (fresh || d->all); i++)
		if (index_add(&d->identity, identity_hash(w->id[g + i]),
		    place + i * IDENTITY_KB) == -1)
			return -1;
	return kept_add(d, place, n);
}

/*
 * Append group g of the window to block b. If the group was described before,
 * it need not be read. Otherwise plan to read it from loc in src.
 */
static int
plan_group(struct dedup *d, struct block *b, size_t g, struct source *src,
    uint64_t loc)
{
	bool added;
	size_t i;

	if (groups_add(d, b->seg, g, 1, b->place + b->n, &added) == -1)
		return -1;
	memset(b->recorded + b->n, added, IDENTITY_KB);
	if (d->before[g] == PLACE_NONE) {
		plan_read(b, IDENTITY_KB, src, loc);
		for (i = 1; i <= IDENTITY_KB && d->copied[g] != PLACE_NONE; i++)
			b->same[b->n - i] = d->copied[g] + IDENTITY_KB - i;
		return 0;
	}
	for (i = 0; i < IDENTITY_KB; i++) {
		b->state[b->n] = PAGE_IDENTICAL;
		b->same[b->n++] = d->before[g] + i;
	}
	return 0;
}

/*
 * Append the groups of pages of the window to block b, starting with group g,
 * and plan how to read them. The groups are consecutive in src, where group g
 * is at loc. Stop when b is full. Stop also before a long run of groups that
 * were described earlier at consecutive places: such a run becomes a block of
 * its own.
 */
static int
plan_window(struct dedup *d, struct block *b, size_t g, struct source *src,
    uint64_t loc)
{
	size_t run;

	while (g < d->window.n && b->n + IDENTITY_KB <= BLOCK) {
		run = window_run(d, g);
		if (run * IDENTITY_KB >= BLOCK) {
			if (b->n > 0)
				break;
			b->all = run * IDENTITY_KB;
			if (b->all > b->place - d->before[g])
				b->all = b->place - d->before[g];
			b->state[0] = PAGE_IDENTICAL;
			b->same[0] = d->before[g];
			return groups_add(d, b->seg, g, (size_t)b->all /
			    IDENTITY_KB, b->place, &b->recorded[0]);
		}
		do {
			if (plan_group(d, b, g++, src, loc) == -1)
				return -1;
			loc += IDENTITY_KB * KB;
		} while (run-- > 1 && b->n + IDENTITY_KB <= BLOCK);
	}
	return 0;
}

/*
 * Append kilobytes of extent e to block b, starting with kilobyte kb of the
 * segment. Plan how to read them. Append as many as fit. If b is not empty and
 * they need a block of their own, append none.
 */
static int
plan_extent(struct dedup *d, struct block *b, const struct extent *e,
    uint64_t kb)
{
	uint64_t left, loc;
	size_t most, lead;

	left = e->kb + e->n - kb;
	if (e->src == NULL && left >= BLOCK) {
		if (b->n == 0) {
			b->all = left;
			b->state[0] = PAGE_ZERO;
		}
		return 0;
	}
	most = left < BLOCK - b->n ? (size_t)left : BLOCK - b->n;
	if (e->src == NULL) {
		memset(b->state + b->n, PAGE_ZERO, most);
		b->n += most;
		return 0;
	}
	if ((left = again_find(d, b->seg, e, kb, &loc)) > 0) {
		plan_again(b, loc, left);
		return 0;
	}
	loc = e->loc + (kb - e->kb) * e->src->pitch;
	if (e->src->ops->identify != NULL && e->src->pitch == KB &&
	    loc % KB == 0) {
		lead = (size_t)(-loc / KB % IDENTITY_KB);
		if (lead == 0) {
			window_open(d, b->seg, e, kb);
			if (d->window.n > 0)
				return plan_window(d, b, (size_t)(kb -
				    d->window.kb) / IDENTITY_KB, e->src,
				    loc);
		} else if (lead < most)
			most = lead;
	}
	plan_read(b, most, e->src, loc);
	return 0;
}

/*
 * Plan which pages of block b must be read. The block starts at kilobyte kb of
 * described segment desc. A long run of zeros, or of pages described before,
 * becomes a block of its own. Such a block can have any length. Return 0, or -1
 * with errstr set.
 */
int
plan_block(struct dedup *d, struct block *b, const struct described *desc,
    uint64_t kb)
{
	const struct segment *seg = desc->seg;
	const struct extent *e;
	size_t n;

	if (block_room(b) == -1)
		return -1;
	b->seg = seg;
	b->kb = kb;
	b->place = desc->place + kb;
	b->n = b->nwant = b->nslot = 0;
	b->all = 0;
	b->rc = 0;
	b->why[0] = '\0';
	memset(b->recorded, 0, sizeof b->recorded);
	for (e = segment_extent(seg, kb); b->n < BLOCK && kb < seg->kb;) {
		if (kb == e->kb + e->n)
			e = segment_extent(seg, kb);
		n = b->n;
		if (plan_extent(d, b, e, kb) == -1)
			return -1;
		if (b->all > 0 || b->n == n)
			break;
		kb += b->n - n;
	}
	return 0;
}
