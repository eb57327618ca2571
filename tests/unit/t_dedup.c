/*
 * Kilobytes with the same content are written once: dedup/, compared with a
 * search of a list of all pages from its beginning.
 */
#include "dedup/dedup.h"
#include "model.h"
#include "util.h"

#ifdef WEAK_HASH
/*
 * The code of fetch.o, with a hash under which most pages collide.
 */
#include "xxh.h"
#undef XXH3_64bits_withSecret
#define XXH3_64bits_withSecret(p, len, secret, n)			\
	((void)(secret), (uint64_t)((p)[100] & 3) << 50)
#include "../../lib/dedup/fetch.c"
#else
#include "dedup/engine.h"
#endif

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOSTPAGES = 20000, MOSTSEGS = 200 };

struct page {			/* the pages, in order of description */
	const struct segment *seg;
	uint64_t	 kb;
	size_t		 len;
	const uint8_t	*want;	/* expected content */
	bool		 lost;
	bool		 alone;	/* never a reference */
	enum verdict	 verdict; /* the result */
	const struct image *image;
	uint64_t	 addr;
};

struct world {
	struct snap	*snap;
	struct page	*page;
	size_t		 npage;
	size_t		 nfound;
	uint8_t		*bytes[MOSTSEGS];
	size_t		 nbytes;
	struct dedup	*dedup;
	size_t		 stop;	/* number of the finding that fails; 0: none */
	size_t		 nfinding;
	char		 why[256];
};

static int
world_found(void *arg, const struct finding *f)
{
	struct world *w = arg;
	struct page *p;
	uint64_t i;

	if (++w->nfinding == w->stop)
		return errstr_set("stop");
	assert_true(f->n > 0);
	for (i = 0; i < f->n; i++) {
		assert_true(w->nfound + i < w->npage);
		p = &w->page[w->nfound + i];
		assert_ptr_equal(p->seg, f->seg);
		assert_int_equal(p->kb, f->kb + i);
		if (f->verdict == VERDICT_RAW)
			assert_memory_equal(f->data + i * KB, p->want, p->len);
		p->verdict = f->verdict;
		p->image = f->image;
		p->addr = f->addr + i * KB;
	}
	if (f->verdict == VERDICT_LOST)
		snprintf(w->why, sizeof w->why, "%s", f->why);
	w->nfound += f->n;
	return 0;
}

static struct world *
world_new(void)
{
	struct world *w;

	w = calloc(1, sizeof *w);
	assert_non_null(w);
	w->page = calloc(MOSTPAGES, sizeof *w->page);
	w->snap = snap_new();
	w->dedup = dedup_new(world_found, w);
	assert_true(w->page != NULL && w->snap != NULL && w->dedup != NULL);
	return w;
}

static void
world_free(struct world *w)
{
	size_t i;

	dedup_free(w->dedup);
	snap_free(w->snap);
	for (i = 0; i < w->nbytes; i++)
		free(w->bytes[i]);
	free(w->page);
	free(w);
}

/*
 * Append the pages of segment s to the list, with their content and whether
 * they are lost. last says that s ends a section.
 */
static void
world_expect(struct world *w, const struct segment *s, bool last)
{
	const struct memsource *m;
	const struct extent *e;
	uint64_t kb, loc;
	uint8_t *bytes;
	struct page *p;

	bytes = calloc(segment_kb(s), KB);
	assert_true(bytes != NULL && w->nbytes < MOSTSEGS);
	w->bytes[w->nbytes++] = bytes;
	for (kb = 0; kb < segment_kb(s); kb++, bytes += KB) {
		assert_true(w->npage < MOSTPAGES);
		p = &w->page[w->npage++];
		p->seg = s;
		p->kb = kb;
		p->len = segment_kblen(s, kb);
		p->want = bytes;
		p->alone = kb + 1 == segment_kb(s) && (last || p->len < KB);
		e = segment_extent(s, kb);
		if ((m = (const struct memsource *)e->src) == NULL)
			continue;
		loc = e->loc / e->src->pitch + (kb - e->kb);
		memcpy(bytes, m->data + loc * e->src->pitch, KB);
		p->lost = m->lost[loc];
	}
}

/*
 * Describe the n segments at s in one call.
 */
static int
world_addsome(struct world *w, struct segment *const *s, size_t n, bool last)
{
	size_t i;

	for (i = 0; i < n; i++)
		world_expect(w, s[i], last && i + 1 == n);
	return dedup_segments(w->dedup, s, n, last);
}

static int
world_add(struct world *w, struct segment *s, bool last)
{
	return world_addsome(w, &s, 1, last);
}

static bool
all_zero(const uint8_t *p, size_t n)
{
	for (; n > 0; n--)
		if (*p++ != 0)
			return false;
	return true;
}

