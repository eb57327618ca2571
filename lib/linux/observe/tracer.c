/*
 * What happens to threads, from the events of perfevent.c.
 *
 * Each thread has an event of each kind on each processor, for only such
 * are both inherited by its children and have a ring.  All events of a
 * processor share one.  The rings are read one after the other, and what is
 * younger than the longest time that a record may take to be written is
 * held back, so that all come in the order of their times.
 */
#include "bisect.h"
#include "calls.h"
#include "clock.h"
#include "linux/proc/proc.h"
#include "perf.h"
#include "vec.h"

#include <sys/ioctl.h>

#include <linux/perf_event.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_RING = 4 << 20,	/* bytes, and */
	MAX_RINGS = 128 << 20,	/* of all together */
	MAX_HELD = 64 << 20,	/* bytes of records on our side */
	HOLD_NS = 20000000,	/* records are held back for so long */
	DRAIN_EACH = 2048,	/* records, between looks at the rings */
	PASSES = 4		/* over the threads of a process */
};

struct opened {			/* an event */
	uint64_t	 id;
	enum trace_kind	 kind;
	pid_t		 tid;
	int		 fd;	/* owned */
};

struct tracer {
	struct perflevel level;
	bool		 slab;
	struct ring	*ring;	/* owned; of each processor */
	size_t		 ncpu;
	size_t		 ringsize;
	struct opened	*ev;	/* owned */
	size_t		 nev;
	bool		 sorted; /* by id */
	struct pollfd	*poll;	/* owned; an event of each thread and
				   processor */
	size_t		 npoll;
	struct threadset threads;
	struct perforder order;
	uint64_t	 lost;	/* as records tell */
};

/*
 * Make a tracer of nothing yet, with slab also of allocations of the kernel.
 * Return NULL, with errno and errstr, if the kernel lets us trace nothing at
 * all.
 */
struct tracer *
tracer_new(bool slab)
{
	struct tracer *t;

	if ((t = mem_new(1, sizeof *t)) == NULL)
		return NULL;
	t->slab = slab;
	if (perflevel_find(&t->level, slab) == -1 ||
	    rings_online(&t->ring, &t->ncpu) == -1) {
		tracer_free(t);
		return NULL;
	}
	for (t->ringsize = MAX_RING; t->ringsize > 1 << 18 &&
	    t->ringsize * t->ncpu > MAX_RINGS; t->ringsize /= 2)
		continue;
	return t;
}

/*
 * Put into s, of size bytes, what the kernel does not let t see, and why; "" if
 * that is nothing.
 */
void
tracer_lacks(const struct tracer *t, char *s, size_t size)
{
	perflevel_lacks(&t->level, t->slab, s, size);
}

/*
 * Open an event of a thread on a processor, with its ring and its filter.
 */
static int
event_open(struct tracer *t, enum trace_kind kind, pid_t tid, struct ring *r,
    bool on_exec)
{
	struct opened ev = { .kind = kind, .tid = tid };
	const char *filter = tracepoints[kind].filter;
	int e;

	ev.fd = perfevent_open(&t->level, kind, tid, r->cpu, on_exec);
	if (ev.fd == -1)
		return errno == EMFILE ? errstr_set("too many threads: an "
		    "event of each thread and processor is an open file") :
		    errstr_sys("perf_event_open");
	if (filter != NULL)
		/* what passes without it is of no harm */
		(void)ioctl(ev.fd, PERF_EVENT_IOC_SET_FILTER, filter);
	if (call_ioctl(ev.fd, PERF_EVENT_IOC_ID, &ev.id) == -1) {
		errstr_sys("perf event");
		goto fail;
	}
	if (ring_attach(r, ev.fd, t->ringsize) == -1 ||
	    VEC_ADD(t->ev, t->nev, ev) == -1)
		goto fail;
	t->sorted = false;
	return 0;
fail:
	e = errno;
	if (r->fd == ev.fd) {
		ring_free(r);
		r->fd = -1;
	}
	close(ev.fd);
	errno = e;
	return -1;
}

