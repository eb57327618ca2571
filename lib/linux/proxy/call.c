/*
 * Ask a proxy, and wait for its answer. There is a time limit: for each answer,
 * or for all answers together while processes are stopped. An object whose
 * answer did not come in time is not asked about again, and is reported to the
 * user.
 */
#include "proxying.h"
#include "bisect.h"
#include "clock.h"
#include "vec.h"

#include <sys/uio.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum {
	GRACE_MS = 500,		/* minimum time limit for a /proc file, even if
				   less time is left */
	GRACE_LATE_MS = 20, /* used instead of GRACE_MS after LATE missed
			       answers */
	LATE = 8,
	SLICE_MS = 16		/* maximum time between checks of the proxy */
};

struct missed { /* an object about which no answer came in time */
	enum proxy_kind	 kind;
	uint64_t	 id;
	char		 what[256];
};

static struct {
	struct missed	*v;	/* owned */
	size_t		 n;
} missed;			/* protected by proxies.lock */

/*
 * Return true if the object of k is in the list of missed objects. The caller
 * must hold proxies.lock.
 */
static bool
missed_find(const struct proxy_key *k)
{
	return SEEK(missed.v, missed.n, x->kind == k->kind && x->id == k->id) !=
	    NULL;
}

/*
 * Record that the answer about the object of k did not come in time. The proxy
 * is not asked about that object again. Return -1 with errno ETIMEDOUT and
 * errstr set.
 */
static int
missed_add(const struct proxy_key *k)
{
	struct missed *v;

	pthread_mutex_lock(&proxies.lock);
	if (!missed_find(k) && VEC_ROOM(missed.v, missed.n) == 0) {
		v = &missed.v[missed.n++];
		v->kind = k->kind;
		v->id = k->id;
		strlcpy(v->what, k->what, sizeof v->what);
	}
	pthread_mutex_unlock(&proxies.lock);
	errno = ETIMEDOUT;
	return errstr_set("no answer in time");
}

/*
 * Set *k to the key of an object whose answer did not come in time. Its
 * description is copied to buf, which has room for size bytes. n is the index
 * of the object, counted from 0. Return false if there are not that many.
 */
bool
proxy_missed(size_t n, struct proxy_key *k, char *buf, size_t size)
{
	bool is;

	pthread_mutex_lock(&proxies.lock);
	if ((is = n < missed.n)) {
		strlcpy(buf, missed.v[n].what, size);
		*k = (struct proxy_key){ missed.v[n].kind, missed.v[n].id,
		    buf, 0 };
	}
	pthread_mutex_unlock(&proxies.lock);
	return is;
}

/*
 * End all proxies, and clear the list of missed objects.
 */
void
proxy_end(void)
{
	lanes_end();
	pthread_mutex_lock(&proxies.lock);
	free(missed.v);
	missed.v = NULL;
	missed.n = 0;
	pthread_mutex_unlock(&proxies.lock);
}

/*
 * Return how long to wait for an answer about the object of k, in ns. Return 0
 * if the time is up, or if an earlier question about the object was not
 * answered. Files of /proc are read once per process; they get a short time
 * even when the time is up. They get only that if the process may be inside
 * execve(2): it may wait there for a process that we have stopped.
 */
static uint64_t
time_allowed(const struct proxy_key *k)
{
	uint64_t least;
	size_t n;
	bool has;

	pthread_mutex_lock(&proxies.lock);
	has = missed_find(k);
	n = missed.n;
	pthread_mutex_unlock(&proxies.lock);
	if (has || !proxies.held)
		return has ? 0 : proxies.most;
	if (k->kind == KEY_OPEN)	/* leave time for other questions,
					   because there may be many open
					   files */
		return proxies.left / 2;
	if (k->kind != KEY_PROC && k->kind != KEY_EXEC)
		return proxies.left;
	least = (n < LATE ? GRACE_MS : GRACE_LATE_MS) * MS;
	return k->kind == KEY_PROC && proxies.left > least ? proxies.left :
	    least;
}