/*
 * Return true if an earlier raw page has the content of p.
 */
static bool
naive_find(const struct world *w, const struct page *p)
{
	const struct page *q;

	for (q = w->page; q < p; q++)
		if (q->verdict == VERDICT_RAW && q->len == KB &&
		    memcmp(q->want, p->want, KB) == 0)
			return true;
	return false;
}

/*
 * Check that p refers to an earlier raw page of the same length and content.
 */
static void
check_target(const struct world *w, const struct page *p)
{
	const struct page *q;

	for (q = w->page; q < p; q++)
		if (q->seg->image == p->image &&
		    q->seg->base + q->kb * KB == p->addr)
			break;
	assert_true(q < p);
	assert_int_equal(q->verdict, VERDICT_RAW);
	assert_int_equal(q->len, p->len);
	assert_memory_equal(q->want, p->want, KB);
}

/*
 * Check that each page has the result that the list predicts.
 */
static void
world_check(struct world *w)
{
	enum verdict want;
	struct page *p;
	size_t i;

	assert_int_equal(w->nfound, w->npage);
	for (i = 0; i < w->npage; i++) {
		p = &w->page[i];
		if (p->lost)
			want = VERDICT_LOST;
		else if (all_zero(p->want, p->len))
			want = VERDICT_ZERO;
		else if (!p->alone && naive_find(w, p))
			want = VERDICT_SAME;
		else
			want = VERDICT_RAW;
		assert_int_equal(p->verdict, want);
		if (want == VERDICT_SAME)
			check_target(w, p);
	}
}

static size_t
count(const struct world *w, enum verdict v)
{
	size_t i, n;

	for (i = n = 0; i < w->npage; i++)
		n += w->page[i].verdict == v;
	return n;
}

/*
 * Frames: memory that processes share. A table maps the groups of a source to
 * frames. A frame may move to another number; its old number is used again
 * later.
 */
enum { NFRAME = 48, NFREE = 64 };

struct frames {
	uint8_t		 data[NFRAME][IDENTITY_KB * KB];
	bool		 lost[NFRAME];
	uint64_t	 number[NFRAME]; /* 0: unknown */
	uint64_t	 unused[NFREE];	/* numbers, the next one first */
	struct rng	*rng;		/* NULL: frames do not move */
	bool		 fails;
	unsigned long	 calls;
	pthread_mutex_t	 lock;
};

struct table {
	struct frames	*frames;
	size_t		 frame[256];
};

static int
table_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	struct table *t = ((struct memsource *)src)->arg;
	struct frames *f = t->frames;
	uint64_t k;
	size_t i, a;

	if (f->fails)
		return errstr_set("no identities");
	assert_int_equal(loc % (IDENTITY_KB * KB), 0);
	pthread_mutex_lock(&f->lock);
	f->calls++;
	if (f->rng != NULL && rng_percent(f->rng, 15)) {
		a = rng_below(f->rng, NFRAME);
		k = f->number[a];
		f->number[a] = f->unused[0];
		memmove(f->unused, f->unused + 1, sizeof f->unused - sizeof k);
		f->unused[NFREE - 1] = k;
	}
	for (i = 0; i < n; i++)
		id[i] = f->number[t->frame[loc / (IDENTITY_KB * KB) + i]];
	pthread_mutex_unlock(&f->lock);
	return 0;
}

static void
frames_init(struct frames *f, struct rng *r)
{
	size_t i, k;

	memset(f, 0, sizeof *f);
	pthread_mutex_init(&f->lock, NULL);
	for (i = 0; i < NFREE; i++)
		f->unused[i] = 0x500 + i;
	for (i = 0; i < NFRAME; i++) {
		f->number[i] = i % 7 == 6 ? 0 : 0x1000 + i;
		f->lost[i] = i % 11 == 10;
		for (k = 0; k < IDENTITY_KB; k++) {
			if (rng_percent(r, 20))
				continue;
			memset(f->data[i] + k * KB, 'a' + (int)rng_below(r, 9),
			    KB);
			if (rng_percent(r, 70))
				rng_bytes(r, f->data[i] + k * KB + 90, 20);
		}
	}
}

/*
 * Make the memory of a process from groups of pages that are frames.
 */
static struct memsource *
table_source(struct world *w, struct table *t, struct frames *f, size_t n)
{
	struct memsource *m;
	size_t i, k;

	m = memsource_new(w->snap, n * IDENTITY_KB, KB);
	m->arg = t;
	m->ops.identify = table_identify;
	t->frames = f;
	for (i = 0; i < n; i++) {
		memcpy(memsource_kb(m, i * IDENTITY_KB), f->data[t->frame[i]],
		    IDENTITY_KB * KB);
		for (k = 0; k < IDENTITY_KB; k++)
			m->lost[i * IDENTITY_KB + k] = f->lost[t->frame[i]];
	}
	return m;
}

