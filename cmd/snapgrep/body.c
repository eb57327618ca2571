/*
 * Plan the search so that bytes shared by several processes are searched once.
 * A stretch is contiguous memory of one process; its parts refer to bodies, the
 * bytes that are searched.
 *
 *	process 12	[ a b c d e f g ]	body 0: a b c d e f g
 *	process 13	[ a b c X e f g ]	of body 0 | body 1: X | of 0
 *
 * A body has its bytes in the order of their addresses in the first process
 * that has them, so a match across the border of two pages is found in it.
 * Bytes that are adjacent in one process are likely to be so in another.
 *
 * A small part would cost more than searching its bytes again, because walk.c
 * searches both its borders; so it is copied into the body around it.
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
 * Return the element of p->stored that contains the byte at offset at in body
 * number body.
 */
const struct stored *
plan_stored(const struct plan *p, size_t body, uint64_t at)
{
	const struct body *b = &p->body[body];
	const struct stored *s = &p->stored[b->first];

	return &s[BISECT(s, b->n, at, at) - 1];
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
 * Compare the bytes that begin at offset off of p->fresh[i] with those of body
 * number body that begin at offset at. Return the number of equal bytes before
 * the first difference.
 */
static uint64_t
plan_common(const struct plan *p, size_t i, uint64_t off, size_t body,
    uint64_t at)
{
	const struct stored *x, *y;
	uint64_t n, sum, left;

	for (sum = 0; i < p->nfresh && at < p->body[body].len; sum += n) {
		x = &p->fresh[i];
		y = plan_stored(p, body, at);
		if (!stored_same(x, off, y, at - y->at))
			break;
		n = x->len - off;
		left = y->len - (at - y->at);
		n = n < left ? n : left;
		at += n;
		off += n;
		if (off == x->len) {
			i++;
			off = 0;
		}
	}
	return sum;
}

static void
plan_part(struct plan *p, struct stretch *st, size_t body, uint64_t at,
    uint64_t len)
{
	struct part *pt;
	uint64_t from;

	pt = st->n == 0 ? NULL : &p->part[p->npart - 1];
	from = pt == NULL ? 0 : pt->from + pt->len;
	if (pt != NULL && pt->body == body && pt->at + pt->len == at) {
		pt->len += len;
		return;
	}
	MUST_ROOM(p->part, p->npart);
	p->part[p->npart++] = (struct part){ body, at, from, len };
	st->n++;
}

/*
 * Append the len bytes at offset off of s to the last body and to stretch st. A
 * body has bytes that are searched once, and a stretch has contiguous bytes of
 * one mapping. known is true if the bytes are already in p->knowns.
 */
static void
plan_append(struct plan *p, struct stretch *st, const struct stored *s,
    uint64_t off, uint64_t len, bool known)
{
	struct body *b = &p->body[p->nbody - 1];
	struct stored *last, t = { .len = len, .at = b->len };

	if (stored_place(s, off, &t.loc, &t.skip))
		t.src = s->src;
	last = b->n == 0 ? NULL : &p->stored[b->first + b->n - 1];
	if (last != NULL && stored_same(last, last->len, &t, 0))
		last->len += len;
	else {
		MUST_ROOM(p->stored, p->nstored);
		p->stored[p->nstored++] = t;
		b->n++;
	}
	b->len += len;
	if (!known)
		known_add(&p->knowns, &t, p->nbody - 1);
	plan_part(p, st, p->nbody - 1, t.at, len);
}

/*
 * Return true if the byte at offset at in body number body has the same
 * alignment as the byte at address addr. Also return true if the pattern is not
 * a pointer, because alignment then does not matter.
 */
static bool
plan_aligned(const struct plan *p, size_t body, uint64_t at, uint64_t addr)
{
	return p->pattern->kind != PATTERN_POINTER ||
	    (p->body[body].addr + at - addr) % p->pattern->pointer == 0;
}

/*
 * Find bytes, beginning at offset off of p->fresh[i], that are already in a
 * body and need not be searched again. Set *body to the number of the body and
 * *at to their offset in it, and return how many there are. Return 0 if there
 * are none, or too few to be worth a separate part. left is how many bytes of
 * stretch st remain. open is true while bytes are being appended to a body.
 */
static uint64_t
plan_again(struct plan *p, const struct stretch *st, size_t i, uint64_t off,
    uint64_t left, bool open, size_t *body, uint64_t *at)
{
	const struct stored *s = &p->fresh[i];
	uint64_t n;

	if (s->src == NULL && !p->pattern->zeros) {
		*body = BODY_ZERO;
		*at = 0;
		n = s->len - off;
	} else if (known_find(&p->knowns, s, off, body, at) &&
	    plan_aligned(p, *body, *at, st->addr + (st->len - left)))
		n = plan_common(p, i, off, *body, *at);
	else
		return 0;
	return n >= SMALL || (n == left && !open) ? n : 0;
}

/*
 * Divide stretch st, whose bytes are in p->fresh, into parts.
 */
static void
plan_stretch(struct plan *p, struct stretch *st)
{
	const struct stored *s;
	uint64_t off, left, n, at;
	size_t i, body;
	bool open, seen;

	open = false;
	for (i = 0, off = 0, left = st->len; left > 0;) {
		s = &p->fresh[i];
		n = plan_again(p, st, i, off, left, open, &body, &at);
		if (n > 0) {
			open = false;
			plan_part(p, st, body, at, n);
		} else {
			if (!open) {
				MUST_ROOM(p->body, p->nbody);
				p->body[p->nbody++] = (struct body){
				    .first = p->nstored,
				    .addr = st->addr + (st->len - left) };
			}
			open = true;
			seen = s->src == NULL || known_find(&p->knowns, s,
			    off, &body, &at);
			n = s->src == NULL ? s->len - off : seen ? KB :
			    known_until(&p->knowns, s, off);
			plan_append(p, st, s, off, n, seen);
		}
		for (left -= n; n > 0 && n >= p->fresh[i].len - off; off = 0)
			n -= p->fresh[i++].len - off;
		off += n;
	}
}

/*
 * Append to p->fresh the places where the bytes at addresses first to last,
 * both inclusive, of piece pc are stored. Return 0, or -1 with errstr set.
 */
static int
plan_gather(struct plan *p, const struct piece *pc, uint64_t first,
    uint64_t last)
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
		memset(&s, 0, sizeof s);
		s.src = e->src;
		s.len = to - off;
		if (e->src != NULL) {
			s.loc = e->loc + (off / KB - e->kb) * e->src->pitch;
			s.skip = off % KB;
		}
		MUST_ROOM(p->fresh, p->nfresh);
		p->fresh[p->nfresh++] = s;
	}
	return 0;
}

