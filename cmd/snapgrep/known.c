/*
 * Record which kilobytes of the sources are in which part, as runs that do not
 * overlap. The kilobytes of a source are pitch bytes apart; runs with a
 * different offset modulo pitch (phase) are separate.
 */
#include "snapgrep.h"
#include "bisect.h"
#include "rbtree.h"

CMP_BY(known_cmp, struct known,
    x->src != y->src ? (x->src->id < y->src->id ? -1 : 1) :
    x->phase != y->phase ? ORDER(x->phase, y->phase) : ORDER(x->kb, y->kb))

TREE_GENERATE(knowns, known, entry, known_cmp)

/*
 * Set *k to the key by which the kilobyte at offset off of s is looked up.
 * Return false if no kilobyte begins there or if s is zeros.
 */
static bool
known_key(const struct stored *s, uint64_t off, struct known *k)
{
	if (s->src == NULL || (s->skip + off) % KB != 0)
		return false;
	k->src = s->src;
	k->phase = s->loc % s->src->pitch;
	k->kb = s->loc / s->src->pitch + (s->skip + off) / KB;
	return true;
}

/*
 * Return the run of t with the greatest key not greater than k, or NULL.
 */
static struct known *
known_below(struct knowns *t, struct known *k)
{
	struct known *n;

	if ((n = RB_NFIND(knowns, t, k)) == NULL)
		return RB_MAX(knowns, t);
	return known_cmp(n, k) == 0 ? n : RB_PREV(knowns, t, n);
}

static bool
known_holds(const struct known *n, const struct known *k)
{
	return n != NULL && n->src == k->src && n->phase == k->phase &&
	    k->kb >= n->kb && k->kb - n->kb < n->n;
}

/*
 * Return the number of bytes from offset off of s to the first kilobyte that
 * begins there or later.
 */
static uint64_t
known_lead(const struct stored *s, uint64_t off)
{
	return (KB - (s->skip + off) % KB) % KB;
}

/*
 * Record in t the whole kilobytes among the len bytes at offset off of s. These
 * bytes are in the given part, at offset at. The kilobytes must not be in t
 * yet.
 */
void
known_add(struct knowns *t, const struct stored *s, uint64_t off, uint64_t len,
    size_t part, uint64_t at)
{
	const uint64_t lead = known_lead(s, off);
	struct known key, *n;

	if (lead >= len || len - lead < KB || !known_key(s, off + lead, &key))
		return;
	key.n = (len - lead) / KB;
	key.part = part;
	key.at = at + lead;
	n = known_below(t, &key);
	if (n != NULL && n->src == key.src && n->phase == key.phase &&
	    n->part == part && n->kb + n->n == key.kb &&
	    n->at + n->n * KB == key.at) {
		n->n += key.n;
		return;
	}
	n = must(malloc(sizeof *n));
	*n = key;
	RB_INSERT(knowns, t, n);
}

/*
 * Look up the kilobyte at offset off of s in t, which has the kilobytes that
 * are already in a part. Set *part to that part and *at to the offset in it.
 * Return false if the kilobyte is not in t.
 */
bool
known_find(struct knowns *t, const struct stored *s, uint64_t off,
    size_t *part, uint64_t *at)
{
	struct known key, *n;

	if (!known_key(s, off, &key) || s->len - off < KB)
		return false;
	n = known_below(t, &key);
	if (!known_holds(n, &key))
		return false;
	*part = n->part;
	*at = n->at + (key.kb - n->kb) * KB;
	return true;
}

/*
 * Return how many bytes of s, beginning at offset off, are not in t. They
 * extend to the next kilobyte in t or to the end of s. The byte at off must not
 * be in t.
 */
uint64_t
known_until(struct knowns *t, const struct stored *s, uint64_t off)
{
	const uint64_t lead = known_lead(s, off);
	struct known key, *n;

	if (lead >= s->len - off || !known_key(s, off + lead, &key))
		return s->len - off;
	if (lead > 0 && known_holds(known_below(t, &key), &key))
		return lead;
	key.kb++;
	n = RB_NFIND(knowns, t, &key);
	if (n == NULL || n->src != key.src || n->phase != key.phase ||
	    (n->kb - key.kb + 1) > (s->len - off - lead) / KB)
		return s->len - off;
	return lead + (n->kb - key.kb + 1) * KB;
}

/*
 * Free the runs of t.
 */
void
known_free(struct knowns *t)
{
	struct known *n, *next;

	RB_FOREACH_SAFE(n, knowns, t, next) {
		RB_REMOVE(knowns, t, n);
		free(n);
	}
}