/*
 * Make segments of random extents from all kinds of sources.
 */
static void
random_segments(struct world *w, struct rng *r, struct memsource **src,
    size_t nsrc, size_t nseg)
{
	struct segment *s, *some[10];
	struct memsource *m;
	struct image *im;
	struct proc *p;
	uint64_t left, len, n, loc;
	size_t i, nsome = 0;

	for (i = 0; i < nseg; i++) {
		p = snap_add(w->snap, i + 1);
		im = image_new(p, IMAGE_MEM);
		assert_true(p != NULL && im != NULL);
		p->mem = im;
		len = (1 + rng_below(r, rng_percent(r, 70) ? 30 : 900)) * KB;
		if (rng_percent(r, 30))
			len -= rng_below(r, KB);
		s = segment_new(rng_below(r, 1 << 30), len);
		assert_non_null(s);
		for (left = segment_kb(s); left > 0; left -= n) {
			m = src[rng_below(r, nsrc)];
			n = 1 + rng_below(r, rng_percent(r, 60) ? 12 : 300);
			if (m != NULL && n > m->nkb)
				n = m->nkb;
			if (n > left)
				n = left;
			loc = m == NULL ? 0 : rng_below(r, m->nkb - n + 1);
			if (m != NULL && m->arg != NULL && rng_percent(r, 70))
				loc = loc / IDENTITY_KB * IDENTITY_KB;
			assert_int_equal(segment_append(s, n, m == NULL ?
			    NULL : &m->src, m == NULL ? 0 :
			    loc * m->src.pitch), 0);
		}
		assert_int_equal(image_insert(im, s), 0);
		some[nsome++] = s;
		if (nsome < 10 && i + 1 < nseg && rng_percent(r, 60))
			continue;
		if (world_addsome(w, some, nsome, rng_percent(r, 50)) == -1)
			fail_msg("%s", snap_errstr());
		nsome = 0;
	}
}

static void
random_world(uint64_t seed, bool moving)
{
	static struct frames frames;
	static struct table table[2];
	struct memsource *src[6];
	struct world *w;
	struct rng r, moves = { seed };
	size_t i, k;

	rng_init(&r, moving ? "moving frames" : "frames", seed);
	w = world_new();
	frames_init(&frames, &r);
	for (i = 0; i < 2; i++) {
		for (k = 0; k < 100; k++)
			table[i].frame[k] = i == 1 && rng_percent(&r, 60) ?
			    table[0].frame[k] : rng_below(&r, NFRAME);
		src[i] = table_source(w, &table[i], &frames, 100);
	}
	frames.rng = moving ? &moves : NULL;
	src[2] = memsource_new(w->snap, 100, KB + 1);
	src[3] = memsource_new(w->snap, 300, KB);
	for (i = 0; i < 400; i++)
		if (rng_percent(&r, 50))
			memcpy(memsource_kb(src[2 + i / 100 % 2], i % 100),
			    frames.data[rng_below(&r, NFRAME)], KB);
		else
			rng_bytes(&r, memsource_kb(src[3], i % 300), 120);
	for (i = 40; i < 300; i += 100)
		for (k = 0; k < IDENTITY_KB; k++)
			src[3]->lost[i + k] = true;
	src[4] = src[5] = NULL;
	random_segments(w, &r, src, 5, 40);
	world_check(w);
	assert_true(count(w, VERDICT_RAW) > 100);
	assert_true(count(w, VERDICT_SAME) > 100);
	assert_true(count(w, VERDICT_ZERO) > 100);
	assert_true(count(w, VERDICT_LOST) > 10);
	world_free(w);
}

static void
test_random(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 30; seed < 38; seed++)
		random_world(seed, false);
}

/*
 * Frames that move while they are looked up: fewer pages are found by identity,
 * none wrongly.
 */
static void
test_moving(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 40; seed < 48; seed++)
		random_world(seed, true);
}

static struct segment *
source_segment(struct world *w, uint64_t pid, uint64_t kb,
    struct memsource *m, uint64_t first)
{
	struct proc *p;

	if ((p = snap_find(w->snap, pid)) == NULL)
		p = snap_add(w->snap, pid);
	return segment_add(p, IMAGE_MEM, 0x10000 * (first + 1), kb * KB,
	    &m->src, first * m->src.pitch);
}

static void
fill(struct memsource *m, size_t first, size_t n, uint64_t seed)
{
	struct rng r = { seed };
	size_t i;

	for (i = first; i < first + n; i++)
		rng_bytes(&r, memsource_kb(m, i), KB);
}

/*
 * Pages with an identity that was seen before are not read, whether it is a
 * new, zero, same or lost page.
 */
