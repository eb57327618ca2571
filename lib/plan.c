/*
 * Planning a block: which of its pages are to be read.  Zeros are not, nor
 * is what has an identity that was described before.
 */
#include "dedup.h"

#include <string.h>

/*
 * A bijection that spreads identities over all bits (the finalizer of
 * MurmurHash3).
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
 * Does n times IDENTITY_KB kilobytes at place still have these identities?
 * A frame may have moved since it was described.
 */
static bool
identity_holds(const struct dedup *d, uint64_t place, const uint64_t *id,
    size_t n)
{
	uint64_t now[BLOCK / IDENTITY_KB], loc, rest;
	struct source *src;

	src = place_source(d, place, &loc, &rest);
	return src != NULL && src->ops->identify != NULL &&
	    rest >= n * IDENTITY_KB &&
	    src->ops->identify(src, loc, n, now) == 0 &&
	    memcmp(now, id, n * sizeof *id) == 0;
}

/*
 * The place where each of n identities was described before, PLACE_NONE
 * where there is none.  Neighbours are checked in one go.
 */
static void
identity_find(const struct dedup *d, const uint64_t *id, size_t n,
    uint64_t *place)
{
	struct cursor c;
	uint64_t p;
	size_t i, k;

	for (i = 0; i < n; i++)
		place[i] = id[i] == 0 ? PLACE_NONE :
		    index_first(&d->identity, identity_hash(id[i]), &c);
	for (i = 0; i < n; i += k) {
		for (k = 1; i + k < n && place[i] != PLACE_NONE &&
		    place[i + k] == place[i] + k * IDENTITY_KB; k++)
			continue;
		if (place[i] == PLACE_NONE ||
		    identity_holds(d, place[i], &id[i], k))
			continue;
		k = 1;
		p = index_first(&d->identity, identity_hash(id[i]), &c);
		while (p != PLACE_NONE && !identity_holds(d, p, &id[i], 1))
			p = index_next(&c);
		place[i] = p;
	}
}

/*
 * May identities and fates take more memory?  All indexes together stay
 * below 1.5% of the unique bytes and a little.
 */
static bool
identity_affordable(const struct dedup *d)
{
	return index_bytes(&d->identity) + d->capfate * sizeof *d->fate <
	    d->unique * KB / 256 + (1 << 20);
}

static void
plan_read(struct block *b, size_t i, size_t n, struct source *src,
    uint64_t loc)
{
	struct want *w;
	size_t k;

	for (k = 0; k < n; k++) {
		b->state[i + k] = PAGE_READ;
		b->slot[i + k] = (uint16_t)b->nslot++;
	}
	w = b->nwant > 0 ? &b->want[b->nwant - 1] : NULL;
	if (w != NULL && w->src == src && w->kb + w->run.n == i &&
	    w->run.loc + w->run.n * src->pitch == loc) {
		w->run.n += n;
		return;
	}
	w = &b->want[b->nwant++];
	w->src = src;
	w->run.loc = loc;
	w->run.n = n;
	w->kb = i;
}

/*
 * Plan the groups of a block that have identities: n kilobytes from i,
 * which are at loc.
 */
static int
plan_groups(struct dedup *d, struct block *b, size_t i, size_t n,
    struct source *src, uint64_t loc)
{
	uint64_t id[BLOCK / IDENTITY_KB], place[BLOCK / IDENTITY_KB];
	size_t g, k, at;

	if (src->ops->identify(src, loc, n / IDENTITY_KB, id) == -1)
		return -1;
	identity_find(d, id, n / IDENTITY_KB, place);
	for (g = 0; g < n / IDENTITY_KB; g++) {
		at = i + g * IDENTITY_KB;
		if (place[g] == PLACE_NONE) {
			plan_read(b, at, IDENTITY_KB, src, loc +
			    g * IDENTITY_KB * KB);
			if (id[g] == 0 || !identity_affordable(d))
				continue;
			for (k = 0; k < IDENTITY_KB; k++)
				b->recorded[at + k] = true;
			if (index_add(&d->identity, identity_hash(id[g]),
			    b->place + at) == -1)
				return -1;
			continue;
		}
		for (k = 0; k < IDENTITY_KB; k++) {
			b->state[at + k] = PAGE_IDENTICAL;
			b->same[at + k] = place[g] + k;
		}
	}
	return 0;
}

/*
 * Plan n kilobytes of a block from i, which lie in one extent at loc.
 */
static int
plan_run(struct dedup *d, struct block *b, size_t i, size_t n,
    struct source *src, uint64_t loc)
{
	size_t lead, groups, whole;

	if (src == NULL) {
		memset(b->state + i, PAGE_ZERO, n);
		return 0;
	}
	lead = src->ops->identify == NULL || src->pitch != KB ||
	    loc % KB != 0 ? n : (size_t)(-loc / KB % IDENTITY_KB);
	whole = page_unshared(d, b->seg, b->kb + i + n - 1) ? n - 1 : n;
	if (lead >= whole) {
		plan_read(b, i, n, src, loc);
		return 0;
	}
	groups = (whole - lead) / IDENTITY_KB * IDENTITY_KB;
	if (lead > 0)
		plan_read(b, i, lead, src, loc);
	if (groups > 0 && plan_groups(d, b, i + lead, groups, src,
	    loc + lead * KB) == -1)
		return -1;
	if (lead + groups < n)
		plan_read(b, i + lead + groups, n - lead - groups, src,
		    loc + (lead + groups) * KB);
	return 0;
}

/*
 * Plan a block from kilobyte kb of the segment described last.  A long run of zeros is a
 * block of its own.
 */
int
plan_block(struct dedup *d, struct block *b, const struct segment *seg,
    uint64_t kb)
{
	const struct extent *e;
	uint64_t n;

	b->seg = seg;
	b->kb = kb;
	b->place = d->desc[d->ndesc - 1].place + kb;
	b->n = b->nwant = b->nslot = 0;
	b->zeros = 0;
	b->secret = d->secret;
	b->why[0] = '\0';
	memset(b->recorded, 0, sizeof b->recorded);
	for (e = segment_extent(seg, kb); b->n < BLOCK && kb < seg->kb; e++) {
		n = e->kb + e->n - kb;
		if (e->src == NULL && n >= BLOCK) {
			if (b->n == 0)
				b->zeros = n;
			break;
		}
		if (n > BLOCK - b->n)
			n = BLOCK - b->n;
		if (plan_run(d, b, b->n, (size_t)n, e->src, e->src == NULL ?
		    0 : e->loc + (kb - e->kb) * e->src->pitch) == -1)
			return -1;
		b->n += (size_t)n;
		kb += n;
	}
	return 0;
}
