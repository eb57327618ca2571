/*
 * A source of pages for a snap(6) stream that is read with its index. Before
 * the first page of a megabyte is used, the whole megabyte is read and compared
 * with its sum.
 *
 * Readers mostly read the next megabyte next, and it begins within a page. The
 * last few megabytes are therefore kept, so that their other pages need not be
 * read again.
 */
#include "read.h"
#include "num.h"
#include "source.h"
#include "vec.h"

#include <pthread.h>

enum { KEPT = 4 };

enum { UNKNOWN, SOUND, DAMAGED };

struct megabyte {
	uint64_t	 mb;	/* index of the megabyte in the stream */
	uint8_t		*data;	/* owned; bytes of the megabyte; NULL: not
				   available */
};

struct checked {
	struct source	 src;
	struct source	*page;	/* borrowed; source of the stream's pages */
	struct source	*all;	/* borrowed; source of all bytes of the stream,
				   with the same locations as "page" */
	uint64_t	 origin; /* location of the start of the stream in
				    both sources */
	uint64_t	 bytes;	/* number of bytes in the stream that the
				   checksums cover */
	uint8_t		*sums; /* owned; copy of the checksums in the trailer */
	atomic_uchar	*state;	/* owned; UNKNOWN, SOUND or DAMAGED for each
				   megabyte */
	pthread_mutex_t	 lock;
	struct megabyte	 kept[KEPT]; /* cached megabytes; protected by lock */
	size_t		 next;	/* index in "kept" of the megabyte to replace
				   next; protected by lock */
};

/*
 * Remove the buffer with megabyte mb from z->kept, and return it. If the
 * argument any is true, take the buffer of any megabyte instead: the caller
 * will overwrite it. Return NULL if there is no such buffer.
 */
static uint8_t *
kept_take(struct checked *z, uint64_t mb, bool any)
{
	uint8_t *data;
	size_t i;

	data = NULL;
	pthread_mutex_lock(&z->lock);
	for (i = 0; i < KEPT && data == NULL; i++)
		if (z->kept[i].data != NULL && (any || z->kept[i].mb == mb)) {
			data = z->kept[i].data;
			z->kept[i].data = NULL;
		}
	pthread_mutex_unlock(&z->lock);
	return data;
}

/*
 * Move m, with its bytes, to z->kept, and set m->data to NULL. If there is no
 * room, replace the megabyte that has been kept longest. Do nothing if m has no
 * bytes.
 */
static void
kept_give(struct checked *z, struct megabyte *m)
{
	uint8_t *old;
	size_t i;

	if (m->data == NULL)
		return;
	pthread_mutex_lock(&z->lock);
	for (i = 0; i < KEPT && z->kept[i].data != NULL; i++)
		continue;
	if (i == KEPT)
		i = z->next++ % KEPT;
	old = z->kept[i].data;
	z->kept[i] = *m;
	pthread_mutex_unlock(&z->lock);
	free(old);
	m->data = NULL;
}

/*
 * Read the first n bytes of megabyte mb into data. Read no bytes after these:
 * they may belong to the trailer, which is removed while a series grows. So the
 * last kilobyte that is read ends where the bytes do. Return what source_read()
 * returns.
 */
static int
megabyte_read(struct checked *z, uint64_t mb, size_t n, uint8_t *data)
{
	const uint64_t loc = z->origin + mb * SUM_BYTES, end = loc + n;
	const size_t part = n % KB;
	const struct run all = { loc, n / KB },
	    last = { end < KB ? 0 : end - KB, 1 };
	uint8_t kb[KB];
	int rc = SOURCE_OK;

	if (all.n > 0)
		rc = source_read(z->all, &all, 1, data);
	if (rc == SOURCE_OK && part > 0 &&
	    (rc = source_read(z->all, &last, 1, kb)) == SOURCE_OK)
		memcpy(data + n - part, kb + (end - part - last.loc), part);
	return rc;
}

/*
 * Read megabyte mb into data, and compare it with its checksum. Return
 * SOURCE_OK if the checksum matches; SOURCE_LOST if it does not, or if the
 * megabyte cannot be read; or -1 with errstr set.
 */
static int
check_megabyte(struct checked *z, uint64_t mb, uint8_t *data)
{
	const uint64_t left = z->bytes - mb * SUM_BYTES;
	const size_t n = left < SUM_BYTES ? (size_t)left : SUM_BYTES;
	bool sound;
	int rc;

	if ((rc = megabyte_read(z, mb, n, data)) != SOURCE_OK)
		return rc;
	sound = sums_of(data, n) == num_get(z->sums + mb * 8, 8);
	atomic_store(&z->state[mb], sound ? SOUND : DAMAGED);
	return sound ? SOURCE_OK : SOURCE_LOST;
}

/*
 * Make m refer to megabyte mb, and compare the megabyte with its checksum. If
 * it was compared before, it is not read again, and m->data may be NULL. Return
 * SOURCE_OK; SOURCE_LOST if it is damaged; or -1 with errstr set.
 */
