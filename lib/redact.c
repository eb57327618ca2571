/*
 * Remove bytes from an image so that no writer can read them: their kilobytes
 * become zero and missing, or are copied to memory and changed there.
 */
#include "bisect.h"
#include "model.h"

struct kept {			/* source of kilobytes kept in memory */
	struct source	 src;
	uint8_t		*data;	/* owned */
};

static int
kept_read(struct source *src, const struct run *r, uint8_t *buf)
{
	const struct kept *k = (const struct kept *)src;

	memcpy(buf, k->data + r->loc, (size_t)(r->n * KB));
	return SOURCE_OK;
}

static void
kept_free(struct source *src)
{
	free(((struct kept *)src)->data);
}

static const struct source_ops kept_ops = {
	.read = kept_read, .free = kept_free
};

/*
 * Make a source of s from the kilobytes at data. This function takes ownership
 * of data, even on failure. Return the source, or NULL with errstr set.
 */
static struct source *
kept_new(struct snap *s, uint8_t *data)
{
	struct kept *k;

	k = source_new(s, sizeof *k, &kept_ops, "kept in memory", KB);
	if (k == NULL) {
		free(data);
		return NULL;
	}
	k->data = data;
	return &k->src;
}

/*
 * Append to segment *new the extents for kilobytes kb to limit - 1 of segment
 * s.
 */
static int
extents_copy(struct segment *new, const struct segment *s, uint64_t kb,
    uint64_t limit)
{
	const struct extent *e;
	uint64_t end;

	for (; kb < limit; kb = end) {
		if ((e = segment_extent(s, kb)) == NULL)
			return -1;
		end = e->kb + e->n < limit ? e->kb + e->n : limit;
		if (segment_append(new, end - kb, e->src, e->src == NULL ?
		    0 : e->loc + (kb - e->kb) * e->src->pitch) == -1)
			return -1;
	}
	return 0;
}

/*
 * If rc is 0, replace the extents of s with those of *new, which must cover all
 * of s. If rc is -1, only free the extents of *new. Return rc.
 */
static int
extents_take(struct segment *s, struct segment *new, int rc)
{
	if (rc == -1) {
		free(new->ext);
		return -1;
	}
	segment_take(s, new);
	return 0;
}

/*
 * Replace n kilobytes of segment s, starting at kilobyte kb, with the first
 * ones of src. All kilobytes of s must be described.
 */
static int
segment_replace(struct segment *s, uint64_t kb, uint64_t n, struct source *src)
{
	struct segment new = { 0 };
	int rc;

	rc = extents_copy(&new, s, 0, kb);
	if (rc == 0)
		rc = segment_append(&new, n, src, 0);
	if (rc == 0)
		rc = extents_copy(&new, s, kb + n, s->kb);
	return extents_take(s, &new, rc);
}

/*
 * Find the kilobytes of segment s that have an address from start to last
 * (inclusive). Set *kb to the first of them, and *n to their number. Return
 * false if there are none.
 */
static bool
segment_overlap(const struct segment *s, uint64_t start, uint64_t last,
    uint64_t *kb, uint64_t *n)
{
	uint64_t end = s->base + (s->len - 1);

	if (start > end || last < s->base)
		return false;
	*kb = start <= s->base ? 0 : (start - s->base) / KB;
	*n = ((last < end ? last : end) - s->base) / KB + 1;
	if (*n > s->kb)
		*n = s->kb;
	if (*kb >= *n)
		return false;
	*n -= *kb;
	return true;
}

/*
 * Record n kilobytes of segment s, starting at kilobyte kb, as missing. reason
 * says why they are missing.
 */
static int
segment_miss(struct segment *s, uint64_t kb, uint64_t n, const char *reason)
{
	const uint64_t from = s->base + kb * KB, to = segment_end(s, kb, n);

	return image_miss(s->image, from, to, reason) == -1 ? -1 :
	    image_punch(s->image, from, to);
}

/*
 * In segment s, replace the n ranges at r, which must be sorted, with zeros,
 * and record them as missing.
 */