static void
test_notread(void **state)
{
	static struct frames frames;
	static struct table a, b;
	struct memsource *x, *y;
	struct world *w;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "not read", 50);
	frames_init(&frames, &r);
	w = world_new();
	for (i = 0; i < NFRAME; i++) {
		a.frame[i] = i;
		b.frame[i] = (i + 17) % NFRAME;
		if (frames.number[i] == 0)
			frames.number[i] = 0x2000 + i;
	}
	memset(frames.data[3], 0, sizeof frames.data[3]);
	memcpy(frames.data[5], frames.data[4], sizeof frames.data[4]);
	x = table_source(w, &a, &frames, NFRAME);
	y = table_source(w, &b, &frames, NFRAME);
	assert_int_equal(world_add(w, source_segment(w, 1, NFRAME *
	    IDENTITY_KB, x, 0), false), 0);
	i = x->nread;
	assert_true(i >= NFRAME * IDENTITY_KB);
	assert_int_equal(world_add(w, source_segment(w, 2, NFRAME *
	    IDENTITY_KB, y, 0), false), 0);
	world_check(w);
	assert_int_equal(y->nread, 0);
	assert_int_equal(x->nread, i);

	/* the last page must be read, and with it others of its block */
	assert_int_equal(world_add(w, source_segment(w, 3, NFRAME *
	    IDENTITY_KB, y, 0), true), 0);
	world_check(w);
	assert_true(y->nread > 0 && y->nread <= IDENTITY_KB);
	assert_between(frames.calls, 3, 40);
	world_free(w);
}

/*
 * If all frames move after they were described, everything is read again and
 * found by content.
 */
static void
test_moved(void **state)
{
	static struct frames frames;
	static struct table t;
	struct memsource *x;
	struct world *w;
	struct rng r;
	size_t i;
	uint64_t k;

	(void)state;
	rng_init(&r, "moved", 51);
	frames_init(&frames, &r);
	memset(frames.lost, 0, sizeof frames.lost);
	w = world_new();
	for (i = 0; i < NFRAME; i++)
		t.frame[i] = i;
	x = table_source(w, &t, &frames, NFRAME);
	assert_int_equal(world_add(w, source_segment(w, 1, NFRAME *
	    IDENTITY_KB, x, 0), false), 0);
	k = frames.number[0];
	for (i = 0; i + 1 < NFRAME; i++)
		frames.number[i] = frames.number[i + 1];
	frames.number[i] = k;
	assert_int_equal(world_add(w, source_segment(w, 2, NFRAME *
	    IDENTITY_KB, x, 0), false), 0);
	world_check(w);
	assert_true(x->nread >= 2 * NFRAME * IDENTITY_KB);
	world_free(w);
}

/*
 * A later copy refers to its own pages and to the same addresses of the copy
 * before it, even for a kilobyte of a changed page. A process without an
 * earlier copy refers to unchanged pages of this copy.
 */
static void
test_copy(void **state)
{
	enum { KBS = NFRAME * IDENTITY_KB };
	static struct frames frames;
	static struct table a, b;
	struct segment *was, *now, *other;
	struct memsource *m;
	const struct page *p;
	struct world *w;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "copy", 60);
	frames_init(&frames, &r);
	memset(frames.lost, 0, sizeof frames.lost);
	w = world_new();
	for (i = 0; i < NFRAME; i++) {
		a.frame[i] = b.frame[i] = i;
		frames.number[i] = 0x2000 + i;
	}
	b.frame[2] = 20;
	b.frame[4] = 40;
	b.frame[40] = 41;
	m = table_source(w, &a, &frames, NFRAME);
	was = source_segment(w, 1, KBS, m, 0);
	m->src.image = was->image;
	assert_int_equal(world_add(w, was, false), 0);

	rng_bytes(&r, frames.data[4] + KB, 20);
	memcpy(frames.data[40], frames.data[4], sizeof frames.data[4]);
	m = table_source(w, &b, &frames, NFRAME);
	now = source_segment(w, 2, KBS, m, 0);
	now->image->before = was->image;
	m->src.image = now->image;
	dedup_next(w->dedup, true, true);
	assert_int_equal(world_add(w, now, false), 0);
	assert_between(m->nread, 3 * IDENTITY_KB, 4 * IDENTITY_KB);
	for (i = 0; i < KBS; i++) {
		p = &w->page[KBS + i];
		if (i / IDENTITY_KB == 2 || i / IDENTITY_KB == 40)
			assert_true(p->verdict != VERDICT_SAME ||
			    p->image == now->image ||
			    p->addr == now->base + i * KB);
		else if (i == 4 * IDENTITY_KB + 1)
			assert_int_equal(p->verdict, VERDICT_RAW);
		else if (i / IDENTITY_KB != 4 || p->verdict != VERDICT_ZERO) {
			assert_int_equal(p->verdict, VERDICT_SAME);
			assert_ptr_equal(p->image, was->image);
			assert_int_equal(p->addr, now->base + i * KB);
		}
	}

	m = table_source(w, &b, &frames, NFRAME);
	other = source_segment(w, 3, KBS, m, 0);
	assert_int_equal(world_add(w, other, false), 0);
	assert_int_equal(m->nread, 0);
	for (i = 0; i < KBS; i++) {
		p = &w->page[2 * KBS + i];
		assert_true(p->verdict == VERDICT_ZERO ||
		    (p->verdict == VERDICT_SAME && p->image == now->image));
	}
	world_free(w);
}

