/*
 * Read the segments of snap(6) streams, page by page.
 *
 * Page data is not kept in memory. For a file, extents point into the stream,
 * where a kilobyte takes 1025 bytes; this includes files compressed by snap.
 * For a pipe, it is copied to a spool. References are resolved while they are
 * read, so that extents always point at bytes.
 */
#include "read.h"

/*
 * Set r->src to the source from which raw pages will be read. Return 0, or -1
 * with errstr set.
 */
int
reader_source(struct reader *r)
{
	if (r->o->nodata || r->o->brief)
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
static void
run_end(struct reader *r, uint64_t end)
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
static void
run_add(struct reader *r, struct readpart p)
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
	run_end(r, p.at);
	*w = p;
}

/*
 * Copy a page of len bytes to the page store. If the store does not accept it,
 * copy it to the temporary file. Set *src and *loc to the place of the copy.
 */
static int
copy_page(struct reader *r, const uint8_t *page, size_t len,
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
		if (r->spool && copy_page(r, p + 1, len, &src, &loc) == -1)
			return -1;
		if (segment_append(s, 1, src, loc) == -1)
			return -1;
		input_skip(r->in, len + 1);
	}
	r->proc->count.raw += n;
	run_add(r, (struct readpart){ .kind = PART_RAW, .at = start, .n = n });
	progress_count(r->o->progress, n, 0, 0);
	return 0;
}

/*
 * Append one kilobyte to the segment that is being read, found at loc in src,
 * or zero if src is NULL. Pass it to the page store, as a raw page.
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
	if (copy_page(r, page, KB, &src, &loc) == -1)
		return -1;
	return segment_append(r->seg, 1, zero ? NULL : src, loc);
}

/*
 * Append n kilobytes to the segment that is being read. They are found at loc
 * in src, or are zero if src is NULL. Copy those that the page store wants in
 * another place.
 */
static int
pages_append(struct reader *r, uint64_t n, struct source *src, uint64_t loc)
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
	if (pages_append(r, n, NULL, 0) == -1)
		return -1;
	run_add(r, (struct readpart){ .kind = PART_ZERO,
	    .at = r->in->pos - n, .n = n });
	return 0;
}

/*
 * Change *addr, the address in a reference, to an address in image im. type is
 * the type of the reference. An address in a text is relative to the first
 * segment of the text, which may be the one being read.
 */
static int
refer_address(const struct reader *r, const struct image *im, char type,
    uint64_t *addr)
{
	uint64_t origin;

	origin = im->nseg > 0 ? image_origin(im) : 0;
	if (type == 't' && im->nseg == 0 && r->image == im)
		origin = r->seg->base;
	if (__builtin_add_overflow(*addr, origin, addr))
		return errstr_set("beyond 2^64");
	return 0;
}

/*
 * Find the segment with the page that a reference refers to. addr and type are
 * the address and type of the reference. Set *kb to the page's kilobyte in the
 * segment. Set *more to the number of further kilobytes that are certainly in
 * the same segment. If several segments have the address, use the one that is
 * visible there at this point of the stream. Return the segment, or NULL with
 * errstr set if there is none.
 */
static struct segment *
refer_find(struct reader *r, struct proc *p, char type, uint64_t addr,
    uint64_t *kb, uint64_t *more)
{
	struct image *im;
	struct piece *pc;
	struct segment *s;

	im = type == 't' ? p->text : p->mem;
	if (im == NULL) {
		errstr_set("nothing was described there before");
		return NULL;
	}
	if (refer_address(r, im, type, &addr) == -1)
		return NULL;
	pc = image_find(im, addr);
	s = pc == NULL ? NULL : pc->seg;
	*more = 0;
	if (s != NULL && (im != r->image || s->section == im->section))
		*more = (pc->last - addr) / KB;
	else if (im == r->image && addr >= r->seg->base &&
	    (addr - r->seg->base) / KB < r->seg->kb)
		s = r->seg;
	if (s == NULL) {
		errstr_set("nothing was described there before");
		return NULL;
	}
	if ((addr - s->base) % KB != 0) {
		errstr_set("not a multiple of 1024 bytes from the base of "
		    "its segment");
		return NULL;
	}
	*kb = (addr - s->base) / KB;
	return s;
}

/*
 * Skip up to n references to the pages after addr. Stop at one that is not
 * wholly in the input buffer, or that is not formatted as snap formats it.
 * Return the number of references skipped.
 */