/*
 * Wait at most ns nanoseconds for an answer from proxy p. Return true if there
 * is one.
 */
static bool
answer_within(const struct lane *p, uint64_t ns)
{
	struct pollfd f = { .fd = p->sock, .events = POLLIN };
	struct timespec ts;

	ts.tv_sec = (time_t)(ns / (1000 * MS));
	ts.tv_nsec = (long)(ns % (1000 * MS));
	return ppoll(&f, 1, &ts, NULL) == 1;
}

/*
 * Return true if proxy p is running or runnable: its state is 'R' in
 * proc_pid_stat(5).
 */
static bool
lane_runs(const struct lane *p)
{
	char path[64], stat[512];
	const char *s;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", p->pid, p->pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return false;
	n = read(fd, stat, sizeof stat);
	close(fd);
	s = n <= 0 ? NULL : memrchr(stat, ')', (size_t)n);
	return s != NULL && s + 2 < stat + n && s[2] == 'R';
}

/*
 * Wait up to *allowed nanoseconds for an answer from proxy p. Subtract the time
 * taken from *allowed. Time in which the proxy is runnable does not count,
 * because it means that this machine is busy. Return false if there is no
 * answer.
 */
static bool
answer_await(const struct lane *p, uint64_t *allowed)
{
	uint64_t from, slice, took;
	bool is;

	for (slice = MS; *allowed > 0; slice += slice < SLICE_MS * MS ?
	    slice : 0) {
		from = now_ns();
		is = answer_within(p, slice < *allowed ? slice : *allowed);
		if (!is && lane_runs(p))
			continue;
		took = now_ns() - from;
		*allowed -= took < *allowed ? took : *allowed;
		if (proxies.held && took < proxies.left)
			proxies.left -= took;
		else if (proxies.held)
			proxies.left = 0;
		if (is)
			return true;
	}
	return answer_within(p, 0);
}

/*
 * Set errno and errstr to say that a proxy was killed. Return -1.
 */
static int
lane_killed(void)
{
	errstr_set("the process that asks was killed");
	errno = EIO;
	return -1;
}

/*
 * Send question q to proxy p. Return 0, or -1 with errno set. errno is
 * ETIMEDOUT if no time is left for the answer.
 */
static int
lane_ask(struct lane *p, const struct proxy_question *q)
{
	const struct iovec v[2] = {
		{ (void *)(uintptr_t)&q->fn, sizeof q->fn },
		{ (void *)(uintptr_t)q->arg, q->len }
	};
	int i;

	if (time_allowed(&q->key) == 0)
		return missed_add(&q->key);
	for (i = 0; i < 2; i++) {
		if (p->pid == 0 && lane_fork(p) == -1)
			return -1;
		if (passfd_send(p->sock, v, 2, q->fd) != -1)
			return 0;
		lane_abandon(p);
	}
	return lane_killed();
}

/*
 * Receive the answer from proxy p to question q, and append its bytes to
 * *bytes. If a descriptor comes with the answer, set *out to it; the caller
 * owns it. Return 0, or -1 with errno and errstr set.
 */
static int
answer_fetch(struct lane *p, const struct proxy_question *q, struct bulk *bytes,
    int *out)
{
	struct proxy_answer a = { .more = true };
	uint64_t allowed = time_allowed(&q->key);
	uint8_t piece[MAX_PROXY];
	const struct iovec v[2] = { { &a, sizeof a }, { piece, sizeof piece } };
	ssize_t n;

	while (a.more) {
		if (!answer_await(p, &allowed)) {
			lane_abandon(p);
			return missed_add(&q->key);
		}
		n = passfd_receive(p->sock, v, 2, out) - (ssize_t)sizeof a;
		if (n < 0) {
			lane_abandon(p);
			return lane_killed();
		}
		if (a.error == 0)
			bulk_add(bytes, piece, (size_t)n);
		else if (n > 0)
			errstr_set("%.*s", (int)n, (const char *)piece);
		else
			errstr_set("%s", strerror(a.error));
		if (a.last)
			lane_abandon(p);
	}
	if (a.error == 0)
		return 0;
	errno = a.error;
	return -1;
}

