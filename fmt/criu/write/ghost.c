/*
 * Write deleted files, whose content is embedded in the snapshot. An image has
 * a header, and then a chunk for each part of the file that is not a hole.
 */
#include "write.h"

/*
 * Return true if the byte at offset off of a file is in a run of zeros, or
 * false if it is in data. Set *end to the end of that run or data. The len
 * bytes of the file are in body, from address origin on.
 */
static bool
zero_run(struct image *body, uint64_t origin, uint64_t off, uint64_t len,
    uint64_t *end)
{
	struct span sp;
	bool zero;

	image_span(body, origin + off, &sp);
	zero = sp.zero;
	for (*end = off; sp.zero == zero; image_span(body, origin + *end,
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
 * Return true if the byte at offset off of a file is in data, or false if it is
 * in a hole. Set *end to the end of that data or hole. A hole consists of whole
 * blocks of zeros; the last block of the file may be shorter. The len bytes of
 * the file are in body, from address origin on.
 */
static bool
body_run(struct image *body, uint64_t origin, uint64_t off, uint64_t len,
    uint64_t *end)
{
	enum { BLOCK = 4096 };	/* block size of most file systems */
	uint64_t from, first, last;

	for (from = off; from < len; from = last) {
		if (!zero_run(body, origin, from, len, &last))
			continue;
		first = from + (BLOCK - from % BLOCK) % BLOCK;
		*end = last == len ? len : last - last % BLOCK;
		if (first >= *end)
			continue;
		if (first == off)
			return false;
		*end = first;
		return true;
	}
	*end = len;
	return true;
}

/*
 * Return the image with the content of embedded file im, or NULL if the file is
 * empty.
 */
struct image *
ghost_body(const struct made *im)
{
	return im->body->text != NULL ? im->body->text : im->body->mem;
}

/*
 * Call fn(arg, head, n, addr, len) for each part of deleted file im that is not
 * a hole. Stop when fn returns -1. head has the n bytes of the chunk header.
 * The len bytes of the part are at addr in ghost_body(im). Return 0, or -1 with
 * errstr set.
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