static int
segment_leave(struct segment *s, const struct missing *r, size_t n)
{
	struct segment new = { 0 };
	uint64_t at, kb, many;
	size_t k;
	int rc;

	for (at = 0, k = 0, rc = 0; k < n && rc == 0; k++) {
		if (!segment_overlap(s, r[k].start, r[k].end - 1, &kb, &many) ||
		    kb + many <= at)
			continue;
		many -= kb < at ? at - kb : 0;
		kb = kb < at ? at : kb;
		rc = extents_copy(&new, s, at, kb);
		if (rc == 0 && (rc = segment_append(&new, many, NULL, 0)) == 0)
			rc = segment_miss(s, kb, many, r[k].reason);
		at = kb + many;
	}
	if (at == 0)
		return 0;
	if (rc == 0)
		rc = extents_copy(&new, s, at, s->kb);
	return extents_take(s, &new, rc);
}

CMP(range_cmp, struct missing, start)

/*
 * Remove the n ranges r from image im, which may be NULL. Zero their kilobytes
 * in all segments, and record them as missing, for the reason given in each
 * range. This sorts r. Return 0, or -1 with errstr set.
 */
int
image_leave(struct image *im, struct missing *r, size_t n)
{
	size_t i;

	if (im == NULL || n == 0)
		return 0;
	SORT(r, n, range_cmp);
	for (i = 0; i < im->nseg; i++)
		if (segment_leave(im->seg[i], r, n) == -1)
			return -1;
	image_sortmissing(im);
	return 0;
}

/*
 * Read n kilobytes of segment s, starting at kilobyte kb, into buf. Record
 * kilobytes that cannot be read as missing, and zero them in buf.
 */
static int
segment_read(struct segment *s, uint64_t kb, uint64_t n, uint8_t *buf)
{
	const struct extent *e;
	struct run r;
	uint64_t at, end;
	int rc;

	memset(buf, 0, (size_t)(n * KB));
	for (at = kb; at < kb + n; at += r.n) {
		if ((e = segment_extent(s, at)) == NULL)
			return -1;
		end = e->kb + e->n < kb + n ? e->kb + e->n : kb + n;
		r.n = end - at;
		if (e->src == NULL)
			continue;
		r.loc = e->loc + (at - e->kb) * e->src->pitch;
		rc = source_read(e->src, &r, 1, buf + (at - kb) * KB);
		if (rc == -1)
			return -1;
		if (rc == SOURCE_OK)
			continue;
		memset(buf + (at - kb) * KB, 0, (size_t)(r.n * KB));
		if (image_miss(s->image, s->base + at * KB, segment_end(s, at,
		    r.n), "unreadable") == -1)
			return -1;
	}
	return 0;
}

/*
 * Let edit() change the len bytes at address start of image im of snapshot s.
 * edit() is called for each segment that has some of these bytes. Its arguments
 * are arg, and the address, contents and length of the kilobytes that contain
 * them. The segment then has the changed contents, and im no longer refers to
 * the old ones. Return 0, or -1 with errstr set.
 */
int
image_rewrite(struct snap *s, struct image *im, uint64_t start, size_t len,
    void (*edit)(void *, uint64_t, uint8_t *, size_t), void *arg)
{
	struct source *src;
	struct segment *g;
	uint64_t kb, n, last;
	uint8_t *buf;
	size_t i;

	if (im == NULL || len == 0 ||
	    __builtin_add_overflow(start, len - 1, &last))
		return 0;
	for (i = 0; i < im->nseg; i++) {
		g = im->seg[i];
		if (!segment_overlap(g, start, last, &kb, &n))
			continue;
		if ((buf = reallocarray(NULL, (size_t)n, KB)) == NULL)
			return errstr_set("out of memory");
		if (segment_read(g, kb, n, buf) == -1) {
			free(buf);
			return -1;
		}
		edit(arg, g->base + kb * KB, buf, (size_t)(n * KB));
		if ((src = kept_new(s, buf)) == NULL ||
		    segment_replace(g, kb, n, src) == -1)
			return -1;
	}
	image_sortmissing(im);
	return 0;
}
