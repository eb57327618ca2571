/*
 * Read the segments of snap(6) streams, page by page.
 */
#include "read.h"

/*
 * Read one raw page, and those after it that are already in the input buffer.
 */
static int
read_raw(struct reader *r)
{
	struct segment *s = r->seg;
	const uint8_t *p;
	struct source *src;
	const uint64_t start = r->in->pos;
	uint64_t left, loc;
	size_t n, len;

	if (r->src == NULL && reader_source(r) == -1)
		return -1;
	left = segment_kb(s) - s->kb;
	for (n = 0; n < left; n++) {
		len = segment_kblen(s, s->kb);
		if (n > 0 && r->in->end - r->in->start < len + 1)
			break;
		if ((p = input_peek(r->in, len + 1)) == NULL)
			return reader_short(r, "raw page");
		if (*p != 'r')
			break;
		src = r->src;
		loc = r->o->brief ? s->kb * src->pitch :
		    (uint64_t)r->in->origin + r->in->pos + 1;
		if (r->spool && reader_copy(r, p + 1, len, &src, &loc) == -1)
			return -1;
		if (segment_append(s, 1, src, loc) == -1)
			return -1;
		input_skip(r->in, len + 1);
	}
	r->proc->count.raw += n;
	reader_run(r, (struct readpart){ .kind = PART_RAW, .at = start,
	    .n = n });
	progress_count(r->o->progress, n, 0, 0);
	return 0;
}

static int
read_zero(struct reader *r)
{
	struct segment *s = r->seg;
	const uint8_t *p;
	uint64_t left;
	size_t n, have;

	have = r->in->end - r->in->start;
	p = r->in->buf + r->in->start;
	left = segment_kb(s) - s->kb;
	for (n = 0; n < have && n < left && p[n] == 'z'; n++)
		continue;
	input_skip(r->in, n);
	r->proc->count.zero += n;
	progress_count(r->o->progress, 0, n, 0);
	if (reader_pages(r, n, NULL, 0) == -1)
		return -1;
	reader_run(r, (struct readpart){ .kind = PART_ZERO,
	    .at = r->in->pos - n, .n = n });
	return 0;
}

static int
read_pages(struct reader *r)
{
	struct segment *s = r->seg;
	const uint8_t *p;
	uint64_t at;
	size_t cap;
	int rc;

	while (s->kb < segment_kb(s)) {
		at = r->in->pos;
		cap = s->cap;
		if ((p = input_peek(r->in, 1)) == NULL)
			rc = reader_short(r, "page");
		else if (*p == 'r')
			rc = read_raw(r);
		else if (*p == 'z')
			rc = read_zero(r);
		else if (*p == 'm' || *p == 't')
			rc = read_refer(r, (char)*p);
		else
			rc = errstr_set("expected r, z, m, or t, found "
			    "byte 0x%02x", *p);
		if (rc == 0 && s->cap > cap)
			rc = reader_hold(r, (s->cap - cap) * sizeof *s->ext);
		if (rc == -1) {
			reader_runend(r, at);
			if (!r->fault.cut)
				r->fault.at = at;
			return errstr_wrap("page %" PRIu64, s->kb);
		}
	}
	reader_runend(r, r->in->pos);
	return 0;
}

/*
 * Read one segment from r into im. Return 0, or -1 with errstr set.
 */
int
read_segment(struct reader *r, struct image *im)
{
	const uint64_t start = r->in->pos;
	struct segment *s;
	uint64_t base, len;

	if (read_num(r, "base", &base) == -1 ||
	    read_num(r, "length", &len) == -1)
		return -1;
	reader_part(r, (struct readpart){ .kind = PART_SEGMENT, .at = start,
	    .addr = base, .n = len });
	if (len == 0)
		return 0;
	if (len / KB + (len % KB != 0) > reader_rest(r)) {
		r->fault.cut = true;
		return errstr_set("length: %" PRIu64 " bytes of pages, "
		    "but only %" PRIu64 " bytes are left in the stream", len,
		    reader_rest(r));
	}
	if (reader_hold(r, HELD_SEGMENT) == -1 ||
	    (r->seg = segment_new(base, len)) == NULL)
		return -1;
	r->image = im;
	if (im->kind == IMAGE_MEM)
		r->memend = memory_end(base, len);
	if (read_pages(r) == -1) {
		if ((r->o->salvage || r->o->partial) &&
		    salvage_segment(r, im) == -1)
			return -1;
		segment_free(r->seg);
		r->seg = NULL;
		return -1;
	}
	s = r->seg;
	r->seg = NULL;
	return image_insert(im, s);
}