/*
 * Trace with t thread tid and all that it makes, from now on or, with on_exec,
 * from its next execve(2) on.  Return 0; or -1 with errno: ESRCH if there is
 * none, EACCES if it may not be traced.  After another failure the tracer is
 * only to be freed.
 */
int
tracer_add(struct tracer *t, pid_t tid, bool on_exec)
{
	enum trace_kind k;
	size_t i;

	for (i = 0; i < t->ncpu; i++)
		for (k = 0; k < TRACE_EVENTS; k++) {
			if (!t->level.has[k])
				continue;
			if (event_open(t, k, tid, &t->ring[i], on_exec) == -1)
				return -1;
			/* it tells that the thread, and all it made, ended */
			if (k == TRACE_MINOR &&
			    VEC_ADD(t->poll, t->npoll, (struct pollfd){
			    t->ev[t->nev - 1].fd, POLLIN, 0 }) == -1)
				return -1;
		}
	return threadset_add(&t->threads, tid, tid);
}

struct adding {
	struct tracer	*t;
	size_t		 n;	/* threads that were added */
	bool		 known;	/* there are some that were earlier */
};

static int
thread_add(void *arg, long tid)
{
	struct adding *a = arg;

	if (threadset_owner(&a->t->threads, (pid_t)tid) == (pid_t)tid) {
		a->known = true;
		return 0;
	}
	if (tracer_add(a->t, (pid_t)tid, false) == -1)
		return errno == ESRCH ? 0 : -1;
	a->n++;
	return 0;
}

/*
 * Trace with t process pid, with all threads it has and will have.  One that
 * comes while others are opened is opened, too, for the one that made it may
 * not have been; threadset.c has it told of once.  In the end all that come are
 * made by threads that are traced.  Return 0, or -1 with errno as tracer_add.
 */
int
tracer_addprocess(struct tracer *t, pid_t pid)
{
	struct adding a = { .t = t };
	size_t before;
	int pass;

	for (pass = 0, before = 1; pass < PASSES && a.n != before; pass++) {
		before = a.n;
		errno = 0;
		if (proc_list(pid, "task", thread_add, &a) == -1)
			return -1;
	}
	if (a.n > 0 || a.known)
		return 0;
	errno = ESRCH;
	return errstr_set("No such process");
}

/*
 * Wait for records of t, for ms milliseconds at most, or for a signal.  Return
 * 1 when all threads have ended, else 0.
 */
