/*
 * An image is a sparse file, the text or the memory of a process: segments made
 * of extents, and a view of them by address.
 *
 *	segment   base 401000                      base 7f0000000000
 *	extents   [ 12K of source 1 | 8K zero | 4K of source 2 ]   [ ... ]
 *	view      401000-406fff                    7f0000000000-...
 *
 * Where segments overlap, the view shows the one in front (view.c); the
 * segments themselves stay unchanged, so that a writer can write them as they
 * were read.
 */
#include "bisect.h"
#include "model.h"
#include "vec.h"

/*
 * Make a segment of len bytes (at least 1) at address base, without extents.
 * Return the segment. Return NULL with errstr set if it would end beyond 2^64
 * or if memory runs out.
 */
struct segment *
segment_new(uint64_t base, uint64_t len)
{
	struct segment *s;
	uint64_t last;

	if (len == 0 || __builtin_add_overflow(base, len - 1, &last)) {
		errstr_set("a segment of %ju bytes at %jx ends beyond 2^64",
		    (uintmax_t)len, (uintmax_t)base);
		return NULL;
	}
	if ((s = mem_new(1, sizeof *s)) == NULL)
		return NULL;
	s->base = base;
	s->len = len;
	return s;
}

static void
extents_free(struct segment *s)
{
	if (s->outline != NULL && --s->outline->users == 0)
		s->outline->ops->free(s->outline);
	free(s->ext);
}

/*
 * Free segment s, which may be NULL, but not its sources.
 */
void
segment_free(struct segment *s)
{
	if (s == NULL)
		return;
	extents_free(s);
	free(s);
}

/*
 * Return the size of segment s in kilobytes, rounded up.
 */
uint64_t
segment_kb(const struct segment *s)
{
	return s->len / KB + (s->len % KB != 0);
}

/*
 * Return the length in bytes of kilobyte kb of segment s: KB, or less if it is
 * the last.
 */
size_t
segment_kblen(const struct segment *s, uint64_t kb)
{
	uint64_t rest;

	rest = s->len - kb * KB;
	return rest < KB ? (size_t)rest : KB;
}

/*
 * Return the address at which n kilobytes of segment s end, from kilobyte kb
 * on: see memory_end().
 */
uint64_t
segment_end(const struct segment *s, uint64_t kb, uint64_t n)
{
	return memory_end(s->base + kb * KB, kb + n == segment_kb(s) ?
	    s->len - kb * KB : n * KB);
}

/*
 * Append n kilobytes to segment s. They are at location loc in src; if src is
 * NULL, they are zeros. If they continue the last extent, extend it. Return 0,
 * or -1 with errstr set.
 */
int
segment_append(struct segment *s, uint64_t n, struct source *src, uint64_t loc)
{
	struct extent *e;
	size_t cap;

	if (n == 0)
		return 0;
	if (s->next > 0) {
		e = &s->ext[s->next - 1];
		if (e->src == src &&
		    (src == NULL || e->loc + e->n * src->pitch == loc)) {
			e->n += n;
			s->kb += n;
			return 0;
		}
	}
	if (s->next == s->cap) {
		cap = s->cap < 4 ? s->cap + 1 : s->cap + s->cap / 2;
		if ((e = reallocarray(s->ext, cap, sizeof *e)) == NULL)
			return errstr_set("out of memory");
		s->ext = e;
		s->cap = cap;
	}
	e = &s->ext[s->next++];
	e->kb = s->kb;
	e->n = n;
	e->src = src;
	e->loc = src == NULL ? 0 : loc;
	s->kb += n;
	return 0;
}

/*
 * Return the extent of segment s that contains kilobyte kb. Return NULL with
 * errstr set if kb is not described yet or memory runs out.
 */
const struct extent *
segment_extent(const struct segment *s, uint64_t kb)
{
	if (kb >= s->kb) {
		errstr_set("address %jx is not described",
		    (uintmax_t)(s->base + kb * KB));
		return NULL;
	}
	if (s->outline != NULL)
		return s->outline->ops->extent(s->outline, s, kb);
	return &s->ext[BISECT(s->ext, s->next, kb, kb) - 1];
}

/*
 * Find the first run of at least HOLE_KB all-zero kilobytes in segment s that
 * ends after kilobyte kb and begins before kilobyte limit. kb must be
 * described. Set *h to the run. Return false if there is none.
 */
bool
segment_zeros(const struct segment *s, uint64_t kb, uint64_t limit,
    struct zeros *h)
{
	const struct extent *e;

	if (s->outline != NULL)
		return s->outline->ops->hole(s->outline, s, kb, h) &&
		    h->kb < limit;
	for (e = segment_extent(s, kb); e != NULL && e < s->ext + s->next &&
	    e->kb < limit; e++)
		if (e->src == NULL && e->n >= HOLE_KB) {
			h->kb = e->kb;
			h->end = e->kb + e->n;
			return true;
		}
	return false;
}

/*
 * Load all extents of segment s now, so that segment_extent() cannot fail
 * later. Return 0, or -1 with errstr set.
 */
int
segment_describe(const struct segment *s)
{
	const struct extent *e;
	uint64_t kb;

	if (s->outline == NULL)
		return 0;
	for (kb = 0; kb < s->kb; kb = e->kb + e->n)
		if ((e = segment_extent(s, kb)) == NULL)
			return -1;
	return 0;
}

/*
 * Replace the extents of segment s with those of segment *from, which must
 * cover all of s.
 */
