/*
 * Trace threads with the events of perfevent.c.
 *
 * Each thread has an event of each kind on each processor, because only such
 * events can both be inherited by children and have a ring. All events of a
 * processor share one ring. The rings are read one after the other. Records
 * younger than HOLD_NS, the longest time that writing a record may take, are
 * held back, so that all records can be reported in the order of their times.
 */
#include "bisect.h"
#include "calls.h"
#include "clock.h"
#include "linux/proc/proc.h"
#include "perf.h"
#include "vec.h"

#include <sys/ioctl.h>

#include <linux/perf_event.h>

#include <poll.h>
#include <unistd.h>

enum {
	MAX_RING = 4 << 20,	/* maximum size of a ring, in bytes */
	MAX_RINGS = 128 << 20,	/* maximum size of all rings together, in
				   bytes */
	MAX_HELD = 64 << 20,	/* maximum size of records copied from rings, in
				   bytes */
	HOLD_NS = 20000000, /* time for which records are held back */
	DRAIN_EACH = 2048,	/* read the rings after this many records */
	PASSES = 4 /* maximum number of passes over the threads of a process */
};

struct opened {			/* an open event */
	uint64_t	 id;
	enum trace_kind	 kind;
	pid_t		 tid;
	int		 fd;	/* owned */
};

struct tracer {
	struct perflevel level;
	bool		 slab;
	struct ring	*ring;	/* owned; one per processor */
	size_t		 ncpu;
	size_t		 ringsize;
	struct opened	*ev;	/* owned */
	size_t		 nev;
	bool		 sorted; /* "ev" is sorted by id */
	struct pollfd	*poll;	/* owned; one event per thread and processor */
	size_t		 npoll;
	struct threadset threads;
	struct perforder order;
	uint64_t	 lost;	/* sum of the losses reported by PERFREC_LOST
				   records */
};

/*
 * Return a new tracer that traces nothing yet. If slab is set, it will also
 * trace kernel allocations. Return NULL with errno and errstr set on failure,
 * or if the kernel permits no tracing at all.
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
 * Describe in s, which has room for size bytes, what the kernel does not permit
 * t to trace, and why. Set s to "" if everything is permitted.
 */
void
tracer_lacks(const struct tracer *t, char *s, size_t size)
{
	perflevel_lacks(&t->level, t->slab, s, size);
}

/*
 * Open an event of this kind for thread tid on the processor of ring r, and
 * attach it to the ring. Set its filter, if it has one. The event starts now
 * or, if on_exec is set, at the next execve(2) of the thread. Return 0, or -1
 * with errno and errstr set.
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
		return errno == EMFILE ? errstr_set("too many threads: each "
		    "needs open files for every processor") :
		    errstr_sys("perf_event_open");
	if (filter != NULL)
		/* without the filter, extra samples do no harm */
		(void)ioctl(ev.fd, PERF_EVENT_IOC_SET_FILTER, filter);
	if (call_ioctl(ev.fd, PERF_EVENT_IOC_ID, &ev.id) == -1)
		errstr_sys("cannot get the ID of a perf event");
	else if (ring_attach(r, ev.fd, t->ringsize) == 0 &&
	    VEC_ADD(t->ev, t->nev, ev) == 0) {
		t->sorted = false;
		return 0;
	}
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
 * Use t to trace thread tid, and all threads and children that it creates.
 * Tracing starts now or, if on_exec is set, at the next execve(2) of tid.
 * Return 0, or -1 with errno set: ESRCH if there is no such thread, EACCES if
 * it may not be traced. After other errors the tracer can only be freed.
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
			/* POLLHUP: the thread and all its children ended */
			if (k == TRACE_MINOR &&
			    VEC_ADD(t->poll, t->npoll, (struct pollfd){
			    t->ev[t->nev - 1].fd, POLLIN, 0 }) == -1)
				return -1;
		}
	return threadset_add(&t->threads, tid, tid);
}

struct adding {
	struct tracer	*t;
	size_t		 n;	/* number of threads that were added */
	bool		 known;	/* some threads were already traced */
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
 * Use t to trace process pid, including all threads that it has and will have.
 * The list of threads is read again until it has no new ones, because a thread
 * that is not traced yet may create one. A thread that is then traced twice is
 * reported once (see threadset.c). Return 0, or -1 with errno set as by
 * tracer_add().
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
 * Wait until there are records of t or a signal arrives, but at most for ms
 * milliseconds. Return 1 if all threads have ended, else 0.
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

/*
 * Set *kind to the kind of record r, which is not a sample, and update the
 * threads of t. owner is the traced thread to which the thread of r belongs.
 * Return false if the record is not to be reported.
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
 * Pass the record at p to fn(), with arg. Drop duplicates, and records of other
 * threads or unknown types. If fn returns -1, return -1.
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
	if (!t->sorted)
		SORT(t->ev, t->nev, opened_cmp);
	t->sorted = true;
	if ((ev = FIND(t->ev, t->nev, id, r.id)) == NULL)
		return 0;
	owner = threadset_owner(&t->threads, (pid_t)r.tid);
	if (owner == 0) {
		owner = ev->tid;
		/* an exit may be reported twice */
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

/*
 * Read all records from the buffers shared with the kernel, unless more than
 * most bytes of them are held already.
 */
static int
tracer_drain(struct tracer *t, size_t most)
{
	size_t i;

	if (t->order.bytes.len > most)
		return 0;
	for (i = 0; i < t->ncpu; i++)
		if (ring_drain(&t->ring[i], &t->order.bytes) == -1)
			return -1;
	return order_note(&t->order);
}

/*
 * Call fn, with arg, for the events of the threads that t traces, in order of
 * time. If all is set, do so for all events read. Otherwise hold back events if
 * an older one may still arrive. If fn() returns -1, stop and return -1. Return
 * 0, or -1 with errstr set.
 */
int
tracer_read(struct tracer *t, bool all, trace_fn fn, void *arg)
{
	struct perforder old = { 0 };
	uint64_t now;
	size_t i;
	int rc;

	now = now_ns();
	/* all is set in the last call: read everything */
	rc = tracer_drain(t, all ? SIZE_MAX : MAX_HELD);
	if (rc == 0)
		rc = order_split(&t->order, all ? UINT64_MAX : now - HOLD_NS,
		    &old);
	for (i = 0; rc == 0 && i < old.n; i++) {
		rc = record_pass(t, old.bytes.data + old.slot[i].at, fn, arg);
		if (rc == 0 && i % DRAIN_EACH == DRAIN_EACH - 1)
			rc = tracer_drain(t, MAX_HELD);
	}
	order_free(&old);
	return rc;
}

/*
 * Stop tracing with t. Events that already happened can still be read.
 */
void
tracer_stop(struct tracer *t)
{
	size_t i;

	for (i = 0; i < t->nev; i++)
		(void)ioctl(t->ev[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * Return the number of records of t that were lost because rings were full.
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
 * Stop tracing and free t, which may be NULL.
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