int
tracer_wait(struct tracer *t, int ms)
{
	size_t i, n;

	if (poll(t->poll, t->npoll, ms) == -1)
		return 0;
	for (i = n = 0; i < t->npoll; i++) {
		if (t->poll[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			t->poll[i].fd = -1;
		n += t->poll[i].fd != -1;
	}
	return n == 0;
}

CMP(opened_cmp, struct opened, id)

static const struct opened *
opened_find(struct tracer *t, uint64_t id)
{
	if (!t->sorted)
		SORT(t->ev, t->nev, opened_cmp);
	t->sorted = true;
	return FIND(t->ev, t->nev, id, id);
}

/*
 * Set *kind to what a record that is no sample tells.  Return false if that is
 * nothing of use.
 */
static bool
record_kind(struct tracer *t, const struct perfrec *r, enum trace_kind *kind,
    pid_t owner)
{
	switch (r->type) {
	case PERFREC_MMAP2:
		*kind = TRACE_MMAP;
		return true;
	case PERFREC_COMM:
		*kind = r->misc & PERFREC_EXEC ? TRACE_EXEC : TRACE_COMM;
		return true;
	case PERFREC_FORK:
		*kind = TRACE_FORK;
		return threadset_add(&t->threads, (pid_t)r->ctid, owner) == 0;
	case PERFREC_EXIT:
		*kind = TRACE_EXIT;
		threadset_drop(&t->threads, (pid_t)r->ctid);
		return true;
	}
	return false;
}

/*
 * Tell of a record, unless another tells the same.
 */
static int
record_pass(struct tracer *t, const uint8_t *p, trace_fn fn, void *arg)
{
	struct trace tr = { .kind = TRACE_LOST };
	const struct opened *ev;
	struct perfrec r;
	uint16_t len;
	pid_t owner;

	memcpy(&len, p + 6, sizeof len);
	if (perfrec_parse(&r, p, len) == -1)
		return -1;
	tr.rec = &r;
	if (r.type == PERFREC_LOST || r.type == PERFREC_LOSTSAMPLES) {
		t->lost += r.lost;
		return fn(arg, &tr);
	}
	if ((ev = opened_find(t, r.id)) == NULL)
		return 0;
	owner = threadset_owner(&t->threads, (pid_t)r.tid);
	if (owner == 0) {
		owner = ev->tid;
		/* the end may be told twice */
		if (r.type == PERFREC_EXIT)
			return 0;
		if (threadset_add(&t->threads, (pid_t)r.tid, owner) == -1)
			return -1;
	}
	tr.kind = ev->kind;
	if (r.type == PERFREC_SAMPLE) {
		if (!threadset_counts(&t->threads, (pid_t)r.tid, ev->tid,
		    ev->kind, r.time))
			return 0;
		tracepoint_decode(&tr, &t->level.format[ev->kind]);
	} else if (owner != ev->tid || !record_kind(t, &r, &tr.kind, owner))
		return 0;
	return fn(arg, &tr);
}

static int
tracer_drain(struct tracer *t)
{
	size_t i;

	if (t->order.bytes.len > MAX_HELD)
		return 0;
	for (i = 0; i < t->ncpu; i++)
		if (ring_drain(&t->ring[i], &t->order.bytes) == -1)
			return -1;
	return order_note(&t->order);
}

/*
 * Call fn, with arg before it, for what has happened to those that t traces, in
 * order: for all of it, or for what nothing older can follow any more.  Return
 * 0; -1 if fn did so, which ends it, or with errstr.
 */
int
tracer_read(struct tracer *t, bool all, trace_fn fn, void *arg)
{
	struct perforder old = { 0 };
	uint64_t now;
	size_t i;
	int rc;

	now = now_ns();
	rc = tracer_drain(t);
	if (rc == 0)
		rc = order_split(&t->order, all ? UINT64_MAX : now - HOLD_NS,
		    &old);
	for (i = 0; rc == 0 && i < old.n; i++) {
		rc = record_pass(t, old.bytes.data + old.slot[i].at, fn, arg);
		if (rc == 0 && i % DRAIN_EACH == DRAIN_EACH - 1)
			rc = tracer_drain(t);
	}
	order_free(&old);
	return rc;
}

/*
 * Let nothing more happen that t would tell; what has can still be read.
 */
void
tracer_stop(struct tracer *t)
{
	size_t i;

	for (i = 0; i < t->nev; i++)
		(void)ioctl(t->ev[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * Return how many records of t were lost, because rings were full.
 */
uint64_t
tracer_lost(const struct tracer *t)
{
	uint64_t v[2], n;
	size_t i;

	for (n = 0, i = 0; t->level.counts_lost && i < t->nev; i++)
		if (read(t->ev[i].fd, v, sizeof v) == sizeof v)
			n += v[1];
	return n > t->lost ? n : t->lost;
}

/*
 * Free t, or NULL: nothing is traced any more.
 */
void
tracer_free(struct tracer *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->ncpu; i++)
		ring_free(&t->ring[i]);
	for (i = 0; i < t->nev; i++)
		close(t->ev[i].fd);
	perflevel_free(&t->level);
	order_free(&t->order);
	threadset_free(&t->threads);
	free(t->ring);
	free(t->ev);
	free(t->poll);
	free(t);
}