void
segment_take(struct segment *s, struct segment *from)
{
	extents_free(s);
	s->outline = NULL;
	s->ext = from->ext;
	s->next = from->next;
	s->cap = from->cap;
}

/*
 * Make an empty image of process p. kind tells whether it is for p->text or
 * p->mem; the caller stores the image there, and p then owns it. Return the
 * image, or NULL with errstr set.
 */
struct image *
image_new(struct proc *p, enum image_kind kind)
{
	struct image *im;

	if ((im = mem_new(1, sizeof *im)) == NULL)
		return NULL;
	im->proc = p;
	im->kind = kind;
	RB_INIT(&im->view);
	RB_INIT(&im->taken);
	return im;
}

/*
 * Make an image for p->text with one segment at address 0. The segment is the
 * first size bytes (at least 1) of src. Return the image, which the caller
 * owns, or NULL with errstr set.
 */
struct image *
image_whole(struct proc *p, struct source *src, uint64_t size)
{
	struct segment *seg;
	struct image *im;

	if ((seg = segment_new(0, size)) == NULL)
		return NULL;
	if (segment_append(seg, segment_kb(seg), src, 0) == -1 ||
	    (im = image_new(p, IMAGE_TEXT)) == NULL) {
		segment_free(seg);
		return NULL;
	}
	if (image_insert(im, seg) == -1) {
		image_free(im);
		return NULL;
	}
	return im;
}

/*
 * Free image im, which may be NULL, and its segments, but not its sources.
 */
void
image_free(struct image *im)
{
	size_t i;

	if (im == NULL)
		return;
	view_free(&im->view);
	view_free(&im->taken);
	for (i = 0; i < im->nseg; i++)
		segment_free(im->seg[i]);
	free(im->seg);
	free(im->missing);
	free(im);
}

/*
 * Begin a new section of image im: segments inserted from now on cover all
 * earlier ones. Call this at the start of each record that describes the image
 * again.
 */
void
image_section(struct image *im)
{
	view_free(&im->taken);
	im->section++;
}

/*
 * Insert segment s, which is fully described, into image im. s covers segments
 * of earlier sections, but is covered by earlier segments of its own section.
 * im takes ownership of s, even on failure. Return 0, or -1 with errstr set.
 */
int
image_insert(struct image *im, struct segment *s)
{
	if (VEC_ADD(im->seg, im->nseg, s) == -1) {
		segment_free(s);
		return -1;
	}
	s->image = im;
	s->section = im->section;
	return view_insert(im, s);
}

/*
 * Record that the range from start to end (exclusive) of image im was mapped
 * and present but not captured. reason, a few words, is copied. If the range
 * continues the last one and has the same reason, extend the last one. If
 * ranges are not recorded in ascending order, the caller must call
 * image_sortmissing() afterwards. Return 0, or -1 with errstr set.
 */
int
image_miss(struct image *im, uint64_t start, uint64_t end, const char *reason)
{
	struct missing *m;

	if (im->nmissing > 0) {
		m = &im->missing[im->nmissing - 1];
		if (m->end == start && strcmp(m->reason, reason) == 0) {
			m->end = end;
			return 0;
		}
	}
	if (VEC_ROOM(im->missing, im->nmissing) == -1)
		return -1;
	m = &im->missing[im->nmissing++];
	m->start = start;
	m->end = end;
	strlcpy(m->reason, reason, sizeof m->reason);
	return 0;
}

CMP(missing_cmp, struct missing, start)

/*
 * Sort the missing ranges of im, which may be NULL, and remove overlaps. An
 * address in several ranges keeps the reason of the range that begins first.
 */
void
image_sortmissing(struct image *im)
{
	struct missing *m;
	uint64_t end;
	size_t i, n;

	if (im == NULL || im->nmissing < 2)
		return;
	SORT(im->missing, im->nmissing, missing_cmp);
	end = im->missing[0].end;
	for (i = n = 1; i < im->nmissing; i++) {
		m = &im->missing[i];
		if (m->end <= end)
			continue;
		if (m->start < end)
			m->start = end;
		end = m->end;
		im->missing[n++] = *m;
	}
	im->nmissing = n;
}

/*
 * Return the missing range of im that has address addr, or NULL if there is
 * none. The missing ranges of im must be sorted.
 */
const struct missing *
image_missing(const struct image *im, uint64_t addr)
{
	const size_t i = BISECT(im->missing, im->nmissing, end, addr);

	return i < im->nmissing && im->missing[i].start <= addr ?
	    &im->missing[i] : NULL;
}

/*
 * Remove the range from start to end (exclusive) from the view of image im: it
 * then reads as unmapped. end must be above start. If the range ends at 2^64,
 * end is UINT64_MAX, as memory_end() returns it. Return 0, or -1 with errstr
 * set.
 */
int
image_punch(struct image *im, uint64_t start, uint64_t end)
{
	const uint64_t last = end == UINT64_MAX ? end : end - 1;

	return view_cut(&im->view, start, last) == -1 ? -1 :
	    view_cut(&im->taken, start, last);
}

/*
 * Return the address from which references to image im are counted. For a text,
 * this is the base of its first segment; for memory, it is 0.
 */
uint64_t
image_origin(const struct image *im)
{
	return im->kind == IMAGE_TEXT && im->nseg > 0 ? im->seg[0]->base : 0;
}

/*
 * Return the number of bytes in all segments of image im, which may be NULL.
 */
uint64_t
image_bytes(const struct image *im)
{
	uint64_t n;
	size_t i;

	for (n = i = 0; im != NULL && i < im->nseg; i++)
		n += im->seg[i]->len;
	return n;
}
