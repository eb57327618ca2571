/*
 * Plan the search so that bytes shared by several processes are searched once.
 * A stretch is contiguous memory of one process. It is divided into parts. A
 * part is searched, or has the same bytes as a range of a part that is
 * searched, or is zeros that cannot match.
 *
 *	process 12	[ a b c d e f g ]	part 0: searched
 *	process 13	[ a b c X e f g ]	of 0 | part 2: X | of 0
 *
 * The bytes of a part have adjacent addresses, so a match across the border of
 * two pages is found in it. Bytes that are adjacent in one process are likely
 * to be so in another.
 *
 * A few equal bytes are searched again, as bytes of the part around them: a
 * part of their own would cost more, because walk.c searches at both its
 * borders.
 */
#include "snapgrep.h"
#include "bisect.h"

enum { SMALL = 4 * ACROSS };

/*
 * Find where the byte at offset off of s is stored. Set *loc to the location,
 * in the source of s, of the kilobyte that contains the byte, and *skip to the
 * offset of the byte in that kilobyte. Return false if s is zeros, which are
 * not stored.
 */
bool
stored_place(const struct stored *s, uint64_t off, uint64_t *loc, size_t *skip)
{
	uint64_t n;

	if (s->src == NULL)
		return false;
	n = s->skip + off;
	*loc = s->loc + n / KB * s->src->pitch;
	*skip = n % KB;
	return true;
}

/*
 * Return the element of p->stored that contains the byte at offset off of st.
 */
const struct stored *
plan_stored(const struct plan *p, const struct stretch *st, uint64_t off)
{
	const struct stored *s = &p->stored[st->stored];

	return &s[BISECT(s, st->nstored, at, off) - 1];
}

/*
 * Return true if the bytes of x that begin at offset xo and the bytes of y that
 * begin at offset yo are stored in the same place, or if both are zeros. In
 * either case, the bytes are equal up to the end of the shorter of x and y.
 */
static bool
stored_same(const struct stored *x, uint64_t xo, const struct stored *y,
    uint64_t yo)
{
	uint64_t xl, yl;
	size_t xs, ys;

	if (x->src != y->src)
		return false;
	return !stored_place(x, xo, &xl, &xs) ||
	    (stored_place(y, yo, &yl, &ys) && xl == yl && xs == ys);
}

/*
 * Compare the bytes of stretch st that begin at offset off with those of part
 * number part that begin at offset at. Return the number of equal bytes before
 * the first difference.
 */
static uint64_t
plan_common(const struct plan *p, const struct stretch *st, uint64_t off,
    size_t part, uint64_t at)
{
	const struct part *pt = &p->part[part];
	const struct stretch *other = &p->stretch[pt->stretch];
	const struct stored *x, *y;
	const uint64_t most = pt->len - at;
	uint64_t n, sum, xo, yo;

	for (sum = 0; off + sum < st->len && sum < most; sum += n) {
		x = plan_stored(p, st, off + sum);
		y = plan_stored(p, other, pt->from + at + sum);
		xo = off + sum - x->at;
		yo = pt->from + at + sum - y->at;
		if (!stored_same(x, xo, y, yo))
			break;
		n = x->len - xo < y->len - yo ? x->len - xo : y->len - yo;
	}
	return sum < most ? sum : most;
}

/*
 * Return true if the byte at offset at of part number part has the same
 * alignment as the byte at address addr. Also return true if the pattern is not
 * a pointer, because alignment then does not matter.
 */
static bool
plan_aligned(const struct plan *p, size_t part, uint64_t at, uint64_t addr)
{
	const struct part *pt = &p->part[part];

	return p->pattern->kind != PATTERN_POINTER ||
	    (p->stretch[pt->stretch].addr + pt->from + at - addr) %
	    p->pattern->pointer == 0;
}