/*
 * Ask a proxy the question q, and append the answer to *bytes. Set *out to the
 * descriptor that came with the answer, or to -1; out may be NULL. Return what
 * answer_fetch() returns.
 */
static int
lane_call(const struct proxy_question *q, struct bulk *bytes, int *out)
{
	struct lane *p = lane_of(&q->key);
	int got = -1, rc;

	pthread_mutex_lock(&p->lock);
	if ((rc = lane_ask(p, q)) == 0)
		rc = answer_fetch(p, q, bytes, &got);
	lane_unlock(p);
	if (out != NULL)
		*out = got;
	else if (got != -1)
		close(got);
	return rc;
}

/*
 * Make the proxy run fn, with the len bytes of arg, and append the bytes of its
 * answer to *bytes. fn also gets a duplicate of descriptor fd, unless fd is -1.
 * k describes the object that the question is about. Return 0, or -1 with errno
 * and errstr set.
 */
int
proxy_fetch(const struct proxy_key *k, proxy_fn fn, const void *arg,
    size_t len, int fd, struct bulk *bytes)
{
	const struct proxy_question q = { *k, fn, arg, len, fd };

	return lane_call(&q, bytes, NULL);
}

/*
 * Send the n questions at v to proxy p. If some were sent before, first replace
 * the process of p, so that old answers to them cannot arrive.
 */
static void
lane_askall(struct lane *p, struct proxy_asked *v, size_t n)
{
	size_t i;

	if (v->asked != 0)
		lane_abandon(p);
	for (i = 0; i < n; i++) {
		(void)errstr_set("%s", "");
		v[i].rc = lane_ask(p, &v[i].q);
		v[i].asked = v[i].rc == 0 ? p->pid : -1;
		strlcpy(v[i].why, snap_errstr(), sizeof v[i].why);
	}
}

/*
 * Ask the n questions at v, all for the same proxy. Send all of them before
 * waiting for the first answer. If an answer does not come in time, send the
 * questions after it to a new process. Set rc and why of each question to the
 * result and errstr (or "") that proxy_fetch() would give.
 */
void
proxy_fetchall(struct proxy_asked *v, size_t n)
{
	enum { TRIES = 3 };
	struct lane *p;
	size_t i;
	int none, tries;

	if (n == 0)
		return;
	p = lane_of(&v->q.key);
	pthread_mutex_lock(&p->lock);
	for (i = 0; i < n; i++) {
		for (tries = 0; tries < TRIES && (v[i].asked == 0 ||
		    (v[i].rc == 0 && v[i].asked != p->pid)); tries++)
			lane_askall(p, &v[i], n - i);
		if (v[i].rc == -1)
			continue;
		(void)errstr_set("%s", "");
		v[i].rc = answer_fetch(p, &v[i].q, &v[i].to, &none);
		strlcpy(v[i].why, snap_errstr(), sizeof v[i].why);
	}
	lane_unlock(p);
}

/*
 * Ask the proxy as proxy_fetch() does, and copy up to size bytes of the answer
 * to buf. If out is not NULL, set *out to the descriptor that came with the
 * answer, or to -1. The caller owns that descriptor. Return the number of bytes
 * copied, or -1 with errno set.
 */
ssize_t
proxy_call(const struct proxy_key *k, proxy_fn fn, const void *arg,
    size_t len, int fd, void *buf, size_t size, int *out)
{
	const struct proxy_question q = { *k, fn, arg, len, fd };
	struct bulk b = { .full = true };	/* keep the data in memory */
	ssize_t n;

	n = lane_call(&q, &b, out);
	if (n == 0 && b.b.failed) {
		errno = ENOMEM;
		n = -1;
	} else if (n == 0 && b.b.len > 0) {
		n = (ssize_t)(b.b.len < size ? b.b.len : size);
		memcpy(buf, b.b.data, (size_t)n);
	}
	bulk_free(&b);
	return n;
}
