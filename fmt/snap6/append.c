/*
 * Append the pages of a snap(6) stream to the segment that is being read.
 *
 * Page data is not kept in memory. For a file, extents point into the stream,
 * where a kilobyte takes 1025 bytes; this includes files compressed by snap.
 * For a pipe, it is copied to a spool. References are resolved while they are
 * read, so that extents always point at bytes.
 */
#include "read.h"

/*
 * Set r->src to the source from which raw pages will be read. If there is an
 * index, this source also checks the small files: reader_check(). Return 0, or
 * -1 with errstr set.
 */
int
reader_source(struct reader *r)
{
	if ((r->o->nodata || r->o->brief) && r->trailer.index == NULL)
		r->src = source_nothing(r->snap);
	else if (reader_copies(r)) {
		r->src = source_spool(r->snap);
		r->spool = true;
	} else {
		r->src = input_source(r->snap, r->in, KB + 1);
		if (r->src != NULL && r->trailer.index != NULL)
			r->src = source_checked(r, r->src,
			    input_source(r->snap, r->in, KB));
	}
	return r->src == NULL ? -1 : 0;
}

/*
 * Report the pages of r->run, which end at offset end of the stream.
 */
void
reader_runend(struct reader *r, uint64_t end)
{
	r->run.len = end - r->run.at;
	if (r->run.n > 0)
		reader_part(r, r->run);
	r->run.n = 0;
}

/*
 * Add p, the last pages that were read, to r->run if they continue it;
 * otherwise report r->run and begin another one.
 */
void
reader_run(struct reader *r, struct readpart p)
{
	struct readpart *w = &r->run;

	if (r->o->part == NULL)
		return;
	p.addr = r->seg->base + (r->seg->kb - p.n) * KB;
	if (w->n > 0 && p.kind == w->kind && p.pid == w->pid &&
	    (p.kind < PART_MEM || p.to == w->to + w->n * KB) &&
	    p.raw == (w->raw == 0 ? 0 : w->raw + w->n * (KB + 1))) {
		w->n += p.n;
		return;
	}
	reader_runend(r, p.at);
	*w = p;
}

/*
 * Copy a page of len bytes to the page store. If the store does not accept it,
 * copy it to the temporary file. Set *src and *loc to the place of the copy.
 * Return 0; 1 if the store accepted the page; or -1 with errstr set.
 */
int
reader_copy(struct reader *r, const uint8_t *page, size_t len,
    struct source **src, uint64_t *loc)
{
	int64_t at;
	int rc;

	rc = 0;
	if (r->o->store != NULL)
		rc = r->o->store->put(r->o->store, r->image, r->seg->base +
		    r->seg->kb * KB, page, len, src, loc);
	if (rc != 0)
		return rc;
	if ((at = spool_add(r->src, page, len)) == -1)
		return -1;
	*src = r->src;
	*loc = (uint64_t)at;
	return 0;
}

/*
 * Append one kilobyte to the segment that is being read. It is found at loc in
 * src, or is zero if src is NULL. Pass it to the page store, as a raw page.
 */
static int
pages_copy(struct reader *r, struct source *src, uint64_t loc)
{
	const struct run run = { .loc = loc, .n = 1 };
	uint8_t page[KB] = { 0 };
	const bool zero = src == NULL;

	if (src == r->src && spool_flush(src) == -1)
		return -1;
	if (!zero && source_read(src, &run, 1, page) != SOURCE_OK)
		return -1;
	if (reader_copy(r, page, KB, &src, &loc) == -1)
		return -1;
	return segment_append(r->seg, 1, zero ? NULL : src, loc);
}

/*
 * Append n kilobytes to the segment that is being read. They are found at loc
 * in src, or are zero if src is NULL. Copy those that the page store wants in
 * another place. Return 0, or -1 with errstr set.
 */
int
reader_pages(struct reader *r, uint64_t n, struct source *src, uint64_t loc)
{
	struct pagestore *st = r->o->store;
	uint64_t part, i;
	int rc;

	for (; n > 0; n -= part) {
		part = n;
		rc = st == NULL || st->stays == NULL || !r->spool ||
		    segment_kblen(r->seg, r->seg->kb) < KB ? 1 :
		    st->stays(st, r->image, r->seg->base + r->seg->kb * KB,
		    &part, src, loc);
		if (rc == 1)
			rc = segment_append(r->seg, part, src, loc);
		else
			for (i = 0; i < part && rc == 0; i++)
				rc = pages_copy(r, src, src == NULL ? 0 : loc +
				    i * src->pitch);
		if (rc == -1)
			return -1;
		loc += src == NULL ? 0 : part * src->pitch;
	}
	return 0;
}