static int
megabyte_need(struct checked *z, struct megabyte *m, uint64_t mb)
{
	int rc;

	if (m->mb == mb)
		return SOURCE_OK;
	kept_give(z, m);
	m->mb = UINT64_MAX;
	m->data = kept_take(z, mb, false);
	rc = SOURCE_OK;
	if (m->data == NULL && mb * SUM_BYTES < z->bytes &&
	    atomic_load(&z->state[mb]) == UNKNOWN) {
		if ((m->data = kept_take(z, mb, true)) == NULL &&
		    (m->data = malloc(SUM_BYTES)) == NULL)
			return errstr_set("out of memory");
		if ((rc = check_megabyte(z, mb, m->data)) != SOURCE_OK) {
			free(m->data);
			m->data = NULL;
		}
	}
	if (mb * SUM_BYTES < z->bytes &&
	    atomic_load(&z->state[mb]) == DAMAGED) {
		errstr_set("byte %" PRIu64 ": megabyte %" PRIu64
		    " is damaged: its checksum does not match the trailer",
		    mb * SUM_BYTES, mb);
		return SOURCE_LOST;
	}
	if (rc == SOURCE_OK)
		m->mb = mb;
	return rc;
}

/*
 * Copy n raw pages from data to buf, without the tag that precedes each page in
 * data. Return false if a tag is not that of a raw page.
 */
static bool
pages_copy(const uint8_t *data, size_t n, uint8_t *buf)
{
	for (; n > 0 && *data == PAGE_TAG; n--, data += KB + 1, buf += KB)
		memcpy(buf, data + 1, KB);
	return n == 0;
}

/*
 * Read the pages of *run into buf, after checking their megabytes. m is the
 * megabyte checked last. Its bytes are used if they are in memory; otherwise
 * the pages are read from the stream. Return SOURCE_OK; SOURCE_LOST if a
 * megabyte is damaged; or -1 with errstr set.
 */
static int
checked_run(struct checked *z, struct megabyte *m, const struct run *run,
    uint8_t *buf)
{
	struct run r = *run;
	uint64_t from, mb, left;
	uint64_t n;
	int rc;

	for (left = run->n; left > 0; left -= n, buf += n * KB) {
		from = r.loc - z->origin - 1;
		mb = from / SUM_BYTES;
		n = ((mb + 1) * SUM_BYTES - from) / (KB + 1);
		n = n < left ? n : left;
		rc = megabyte_need(z, m, mb);
		if (rc == SOURCE_OK && n == 0)
			rc = megabyte_need(z, m, mb + 1);
		if (rc != SOURCE_OK)
			return rc;
		r.n = n = n == 0 ? 1 : n;
		if ((m->mb != mb || m->data == NULL || !pages_copy(m->data +
		    from % SUM_BYTES, (size_t)n, buf)) &&
		    (rc = source_runs(z->page, &r, 1, buf)) != SOURCE_OK)
			return rc;
		r.loc += n * (KB + 1);
	}
	return SOURCE_OK;
}

static int
checked_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	struct checked *z = (struct checked *)src;
	struct megabyte m = { .mb = UINT64_MAX };
	size_t i;
	int rc;

	for (i = 0, rc = SOURCE_OK; i < n && rc == SOURCE_OK; i++) {
		rc = checked_run(z, &m, &r[i], buf);
		buf += r[i].n * KB;
	}
	kept_give(z, &m);
	return rc;
}

static void
checked_free(struct source *src)
{
	struct checked *z = (struct checked *)src;
	size_t i;

	for (i = 0; i < KEPT; i++)
		free(z->kept[i].data);
	free(z->sums);
	free(z->state);
	pthread_mutex_destroy(&z->lock);
}

static const struct source_ops checked_ops = {
	.many = checked_read, .free = checked_free
};

/*
 * Make a source for the pages in the stream of r, which has a trailer with
 * checksums. The new source checks each megabyte before it uses its pages. page
 * is a source of the pages, and all is a source of all bytes of the stream. If
 * page or all is NULL because it could not be created, return NULL with errstr
 * unchanged. On other failures return NULL with errstr set.
 */
struct source *
source_checked(struct reader *r, struct source *page, struct source *all)
{
	const struct trailer *t = &r->trailer;
	struct checked *z;

	if (page == NULL || all == NULL)
		return NULL;
	z = source_new(r->snap, sizeof *z, &checked_ops, r->in->name, KB + 1);
	if (z == NULL)
		return NULL;
	pthread_mutex_init(&z->lock, NULL);
	if ((z->sums = mem_dup(t->sums, t->nsums * 8)) == NULL ||
	    (z->state = mem_new(t->nsums, sizeof *z->state)) == NULL) {
		source_drop(r->snap);
		return NULL;
	}
	z->page = page;
	z->all = all;
	z->origin = (uint64_t)r->in->origin;
	z->bytes = t->bytes;
	return &z->src;
}

/*
 * Compare the bytes from offset start up to end in the stream of r with the
 * checksums in the trailer. Return 0 if they match or there are no checksums,
 * else -1 with errstr set.
 */
int
reader_check(struct reader *r, uint64_t start, uint64_t end)
{
	struct checked *z = (struct checked *)r->src;
	struct megabyte m = { .mb = UINT64_MAX };
	uint64_t mb;
	int rc = SOURCE_OK;

	if (r->src == NULL || r->src->ops != &checked_ops)
		return 0;
	if (end > z->bytes)
		end = z->bytes;
	for (mb = start / SUM_BYTES; mb * SUM_BYTES < end && rc == SOURCE_OK;
	    mb++)
		rc = megabyte_need(z, &m, mb);
	kept_give(z, &m);
	return rc == SOURCE_OK ? 0 : -1;
}
