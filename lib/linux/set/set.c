/*
 * A set of live processes: look one up, leave one out, and print warnings.
 */
#include "bisect.h"
#include "set.h"
#include "clock.h"
#include "rbtree.h"
#include "vec.h"
#include "worker.h"

#include <unistd.h>

CMP(lproc_cmp, struct lproc, pid)
TREE_GENERATE(pids, lproc, bypid, lproc_cmp)

/*
 * Print a warning formatted as by printf(3), and mark the snapshot of set l
 * incomplete.
 */
void
live_warn(struct live *l, const char *fmt, ...)
{
	va_list ap;

	l->incomplete = l->parted = true;
	va_start(ap, fmt);
	warn_vtell(l->opts.warn, l->opts.arg, fmt, ap);
	va_end(ap);
}

/*
 * Print a message formatted as by printf(3), without marking the snapshot of
 * set l incomplete.
 */
void
live_say(const struct live *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	warn_vtell(l->opts.warn, l->opts.arg, fmt, ap);
	va_end(ap);
}

/*
 * Add process pid to set l, which must not have it yet. Return the process, or
 * NULL if memory runs out.
 */
struct lproc *
lproc_add(struct live *l, pid_t pid)
{
	struct lproc *p;

	if ((p = mem_new(1, sizeof *p)) == NULL)
		return NULL;
	p->pid = pid;
	p->start = proc_began(pid);
	TAILQ_INIT(&p->threads);
	RB_INIT(&p->tids);
	TAILQ_INSERT_TAIL(&l->procs, p, entry);
	RB_INSERT(pids, &l->pids, p);
	return p;
}

/*
 * Return process pid of set l, or NULL if it is not in the set.
 */
struct lproc *
lproc_find(struct live *l, pid_t pid)
{
	struct lproc key = { .pid = pid };

	return RB_FIND(pids, &l->pids, &key);
}

/*
 * Leave process p out of set l, and warn the user, with errstr as the reason.
 */
void
lproc_refuse(struct live *l, struct lproc *p)
{
	p->skip = true;
	live_warn(l, "%s: left out", snap_errstr());
}

/*
 * Return the thread of process p whose thread ID is the process ID, or NULL if
 * p has no such thread.
 */
struct lthread *
lproc_leader(const struct lproc *p)
{
	struct lthread *t = TAILQ_FIRST(&p->threads);

	return t != NULL && t->tid == p->pid ? t : NULL;
}

/*
 * Return true if process p has a thread in state how.
 */
bool
lproc_has(const struct lproc *p, enum hold how)
{
	return LSEEK(&p->threads, x->hold == how) != NULL;
}

/*
 * Return 0 if the memory of process p cannot change. This is so if each thread
 * of p has ended or was stopped by us, and no running process shares the
 * memory. Otherwise return -1 with errstr set.
 */
int
lproc_stands(const struct lproc *p)
{
	const struct lthread *t = LSEEK(&p->threads,
	    x->hold != HOLD_STOPPED && x->hold != HOLD_GONE);

	if (t != NULL)
		return errstr_set("thread %d does not stop", t->tid);
	return p->sharer == 0 ? 0 : errstr_set("process %d shares its memory, "
	    "and is not stopped", p->sharer);
}

/*
 * Return true if process p still exists, perhaps as a zombie. Compare its start
 * time, since its process ID may have been reused.
 */
bool
lproc_isthere(const struct lproc *p)
{
	return p->start == 0 || proc_began(p->pid) == p->start;
}

/*
 * Return true if process p has ended. Wait up to 100 ms for that, since a
 * process takes a moment to end after it is killed.
 */
static bool
lproc_ended(const struct lproc *p)
{
	enum { TRIES = 100 };	/* maximum number of attempts, one per
				   millisecond */
	int i;

	for (i = 0; i < TRIES; i++) {
		if (proc_died(p->pid, 0) || !lproc_isthere(p))
			return true;
		nap_us(1000);
	}
	return false;
}

/*
 * Leave process p, which seems to have ended, out of set l, and warn the user.
 * Do not warn if p really ended before the processes were stopped and the user
 * did not give its process ID. That it ended makes no later moment of a series
 * incomplete.
 */
void
lproc_leave(struct live *l, struct lproc *p)
{
	p->skip = true;
	if (!lproc_ended(p))
		live_warn(l, "process %d could not be examined: left out",
		    p->pid);
	else if (p->found && p->mmtid == 0)
		return;
	else if (l->opts.moment > 1)
		live_say(l, "process %d exited: left out", p->pid);
	else
		live_warn(l, "process %d exited: left out", p->pid);
}

/*
 * Set *t to a queue of all processes of set l, for turns_next(). Return the
 * number of threads that should work on it: one for every EACH processes, but
 * no more than there are processors, and no more than the parameter most.
 */
size_t
turns_begin(const struct live *l, struct turns *t, size_t most)
{
	enum { EACH = 4 }; /* minimum number of processes for each thread */
	const size_t cpus = (size_t)processors_count();
	const struct lproc *p;
	size_t n = 0;

	*t = (struct turns){ PTHREAD_MUTEX_INITIALIZER,
	    TAILQ_FIRST(&l->procs) };
	TAILQ_FOREACH(p, &l->procs, entry)
		n += !p->skip;
	n = n / EACH < most ? n / EACH : most;
	return n < cpus ? n : cpus;
}

/*
 * Return the next process of queue t that no thread has taken yet. Skip
 * processes that are left out. Return NULL if there are no more.
 */
struct lproc *
turns_next(struct turns *t)
{
	struct lproc *p;

	pthread_mutex_lock(&t->lock);
	while ((p = t->next) != NULL) {
		t->next = TAILQ_NEXT(p, entry);
		if (!p->skip)
			break;
	}
	pthread_mutex_unlock(&t->lock);
	return p;
}

/*
 * Free everything that task t owns, and set *t to zero.
 */
void
task_free(struct task *t)
{
	size_t i;

	for (i = 0; i < t->nopen; i++)
		free(t->open[i].path);
	free(t->open);
	vmas_free(&t->vma);
	free(t->cwd);
	data_free(t->maps.data);
	data_free(t->smaps.data);
	memset(t, 0, sizeof *t);
}

/*
 * Free all threads of process p, and empty its list of threads.
 */
void
threads_free(struct lproc *p)
{
	struct lthread *t;

	while ((t = TAILQ_FIRST(&p->threads)) != NULL) {
		TAILQ_REMOVE(&p->threads, t, entry);
		filelist_free(&t->rec);
		filelist_free(&t->seen);
		free(t->general.data);
		free(t);
	}
	RB_INIT(&p->tids);
}

/*
 * Free all processes of set l, and empty the list.
 */
void
lprocs_free(struct live *l)
{
	struct lproc *p;

	while ((p = TAILQ_FIRST(&l->procs)) != NULL) {
		TAILQ_REMOVE(&l->procs, p, entry);
		threads_free(p);
		task_free(&p->task);
		coredump_free(p->core);
		free(p->huge);
		free(p->gap);
		free(p->limit);
		free(p->cgroup.data);
		filelist_free(&p->files);
		filelist_free(&p->links);
		filelist_free(&p->fds);
		free(p->unopened);
		free(p);
	}
}