static uint64_t
refer_more(struct reader *r, char type, uint64_t pid, uint64_t addr, uint64_t n)
{
	char want[1 + 2 * SNAP6_NUMMOST], *place;
	struct input *in = r->in;
	uint64_t k;
	size_t len;

	want[0] = type;
	place = num_format(want + 1, pid);
	for (k = 0; k < n; k++, input_skip(in, len)) {
		if (__builtin_add_overflow(addr, KB, &addr))
			break;
		len = (size_t)(num_format(place, addr) - want);
		if (in->end - in->start < len ||
		    memcmp(in->buf + in->start, want, len) != 0)
			break;
	}
	return k;
}

/*
 * Return the number of kilobytes after kb that are in both extent e and segment
 * s. The last kilobyte of s is not counted, because it may be short.
 */
static uint64_t
least_behind(const struct extent *e, const struct segment *s, uint64_t kb)
{
	uint64_t a, b;

	a = e->kb + e->n - 1 - kb;
	b = segment_kb(s) - 1 - kb;
	b -= b > 0;
	return a < b ? a : b;
}

/*
 * Return true if a reference to address addr of process p leads to a page that
 * the page store still has. A store that overwrites early copies has the pages
 * of the copy that is being read, and those of the copy before whose addresses
 * are still to come. The sender refers to the latter only from the same address
 * of the same process.
 */
static bool
refer_kept(const struct reader *r, const struct proc *p, uint64_t addr)
{
	const uint64_t pid = r->proc->pid;

	if (r->o->store == NULL || r->o->store->stays == NULL ||
	    !proc_isearly(p) || p->pid / EARLY_PID == pid / EARLY_PID)
		return true;
	return p->pid % EARLY_PID == pid % EARLY_PID &&
	    addr == r->seg->base + r->seg->kb * KB &&
	    (proc_isearly(r->proc) ? pid - p->pid == EARLY_PID :
	    snap_find(r->snap, p->pid + EARLY_PID) == NULL);
}

/*
 * Read a reference of the given type (m or t), and the references that continue
 * it, as one run.
 */
static int
read_refer(struct reader *r, char type)
{
	struct segment *s;
	struct proc *p;
	const struct extent *e;
	const uint64_t start = r->in->pos;
	uint64_t pid, addr, kb, mine, more, n, at;

	input_skip(r->in, 1);
	if (read_num(r, "reference", &pid) == -1 ||
	    read_num(r, "reference", &addr) == -1)
		return -1;
	if ((p = snap_find(r->snap, pid)) == NULL)
		return errstr_set("refers to process %" PRIu64
		    ", which is not in the snapshot", pid);
	if (!refer_kept(r, p, addr))
		return errstr_set("refers to memory %" PRIu64 " of process %"
		    PRIu64 ", which a later copy replaces", addr, pid);
	mine = r->seg->kb;
	if ((s = refer_find(r, p, type, addr, &kb, &more)) == NULL)
		return errstr_wrap("refers to %s %" PRIu64 " of process %"
		    PRIu64, type == 't' ? "text" : "memory", addr, pid);
	if (segment_kblen(s, kb) != segment_kblen(r->seg, mine))
		return errstr_set("refers to a page of %zu bytes, "
		    "but has %zu", segment_kblen(s, kb),
		    segment_kblen(r->seg, mine));
	e = segment_extent(s, kb);
	n = least_behind(e, s, kb);
	more = more < n ? more : n;
	n = segment_kb(r->seg) - 1 - mine;
	n -= n > 0;
	more = more < n ? more : n;
	n = 1 + refer_more(r, type, pid, addr, more);
	r->proc->count.same += n;
	progress_count(r->o->progress, 0, 0, n);
	at = e->src == NULL ? 0 : r->o->brief ? mine * e->src->pitch :
	    e->loc + (kb - e->kb) * e->src->pitch;
	if (pages_append(r, n, e->src, at) == -1)
		return -1;
	run_add(r, (struct readpart){ .kind = type == 'm' ? PART_MEM :
	    PART_TEXT, .at = start, .pid = pid, .n = n, .to = addr,
	    .raw = at == 0 ? 0 : at - (uint64_t)r->in->origin - 1 });
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
			run_end(r, at);
			if (!r->fault.cut)
				r->fault.at = at;
			return errstr_wrap("page %" PRIu64, s->kb);
		}
	}
	run_end(r, r->in->pos);
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
		if (r->o->salvage && salvage_segment(r, im) == -1)
			return -1;
		segment_free(r->seg);
		r->seg = NULL;
		return -1;
	}
	s = r->seg;
	r->seg = NULL;
	return image_insert(im, s);
}
