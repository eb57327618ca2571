/*
 * Read any range of a compressed stream that we wrote (file.c). Several
 * threads decompress a long range, such as an index; members that lie in it
 * completely are decompressed directly into the caller's buffer, not into
 * slots.
 */
#include "gzip.h"
#include "model.h"
#include "worker.h"

enum { MIN_MEMBERS = 3 };	/* minimum number of members for which threads
				   are started */

struct unpacking {
	struct gzipfile	*f;	/* borrowed */
	uint8_t		*buf;	/* borrowed; result buffer */
	uint64_t	 pos;	/* position in the decompressed stream of the
				   first byte to read */
	uint64_t	 end;	/* end position, exclusive */
	uint64_t	 nmember; /* number of members that overlap the range */
	_Atomic uint64_t next;	/* index of the first member that no thread
				   has taken */
	atomic_bool	 failed; /* an error occurred; "why" describes it */
	char		 why[512];
};

/*
 * Read n bytes at position pos of stream f into buf as gzipfile_read() does,
 * but in this thread alone.
 */
static int
part_read(struct gzipfile *f, uint8_t *buf, size_t n, uint64_t pos)
{
	struct slot *held;
	int rc;

	held = NULL;
	rc = slots_read(f, &held, buf, n, pos);
	if (held != NULL)
		slot_put(f, held);
	return rc;
}

/*
 * Read the part of the range that is in member i, counted from the first member
 * that overlaps the range.
 */
static int
member_unpack(const struct unpacking *s, uint64_t i)
{
	const uint64_t member = s->pos / GZIP_RAW + i;
	uint64_t from, to;
	uint8_t *buf;
	bool damaged;

	from = member * GZIP_RAW;
	to = from + GZIP_RAW < s->end ? from + GZIP_RAW : s->end;
	from = from > s->pos ? from : s->pos;
	buf = s->buf + (from - s->pos);
	if (to - from == GZIP_RAW && to <= gzipfile_size(s->f))
		return gzipfile_member(s->f, (size_t)member, buf, &damaged);
	return part_read(s->f, buf, (size_t)(to - from), from);
}

static void *
unpack_work(void *arg)
{
	struct unpacking *s = arg;
	uint64_t i;

	while (!s->failed && (i = s->next++) < s->nmember)
		if (member_unpack(s, i) == -1 &&
		    !atomic_exchange(&s->failed, true))
			strlcpy(s->why, snap_errstr(), sizeof s->why);
	return NULL;
}

/*
 * Read n bytes at decompressed position pos of stream f into buf. Bytes beyond
 * the end of f read as zeros. Return 0, or -1 with errstr set.
 */
int
gzipfile_read(struct gzipfile *f, void *buf, size_t n, uint64_t pos)
{
	const uint64_t threads = (uint64_t)processors_count();
	struct unpacking s = { .f = f, .buf = buf, .pos = pos, .end = pos + n };

	s.nmember = (pos % GZIP_RAW + n + GZIP_RAW - 1) / GZIP_RAW;
	if (s.nmember < MIN_MEMBERS)
		return part_read(f, buf, n, pos);
	workers_run((size_t)(threads < s.nmember ? threads : s.nmember),
	    unpack_work, &s);
	return s.failed ? errstr_set("%s", s.why) : 0;
}