/*
 * Find bytes, beginning at offset off of stretch st, that are in a part already
 * and need not be searched again. Set *part to the number of that part (or
 * PART_ZERO) and *at to their offset in it, and return how many there are.
 * Return 0 if there are none, or too few to be worth a separate part. open is
 * true if the bytes before them are in a part that is searched.
 */
static uint64_t
plan_again(struct plan *p, const struct stretch *st, uint64_t off, bool open,
    size_t *part, uint64_t *at)
{
	const struct stored *s = plan_stored(p, st, off);
	uint64_t n;

	if (s->src == NULL && !p->pattern->zeros) {
		*part = PART_ZERO;
		*at = 0;
		n = s->len - (off - s->at);
	} else if (known_find(&p->knowns, s, off - s->at, part, at) &&
	    plan_aligned(p, *part, *at, st->addr + off))
		n = plan_common(p, st, off, *part, *at);
	else
		return 0;
	return n >= SMALL || (n == st->len - off && !open) ? n : 0;
}

/*
 * Add bytes to the last part, which is searched: the byte at offset off of
 * stretch st and those stored after it, up to a kilobyte that is in a part
 * already. Return how many were added.
 */
static uint64_t
plan_take(struct plan *p, const struct stretch *st, uint64_t off)
{
	const struct stored *s = plan_stored(p, st, off);
	struct part *pt = &p->part[p->npart - 1];
	uint64_t n, at;
	size_t part;

	if (s->src == NULL)
		n = s->len - (off - s->at);
	else if (known_find(&p->knowns, s, off - s->at, &part, &at))
		n = KB;
	else {
		n = known_until(&p->knowns, s, off - s->at);
		known_add(&p->knowns, s, off - s->at, n, p->npart - 1, pt->len);
	}
	pt->len += n;
	return n;
}

/*
 * Divide stretch number k into parts.
 */
static void
plan_stretch(struct plan *p, size_t k)
{
	struct stretch *st = &p->stretch[k];
	struct part *last, pt = { .stretch = k };
	bool open = false;

	st->first = p->npart;
	for (; pt.from < st->len; pt.from += pt.len) {
		last = st->n == 0 ? NULL : &p->part[p->npart - 1];
		pt.len = plan_again(p, st, pt.from, open, &pt.same, &pt.at);
		if (pt.len == 0 && open) {
			pt.len = plan_take(p, st, pt.from);
			continue;
		}
		open = pt.len == 0;
		if (!open && last != NULL && last->same == pt.same &&
		    last->at + last->len == pt.at) {
			last->len += pt.len;
			continue;
		}
		if (open) {
			pt.same = p->npart;
			pt.at = 0;
		}
		MUST_ROOM(p->part, p->npart);
		p->part[p->npart++] = pt;
		st->n++;
		if (open)
			pt.len = plan_take(p, st, pt.from);
	}
}

/*
 * Append to stretch st, the last one of p, the bytes at addresses first to
 * last, both inclusive, of piece pc. Return 0, or -1 with errstr set.
 */
static int
plan_gather(struct plan *p, struct stretch *st, const struct piece *pc,
    uint64_t first, uint64_t last)
{
	const struct segment *seg = pc->seg;
	const struct extent *e;
	struct stored s;
	uint64_t off, end, to;

	end = last - seg->base + 1;
	for (off = first - seg->base; off < end; off = to) {
		if ((e = segment_extent(seg, off / KB)) == NULL)
			return -1;
		to = (e->kb + e->n) * KB;
		if (to > end || to / KB != e->kb + e->n)
			to = end;
		s = (struct stored){ .src = e->src, .len = to - off,
		    .at = st->len };
		if (e->src != NULL) {
			s.loc = e->loc + (off / KB - e->kb) * e->src->pitch;
			s.skip = off % KB;
		}
		MUST_ROOM(p->stored, p->nstored);
		p->stored[p->nstored++] = s;
		st->nstored++;
		st->len += s.len;
	}
	return 0;
}

