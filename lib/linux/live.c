/*
 * A set of live processes, from creation to release. add.c fills it, freeze.c
 * stops the processes and releases them.
 */
#include "bisect.h"
#include "clock.h"
#include "linux/choose/choose.h"
#include "linux/clone/clone.h"
#include "linux/file/file.h"
#include "linux/restore/namespace/namespace.h"
#include "linux/restore/open/open.h"
#include "linux/proxy/proxy.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"
#include "live.h"
#include "vec.h"

#include <sys/utsname.h>

#include <sched.h>
#include <time.h>
#include <unistd.h>

/* default seconds to wait for an answer: snap(1), -t */
enum { PATIENCE = 5 };

/*
 * Return an empty set with a copy of options o, or NULL with errstr set.
 */
struct live *
live_new(const struct liveopts *o)
{
	struct live *l;

	if (proc_checkns() == -1 || (l = mem_new(1, sizeof *l)) == NULL)
		return NULL;
	l->opts = *o;
	if (l->opts.no_inject)	/* without injected calls no process can be
				   cloned */
		l->opts.clone = false;
	if (l->opts.timeout == 0)
		l->opts.timeout = PATIENCE;
	TAILQ_INIT(&l->procs);
	RB_INIT(&l->pids);
	proxy_allow(l->opts.timeout);
	return l;
}

/*
 * Release all processes of set l, and threads of earlier ones that stopped only
 * after their release. Free l, which may be NULL.
 */
void
live_free(struct live *l)
{
	if (l == NULL)
		return;
	live_thaw(l);
	(void)late_release();
	lprocs_free(l);
	hardlinks_free(l);
	files_free(l);
	shmcopies_free(l);
	prepared_free(l);
	cgroups_free(l->cgroups);
	free(l->filter);
	live_forget(l);
	free(l);
	proxy_end();
	localfs_forget();
}

/*
 * End the capture of set l, which was released and written, but keep its
 * clones: those of a later set are compared with them (opts.before). The caller
 * can now free the sets before l.
 */
void
live_keep(struct live *l)
{
	take_finish(l);
	live_unyield(l);
	live_warnmissed(l);
	if (l->opts.verbose)
		live_reportheld(l);
	l->opts.verbose = false;
	l->opts.before = NULL;
	l->kept = true;
}

/*
 * Return true if set l, whose processes are stopped, has a process that the set
 * of the moment before lacks, or if there is no such set.
 */
bool
live_grew(const struct live *l)
{
	struct live *before = (struct live *)(uintptr_t)l->opts.before;

	return LSEEK(&l->procs, !x->skip && (before == NULL ||
	    lproc_find(before, x->pid) == NULL)) != NULL;
}

/*
 * Begin to capture the stopped processes of set l into snapshot s. Record their
 * state, then clone and release them; without clones they stay stopped. Then
 * start a thread that reads the rest from the clones or the stopped processes.
 * This thread calls take(), unless that is NULL, for each thread of a process,
 * to make the small files of snap(6). take() gets arg, the facts from /proc and
 * ptrace(2), and the files of the Linux record. The thread also calls warn() of
 * l->opts. The caller must keep arg, and the first argument of warn(), valid
 * until live_thaw(). live_next() returns the captured processes. An early copy
 * (l->opts.early) has only their memory. Return 0, or -1 with errstr set if
 * nothing can be captured.
 */
int
live_take(struct live *l, struct snap *s, take_fn take, void *arg)
{
	struct lproc *p;
	bool made, told;

	told = false;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (!p->skip && proc_gather(l, s, p) == -1)
			return -1;
		/* a process that only others trace needs no clone */
		told |= p->inert && !p->skip && lproc_has(p, HOLD_STOPPED);
	}
	/* the copy of a shared file may have failed */
	made = !told && l->opts.clone && clones_make(l, s);
	if (!made)	/* without clones the stop takes too long for
			   real-time priority */
		live_unboost(l);
	state_finish(l, false);
	procs_finish(l);
	if (made) {
		family_read(l);
		live_release(l);
		if (l->opts.yield)
			live_yield(l);
		clones_watch(l);
	}
	if (prepared_write(l) == -1) {
		l->lost = true;
		return -1;
	}
	state_finish(l, true);
	return take_begin(l, s, take, arg);
}

/*
 * Return true if all processes that the user asked for were stopped and
 * captured completely. Zombies do not count, since they have nothing that could
 * be stopped.
 */
bool
live_whole(const struct live *l)
{
	return !l->parted;
}

/*
 * Return true if a process that the user asked for, or a part of it, is missing
 * from the snapshot.
 */
bool
live_incomplete(const struct live *l)
{
	return l->incomplete;
}

/*
 * Return true if TCP connections of set l, which has liveopts.move, could not
 * be locked: a restore closes them.
 */
bool
live_tcpcloses(const struct live *l)
{
	return l->tcpcloses;
}

/*
 * Return true if set l has no process to capture.
 */
bool
live_isempty(const struct live *l)
{
	return LSEEK(&l->procs, lproc_istaken(x)) == NULL;
}

/*
 * Return the number of process trees in set l, which live_each() has found: the
 * number of processes whose parents are not in it.
 */
unsigned int
live_trees(struct live *l)
{
	const struct lproc *p;
	unsigned int n = 0;
	struct task t;

	TAILQ_FOREACH(p, &l->procs, entry)
		n += lproc_istaken(p) && proc_stat(p->pid, 0, &t) == 0 &&
		    lproc_find(l, t.ppid) == NULL;
	return n;
}

/*
 * Return the first line of a snapshot. It has the time, the user, this machine,
 * the processor type cputype, the uptime and the kernel. The caller frees it.
 * Return NULL with errstr set if memory runs out.
 */
char *
live_header(const char *cputype)
{
	struct timespec now, up;
	struct utsname u;
	char user[32];

	/* time(2) may be a few milliseconds late */
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	if (uname(&u) == -1)
		strlcpy(u.nodename, "unknown", sizeof u.nodename);
	user_name(getuid(), user, sizeof user);
	return str_printf("process snapshot %lld %s@%.64s %s %ju "
	    "\"Linux %.40s\"",
	    (long long)now.tv_sec, user, u.nodename, cputype,
	    (uintmax_t)(timespec_ns(&now) - timespec_ns(&up)) / 1000000000,
	    u.release);
}
