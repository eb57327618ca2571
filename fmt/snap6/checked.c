/*
 * Pages of a snap(6) stream that was opened by its index: a megabyte is read
 * whole and compared with its sum before the first of its pages is used.
 */
#include "read.h"
#include "num.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 32 };		/* kilobytes read at once */

enum { UNKNOWN, SOUND, DAMAGED };

struct checked {
	struct source	 src;
	struct source	*page;	/* borrowed; the stream's pages, and */
	struct source	*all;	/* all its bytes, locations being the same */
	uint64_t	 origin; /* where it begins there */
	uint64_t	 bytes;	/* of it, that have sums */
	uint8_t		*sums;	/* owned; as in the trailer */
	atomic_uchar	*state;	/* owned; of each megabyte */
};

/*
 * Return 0 if megabyte mb is as its sum tells; SOURCE_LOST if not.
 */
static int
check_megabyte(struct checked *z, uint64_t mb)
{
	uint8_t buf[PIECE * KB];
	struct sums *s;
	struct run r;
	uint64_t left, n;
	int rc;

	if ((s = sums_new()) == NULL)
		return -1;
	left = z->bytes - mb * SUM_BYTES;
	if (left > SUM_BYTES)
		left = SUM_BYTES;
	rc = SOURCE_OK;
	for (r.loc = z->origin + mb * SUM_BYTES; left > 0 &&
	    rc == SOURCE_OK; r.loc += n, left -= n) {
		n = left < sizeof buf ? left : sizeof buf;
		r.n = (n + KB - 1) / KB;
		rc = source_read(z->all, &r, 1, buf);
		sums_add(s, buf, (size_t)n);
	}
	if (rc == SOURCE_OK && sums_end(s) == -1)
		rc = -1;
	if (rc == SOURCE_OK && s->sum[0] != num_get(z->sums + mb * 8, 8)) {
		atomic_store(&z->state[mb], DAMAGED);
		rc = SOURCE_LOST;
	} else if (rc == SOURCE_OK)
		atomic_store(&z->state[mb], SOUND);
	sums_free(s);
	return rc;
}

/*
 * See that bytes of the stream are as the sums tell.
 */
static int
check_range(struct checked *z, uint64_t from, uint64_t to)
{
	uint64_t mb;
	int rc;

	if (to > z->bytes)
		to = z->bytes;
	for (mb = from / SUM_BYTES; mb * SUM_BYTES < to; mb++) {
		rc = SOURCE_OK;
		if (atomic_load(&z->state[mb]) == UNKNOWN)
			rc = check_megabyte(z, mb);
		if (atomic_load(&z->state[mb]) == DAMAGED) {
			errstr_set("byte %" PRIu64 ": megabyte %" PRIu64
			    " is damaged: its sum is not that in the trailer",
			    mb * SUM_BYTES, mb);
			return SOURCE_LOST;
		}
		if (rc != SOURCE_OK)
			return rc;
	}
	return SOURCE_OK;
}

static int
checked_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	struct checked *z = (struct checked *)src;
	uint64_t from;
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		from = r[i].loc - z->origin - 1;
		rc = check_range(z, from, from + r[i].n * (KB + 1));
		if (rc != SOURCE_OK)
			return rc;
	}
	return z->page->ops->read(z->page, r, n, buf);
}

static void
checked_free(struct source *src)
{
	struct checked *z = (struct checked *)src;

	free(z->sums);
	free(z->state);
}

static const struct source_ops checked_ops = {
	checked_read, NULL, checked_free
};

/*
 * A source of the pages of r's stream, which has a trailer, from the sources
 * of its pages and of all its bytes.
 */
struct source *
source_checked(struct reader *r, struct source *page, struct source *all)
{
	const struct trailer *t = &r->trailer;
	struct checked *z;

	if (page == NULL || all == NULL)
		return NULL;
	if ((z = calloc(1, sizeof *z)) == NULL ||
	    (z->src.name = strdup(r->in->name)) == NULL ||
	    (z->sums = calloc(t->nsums + 1, 8)) == NULL ||
	    (z->state = calloc(t->nsums + 1, sizeof *z->state)) == NULL) {
		if (z != NULL) {
			checked_free(&z->src);
			free(z->src.name);
		}
		free(z);
		errstr_set("out of memory");
		return NULL;
	}
	memcpy(z->sums, t->sums, t->nsums * 8);
	z->src.ops = &checked_ops;
	z->src.pitch = KB + 1;
	z->page = page;
	z->all = all;
	z->origin = (uint64_t)r->in->origin;
	z->bytes = t->bytes;
	source_add(r->snap, &z->src);
	return &z->src;
}

/*
 * Return 0 if bytes from..to (exclusive) of the stream are as the sums of its
 * trailer tell, or nothing tells; else -1 with errstr.
 */
int
reader_check(struct reader *r, uint64_t from, uint64_t to)
{
	struct checked *z = (struct checked *)r->src;

	if (r->src == NULL || r->src->ops != &checked_ops)
		return 0;
	return check_range(z, from, to) == SOURCE_OK ? 0 : -1;
}
