/*
 * Turn events into lines: faults, and changes of threads. A fault begins with
 * a tracepoint (or if there are none, with a sampled event). It ends with an
 * event that says minor or major, with a signal, or when the thread does
 * something else.
 */
#include "vmtrace.h"
#include "clock.h"

#include <signal.h>

enum { /* bits of a fault's error code; see asm/trap_pf.h of x86 */
	CODE_PRESENT = 1,
	CODE_WRITE = 2,
	CODE_EXEC = 16
};

enum { MISC_MODE = 7, MISC_KERNEL = 1, MIN_PAGE = 4096 };

/*
 * Copy mapping v, including its name, to *copy. Do nothing if v is NULL.
 */
static void
vma_keep(struct vma *copy, const struct vma *v)
{
	if (v == NULL)
		return;
	*copy = *v;
	copy->name = must(str_dup(v->name));
}

/*
 * End the fault of thread th, if it has one, with an unknown result. arg is a
 * struct stream.
 */
static void
fault_drop(void *arg, struct thread *th)
{
	struct stream *s = arg;

	if (th->fault != NULL)
		line_close(&s->out, th->fault, RESULT_NONE, 0);
	th->fault = NULL;
}

static struct line *
fault_begin(struct stream *s, struct thread *th, const struct trace *t,
    uint64_t addr, uint64_t ip, bool kernel)
{
	const struct vmas *map = &th->process->map;
	struct line *l;

	fault_drop(s, th);
	l = line_add(&s->out, t->rec->time, th->process->pid, th->tid);
	l->open = true;
	l->addr = addr;
	l->ip = ip;
	l->kernel = kernel;
	vma_keep(&l->where, vmas_find(map, addr));
	if (s->out.opts->totals && !kernel)
		vma_keep(&l->code, vmas_find(map, ip));
	th->fault = l;
	return l;
}

/*
 * Return the kind of access that caused the fault of line l. code is the error
 * code of the fault. A write to a present page is a copy on write if the
 * mapping is private and writable.
 */
static enum access
fault_access(const struct line *l, uint64_t code)
{
	if (code & CODE_EXEC)
		return ACCESS_EXEC;
	if ((code & CODE_WRITE) == 0)
		return ACCESS_READ;
	return code & CODE_PRESENT && l->where.name != NULL &&
	    l->where.flags & VMA_WRITE && !(l->where.flags & VMA_SHARED) ?
	    ACCESS_COW : ACCESS_WRITE;
}

static void
fault_point(struct stream *s, struct thread *th, const struct trace *t)
{
	struct line *l;

	/* address in the kernel's own memory */
	if (t->kind == TRACE_KERNEL && t->arg[0] >> 63 != 0)
		return;
	l = fault_begin(s, th, t, t->arg[0], t->arg[1],
	    t->kind == TRACE_KERNEL);
	l->access = fault_access(l, t->arg[2]);
}

static struct line *
fault_sample(struct stream *s, struct thread *th, const struct trace *t)
{
	const struct perfrec *r = t->rec;
	bool kernel = (r->misc & MISC_MODE) == MISC_KERNEL;
	struct line *l;

	l = fault_begin(s, th, t, r->addr, r->ip, kernel);
	if (!kernel && r->addr == r->ip)
		l->access = ACCESS_EXEC;
	return l;
}

static void
fault_end(struct stream *s, struct thread *th, const struct trace *t,
    enum result result)
{
	struct line *l = th->fault;

	/* its beginning was not seen */
	if (l == NULL || l->addr / MIN_PAGE != t->rec->addr / MIN_PAGE)
		l = fault_sample(s, th, t);
	line_close(&s->out, l, result, t->rec->time);
	th->fault = NULL;
}

static void
fault_signal(struct stream *s, struct thread *th, const struct trace *t)
{
	/* sent by kill(2), so it does not belong to a fault */
	if (th->fault == NULL || (int64_t)t->arg[1] <= 0)
		return;
	line_close(&s->out, th->fault, t->arg[0] == SIGBUS ? RESULT_BUS :
	    RESULT_SEGV, t->rec->time);
	th->fault = NULL;
}

static void
say(struct stream *s, const struct thread *th, const struct trace *t,
    const char *event, const char *what)
{
	struct line *l;

	l = line_add(&s->out, t->rec->time, th->process->pid, th->tid);
	if (*what == '\0')
		line_text(l, "%s", event);
	else
		line_text(l, "%-7s %16s %s", event, "", what);
}

