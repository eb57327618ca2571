/*
 * Read references of snap(6) streams: pages that are described elsewhere in the
 * stream.
 */
#include "read.h"

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
 * it, as one run. Return 0, or -1 with errstr set.
 */
int
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
	if (reader_pages(r, n, e->src, at) == -1)
		return -1;
	reader_run(r, (struct readpart){ .kind = type == 'm' ? PART_MEM :
	    PART_TEXT, .at = start, .pid = pid, .n = n, .to = addr,
	    .raw = at == 0 ? 0 : at - (uint64_t)r->in->origin - 1 });
	return 0;
}