/*
 * A later moment reads only pages that changed since the moment before. It
 * refers to the moment that wrote the page, which may be older. If all is true,
 * a process that is in no earlier moment refers to the same pages.
 */
static void
check_moments(bool all)
{
	enum { KBS = NFRAME * IDENTITY_KB, N = 4 };
	static struct frames frames;
	static struct table t[N];
	struct segment *s[N];
	struct memsource *m;
	const struct page *p;
	struct world *w;
	struct rng r;
	size_t i, k;

	rng_init(&r, "moments", 61);
	frames_init(&frames, &r);
	memset(frames.lost, 0, sizeof frames.lost);
	for (i = 0; i < KBS; i++)
		rng_bytes(&r, frames.data[i / IDENTITY_KB] + i % IDENTITY_KB *
		    KB, 20);
	w = world_new();
	for (i = 0; i < NFRAME; i++) {
		t[0].frame[i] = i == 2 ? 0 : i;
		frames.number[i] = 0x2000 + i;
	}
	for (k = 1; k < N; k++) {
		memcpy(&t[k], &t[0], sizeof t[k]);
		t[k].frame[4] = 2;
	}
	for (k = 0; k < N; k++) {
		m = table_source(w, &t[k], &frames, NFRAME);
		s[k] = source_segment(w, k + 1, KBS, m, 0);
		m->src.image = s[k]->image;
		if (k == 1 || k == 2) {
			s[k]->image->before = s[k - 1]->image;
			dedup_next(w->dedup, all, false);
		}
		assert_int_equal(world_add(w, s[k], false), 0);
		if (k == 3 && !all)
			assert_int_equal(m->nread, KBS);
		else if (k > 0)
			assert_int_equal(m->nread, k == 1 ? IDENTITY_KB : 0);
		for (i = 0; k > 0 && i < KBS; i++) {
			p = &w->page[k * KBS + i];
			if (p->verdict == VERDICT_SAME)
				assert_ptr_equal(p->image, s[i / IDENTITY_KB ==
				    4]->image);
			else
				assert_true(p->verdict == VERDICT_ZERO ||
				    (k == 1 && i / IDENTITY_KB == 4));
		}
	}
	world_check(w);
	world_free(w);
}

static void
test_moments(void **state)
{
	(void)state;
	check_moments(true);
	check_moments(false);
}

/*
 * The same memory described for another process is not read and its frames are
 * not looked up, wherever the new segment begins. Groups without a frame at the
 * first time are the exception.
 */
static void
test_again(void **state)
{
	static struct frames frames;
	static struct table t;
	const uint64_t kb = (NFRAME - 1) * IDENTITY_KB, at = IDENTITY_KB * KB;
	struct memsource *x, *y;
	struct proc *p;
	struct world *w;
	struct rng r;
	unsigned long calls;
	size_t i, unknown;

	(void)state;
	for (unknown = 0; unknown < 2; unknown++) {
		rng_init(&r, "again", 54);
		frames_init(&frames, &r);
		w = world_new();
		for (i = 0; i < NFRAME; i++) {
			t.frame[i] = i;
			frames.number[i] = 0x2000 + i;
		}
		memset(frames.data[3], 0, sizeof frames.data[3]);
		memcpy(frames.data[5], frames.data[4],
		    sizeof frames.data[4]);
		if (unknown)
			frames.number[20] = 0;
		x = table_source(w, &t, &frames, NFRAME);
		p = snap_add(w->snap, 1);
		world_add(w, segment_add(p, IMAGE_MEM, at, kb * KB, &x->src,
		    at), true);
		x->src.image = p->mem;
		calls = frames.calls;
		i = x->nread;
		world_add(w, segment_add(snap_add(w->snap, 2), IMAGE_MEM, at,
		    (kb - IDENTITY_KB) * KB, &x->src, at), false);
		world_add(w, segment_add(snap_add(w->snap, 3), IMAGE_MEM,
		    at + 7 * KB, 30 * KB, &x->src, at + 7 * KB), false);
		world_check(w);
		if (unknown)
			assert_true(x->nread > i);
		else
			assert_int_equal(x->nread, i);
		assert_between(frames.calls - calls, unknown, unknown * 4);
		/* other content at the same locations */
		y = memsource_new(w->snap, 5 * IDENTITY_KB, KB);
		fill(y, 0, 5 * IDENTITY_KB, 55);
		y->src.image = p->mem;
		world_add(w, segment_add(snap_add(w->snap, 4), IMAGE_MEM, at,
		    4 * IDENTITY_KB * KB, &y->src, at), false);
		world_check(w);
		world_free(w);
	}
}