/*
 * Return thread tid of process pid. If another process had a thread with this
 * ID before, end the fault of that thread.
 */
static struct thread *
thread_of(struct stream *s, uint32_t pid, uint32_t tid)
{
	struct thread *th;

	th = thread_find(&s->tasks, (pid_t)tid);
	if (th != NULL && th->process->pid != (pid_t)pid)
		fault_drop(s, th);
	return thread_get(&s->tasks, (pid_t)pid, (pid_t)tid);
}

/*
 * Add a line for a new thread or process, and add the thread. A new process
 * gets a copy of its parent's mappings.
 */
static void
task_fork(struct stream *s, struct thread *th, const struct trace *t)
{
	const struct perfrec *r = t->rec;
	struct process *p, *parent = th->process;
	char what[32];

	snprintf(what, sizeof what, "%u", r->ctid);
	say(s, th, t, r->child == r->parent ? "thread" : "fork", what);
	if (r->child != r->parent) {
		p = process_new(&s->tasks, (pid_t)r->child);
		must_do(vmas_copy(&p->map, &parent->map));
		p->since = parent->since;
		p->brk = parent->brk;
		/* its events since may be lost */
		if (r->time < s->reread)
			(void)process_read(p);
	}
	(void)thread_of(s, r->child, r->ctid);
}

static void
task_exit(struct stream *s, struct thread *th, const struct trace *t)
{
	fault_drop(s, th);
	say(s, th, t, "exit", "");
	thread_drop(&s->tasks, th);
}

static void
task_exec(struct stream *s, struct thread *th, const struct trace *t)
{
	say(s, th, t, "exec", t->rec->name);
	th->calling = false;
	if (t->rec->time >= th->process->since)
		process_forget(th->process);
}

static void
dispatch(struct stream *s, struct thread *th, const struct trace *t)
{
	switch (t->kind) {
	case TRACE_USER:
	case TRACE_KERNEL:
		fault_point(s, th, t);
		break;
	case TRACE_FAULT:
		(void)fault_sample(s, th, t);
		break;
	case TRACE_MINOR:
		fault_end(s, th, t, RESULT_MINOR);
		break;
	case TRACE_MAJOR:
		fault_end(s, th, t, RESULT_MAJOR);
		break;
	case TRACE_SIGNAL:
		fault_signal(s, th, t);
		break;
	case TRACE_CALL:
		call_begin(th, t);
		break;
	case TRACE_RETURN:
		call_end(s, th, t);
		break;
	case TRACE_MMAP:
		mapping_made(s, th, t);
		break;
	case TRACE_EXEC:
		task_exec(s, th, t);
		break;
	case TRACE_FORK:
		task_fork(s, th, t);
		break;
	case TRACE_EXIT:
		task_exit(s, th, t);
		break;
	case TRACE_COMM:
		break;
	default:
		slab_take(s, t);
	}
}

/*
 * Process event t. This is a trace_fn. Return 0, or -1 to end the trace if the
 * limit on faults is reached.
 */
static int
stream_take(void *arg, const struct trace *t)
{
	struct stream *s = arg;
	uint64_t now;

	if (t->kind == TRACE_LOST) {
		/* an older loss is made up for: one per buffer arrives */
		if (t->rec->time >= s->reread) {
			now = now_ns();
			tasks_reread(&s->tasks);
			s->reread = now;
		}
		return 0;
	}
	dispatch(s, thread_of(s, t->rec->pid, t->rec->tid), t);
	if (t->rec->time > s->last)
		s->last = t->rec->time;
	lines_flush(&s->out, s->last);
	return s->out.full ? -1 : 0;
}

/*
 * Process the events of tracer t. If all is false, process only those old
 * enough to be sorted. Return 0, or -1 to end the trace.
 */
int
stream_read(struct stream *s, struct tracer *t, bool all)
{
	uint64_t now = now_ns();

	if (tracer_read(t, all, stream_take, s) == -1)
		return -1;
	/* print waiting lines even if no other event arrives */
	lines_flush(&s->out, now);
	return s->out.full ? -1 : 0;
}

/*
 * End all faults that are still open, with an unknown result, and print all
 * lines.
 */
void
stream_end(struct stream *s)
{
	threads_each(&s->tasks, fault_drop, s);
	lines_flush(&s->out, UINT64_MAX);
}
