/*
 * Look at a thread and at its system call before it is stopped: its registers
 * may not show the call afterwards (linux/machine/).
 */
#include "clock.h"
#include "bisect.h"
#include "linux/proxy/proxy.h"
#include "restart.h"
#include "stopping.h"

#include <sys/syscall.h>

enum { NAP_US = 1000 };		/* microseconds between two looks at a thread */

/*
 * Return the number of the system call in which a thread waits. nr is the
 * number in /proc/TID/syscall. If that is restart_syscall(2), determine the
 * resumed call from arg, its first argument, and from wchan in l, which was
 * read just after nr. Before Linux 5.16, wchan is 0 on amd64; then use stack,
 * which only root can read. If nr is another call, or the resumed call is
 * unknown, return nr.
 */
static int64_t
call_first(int64_t nr, const struct filelist *l, uint64_t arg)
{
	static const struct timed {
		const char	*name;
		int64_t		 nr;
	} timed[] = {
#ifdef SYS_poll
		{ "poll", SYS_poll },
#endif
		{ "nanosleep", SYS_nanosleep },
		{ "clock_nanosleep", SYS_clock_nanosleep },
		{ "futex", SYS_futex }
	};
	const struct file *f = filelist_find(l, "wchan");
	const struct timed *t;
	const char *name;
	char in[1024];

	if (nr != SYS_restart_syscall)
		return nr;
	if (f == NULL || (f->len == 1 && memcmp(f->data, "0", 1) == 0))
		f = filelist_find(l, "stack");
	if (f == NULL)
		return nr;
	snprintf(in, sizeof in, "%.*s", (int)f->len, (const char *)f->data);
	name = restart_name(in, arg);
	t = name == NULL ? NULL : SEEK_IN(timed, strcmp(x->name, name) == 0);
	return t == NULL ? nr : t->nr;
}

/*
 * Return the system call of the thread whose files are in l: status, syscall,
 * wchan and stack, which were read in this order.
 */
static struct seencall
call_seen(const struct filelist *l)
{
	const struct file *status = filelist_find(l, "status"),
	    *f = filelist_find(l, "syscall");
	struct seencall c = { .nr = -1 };
	char text[256];

	if (f == NULL)
		return c;
	snprintf(text, sizeof text, "%.*s", (int)f->len, (const char *)f->data);
	if (sscanf(text, "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %"
	    SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &c.nr,
	    &c.arg[0], &c.arg[1], &c.arg[2], &c.arg[3], &c.arg[4], &c.arg[5],
	    &c.sp, &c.pc) != 9)
		c.nr = -1;
	c.nr = call_first(c.nr, l, c.arg[0]);
	if (restart_counts(c.nr) && status != NULL)
		c.sleeps = status_first(status->data, status->len,
		    "voluntary_ctxt_switches", 10);
	return c;
}

/*
 * Return the system call that thread tid of process pid is in. The thread must
 * not be stopped.
 */
struct seencall
call_look(pid_t pid, pid_t tid)
{
	struct filelist l = { 0 };
	struct seencall c;

	filelist_read(&l, pid, tid, "status");
	filelist_read(&l, pid, tid, "syscall");
	filelist_read(&l, pid, tid, "wchan");
	filelist_read(&l, pid, tid, "stack");
	c = call_seen(&l);
	filelist_free(&l);
	return c;
}

/*
 * Set errstr to say that process pid cannot be stopped or examined, since it is
 * inside execve(2). Return -1.
 */
int
exec_refused(pid_t pid)
{
	return errstr_set("process %d does not stop: it is inside execve(2)",
	    pid);
}

/*
 * Return true if thread t of process p, which runs, is inside execve(2), also
 * if that keeps us from reading its system call.
 */
bool
thread_executes(const struct lproc *p, const struct lthread *t)
{
	struct bytes b;
	struct scan line;
	uint64_t nr;
	bool is;

	if (proc_read(p->pid, t->tid, "syscall", &b) == -1)
		return errno == ETIMEDOUT;
	line = scan_begin(b.data, b.len);
	is = scan_number(&line, 10, &nr) && (nr == SYS_execve ||
	    nr == SYS_execveat);
	free(b.data);
	return is;
}

struct looking {		/* argument of look_serve() */
	pid_t		 pid;
	pid_t		 tid;
	bool		 dumping; /* the process is dumping core */
};

/*
 * Read the files for thread_look() into l.
 */