/*
 * Memory described before is known to the end of its extent: the next extent
 * there is of another source.
 */
static void
test_againextent(void **state)
{
	enum { KBS = 4 * IDENTITY_KB };
	static struct frames frames;
	static struct table t, u;
	struct memsource *x, *y;
	struct segment *s;
	struct world *w;
	struct proc *p;
	struct rng r;
	size_t i;

	(void)state;
	rng_init(&r, "again extent", 56);
	frames_init(&frames, &r);
	w = world_new();
	for (i = 0; i < NFRAME; i++) {
		t.frame[i] = i;
		u.frame[i] = NFRAME - 1 - i;
		frames.number[i] = 0x2000 + i;
	}
	x = table_source(w, &t, &frames, NFRAME);
	y = table_source(w, &u, &frames, NFRAME);
	p = snap_add(w->snap, 1);
	p->mem = image_new(p, IMAGE_MEM);
	s = segment_new(0, 2 * KBS * KB);
	assert_int_equal(segment_append(s, KBS, &x->src, 0), 0);
	assert_int_equal(segment_append(s, KBS, &y->src, 0), 0);
	assert_int_equal(image_insert(p->mem, s), 0);
	world_add(w, s, true);
	x->src.image = p->mem;
	world_add(w, segment_add(snap_add(w->snap, 2), IMAGE_MEM, 0,
	    2 * KBS * KB, &x->src, 0), false);
	world_check(w);
	world_free(w);
}

enum { NMANY = 1500 };		/* groups that two threads look up */

struct many {			/* frames are numbered from 1 on */
	size_t		 moved;	/* except this one's */
	atomic_size_t	 calls;
};

static int
many_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	struct many *m = ((struct memsource *)src)->arg;
	size_t first = loc / (IDENTITY_KB * KB), i;

	m->calls++;
	for (i = 0; i < n; i++)
		id[i] = first + i == m->moved ? 0x10000 : first + i + 1;
	return 0;
}

/*
 * A long run that two processes have is looked up in one call. Only groups that
 * moved are read.
 */
static void
test_many(void **state)
{
	static const size_t moved[] = { SIZE_MAX, 0, NMANY / 2 - 1,
	    NMANY / 2, NMANY - 1 };
	struct memsource *src[2];
	struct many many[2];
	struct world *w;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof moved / sizeof *moved; i++) {
		w = world_new();
		for (k = 0; k < 2; k++) {
			many[k].moved = SIZE_MAX;
			many[k].calls = 0;
			src[k] = memsource_new(w->snap, NMANY * IDENTITY_KB,
			    KB);
			src[k]->arg = &many[k];
			src[k]->ops.identify = many_identify;
			fill(src[k], 0, NMANY * IDENTITY_KB, 53);
		}
		assert_int_equal(world_add(w, source_segment(w, 1, NMANY *
		    IDENTITY_KB, src[0], 0), false), 0);
		assert_int_equal(many[0].calls, 1);
		many[0].moved = moved[i];
		assert_int_equal(world_add(w, source_segment(w, 2, NMANY *
		    IDENTITY_KB, src[1], 0), false), 0);
		assert_int_equal(src[1]->nread, moved[i] == SIZE_MAX ? 0 :
		    IDENTITY_KB);
		/* a single group, 64 groups, and the rest */
		if (moved[i] == SIZE_MAX)
			assert_int_equal(many[0].calls, 1 + 1 + 1 + 1);
		assert_int_equal(count(w, VERDICT_SAME), NMANY * IDENTITY_KB);
		assert_int_equal(count(w, VERDICT_RAW), NMANY * IDENTITY_KB);
		world_free(w);
	}
}

/*
 * Pages that follow a known group and have a known identity are not found by it
 * if the group was not written or is too short for references.
 */
