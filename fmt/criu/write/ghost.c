/*
 * Deleted files, whose bytes are carried along in the snapshot: an image of
 * each has a head, and then the parts of it that are no holes.
 */
#include "write.h"
#include "full.h"

#include <stdlib.h>
#include <unistd.h>

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
 * Write a part of a file that is carried along, with a head, at *to, which
 * becomes the byte behind it.
 */
static int
chunk_write(int fd, struct image *body, uint64_t addr,
    const Criu__GhostChunk *head, uint64_t *to)
{
	enum { PIECE = 64 * 1024 };
	struct buf b = { 0 };
	uint64_t done;
	uint8_t *p;
	size_t n;
	int rc;

	criuimg_add(&b, &head->base);
	if (buf_check(&b) == -1 || (p = malloc(PIECE)) == NULL) {
		buf_free(&b);
		return errstr_set("out of memory");
	}
	if ((rc = full_pwrite(fd, b.data, b.len, *to)) == -1)
		errstr_sys("byte %ju", (uintmax_t)*to);
	*to += b.len;
	for (done = 0; rc == 0 && done < head->bytes; done += n) {
		n = head->bytes - done < PIECE ? (size_t)(head->bytes - done) :
		    PIECE;
		rc = image_read(body, addr + done, p, n);
		if (rc == 0 && full_pwrite(fd, p, n, *to + done) == -1)
			rc = errstr_sys("byte %ju", (uintmax_t)(*to + done));
	}
	*to += head->bytes;
	free(p);
	buf_free(&b);
	return rc;
}

/*
 * Write what is no hole of a file that is carried along behind the head of its
 * image.
 */
static int
body_write(const struct made *im, int fd)
{
	Criu__GhostChunk c = CRIU__GHOST_CHUNK__INIT;
	struct image *body;
	uint64_t at, end, to, origin;
	int rc;

	body = im->body->text != NULL ? im->body->text : im->body->mem;
	if (body == NULL)
		return 0;
	origin = image_origin(body);
	to = im->b.len;
	for (rc = 0, at = 0; at < im->bodylen && rc == 0; at = end) {
		if (!body_run(body, origin, at, im->bodylen, &end))
			continue;
		c.off = at;
		c.bytes = end - at;
		rc = chunk_write(fd, body, origin + at, &c, &to);
	}
	return rc == -1 ? errstr_wrap("%s", im->name) : 0;
}

/*
 * Write the image of a deleted file.  Return 0, or -1 with errstr.
 */
int
ghost_put(struct criuout *out, const struct made *im)
{
	int fd, rc;

	if ((fd = outdir_file(out->out, im->name)) == -1)
		return -1;
	rc = full_pwrite(fd, im->b.data, im->b.len, 0) == -1 ?
	    errstr_sys("%s", im->name) : body_write(im, fd);
	close(fd);
	return rc;
}
