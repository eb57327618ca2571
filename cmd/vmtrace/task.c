/*
 * Keep the traced processes, their threads and their mappings: what
 * /proc/PID/maps said at one time, and all changes since.
 */
#include "vmtrace.h"
#include "bisect.h"
#include "clock.h"
#include "rbtree.h"

CMP(process_cmp, struct process, pid)
CMP(thread_cmp, struct thread, tid)
TREE_GENERATE(processes, process, entry, process_cmp)
TREE_GENERATE(threads, thread, entry, thread_cmp)

static struct process *
process_find(struct tasks *t, pid_t pid)
{
	struct process key = { .pid = pid };

	return RB_FIND(processes, &t->process, &key);
}

/*
 * Return a new empty process with ID pid in t, replacing any existing one.
 */
struct process *
process_new(struct tasks *t, pid_t pid)
{
	struct process *p;

	if ((p = process_find(t, pid)) != NULL) {
		process_forget(p);
		return p;
	}
	p = must(mem_new(1, sizeof *p));
	p->pid = pid;
	RB_INSERT(processes, &t->process, p);
	return p;
}

/*
 * Return the process of t with ID pid. If there is none, add it and read its
 * mappings from /proc.
 */
static struct process *
process_get(struct tasks *t, pid_t pid)
{
	struct process *p;

	if ((p = process_find(t, pid)) != NULL)
		return p;
	p = process_new(t, pid);
	(void)process_read(p);
	return p;
}

/*
 * Remove the mappings of p.
 */
void
process_forget(struct process *p)
{
	vmas_free(&p->map);
	p->since = 0;
	p->brk = 0;
	p->left = false;
}

/*
 * Replace the mappings of p with those in /proc. If they cannot be read, keep
 * the old ones. Return 0, or -1 with errstr set.
 */
int
process_read(struct process *p)
{
	struct vmas map = { 0 };
	uint64_t now;
	size_t i;
	int rc;

	now = now_ns();
	rc = maps_read(p->pid, &map);
	if (rc == -1 || map.n == 0) {
		vmas_free(&map);
		return rc;
	}
	process_forget(p);
	for (i = 0; rc == 0 && i < map.n; i++) {
		rc = vmas_map(&p->map, &map.v[i]);
		if (strcmp(map.v[i].name, "[heap]") == 0)
			p->brk = map.v[i].end;
	}
	vmas_free(&map);
	p->since = now;
	return rc;
}

/*
 * Return the thread of t with ID tid, or NULL.
 */
struct thread *
thread_find(struct tasks *t, pid_t tid)
{
	struct thread key = { .tid = tid };

	return RB_FIND(threads, &t->thread, &key);
}

/*
 * Return thread tid of process pid in t. Add it if it does not exist.
 */
struct thread *
thread_get(struct tasks *t, pid_t pid, pid_t tid)
{
	struct process *p;
	struct thread *th;

	if ((th = thread_find(t, tid)) != NULL) {
		if (th->process->pid == pid)
			return th;
		thread_drop(t, th);
	}
	p = process_get(t, pid);
	th = must(mem_new(1, sizeof *th));
	th->tid = tid;
	th->process = p;
	p->nthread++;
	RB_INSERT(threads, &t->thread, th);
	return th;
}

/*
 * Remove thread th, which has ended, from t. Also remove its process if t has
 * no other thread of the process and the leader has ended. Until then, the
 * process may have threads that are not in t because they had no events.
 */
void
thread_drop(struct tasks *t, struct thread *th)
{
	struct process *p = th->process;

	p->left |= th->tid == p->pid;
	RB_REMOVE(threads, &t->thread, th);
	free(th);
	if (--p->nthread == 0 && p->left) {
		RB_REMOVE(processes, &t->process, p);
		vmas_free(&p->map);
		free(p);
	}
}

/*
 * Call fn with arg for each thread of t.
 */
void
threads_each(struct tasks *t, void (*fn)(void *, struct thread *), void *arg)
{
	struct thread *th;

	RB_FOREACH(th, threads, &t->thread)
		fn(arg, th);
}

/*
 * Reread the mappings of all processes of t, because events may have been lost.
 */
void
tasks_reread(struct tasks *t)
{
	struct process *p;

	RB_FOREACH(p, processes, &t->process)
		(void)process_read(p);
}