static void
test_follow(void **state)
{
	static const size_t order[4][5] = {
		{ 1, 2, 3, 4, 5 }, { 6, 7, 1, 2, 3 },
		{ 6, 7, 1, 2, 3 }, { 8, 6, 7, 1, 2 }
	};
	static struct frames frames;
	static struct table t[4];
	struct memsource *m;
	struct world *w;
	struct rng r;
	size_t i;
	int kind, cut;

	(void)state;
	rng_init(&r, "follow", 52);
	for (kind = 0; kind < 3; kind++)
		for (cut = 0; cut < 3; cut++) {
			frames_init(&frames, &r);
			memset(frames.lost, 0, sizeof frames.lost);
			for (i = 1; i < 9; i++)
				rng_bytes(&r, frames.data[i],
				    sizeof frames.data[i]);
			if (kind == 1)
				memset(frames.data[1], 0,
				    sizeof frames.data[1]);
			frames.number[6] = 0x600;
			frames.lost[1] = kind == 2;
			w = world_new();
			for (i = 0; i < 4; i++) {
				memcpy(t[i].frame, order[i], sizeof order[i]);
				m = table_source(w, &t[i], &frames, 5);
				world_add(w, segment_add(snap_add(w->snap,
				    i + 1), IMAGE_MEM, 0x1000, 5 *
				    IDENTITY_KB * KB - (i == 1 ? (uint64_t)cut
				    * KB / 2 : 0), &m->src, 0), cut == 1);
			}
			world_check(w);
			world_free(w);
		}
}

/*
 * Pages that cannot be identified are read, whatever was identified before.
 */
static void
test_identifyfails(void **state)
{
	static struct frames frames, known;
	static struct table t, other;
	struct memsource *m;
	struct world *w;
	struct rng r;
	uint64_t i;

	(void)state;
	rng_init(&r, "no identities", 53);
	frames_init(&frames, &r);
	frames.fails = true;
	w = world_new();
	m = table_source(w, &t, &frames, 4);
	for (i = 1; i < 4; i++)
		assert_int_equal(world_add(w, source_segment(w, i, 16, m, 0),
		    false), 0);
	world_check(w);
	assert_between(m->nread, 3 * 16, UINT64_MAX);
	frames_init(&known, &r);
	for (i = 0; i < 8; i++) {
		t.frame[i] = i;
		other.frame[i] = 8 + i;
	}
	m = table_source(w, &t, &known, 8);
	assert_int_equal(world_add(w, source_segment(w, 4, 32, m, 0), false),
	    0);
	m = table_source(w, &other, &frames, 8);
	assert_int_equal(world_add(w, source_segment(w, 5, 32, m, 0), false),
	    0);
	world_check(w);
	world_free(w);
}

/*
 * The last page of a section and a short page are always raw. Other pages may
 * refer to a last page, but not to a short one.
 */
static void
test_last(void **state)
{
	struct memsource *m;
	struct world *w;

	(void)state;
	w = world_new();
	m = memsource_new(w->snap, 8, KB);
	fill(m, 0, 8, 1);
	world_add(w, source_segment(w, 1, 4, m, 0), true);
	world_add(w, source_segment(w, 2, 4, m, 0), true);
	world_add(w, source_segment(w, 3, 4, m, 0), false);
	world_add(w, segment_add(snap_add(w->snap, 4), IMAGE_MEM, 0x1000,
	    3 * KB - 1, &m->src, 0), false);
	world_add(w, segment_add(snap_add(w->snap, 5), IMAGE_MEM, 0x1000,
	    3 * KB - 1, &m->src, 4 * KB), false);
	world_add(w, segment_add(snap_add(w->snap, 6), IMAGE_MEM, 0x1000,
	    4 * KB, &m->src, 4 * KB), false);
	world_check(w);
	assert_int_equal(w->page[3].verdict, VERDICT_RAW);
	assert_int_equal(w->page[7].verdict, VERDICT_RAW);
	assert_int_equal(w->page[11].verdict, VERDICT_SAME);
	assert_int_equal(w->page[14].verdict, VERDICT_RAW);
	assert_int_equal(w->page[17].verdict, VERDICT_RAW);
	assert_int_equal(w->page[20].verdict, VERDICT_RAW);
	world_free(w);
}

static void
test_lost(void **state)
{
	struct memsource *m;
	struct world *w;
	size_t i;

	(void)state;
	w = world_new();
	m = memsource_new(w->snap, 700, KB);
	fill(m, 0, 700, 2);
	for (i = 256; i < 260; i++)
		m->lost[i] = true;
	world_add(w, source_segment(w, 1, 700, m, 0), true);
	world_check(w);
	assert_int_equal(count(w, VERDICT_LOST), 4);
	assert_int_equal(count(w, VERDICT_RAW), 696);
	assert_string_equal(w->why, "memory source: kilobyte 256 is lost");
	world_free(w);
}

static void
warned(void *arg, const char *text)
{
	snprintf(arg, 100, "%s", text);
}

/*
 * Kilobytes are counted, and a warning names those that cannot be read.
 */
