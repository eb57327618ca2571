/*
 * Is there a place for the clone of a process (clone.c) among the processes and
 * threads that its user may have (RLIMIT_NPROC of getrlimit(2))?  Clones take a
 * quarter of what is left at the most, for the process may want to fork as long
 * as its clone is there.
 *
 * How many a user has, the kernel does not tell.  There are no more than all
 * have together; only where the limit is not far above that are they counted,
 * and clones are added to what was counted then.  The limit does not hold for
 * the user root (copy_process of the kernel's kernel/fork.c).
 */
#include "cloning.h"
#include "full.h"
#include "vec.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 4 };		/* of the places left, for clones */

struct user {
	uint64_t	 uid;
	uint64_t	 tasks;	/* that it had when they were counted */
	uint64_t	 clones; /* promised since then */
};

struct places {
	uint64_t	 all;	/* tasks of all users; 0: not known */
	uint64_t	 clones; /* promised since then */
	struct user	*v;	/* owned; those that were counted */
	size_t		 n;
};

/*
 * Return how many processes and threads there are, proc_loadavg(5); UINT64_MAX
 * if that is not told.
 */
static uint64_t
tasks_all(void)
{
	struct buf b = { 0 };
	struct scan t;
	uint64_t n;

	n = UINT64_MAX;
	if (full_readfile(AT_FDCWD, "/proc/loadavg", &b) == 0) {
		t = scan_begin(b.data, b.len);
		while (t.s < t.end && *t.s != '/')
			t.s++;
		if (!scan_byte(&t, '/') || !scan_number(&t, 10, &n))
			n = UINT64_MAX;
	}
	buf_free(&b);
	return n;
}

/*
 * Add the threads of process pid to those of user arg, if it is its.
 */
static int
tasks_add(void *arg, long pid)
{
	struct user *u = arg;
	struct bytes b;

	if (proc_read((pid_t)pid, 0, "status", &b) == -1)
		return 0;
	if (status_first(b.data, b.len, "Uid", 10) == u->uid)
		u->tasks += status_first(b.data, b.len, "Threads", 10);
	free(b.data);
	return 0;
}

/*
 * Return a user, whose tasks are counted if they were not; NULL with errstr.
 */
static struct user *
user_get(struct places *l, uint64_t uid)
{
	struct user *u;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->v[i].uid == uid)
			return &l->v[i];
	if (VEC_ROOM(l->v, l->n) == -1)
		return NULL;
	u = &l->v[l->n];
	*u = (struct user){ .uid = uid };
	if (proc_list(0, NULL, tasks_add, u) == -1)
		return NULL;
	l->n++;
	return u;
}

/*
 * Return the limit of process pid, RLIMIT_NPROC; UINT64_MAX if it has none, or
 * that is not told.
 */
static uint64_t
limit_read(pid_t pid)
{
	struct limit l = { .cur = UINT64_MAX };
	struct bytes b;
	struct scan t;
	bool more;

	if (proc_read(pid, 0, "limits", &b) == -1)
		return UINT64_MAX;
	t = scan_begin(b.data, b.len);
	while ((more = limits_next(&t, &l)) &&
	    strcmp(l.name, "Max processes") != 0)
		continue;
	free(b.data);
	return more ? l.cur : UINT64_MAX;
}

/*
 * Return whether so many clones take no more than their part of the places that
 * were left before them.
 */
bool
places_enough(uint64_t left, uint64_t clones)
{
	return left / PART >= clones;
}

static uint64_t
places_left(uint64_t limit, uint64_t tasks)
{
	return limit > tasks ? limit - tasks : 0;
}

/*
 * Promise a place for a clone of process pid, whose user is uid.  Return 0; or
 * -1 with errstr where there is none.
 */
static int
user_promise(struct places *l, uint64_t limit, uint64_t uid)
{
	struct user *u;

	if ((u = user_get(l, uid)) == NULL)
		return -1;
	if (!places_enough(places_left(limit, u->tasks), u->clones + 1))
		return errstr_set("its user may have %ju processes and "
		    "threads, and has %ju", (uintmax_t)limit,
		    (uintmax_t)(u->tasks + u->clones));
	u->clones++;
	return 0;
}

/*
 * Set aside a place for a clone of process pid, which is stopped.  *l is what
 * is known, NULL at first; places_free frees it.  Return 0; or -1 with errstr
 * where there is none.
 */
int
places_claim(struct places **l, pid_t pid)
{
	const uint64_t limit = limit_read(pid);
	long uid;

	if (limit == UINT64_MAX)
		return 0;
	if (*l == NULL && (*l = calloc(1, sizeof **l)) == NULL)
		return errstr_set("out of memory");
	if ((*l)->all == 0)
		(*l)->all = tasks_all();
	(*l)->clones++;
	if (places_enough(places_left(limit, (*l)->all), (*l)->clones) ||
	    (uid = proc_status(pid, 0, "Uid")) <= 0)
		return 0;
	return user_promise(*l, limit, (uint64_t)uid);
}

void
places_free(struct places *l)
{
	if (l == NULL)
		return;
	free(l->v);
	free(l);
}
