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

struct ghostout {		/* an image that is written */
	struct image	*body;	/* borrowed */
	int		 fd;
	uint64_t	 to;	/* where the next part goes */
};

/*
 * Write a part, with its head.
 */
static int
chunk_write(void *arg, const uint8_t *head, size_t len, uint64_t addr,
    uint64_t bytes)
{
	enum { PIECE = 64 * 1024 };
	struct ghostout *g = arg;
	uint64_t done;
	uint8_t *p;
	size_t n;
	int rc;

	if ((p = malloc(PIECE)) == NULL)
		return errstr_set("out of memory");
	if ((rc = full_pwrite(g->fd, head, len, g->to)) == -1)
		errstr_sys("byte %ju", (uintmax_t)g->to);
	g->to += len;
	for (done = 0; rc == 0 && done < bytes; done += n) {
		n = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
		rc = image_read(g->body, addr + done, p, n);
		if (rc == 0 && full_pwrite(g->fd, p, n, g->to + done) == -1)
			rc = errstr_sys("byte %ju", (uintmax_t)(g->to + done));
	}
	g->to += bytes;
	free(p);
	return rc;
}

/*
 * Write the image im of a deleted file to out.  Return 0, or -1 with errstr.
 */
int
ghost_put(struct criuout *out, const struct made *im)
{
	struct ghostout g = { .body = ghost_body(im), .to = im->b.len };
	int rc;

	if ((g.fd = outdir_file(out->out, im->name)) == -1)
		return -1;
	if (full_pwrite(g.fd, im->b.data, im->b.len, 0) == -1)
		rc = errstr_sys("%s", im->name);
	else if ((rc = ghost_each(im, chunk_write, &g)) == -1)
		errstr_wrap("%s", im->name);
	close(g.fd);
	return rc;
}