/*
 * Add the captured memory of mapping v, within the addresses of c, to p as
 * stretches. Return 0, or -1 with errstr set.
 */
static int
plan_vma(struct plan *p, const struct vma *v, const struct chosen *c)
{
	struct image *mem = p->owner[p->nowner - 1].proc->mem;
	struct stretch *st = NULL;
	struct piece *pc;
	uint64_t first, last, a, b;
	size_t i = p->nstretch;

	first = v->start > c->first ? v->start : c->first;
	last = v->end - 1 < c->last ? v->end - 1 : c->last;
	for (pc = image_next(mem, first); pc != NULL && pc->first <= last;
	    pc = piece_next(pc)) {
		a = pc->first > first ? pc->first : first;
		b = pc->last < last ? pc->last : last;
		if (st == NULL || a != st->addr + st->len) {
			MUST_ROOM(p->stretch, p->nstretch);
			st = &p->stretch[p->nstretch++];
			*st = (struct stretch){ .owner = p->nowner - 1,
			    .vma = v, .addr = a, .stored = p->nstored };
		}
		if (plan_gather(p, st, pc, a, b) == -1)
			return -1;
	}
	for (; i < p->nstretch; i++)
		plan_stretch(p, i);
	return 0;
}

/*
 * Add to p the memory of process proc that c selects. If the mappings of proc
 * cannot be read, print why and skip the process. Return 0, or -1 with errstr
 * set.
 */
static int
plan_proc(struct plan *p, struct proc *proc, const struct chosen *c)
{
	struct owner *o;
	size_t i, word;
	bool big;

	pointer_of(p->snap, proc, &word, &big);
	if (p->pattern->kind == PATTERN_POINTER && (word !=
	    p->pattern->pointer || big != p->pattern->big))
		return 0;
	MUST_ROOM(p->owner, p->nowner);
	o = &p->owner[p->nowner++];
	*o = (struct owner){ .proc = proc };
	if (proc_vmas(proc, &o->vmas) == -1) {
		(void)errstr_wrap("process %" PRIu64, proc->pid);
		program_lose(NULL, snap_errstr());
		vmas_free(&o->vmas);
		p->nowner--;
		return 0;
	}
	for (i = 0; i < o->vmas.n; i++)
		if (chosen_vma(c, &o->vmas.v[i]) &&
		    plan_vma(p, &o->vmas.v[i], c) == -1)
			return errstr_wrap("process %" PRIu64, proc->pid);
	return 0;
}

/*
 * Make p a plan to search for pattern in those parts of snapshot s that c
 * selects. Return 0, or -1 with errstr set. The caller must call plan_free()
 * even on failure.
 */
int
plan_make(struct plan *p, struct snap *s, struct chosen *c,
    const struct pattern *pattern)
{
	struct part *pt;
	size_t i;

	memset(p, 0, sizeof *p);
	RB_INIT(&p->knowns);
	p->snap = s;
	p->pattern = pattern;
	for (i = 0; i < s->nproc; i++)
		if (sources_wants(&c->sources, s, s->proc[i]) &&
		    s->proc[i]->mem != NULL &&
		    plan_proc(p, s->proc[i], c) == -1)
			return -1;
	known_free(&p->knowns);
	for (i = 0; i < p->npart; i++) {
		pt = &p->part[i];
		pt->job = p->njob;
		if (pt->same == i && __builtin_add_overflow(p->njob,
		    pt->len / JOB + (pt->len % JOB != 0), &p->njob))
			return errstr_set("more than 2^64 bytes to search");
	}
	return 0;
}

/*
 * Free the members that p owns.
 */
void
plan_free(struct plan *p)
{
	size_t i;

	known_free(&p->knowns);
	for (i = 0; i < p->nowner; i++)
		vmas_free(&p->owner[i].vmas);
	free(p->owner);
	free(p->stretch);
	free(p->part);
	free(p->stored);
}