/*
 * Add the bytes in p->fresh to p as a stretch. They belong to mapping v and end
 * before address end.
 */
static void
plan_add(struct plan *p, const struct vma *v, uint64_t end)
{
	struct stretch st = { .owner = p->nowner - 1, .vma = v,
	    .first = p->npart };
	size_t i;

	if (p->nfresh == 0)
		return;
	for (i = 0; i < p->nfresh; i++)
		st.len += p->fresh[i].len;
	st.addr = end - st.len;
	plan_stretch(p, &st);
	p->nfresh = 0;
	MUST_ROOM(p->stretch, p->nstretch);
	p->stretch[p->nstretch++] = st;
}

/*
 * Add the captured memory of mapping v, within the addresses of c, to p as
 * stretches. Return 0, or -1 with errstr set.
 */
static int
plan_vma(struct plan *p, const struct vma *v, const struct chosen *c)
{
	struct image *mem = p->owner[p->nowner - 1].proc->mem;
	struct piece *pc;
	uint64_t first, last, a, b, end;

	first = v->start > c->first ? v->start : c->first;
	last = v->end - 1 < c->last ? v->end - 1 : c->last;
	end = first;
	for (pc = image_next(mem, first); pc != NULL && pc->first <= last;
	    pc = piece_next(pc)) {
		a = pc->first > first ? pc->first : first;
		b = pc->last < last ? pc->last : last;
		if (a != end)
			plan_add(p, v, end);
		if (plan_gather(p, pc, a, b) == -1)
			return -1;
		end = b + 1;
	}
	plan_add(p, v, end);
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
 * Return the number of jobs that body b is divided into.
 */
size_t
jobs_of(const struct body *b)
{
	return (size_t)(b->len / JOB + (b->len % JOB != 0));
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
	for (i = 0; i < p->nbody; i++) {
		p->body[i].job = p->njob;
		if (__builtin_add_overflow(p->njob, jobs_of(&p->body[i]),
		    &p->njob))
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
	free(p->body);
	free(p->stored);
	free(p->fresh);
}
