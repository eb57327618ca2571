/*
 * The traced threads. If the events of a thread are opened after it was created
 * by a thread whose events were already open, it has two sets of events: its
 * own, and those that it inherited. Only the events of its owner count, the
 * thread for which they were opened.
 */
#include "bisect.h"
#include "perf.h"
#include "rbtree.h"
#include "vec.h"

struct member {
	RB_ENTRY(member) entry;
	pid_t		 tid;
	pid_t		 owner;
	/* by software event: time of the last sample that counted, and of the
	   last one that did not */
	uint64_t	 counted[TRACE_POINT];
	uint64_t	 uncounted[TRACE_POINT];
};

CMP(member_cmp, struct member, tid)
TREE_GENERATE(threadset, member, entry, member_cmp)

static struct member *
member_find(struct threadset *s, pid_t tid)
{
	struct member key = { .tid = tid };

	return RB_FIND(threadset, s, &key);
}

/*
 * Return the owner of thread tid in s, or 0 if the thread is unknown.
 */
pid_t
threadset_owner(struct threadset *s, pid_t tid)
{
	struct member *m;

	m = member_find(s, tid);
	return m == NULL ? 0 : m->owner;
}

/*
 * Make owner the owner of thread tid in s. A thread that owns itself stays its
 * own owner. Return 0, or -1 with errstr set.
 */
int
threadset_add(struct threadset *s, pid_t tid, pid_t owner)
{
	struct member *m;

	if ((m = member_find(s, tid)) == NULL) {
		if ((m = mem_new(1, sizeof *m)) == NULL)
			return -1;
		m->tid = tid;
		RB_INSERT(threadset, s, m);
	}
	if (m->owner != tid)
		m->owner = owner;
	return 0;
}

/*
 * Return true if a sample is to be reported. It came from the given thread at
 * the given time (in ns), through an event of this kind that was opened for
 * thread tid. If a software event was opened twice for a thread, Linux may give
 * both samples the same ID and time; then return true for only one of the two.
 */
bool
threadset_counts(struct threadset *s, pid_t thread, pid_t tid,
    enum trace_kind kind, uint64_t time)
{
	struct member *m;

	m = member_find(s, thread);
	if (m == NULL || kind >= TRACE_POINT)
		return m != NULL && m->owner == tid;
	if (time == m->counted[kind])
		return false;
	if (m->owner != tid && time != m->uncounted[kind]) {
		m->uncounted[kind] = time;
		return false;
	}
	m->counted[kind] = time;
	return true;
}

/*
 * Remove thread tid, which has ended, from s: its ID may be reused.
 */
void
threadset_drop(struct threadset *s, pid_t tid)
{
	struct member *m;

	if ((m = member_find(s, tid)) != NULL) {
		RB_REMOVE(threadset, s, m);
		free(m);
	}
}

/*
 * Remove all threads from s.
 */
void
threadset_free(struct threadset *s)
{
	struct member *m, *next;

	RB_FOREACH_SAFE(m, threadset, s, next) {
		RB_REMOVE(threadset, s, m);
		free(m);
	}
}
