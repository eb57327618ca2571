/*
 * A set of live processes: which they are.
 */
#include "linux/clone/clone.h"
#include "linux/open/open.h"
#include "linux/proc/proc.h"
#include "linux/serve/serve.h"
#include "linux/stop/stop.h"
#include "linux/take/take.h"
#include "live.h"
#include "rbtree.h"
#include "space.h"
#include "linux/proxy/proxy.h"

#include <sys/utsname.h>

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	PATIENCE = 5,		/* seconds, for who may not answer: snap(1), -t */
	MISSED_MOST = 8		/* of these are told one by one */
};

static int
lproc_cmp(const struct lproc *a, const struct lproc *b)
{
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

TREE_GENERATE(pids, lproc, bypid, lproc_cmp)

/*
 * An empty set.
 */
struct live *
live_new(const struct liveopts *o)
{
	struct live *l;

	if ((l = calloc(1, sizeof *l)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	l->opts = *o;
	if (l->opts.patience == 0)
		l->opts.patience = PATIENCE;
	TAILQ_INIT(&l->procs);
	RB_INIT(&l->pids);
	proxy_allow(l->opts.patience);
	return l;
}

/*
 * Let all processes of a set go, and free it.
 */
void
live_free(struct live *l)
{
	struct lproc *p;
	struct lthread *t;

	if (l == NULL)
		return;
	live_thaw(l);
	while ((p = TAILQ_FIRST(&l->procs)) != NULL) {
		while ((t = TAILQ_FIRST(&p->threads)) != NULL) {
			TAILQ_REMOVE(&p->threads, t, entry);
			thread_forget(t);
			free(t);
		}
		TAILQ_REMOVE(&l->procs, p, entry);
		free(p->smaps.data);
		vmas_free(&p->before);
		free(p->kept);
		free(p->limit);
		free(p);
	}
	carry_free(l);
	otherlinks_free(l);
	files_free(l);
	frozen_free(l);
	headroom_free(l);
	readers_free(l);
	free(l->user);
	free(l);
	proxy_end();
	served_forget();
}

/*
 * Tell what is missing from the result, which is incomplete then.
 */
void
live_warn(struct live *l, const char *fmt, ...)
{
	char s[1024];
	va_list ap;

	l->incomplete = true;
	if (l->opts.warn == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	l->opts.warn(l->opts.arg, s);
}

/*
 * Say something that does not make the result incomplete.
 */
void
live_say(const struct live *l, const char *fmt, ...)
{
	char s[1024];
	va_list ap;

	if (l->opts.warn == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(s, sizeof s, fmt, ap);
	va_end(ap);
	l->opts.warn(l->opts.arg, s);
}

/*
 * Tell who did not answer in time, and was not told yet.
 */
void
live_tellmissed(struct live *l)
{
	char what[256];
	size_t n;

	for (n = l->nmissed; proxy_missed(n, what, sizeof what); n++)
		if (n < MISSED_MOST)
			live_warn(l, "%s: no answer in %u seconds: it is "
			    "missing (-t waits longer)", what,
			    l->opts.patience);
	if (n > MISSED_MOST && n > l->nmissed)
		live_warn(l, "%zu more give no answer: they are missing",
		    n - MISSED_MOST);
	l->nmissed = n;
}

/*
 * Was something that was asked for left out, or could not be had?
 */
bool
live_incomplete(const struct live *l)
{
	return l->incomplete;
}

/*
 * Does a process read what we write, for longer than the moment in which a
 * shell that begins a pipeline holds both ends of its pipe?
 */
static bool
reads_us_still(struct live *l, pid_t pid)
{
	const struct timespec nap = { 0, 20000000 };
	int i;

	for (i = 0; i < 10 && reads_us(l, pid); i++)
		nanosleep(&nap, NULL);
	return i == 10;
}

/*
 * The process of the set with that number, or NULL.
 */
struct lproc *
lproc_find(struct live *l, pid_t pid)
{
	struct lproc key = { .pid = pid };

	return RB_FIND(pids, &l->pids, &key);
}

/*
 * Leave out a process that is a part of us, or another's guard, which would
 * not see to its processes meanwhile.  That is told of what was asked for; of
 * our own guard, which can only be found, there is nothing to tell.
 */
static bool
live_isown(struct live *l, const struct lproc *p)
{
	if (p->pid == getpid())
		live_warn(l, "process %d is this one: left out", p->pid);
	else if (p->pid == guard_pid(l->guard))
		return true;
	else if (!guard_is(p->pid))
		return false;
	else if (p->found)
		live_say(l, "process %d is a guard of snap: left out", p->pid);
	else
		live_warn(l, "process %d is a guard of snap: left out", p->pid);
	return true;
}

/*
 * Add a process, or remember that it is left out.
 */
static int
live_add(struct live *l, pid_t pid, bool found)
{
	struct lproc *p;
	char user[32];

	if (lproc_find(l, pid) != NULL)
		return 0;
	if ((p = calloc(1, sizeof *p)) == NULL)
		return errstr_set("out of memory");
	p->pid = pid;
	p->found = found;
	TAILQ_INIT(&p->threads);
	RB_INIT(&p->tids);
	TAILQ_INSERT_TAIL(&l->procs, p, entry);
	RB_INSERT(pids, &l->pids, p);
	p->skip = live_isown(l, p);
	if (!p->skip && (l->stopped ? reads_us(l, pid) :
	    reads_us_still(l, pid))) {
		live_warn(l, "process %d reads what this one writes: "
		    "left out", pid);
		p->skip = true;
	}
	if (!p->skip)
		live_user(l, (uid_t)proc_status(pid, 0, "Uid"), user,
		    sizeof user);
	return 0;
}

/*
 * Forget what was gathered of a thread.
 */
void
thread_ungather(struct lthread *t)
{
	if (t->task != NULL)
		task_free(t->task);
	free(t->task);
	t->task = NULL;
	filelist_free(&t->rec);
}

/*
 * Forget what was seen of a thread.
 */
void
thread_forget(struct lthread *t)
{
	size_t i;

	thread_ungather(t);
	filelist_free(&t->seen);
	for (i = 0; i < REGSET_MAX; i++)
		free(t->reg[i].data);
}

/*
 * Add a process that was found among the descendants.
 */
int
live_found(struct live *l, pid_t pid)
{
	return live_add(l, pid, true);
}

/*
 * Add a process, or the process that a thread belongs to, by number.  If there
 * is none that is told, and the result is incomplete.
 */
int
live_addpid(struct live *l, pid_t pid)
{
	pid_t leader;

	if ((leader = proc_leader(pid)) == -1) {
		live_warn(l, "no such process: %d", pid);
		return 0;
	}
	return live_add(l, leader, false);
}

/*
 * Leave out a process that cannot be taken; errstr tells why.
 */
void
lproc_refuse(struct live *l, struct lproc *p)
{
	p->skip = true;
	live_warn(l, "%s: left out", snap_errstr());
}

/*
 * Leave out a process that has ended.  That is told, unless it was found among
 * others and was gone before these were stopped.
 */
void
lproc_leave(struct live *l, struct lproc *p)
{
	p->skip = true;
	if (!p->found || p->mmtid != 0)
		live_warn(l, "process %d exited: left out", p->pid);
}

static int
byname_add(void *arg, pid_t pid)
{
	return live_add(arg, pid, true);
}

/*
 * Add all processes of a name that the user owns.
 */
int
live_addname(struct live *l, const char *name)
{
	size_t foreign;

	if (proc_named(name, byname_add, l, &foreign) == -1)
		return -1;
	if (foreign > 0)
		live_warn(l, "processes of others are called \"%s\", too: %zu "
		    "left out (use their pids)", name, foreign);
	return 0;
}

/*
 * When this system was started, in seconds.
 */
static uint64_t
boot_time(void)
{
	unsigned long long t;
	char line[256];
	FILE *f;

	t = 0;
	if ((f = fopen("/proc/stat", "re")) == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "btime %llu", &t) == 1)
			break;
	fclose(f);
	return t;
}

/*
 * What a snapshot's first line tells of this machine and moment, behind
 * "process snapshot ": the caller frees it.  NULL when memory runs out.
 */
char *
live_header(const char *cputype)
{
	struct live l = { 0 };
	struct utsname u;
	char user[32], *s;

	if (uname(&u) == -1)
		strlcpy(u.nodename, "unknown", sizeof u.nodename);
	live_user(&l, getuid(), user, sizeof user);
	free(l.user);
	if (asprintf(&s, "%lld %s@%.64s %s %ju \"Linux %.40s\"",
	    (long long)time(NULL), user, u.nodename, cputype,
	    (uintmax_t)boot_time(), u.release) == -1) {
		errstr_set("out of memory");
		return NULL;
	}
	return s;
}