static void
look_read(const struct looking *k, struct filelist *l)
{
	static const char *const name[] = {
		"comm", "stat", "status", "syscall", "wchan", "stack"
	};
	const size_t n = sizeof name / sizeof *name - k->dumping;
	size_t i;

	for (i = 0; i < n; i++)
		filelist_read(l, k->pid, k->tid, name[i]);
}

static int
look_serve(struct serving *s)
{
	struct filelist l = { 0 };
	struct looking k;
	int rc;

	memcpy(&k, s->arg, sizeof k);
	look_read(&k, &l);
	rc = l.why == 0 ? serve_files(s, &l) : -1;
	if (l.why != 0)
		errno = l.why;
	filelist_free(&l);
	return rc;
}

/*
 * Read files of thread t of process p into t->seen, which is emptied first. The
 * thread must not be stopped yet: the files would show that it sleeps in
 * ptrace_stop(). The kernel stack is left out if p is dumping core. Only root
 * could read it, and it would show only that the core is being written. The
 * proxy reads the files, because reads wait while a thread of p is inside
 * execve(2). Return 0, or -1 with errstr set if they wait too long.
 */
int
thread_look(struct lproc *p, struct lthread *t)
{
	const struct looking k = { p->pid, t->tid, p->core != NULL };
	const struct proxy_key key = { KEY_EXEC, (uint64_t)p->pid, "status",
	    0 };
	bool late = false;

	filelist_free(&t->seen);
	if (!proxy_ison())
		look_read(&k, &t->seen);
	else if (proxy_files(&key, look_serve, &k, sizeof k, -1,
	    &t->seen) == -1) {
		late = errno == ETIMEDOUT;
		filelist_lose(&t->seen, key.what);
	}
	t->seencall = call_seen(&t->seen);
	return late ? exec_refused(p->pid) : 0;
}

/*
 * Return true if thread t was in a tracing stop when it was looked at. A tracer
 * may have stopped or released it between the reads of the two files.
 */
static bool
seen_traced(const struct lthread *t)
{
	const struct file *stat = filelist_find(&t->seen, "stat");
	const struct file *status = filelist_find(&t->seen, "status");
	struct task seen;

	if (status != NULL && status_state(status->data, status->len) == 't')
		return true;
	return (stat == NULL || task_stat(&seen, stat->data, stat->len) == -1 ?
	    t->state : seen.state) == 't';
}

static void
look_again(struct lproc *p, struct lthread *t)
{
	if (t->seen.n > 0)
		(void)thread_look(p, t);
	else
		t->seencall = call_look(p->pid, t->tid);
	t->state = proc_state(p->pid, t->tid);
}

/*
 * Look again at thread t of process p, which another tracer held. If that
 * tracer is another snap, it releases t within some milliseconds, and t can
 * then be seized. The record of t must not show its stop by that tracer, nor
 * that it ran for a moment before it returned to a stop by SIGSTOP. Wait for
 * the first thread only: a snap releases all threads at once.
 */
static void
thread_outwait(struct lproc *p, struct lthread *t)
{
	enum { TRIES = 50 };
	int i, runs;

	for (i = runs = 0; i < TRIES && runs < 2; i++) {
		if (i > 0)
			nap_us(NAP_US);
		look_again(p, t);
		if (t->tid != p->pid)
			return;
		if (seen_traced(t) || t->state == 't')
			runs = 0;
		else
			runs = t->state == 'R' ? runs + 1 : 2;
	}
}

/*
 * Look again at thread t of process p if another tracer held it, or if its
 * system call is still unknown. There are two possible reasons for the latter:
 * t was not looked at yet, or another tracer had stopped t, which is now
 * returning into the call. Then let t run for a moment. The call must be known
 * before we inject another: if we were killed during the injected call, an
 * unknown call would fail with EINTR (frame_regs() in linux/machine/). The
 * caller must not have seized t yet: a signal sent to a traced thread may wake
 * another one (see threads.c). If an attempt to seize t has stopped it all the
 * same, do nothing: t would appear to be in a tracing stop.
 */
void
thread_relook(struct lproc *p, struct lthread *t)
{
	enum { TRIES = 5 };
	const int64_t *nr = &t->seencall.nr;
	int i;

	if (t->caught)
		return;
	if (seen_traced(t))
		thread_outwait(p, t);
	for (i = 0; i < TRIES && (*nr == -1 || *nr == SYS_restart_syscall);
	    i++) {
		if (i > 0)
			nap_us(NAP_US);
		look_again(p, t);
		if (t->state != 'R' || *nr == -1)
			return;
	}
}