static void
test_count(void **state)
{
	struct memsource *m;
	struct snap *s;
	struct proc *p;
	char why[100] = "";
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		s = snap_new();
		m = memsource_new(s, 16, KB);
		fill(m, 4, 4, 6);
		memcpy(memsource_kb(m, 9), memsource_kb(m, 5), KB);
		memset(m->lost, true, 4);
		p = snap_add(s, 7);
		segment_add(p, IMAGE_MEM, 0x1000, 16 * KB, &m->src, 0);
		assert_int_equal(snap_count(s, i == 0 ? NULL : warned, why),
		    0);
		assert_int_equal(p->count.raw, 4);
		assert_int_equal(p->count.zero, 7);
		assert_int_equal(p->count.same, 1);
		assert_string_equal(why, i == 0 ? "" : "process 7: 4 kilobytes "
		    "cannot be read: memory source: kilobyte 0 is lost");
		snap_free(s);
	}
}

/*
 * No page refers to one that was written and cannot be read again, nor to a
 * later page. Here the last page of a segment equals its first page, and both
 * equal a page that is lost by now.
 */
static void
test_gone(void **state)
{
	struct memsource *m, *k;
	struct world *w;
	size_t i;

	(void)state;
	w = world_new();
	m = memsource_new(w->snap, 4, KB);
	k = memsource_new(w->snap, 4, KB);
	fill(m, 0, 4, 3);
	fill(k, 0, 3, 3);
	memcpy(memsource_kb(k, 3), memsource_kb(k, 0), KB);
	world_add(w, source_segment(w, 1, 4, m, 0), true);
	memset(m->lost, 1, 4);
	world_add(w, source_segment(w, 2, 4, k, 0), true);
	for (i = 4; i < 8; i++)
		assert_int_equal(w->page[i].verdict, VERDICT_RAW);
	world_free(w);
}

/*
 * Pages with the same hash, where the last page equals the first one: no
 * reference points forward.
 */
static void
test_forward(void **state)
{
	struct memsource *m;
	struct world *w;
	size_t i;

	(void)state;
	w = world_new();
	m = memsource_new(w->snap, 9, KB);
	for (i = 0; i < 9; i++)
		memset(memsource_kb(m, i), 'A' + 4 * (int)i, KB);
	memcpy(memsource_kb(m, 8), memsource_kb(m, 5), KB);
	world_add(w, source_segment(w, 1, 4, m, 0), true);
	world_add(w, source_segment(w, 2, 5, m, 4), true);
	world_check(w);
	world_free(w);
}

static void
test_broken(void **state)
{
	struct memsource *m;
	struct segment *s;
	struct world *w;

	(void)state;
	w = world_new();
	m = memsource_new(w->snap, 4000, KB);
	fill(m, 0, 4000, 4);
	m->broken = true;
	s = source_segment(w, 1, 4000, m, 0);
	assert_int_equal(dedup_segments(w->dedup, &s, 1, true), -1);
	assert_string_equal(snap_errstr(),
	    "memory source: the source is broken");
	world_free(w);
}

/*
 * The callback may stop the work at any finding.
 */
static void
test_stop(void **state)
{
	struct memsource *m;
	struct world *w;
	size_t i;

	(void)state;
	for (i = 1; i < 12; i++) {
		w = world_new();
		w->stop = i;
		m = memsource_new(w->snap, 2500, KB);
		fill(m, 0, 2500, 5);
		assert_int_equal(world_add(w, source_segment(w, 1, 2500, m,
		    0), true), i <= 10 ? -1 : 0);
		if (i <= 10)
			assert_string_equal(snap_errstr(), "stop");
		world_free(w);
	}
}

/*
 * Zeros take no memory, whatever their number, up to a limit.
 */
static int
count_zeros(void *arg, const struct finding *f)
{
	assert_int_equal(f->verdict, VERDICT_ZERO);
	*(uint64_t *)arg += f->n;
	return 0;
}

static void
test_zeros(void **state)
{
	struct dedup *d;
	struct proc *p;
	struct snap *s;
	uint64_t n;

	(void)state;
	s = snap_new();
	p = snap_add(s, 1);
	n = 0;
	d = dedup_new(count_zeros, &n);
	segment_add(p, IMAGE_MEM, 0, (uint64_t)1 << 47, NULL, 0);
	assert_int_equal(dedup_segments(d, p->mem->seg, 1, true), 0);
	assert_int_equal(n, (uint64_t)1 << 37);
	segment_add(p, IMAGE_MEM, (uint64_t)1 << 50, (uint64_t)1 << 47, NULL,
	    0);
	assert_int_equal(dedup_segments(d, p->mem->seg + 1, 1, true), -1);
	assert_contains(snap_errstr(), "256 TiB");
	dedup_free(d);
	dedup_free(NULL);
	snap_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_notread),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_againextent),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_identifyfails),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_forward),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_moving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
