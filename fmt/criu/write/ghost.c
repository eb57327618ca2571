/*
 * Deleted files, whose bytes are carried along in the snapshot: an image of
 * each has a head, and then the parts of it that are no holes.
 */
#include "write.h"

/*
 * Return whether there are zeros at a byte of a file that is carried along,
 * the addresses of whose image begin with origin.  Set *end to the first byte
 * behind what is alike.
 */
static bool
zero_run(struct image *body, uint64_t origin, uint64_t at, uint64_t len,
    uint64_t *end)
{
	struct span sp;
	bool zero;

	image_span(body, origin + at, &sp);
	zero = sp.zero;
	for (*end = at; sp.zero == zero; image_span(body, origin + *end,
	    &sp)) {
		if (sp.last - origin >= len - 1) {
			*end = len;
			break;
		}
		*end = sp.last - origin + 1;
	}
	return zero;
}

/*
 * The same of data, which has no hole where not all of a block is zeros.
 */
static bool
body_run(struct image *body, uint64_t origin, uint64_t at, uint64_t len,
    uint64_t *end)
{
	enum { BLOCK = 4096 };	/* of most file systems, or more */
	uint64_t from, first, last;

	for (from = at; from < len; from = last) {
		if (!zero_run(body, origin, from, len, &last))
			continue;
		first = from + (BLOCK - from % BLOCK) % BLOCK;
		*end = last == len ? len : last - last % BLOCK;
		if (first >= *end)
			continue;
		if (first == at)
			return false;
		*end = first;
		return true;
	}
	*end = len;
	return true;
}

/*
 * Return where the bytes of the file im are that is carried along; NULL: it has
 * none.
 */
struct image *
ghost_body(const struct made *im)
{
	return im->body->text != NULL ? im->body->text : im->body->mem;
}

/*
 * Call fn(arg, head, n, addr, len) for each part that is no hole of im, a file
 * that is carried along: the n bytes of its head, and where in ghost_body the
 * len bytes lie that come behind it.  Until fn returns -1; return 0, or -1 with
 * errstr.
 */
int
ghost_each(const struct made *im, ghost_fn fn, void *arg)
{
	struct image *body = ghost_body(im);
	struct buf b = { 0 };
	uint64_t at, end, origin;
	int rc;

	if (body == NULL)
		return 0;
	origin = image_origin(body);
	for (rc = 0, at = 0; at < im->bodylen && rc == 0; at = end) {
		Criu__GhostChunk c = CRIU__GHOST_CHUNK__INIT;

		if (!body_run(body, origin, at, im->bodylen, &end))
			continue;
		c.off = at;
		c.bytes = end - at;
		criuimg_add(&b, &c.base);
		rc = buf_check(&b);
		if (rc == 0)
			rc = fn(arg, b.data, b.len, origin + at, c.bytes);
		buf_free(&b);
	}
	return rc;
}
