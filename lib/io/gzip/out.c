/*
 * Compress a stream: threads compress a ring of members, while the caller fills
 * the next one and writes finished ones, in order.
 */
#include "gzip.h"
#include "model.h"
#include "num.h"
#include "jobs.h"
#include "vec.h"
#include "worker.h"

enum { THREADS = 256 };

struct job {
	z_stream	 z;	/* valid if "out" is not NULL */
	uint8_t		*raw;	/* owned; GZIP_RAW bytes, NULL before use */
	size_t		 nraw;
	uint8_t		*out;	/* owned; GZIP_ROOM bytes, NULL before use */
	size_t		 nout;
};

struct gzipout {
	int		(*write)(void *, const void *, size_t);
	void		*arg;	/* first argument of write() */
	struct buf	 lens;	/* owned; lengths of members written, 4 bytes
				   each */
	size_t		 marked; /* length of "lens" at gzipout_mark() */
	struct jobs	*ring;	/* owned; jobs are struct job */
};

static void
job_pack(void *arg, void *job)
{
	struct job *j = job;

	(void)arg;
	j->nout = gzip_pack(&j->z, j->raw, j->nraw, j->out);
}

static void
job_free(void *job)
{
	struct job *j = job;

	if (j->out != NULL)
		deflateEnd(&j->z);
	free(j->raw);
	free(j->out);
}

/*
 * Start a compressor with the given number of threads, or one for each
 * processor if this is 0. It calls write() with arg and compressed bytes, only
 * in the thread of the caller; write() returns 0 or -1. Return a handle, or
 * NULL with errstr set.
 */
struct gzipout *
gzipout_new(int threads, int (*write)(void *, const void *, size_t),
    void *arg)
{
	struct gzipout *g;
	size_t n;

	n = (size_t)(threads > 0 ? threads : processors_count());
	if (n > THREADS)
		n = THREADS;
	if ((g = mem_new(1, sizeof *g)) == NULL)
		return NULL;
	g->write = write;
	g->arg = arg;
	/* one to fill, one to write, others waiting for an older one */
	g->ring = jobs_new(n, 2 * n + 2, sizeof(struct job), job_pack, NULL,
	    false);
	if (g->ring == NULL) {
		free(g);
		return NULL;
	}
	return g;
}

/*
 * End the threads of g and free g, which may be NULL. Bytes not yet written are
 * lost.
 */
void
gzipout_free(struct gzipout *g)
{
	if (g == NULL)
		return;
	jobs_free(g->ring, job_free);
	buf_free(&g->lens);
	free(g);
}

/*
 * Write finished members, oldest first. If all is set, wait until all submitted
 * members are written. Otherwise wait only until there is a member to fill.
 */
static int
gzipout_write(struct gzipout *g, bool all)
{
	uint8_t len[4];
	struct job *j;

	while ((j = jobs_oldest(g->ring, all || jobs_idle(g->ring) == NULL)) !=
	    NULL) {
		jobs_retire(g->ring);
		j->nraw = 0;
		if (j->nout == 0) {
			errno = EIO;
			return errstr_set("zlib failed to compress the data");
		}
		if (g->write(g->arg, j->out, j->nout) == -1)
			return -1;
		num_put(len, j->nout, sizeof len);
		if (g->lens.len < 4 * (GZIP_LISTED + 1))
			buf_add(&g->lens, len, sizeof len);
	}
	return 0;
}

/*
 * Submit the current member for compression, and write finished members.
 */
static int
gzipout_submit(struct gzipout *g)
{
	jobs_submit(g->ring, false);
	return gzipout_write(g, false);
}

/*
 * Return the member to fill, after allocating its buffers if necessary.
 */
static struct job *
gzipout_job(struct gzipout *g)
{
	struct job *j = jobs_idle(g->ring);

	if (j->raw == NULL)
		j->raw = malloc(GZIP_RAW);
	if (j->raw != NULL && j->out == NULL &&
	    (j->out = malloc(GZIP_ROOM)) != NULL && gzip_packer(&j->z) == -1) {
		free(j->out);
		j->out = NULL;
	}
	if (j->out != NULL)
		return j;
	errno = ENOMEM;
	errstr_set("out of memory");
	return NULL;
}

/*
 * Compress a copy of the n bytes at data. Return 0, or -1 if writing failed or
 * memory ran out; in the latter case errno is ENOMEM. After a failure g can
 * only be freed.
 */
int
gzipout_put(struct gzipout *g, const void *data, size_t n)
{
	const uint8_t *p;
	struct job *j;
	size_t part;

	for (p = data; n > 0; p += part, n -= part) {
		if ((j = gzipout_job(g)) == NULL)
			return -1;
		part = GZIP_RAW - j->nraw < n ? GZIP_RAW - j->nraw : n;
		memcpy(j->raw + j->nraw, p, part);
		j->nraw += part;
		if (j->nraw < GZIP_RAW)
			continue;
		if (gzipout_submit(g) == -1)
			return -1;
	}
	return 0;
}

/*
 * Write the empty member with the lengths of all others.
 */
static int
gzipout_list(struct gzipout *g)
{
	uint8_t *out;
	int rc;

	if ((out = malloc(GZIP_TABLE + g->lens.len)) == NULL) {
		errno = ENOMEM;
		return errstr_set("out of memory");
	}
	rc = g->write(g->arg, out, gzip_list(&g->lens, out));
	free(out);
	return rc;
}

/*
 * Write the rest of g, and the empty member at the end. Return 0 or -1 as
 * gzipout_put() does.
 */
int
gzipout_end(struct gzipout *g)
{
	struct job *j;

	if ((j = gzipout_job(g)) == NULL ||
	    (j->nraw > 0 && gzipout_submit(g) == -1) ||
	    gzipout_job(g) == NULL || gzipout_write(g, true) == -1)
		return -1;
	if (!g->lens.failed && g->lens.len >= 4 * GZIP_MANY &&
	    g->lens.len <= 4 * GZIP_LISTED)
		return gzipout_list(g);
	jobs_submit(g->ring, false);
	return gzipout_write(g, true);
}

/*
 * Write all members of g, and mark the end of the last one. A multiple of
 * GZIP_RAW bytes must have been put. Return 0 or -1 as gzipout_put() does.
 */
int
gzipout_mark(struct gzipout *g)
{
	if (gzipout_write(g, true) == -1)
		return -1;
	g->marked = g->lens.len;
	return 0;
}

/*
 * Continue after the mark: the caller removes the members that were written
 * since, up to gzipout_end().
 */
void
gzipout_rewind(struct gzipout *g)
{
	g->lens.len = g->marked;
}
