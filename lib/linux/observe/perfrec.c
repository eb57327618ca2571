/*
 * Parse the records of perf_event_open(2), as tracer.c requests them, and sort
 * those of several rings by time. Records of one ring are nearly sorted; those
 * of one moment on two processors are read at different times. Numbers are in
 * host byte order.
 *
 *	header	type[4] misc[2] size[2]
 *	SAMPLE	id[8] ip[8] pid[4] tid[4] time[8] addr[8] (rawlen[4] raw)
 *	others	..., pid[4] tid[4] time[8] id[8]
 */
#include "bisect.h"
#include "model.h"
#include "num.h"
#include "perf.h"
#include "vec.h"

enum { HEAD = 8, TAIL = 24, SAMPLE_TIME = 32, SAMPLE_LEN = 48 };

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t)num_here(p, 4);
}

static int
sample_parse(struct perfrec *r, const uint8_t *p, size_t len)
{
	if (len < SAMPLE_LEN)
		return errstr_set("perf: a sample has only %zu bytes", len);
	r->id = num_here(p + 8, 8);
	r->ip = num_here(p + 16, 8);
	r->pid = get32(p + 24);
	r->tid = get32(p + 28);
	r->time = num_here(p + SAMPLE_TIME, 8);
	r->addr = num_here(p + 40, 8);
	if (len < SAMPLE_LEN + 4)
		return 0;
	r->rawlen = get32(p + SAMPLE_LEN);
	r->raw = p + SAMPLE_LEN + 4;
	if (r->rawlen > len - SAMPLE_LEN - 4)
		return errstr_set("perf: raw data of %zu bytes do not fit in a "
		    "sample of %zu", r->rawlen, len);
	return 0;
}

/*
 * Set r->name to a string in the record at p, which has len bytes. The string
 * begins at byte offset off. The string must end before the last TAIL bytes of
 * the record.
 */
static int
name_parse(struct perfrec *r, const uint8_t *p, size_t off, size_t len)
{
	if (len < off + TAIL + 1 ||
	    memchr(p + off, '\0', len - TAIL - off) == NULL)
		return errstr_set("perf: a record of %zu bytes has an "
		    "unterminated name", len);
	r->name = (const char *)p + off;
	return 0;
}

static int
mmap2_parse(struct perfrec *r, const uint8_t *p, size_t len)
{
	if (name_parse(r, p, 72, len) == -1)
		return -1;
	r->addr = num_here(p + 16, 8);
	r->len = num_here(p + 24, 8);
	r->off = num_here(p + 32, 8);
	r->major = get32(p + 40);
	r->minor = get32(p + 44);
	r->ino = num_here(p + 48, 8);
	r->prot = get32(p + 64);
	r->flags = get32(p + 68);
	return 0;
}

static int
task_parse(struct perfrec *r, const uint8_t *p, size_t len)
{
	if (len < 32 + TAIL)
		return errstr_set("perf: a thread record has only %zu bytes",
		    len);
	r->child = get32(p + 8);
	r->parent = get32(p + 12);
	r->ctid = get32(p + 16);
	return 0;
}

/*
 * Parse the record of len bytes at p into r, which then has pointers to those
 * bytes. If perf.h does not list the type of the record, set only the members
 * that all records have. Return 0, or -1 with errstr set.
 */
int
perfrec_parse(struct perfrec *r, const uint8_t *p, size_t len)
{
	memset(r, 0, sizeof *r);
	if (len < HEAD || num_here(p + 6, 2) != len)
		return errstr_set("perf: a record of %zu bytes has a "
		    "different length in its header", len);
	r->type = get32(p);
	r->misc = (uint32_t)num_here(p + 4, 2);
	if (r->type == PERFREC_SAMPLE)
		return sample_parse(r, p, len);
	if (len < HEAD + TAIL)
		return errstr_set("perf: a record has only %zu bytes", len);
	r->pid = get32(p + len - TAIL);
	r->tid = get32(p + len - TAIL + 4);
	r->time = num_here(p + len - TAIL + 8, 8);
	r->id = num_here(p + len - TAIL + 16, 8);
	switch (r->type) {
	case PERFREC_MMAP2:
		return mmap2_parse(r, p, len);
	case PERFREC_COMM:
		return name_parse(r, p, 16, len);
	case PERFREC_FORK:
	case PERFREC_EXIT:
		return task_parse(r, p, len);
	case PERFREC_LOST:
	case PERFREC_LOSTSAMPLES:
		if (len < HEAD + TAIL + 8)
			return errstr_set("perf: a record of lost events "
			    "has only %zu bytes", len);
		r->lost = num_here(p + len - TAIL - 8, 8);
	}
	return 0;
}

