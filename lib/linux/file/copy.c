/*
 * Copy bytes while processes are stopped. Several threads copy at once, because
 * the copy lengthens the stop. One thread reads a block while another writes;
 * this is a fifth faster than sendfile(2), and also faster than copying through
 * a mapping.
 */
#include "file.h"
#include "full.h"
#include "num.h"
#include "worker.h"

#include <pthread.h>

enum {
	BLOCK = 256 * KB, /* bytes per read and write: few enough to fit in a
			     cache */
	PIECE = 2048 * KB, /* number of bytes that a thread claims at a time */
	THREADS = 4, /* maximum number of threads that copy to a file; few,
			because a file takes one writer at a time */
	THREADS_MEMORY = 16 /* maximum number of threads that copy to memory */
};

struct copying {
	const struct copyjob *job;	/* borrowed */
	pthread_mutex_t	 lock;		/* protects the members below */
	size_t		 at;		/* index of the run to copy next */
	uint64_t	 done;		/* bytes of the next run that are
					   already claimed */
	bool		 failed;
	char		 why[256];
};

/*
 * Claim the next piece of c's job, and describe it in *piece. Return false if
 * none is left.
 */
static bool
piece_take(struct copying *c, struct copyrun *piece)
{
	const struct copyrun *r;

	pthread_mutex_lock(&c->lock);
	*piece = (struct copyrun){ 0 };
	if (c->at < c->job->n && !c->failed) {
		r = &c->job->run[c->at];
		piece->from = r->from + c->done;
		piece->to = r->to + c->done;
		piece->len = r->len - c->done < PIECE ? r->len - c->done :
		    PIECE;
		c->done += piece->len;
		if (c->done == r->len) {
			c->at++;
			c->done = 0;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return piece->len > 0;
}

/*
 * Read len bytes of the input of job j, starting at byte offset off, into buf.
 * Return the number of bytes read. If the file ends early, this number is less
 * than len if j->shorter is set; otherwise return -1 with errstr set. Also
 * return -1 with errstr set on a read error.
 */
static ssize_t
piece_read(const struct copyjob *j, uint8_t *buf, size_t len, uint64_t off)
{
	size_t n;

	if (j->alone != NULL && j->alone(j->pid, j->pagemap, buf, len, off))
		return (ssize_t)len;
	n = full_pread(j->in, buf, len, off);
	if (n == len || (errno == 0 && j->shorter))
		return (ssize_t)n;
	return errno != 0 ? errstr_sys("%jx", (uintmax_t)(off + n)) :
	    errstr_set("%jx cannot be read", (uintmax_t)(off + n));
}

/*
 * Copy piece r of job j, through buf unless the destination is memory.
 */
static int
piece_copy(const struct copyjob *j, const struct copyrun *r, uint8_t *buf)
{
	uint64_t done;
	size_t want;
	ssize_t n;

	if (j->memory != NULL)
		return piece_read(j, j->memory + r->to, (size_t)r->len,
		    r->from) == -1 ? -1 : 0;
	for (done = 0; done < r->len; done += (uint64_t)n) {
		want = r->len - done < BLOCK ? (size_t)(r->len - done) : BLOCK;
		if ((n = piece_read(j, buf, want, r->from + done)) == -1)
			return -1;
		if (!(j->sparse && bytes_arezero(buf, (size_t)n)) &&
		    full_pwrite(j->out, buf, (size_t)n, r->to + done) == -1)
			return errstr_sys("temporary file");
		if ((size_t)n < want)
			break;
	}
	return 0;
}

static void *
copy_work(void *arg)
{
	struct copying *c = arg;
	struct copyrun piece;
	uint8_t *buf;
	int rc;

	buf = malloc(BLOCK);
	rc = buf == NULL ? errstr_set("out of memory") : 0;
	while (rc == 0 && piece_take(c, &piece))
		rc = piece_copy(c->job, &piece, buf);
	free(buf);
	if (rc == -1) {
		pthread_mutex_lock(&c->lock);
		if (!c->failed)
			strlcpy(c->why, snap_errstr(), sizeof c->why);
		c->failed = true;
		pthread_mutex_unlock(&c->lock);
	}
	return NULL;
}

static size_t
copy_most(const struct copyjob *j)
{
	return j->memory != NULL ? THREADS_MEMORY : THREADS;
}

/*
 * Return how many threads should copy job j: one for each processor, but at
 * most copy_most(j), and so few that each thread copies at least two pieces.
 * Return at least 1.
 */
static size_t
copy_threads(const struct copyjob *j)
{
	uint64_t sum, most;
	size_t i, n;

	for (sum = 0, i = 0; i < j->n; i++)
		sum += j->run[i].len;
	most = sum / (2 * PIECE);
	n = (size_t)processors_count();
	n = n < copy_most(j) ? n : copy_most(j);
	return n < most ? n : most > 0 ? (size_t)most : 1;
}

/*
 * Copy all runs of job j with several threads. Return 0, or -1 with errstr set.
 */
int
copy_runs(const struct copyjob *j)
{
	struct copying c = { .job = j };

	if (j->n == 0)
		return 0;
	pthread_mutex_init(&c.lock, NULL);
	workers_run(copy_threads(j), copy_work, &c);
	pthread_mutex_destroy(&c.lock);
	return c.failed ? errstr_set("%s", c.why) : 0;
}
