/*
 * Records of several rings in the order of their times.  Each ring is in
 * order, nearly; what was made at one time on two processors is read at
 * different ones.
 */
#include "bisect.h"
#include "perf.h"
#include "vec.h"

#include <stdlib.h>
#include <string.h>

static size_t
record_len(const struct perforder *o, size_t at)
{
	uint16_t n;

	memcpy(&n, o->bytes.data + at + 6, sizeof n);
	return n;
}

/*
 * Take note of the records that were added to the bytes of o.  Return 0, or -1
 * with errstr.
 */
int
order_note(struct perforder *o)
{
	size_t len;

	if (buf_check(&o->bytes) == -1)
		return -1;
	for (; o->seen < o->bytes.len; o->seen += len) {
		len = record_len(o, o->seen);
		if (VEC_ROOM(o->slot, o->n) == -1)
			return -1;
		o->slot[o->n++] = (struct perfslot){
		    perfrec_time(o->bytes.data + o->seen, len), o->seen };
	}
	return 0;
}

/*
 * Order by time, and what has the same time as it came.
 */
CMP2(slot_cmp, struct perfslot, time, at)

/*
 * Give the records of o up to the time until, in ns, in order, to the empty one
 * old; what is later stays.  Return 0, or -1 with errstr.
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
 * Free the records of o, which is empty then.
 */
void
order_free(struct perforder *o)
{
	buf_free(&o->bytes);
	free(o->slot);
	memset(o, 0, sizeof *o);
}