/*
 * Return the time, in ns, of the record of len bytes at p. Return 0 if the
 * record is too short to have a time.
 */
uint64_t
perfrec_time(const uint8_t *p, size_t len)
{
	if (len >= SAMPLE_LEN && get32(p) == PERFREC_SAMPLE)
		return num_here(p + SAMPLE_TIME, 8);
	return len >= HEAD + TAIL && get32(p) != PERFREC_SAMPLE ?
	    num_here(p + len - TAIL + 8, 8) : 0;
}

/*
 * Append unread bytes of the ring at data to the buffer out: those between the
 * offsets tail and head, both counted from the creation of the ring. Join a
 * record that wraps around. size is the number of bytes in the ring, a power of
 * two. Return 0. If the bytes are not complete records, append nothing and
 * return -1 with errstr set.
 */
int
ring_copy(struct buf *out, const uint8_t *data, size_t size, uint64_t tail,
    uint64_t head)
{
	size_t from, len, n, at;
	uint8_t *p;

	if (head - tail > size)
		return errstr_set("perf: %ju unread bytes in a ring of only "
		    "%zu", (uintmax_t)(head - tail), size);
	if ((len = (size_t)(head - tail)) == 0)
		return 0;
	if ((p = buf_room(out, len)) == NULL)
		return errstr_set("out of memory");
	from = (size_t)(tail & (size - 1));
	n = len < size - from ? len : size - from;
	memcpy(p, data + from, n);
	memcpy(p + n, data, len - n);
	for (at = 0; at < len; at += n) {
		n = len - at < HEAD ? 0 : (size_t)num_here(p + at + 6, 2);
		if (n < HEAD || n > len - at)
			return errstr_set("perf: a record of %zu bytes is "
			    "invalid: %zu bytes are left", n, len - at);
	}
	out->len += len;
	return 0;
}

static size_t
record_len(const struct perforder *o, size_t at)
{
	uint16_t n;

	memcpy(&n, o->bytes.data + at + 6, sizeof n);
	return n;
}

/*
 * Make slots for the records that were appended to o->bytes. Return 0, or -1
 * with errstr set.
 */
int
order_note(struct perforder *o)
{
	size_t len;

	if (buf_check(&o->bytes) == -1)
		return -1;
	for (; o->seen < o->bytes.len; o->seen += len) {
		len = record_len(o, o->seen);
		if (VEC_ADD(o->slot, o->n, (struct perfslot){
		    perfrec_time(o->bytes.data + o->seen, len),
		    o->seen }) == -1)
			return -1;
	}
	return 0;
}

/*
 * Compare two slots by time, then by position.
 */
CMP2(slot_cmp, struct perfslot, time, at)

/*
 * Move the records of o that are not later than until, a time in ns, to *old,
 * which must be empty. Sort them by time. Later records stay in o. Return 0, or
 * -1 with errstr set.
 */
int
order_split(struct perforder *o, uint64_t until, struct perforder *old)
{
	struct perforder later = { 0 };
	size_t i, n;

	SORT(o->slot, o->n, slot_cmp);
	for (n = o->n; n > 0 && o->slot[n - 1].time > until; n--)
		continue;
	for (i = n; i < o->n; i++)
		buf_add(&later.bytes, o->bytes.data + o->slot[i].at,
		    record_len(o, o->slot[i].at));
	if (order_note(&later) == -1) {
		order_free(&later);
		return -1;
	}
	*old = *o;
	old->n = n;
	*o = later;
	return 0;
}

/*
 * Free the records of o, and make o empty.
 */
void
order_free(struct perforder *o)
{
	buf_free(&o->bytes);
	free(o->slot);
	memset(o, 0, sizeof *o);
}
