/*
 * Checksums of a stream: XXH3 (64 bits, seed 0) of each of its megabytes (MiB);
 * the last may be short.
 */
#include "io.h"
#include "vec.h"
#include "xxh.h"

/*
 * Return an empty set of checksums, or NULL with errstr set.
 */
struct sums *
sums_new(void)
{
	struct sums *s;

	if ((s = calloc(1, sizeof *s)) == NULL ||
	    (s->state = XXH3_createState()) == NULL) {
		free(s);
		errstr_set("out of memory");
		return NULL;
	}
	XXH3_64bits_reset(s->state);
	return s;
}

/*
 * Free s, which may be NULL.
 */
void
sums_free(struct sums *s)
{
	if (s == NULL)
		return;
	XXH3_freeState(s->state);
	free(s->sum);
	free(s);
}

/*
 * Add the n bytes at data, which are the next ones of the stream, to s.
 * sums_end() reports a failed allocation.
 */
void
sums_add(struct sums *s, const void *data, size_t n)
{
	const uint8_t *p;
	size_t part;

	for (p = data; n > 0 && !s->failed; p += part, n -= part) {
		part = SUM_BYTES - s->part < n ? SUM_BYTES - s->part : n;
		XXH_BEST(XXH3_64bits_update)(s->state, p, part);
		s->part += part;
		s->bytes += part;
		if (s->part < SUM_BYTES)
			continue;
		/* the megabyte is complete */
		if (VEC_ADD(s->sum, s->n, XXH3_64bits_digest(s->state)) == -1)
			s->failed = true;
		XXH3_64bits_reset(s->state);
		s->part = 0;
	}
}

/*
 * Add the checksum of the last megabyte, which may be shorter, to s->sum.
 * Return 0, or -1 with errstr set.
 */
int
sums_end(struct sums *s)
{
	if (s->part > 0 && VEC_ADD(s->sum, s->n,
	    XXH3_64bits_digest(s->state)) == -1)
		s->failed = true;
	return s->failed ? errstr_set("out of memory") : 0;
}

/*
 * Allow more bytes to be added to s, after sums_end().
 */
void
sums_resume(struct sums *s)
{
	s->n = (size_t)(s->bytes / SUM_BYTES);
}

/*
 * Return the checksum of the n bytes at data.
 */
uint64_t
sums_of(const void *data, size_t n)
{
	return XXH_BEST(XXH3_64bits)(data, n);
}
