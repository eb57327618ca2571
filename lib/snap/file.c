/*
 * Open a snapshot or a moment of a series, and list its processes and threads.
 */
#include "handle.h"
#include "bisect.h"
#include "record/record.h"
#include "vec.h"

/*
 * Append a task for p to the tasks of f. If p is a thread, leader is the task
 * of its process; if p is a process itself, leader is NULL. Return the task.
 */
static struct snap_task *
task_add(struct snap_file *f, struct proc *p, struct snap_task *leader)
{
	struct snap_task *t = &f->task[f->ntask++];

	*t = (struct snap_task){ .of = f, .proc = p, .process = leader };
	if (leader == NULL)
		t->process = t;
	return t;
}

/*
 * List the processes of f and their threads.
 */
static int
tasks_list(struct snap_file *f)
{
	struct snap *s = f->snap;
	struct snap_task *leader;
	const size_t *at;
	size_t i, k, n;

	if ((f->task = mem_new(s->nproc, sizeof *f->task)) == NULL)
		return -1;
	for (i = 0; i < s->nproc; i++) {
		if (!proc_isprocess(s->proc[i]))
			continue;
		leader = task_add(f, s->proc[i], NULL);
		if (snap_threads(s, leader->proc->pid, &at, &n) == -1) {
			free(f->task);
			f->task = NULL;
			f->ntask = 0;
			return -1;
		}
		for (k = 0; k < n; k++)
			(void)task_add(f, s->proc[at[k]], leader);
	}
	return 0;
}

struct snap_file *
snap_open(const char *path)
{
	return snap_open_moment(path, NULL);
}

/*
 * Return the file of moment i of set, counted from 0, or NULL with errstr set.
 */
static struct snap_file *
file_get(struct snap_set *set, size_t i)
{
	struct snap_file *f = &set->file[i];

	f->set = set;
	f->snap = set->series.v[i];
	return f->task != NULL || tasks_list(f) == 0 ? f : NULL;
}

static void
file_free(struct snap_file *f)
{
	struct snap_task *t;
	size_t i;

	for (t = f->task; t < f->task + f->ntask; t++) {
		for (i = 0; i < t->nmapping; i++)
			free(t->mapping[i].vma.name);
		for (i = 0; i < t->nrecord; i++)
			free(t->record[i].name);
		free(t->mapping);
		free(t->record);
	}
	free(f->task);
}

static void
set_free(struct snap_set *set)
{
	size_t i;

	for (i = 0; set->file != NULL && i < set->series.n; i++)
		file_free(&set->file[i]);
	free(set->file);
	momentset_close(&set->series);
	free(set);
}

struct snap_file *
snap_open_moment(const char *path, const char *moment)
{
	static const struct readopts none;
	struct snap_file *f = NULL;
	struct snap_set *set;
	ssize_t i;

	if ((set = mem_new(1, sizeof *set)) == NULL)
		return NULL;
	if (momentset_load(&set->series, path, &none) == 0 &&
	    (set->file = mem_new(set->series.n, sizeof *f)) != NULL) {
		if ((i = momentset_find(&set->series, moment)) != -1)
			f = file_get(set, (size_t)i);
		else if (path != NULL)
			errstr_wrap("%s", path);
	}
	if (f == NULL)
		set_free(set);
	return f;
}

void
snap_close(struct snap_file *f)
{
	if (f != NULL)
		set_free(f->set);
}

size_t
snap_moments(const struct snap_file *f)
{
	return (size_t)f->snap->moments;
}

size_t
snap_moment(const struct snap_file *f)
{
	return (size_t)f->snap->moment;
}

struct snap_file *
snap_moment_get(struct snap_file *f, size_t n)
{
	if (n > 0 && n <= f->set->series.n)
		return file_get(f->set, n - 1);
	errstr_set("no moment %zu: the moments are 1 to %zu", n,
	    f->set->series.n);
	return NULL;
}

int64_t
snap_time(const struct snap_file *f)
{
	struct header h;

	header_parse(&h, f->snap->header);
	return h.timed && h.time <= INT64_MAX ? (int64_t)h.time : -1;
}

const char *
snap_header(const struct snap_file *f)
{
	return f->snap->header;
}

int
snap_error(struct snap_file *f)
{
	const int rc = f->failed ? -1 : 0;

	f->failed = false;
	return rc;
}

struct snap_task *
snap_process_next(struct snap_file *f, const struct snap_task *prev)
{
	size_t i;

	for (i = prev == NULL ? 0 : (size_t)(prev - f->task) + 1; i < f->ntask;
	    i++)
		if (f->task[i].process == &f->task[i])
			return &f->task[i];
	return NULL;
}

struct snap_task *
snap_thread_next(struct snap_task *process, const struct snap_task *prev)
{
	const struct snap_file *f = process->of;
	const size_t i = prev == NULL ? (size_t)(process - f->task) :
	    (size_t)(prev - f->task) + 1;

	return i < f->ntask && f->task[i].process == process ? &f->task[i] :
	    NULL;
}

struct snap_task *
snap_task_find(struct snap_file *f, uint64_t id)
{
	return SEEK(f->task, f->ntask, x->proc->pid == id);
}

uint64_t
snap_task_id(const struct snap_task *t)
{
	return t->proc->pid;
}

struct snap_task *
snap_task_process(struct snap_task *t)
{
	return t->process;
}

const char *
snap_task_name(struct snap_task *t)
{
	const struct taskstate *st = state_get(t->proc);

	return st == NULL ? "" : st->name;
}

int
snap_task_state(struct snap_task *t)
{
	const struct taskstate *st = state_get(t->proc);

	return st == NULL ? 0 : st->stat.state;
}

const char *
snap_task_machine(struct snap_task *t)
{
	const struct taskstate *st = state_get(t->proc);

	return st == NULL ? "" : st->cputype;
}
