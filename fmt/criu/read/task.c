/*
 * Read the processes and threads of a checkpoint, and store the contents of
 * their images as files of the Linux record.
 */
#include "read.h"

enum { ALIVE = 1, DEAD = 2, STOPPED = 3 };	/* values of task_state */
enum { MAX_ARGS = 6 * 1024 * KB };	/* maximum size of all arguments in
					   bytes: see execve(2) */

/*
 * Add the process or thread tid, which entry e lists, to the snapshot and to
 * r->task. Return the new element of r->task, or NULL with errstr set.
 */
static struct criutask *
task_new(struct criureader *r, const Criu__PstreeEntry *e, uint32_t tid)
{
	struct criutask *t;

	if (tid == 0 || tid > INT32_MAX || snap_find(r->snap, tid) != NULL) {
		errstr_set("%s/pstree.img: process or thread %u %s", r->dir,
		    tid, tid == 0 || tid > INT32_MAX ? "has an invalid ID" :
		    "is listed twice");
		return NULL;
	}
	if ((t = pool_new(&r->pool, 1, sizeof *t)) == NULL ||
	    POOL_ADD(&r->pool, r->task, r->ntask, t) == -1 ||
	    (t->proc = snap_add(r->snap, tid)) == NULL)
		return NULL;
	t->task.tid = (pid_t)tid;
	t->task.pid = (pid_t)e->pid;
	t->task.ppid = (pid_t)e->ppid;
	t->task.pgrp = (pid_t)e->pgid;
	t->state.stat.v[STAT_SESSION] = (uint64_t)(int)e->sid;
	t->state.stat.v[STAT_THREADS] = 1;
	strlcpy(t->state.cputype, r->machine->name, sizeof t->state.cputype);
	return t;
}

/*
 * Copy s to word, which has room for size bytes. Replace control characters
 * with "?".
 */
static void
task_word(const char *s, char *word, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && s[i] != '\0'; i++)
		word[i] = (uint8_t)s[i] < ' ' ? '?' : s[i];
	word[i] = '\0';
}

/*
 * Add the pending signals q to the record of t, as a file called name that
 * contains an array of siginfo_t. Return the set of the signals, with bit n - 1
 * for signal n.
 */
static uint64_t
add_pending(struct criutask *t, const char *name, const Criu__SignalQueue *q)
{
	enum { SIGINFO = 128 };
	struct buf b = { 0 };
	uint8_t info[SIGINFO];
	uint64_t set;
	size_t i, n;

	for (i = 0, set = 0; q != NULL && i < q->n_signals; i++) {
		n = q->signals[i]->siginfo.len;
		memset(info, 0, sizeof info);
		memcpy(info, q->signals[i]->siginfo.data, n < SIGINFO ? n :
		    SIGINFO);
		buf_add(&b, info, sizeof info);
		if (info[0] >= 1 && info[0] <= 64)
			set |= (uint64_t)1 << (info[0] - 1);
	}
	filelist_buf(&t->rec, name, &b);
	return set;
}

static void
thread_creds(struct criutask *t, const Criu__Creds *c)
{
	struct taskstate *st = &t->state;

	if (c != NULL) {
		(void)msg_take(&c->base, CRIU_UIDS, st->uid);
		(void)msg_take(&c->base, CRIU_GIDS, st->gid);
	}
	snprintf(t->task.user, sizeof t->task.user, "%" PRIu64, st->uid[0]);
}

/*
 * Set the facts about thread t, which has not ended, from its core image c.
 * blocked is the set of signals that t blocks.
 */
static int
thread_facts(struct criureader *r, struct criutask *t, const Criu__Core *c,
    uint64_t blocked)
{
	const Criu__ThreadCore *th = c->thread_core;

	if (criuregs_add(r, t, c) == -1)
		return -1;
	if (th == NULL)
		return errstr_set("no thread_core");
	thread_creds(t, th->creds);
	t->task.nice = th->has_sched_nice ? th->sched_nice : 0;
	if (t->task.nice < -20 || t->task.nice > 19)
		t->task.nice = 0;
	if (th->comm != NULL)
		task_word(th->comm, t->task.comm, sizeof t->task.comm);
	t->state.blocked = blocked;
	filelist_nums(&t->rec, "sigmask", &blocked, 1);
	t->state.pending = add_pending(t, "sigpending/thread", th->signals_p);
	return 0;
}

static int
read_core(struct criureader *r, struct criutask *t, Criu__Core **core)
{
	char name[32];

	snprintf(name, sizeof name, "core-%" PRIu64 ".img", t->proc->pid);
	return criudir_message(r, &t->rec, name, CRIU_CORE,
	    &criu__core__descriptor, core);
}

static int
wrap_core(const struct criureader *r, const struct criutask *t)
{
	return errstr_wrap("%s/core-%" PRIu64 ".img", r->dir, t->proc->pid);
}

/*
 * Read thread tid of the process whose first thread is leader. The caller must
 * not pass the ID of leader as tid.
 */
static int
read_thread(struct criureader *r, const Criu__PstreeEntry *e,
    const struct criutask *leader, uint32_t tid)
{
	struct criutask *t;
	Criu__Core *c;
	int rc;

	if ((t = task_new(r, e, tid)) == NULL)
		return -1;
	t->proc->leader = leader->proc->pid;
	t->task.state = leader->task.state;
	t->state.stat.v[STAT_THREADS] = e->n_threads;
	t->state.stat.v[STAT_FLAGS] = leader->state.stat.v[STAT_FLAGS];
	memcpy(t->task.comm, leader->task.comm, sizeof t->task.comm);
	if (read_core(r, t, &c) == -1)
		return -1;
	rc = thread_facts(r, t, c, c->thread_core != NULL &&
	    c->thread_core->has_blk_sigset ? c->thread_core->blk_sigset : 0);
	if (rc == -1)
		wrap_core(r, t);
	protobuf_c_message_free_unpacked(&c->base, NULL);
	return rc;
}

/*
 * Set the facts about process t from c, the core image of its first thread.
 */
static int
leader_facts(struct criureader *r, struct criutask *t,
    const Criu__PstreeEntry *e, const Criu__Core *c)
{
	const Criu__TaskCore *tc = c->tc;

	if (tc == NULL)
		return errstr_set("not the core image of a process (no tc)");
	t->task.state = tc->task_state == DEAD ? 'Z' :
	    tc->task_state == STOPPED ? 'T' : 'R';
	t->state.stat.v[STAT_FLAGS] = tc->flags;
	t->state.stat.v[STAT_EXITCODE] = (uint64_t)(int)tc->exit_code;
	task_word(tc->comm, t->task.comm, sizeof t->task.comm);
	if (tc->task_state == DEAD) {
		thread_creds(t, NULL);
		return 0;
	}
	if (tc->task_state != ALIVE && tc->task_state != STOPPED)
		return errstr_set("unknown process state %u", tc->task_state);
	t->state.stat.v[STAT_THREADS] = e->n_threads;
	if (thread_facts(r, t, c, tc->blk_sigset) == -1)
		return -1;
	add_pending(t, "sigpending/process", tc->signals_s);
	if (tc->has_oom_score_adj)
		filelist_text(&t->rec, "oom_score_adj", "%d\n",
		    tc->oom_score_adj);
	return 0;
}

/*
 * Set *files to the number of t's descriptor table, which is in ids-N.img or in
 * core image c.
 */
static int
read_ids(struct criureader *r, struct criutask *t, const Criu__Core *c,
    uint32_t *files)
{
	Criu__Ids *ids;
	char name[32];

	snprintf(name, sizeof name, "ids-%" PRIu64 ".img", t->proc->pid);
	if (c->ids != NULL && !criudir_has(r, name)) {
		*files = c->ids->files_id;
		return 0;
	}
	if (criudir_message(r, &t->rec, name, CRIU_IDS,
	    &criu__ids__descriptor, &ids) == -1)
		return -1;
	*files = ids->files_id;
	protobuf_c_message_free_unpacked(&ids->base, NULL);
	return 0;
}

/*
 * Read the working directory, root directory and umask of process t.
 */
static int
read_fs(struct criureader *r, struct criutask *t)
{
	const struct criufile *cwd, *root;
	char name[32];
	Criu__Fs *fs;
	int rc;

	snprintf(name, sizeof name, "fs-%" PRIu64 ".img", t->proc->pid);
	if (criudir_message(r, &t->rec, name, CRIU_FS, &criu__fs__descriptor,
	    &fs) == -1)
		return -1;
	cwd = criufile_find(r, FD_REG, fs->cwd_id);
	root = criufile_find(r, FD_REG, fs->root_id);
	rc = cwd == NULL || root == NULL ? errstr_set("%s/%s: no file %u in "
	    "files.img", r->dir, name, cwd == NULL ? fs->cwd_id :
	    fs->root_id) : 0;
	if (rc == 0) {
		filelist_copy(&t->rec, "cwd", cwd->name, strlen(cwd->name));
		filelist_copy(&t->rec, "root", root->name, strlen(root->name));
		t->task.cwd = cwd->name;
		t->state.has_umask = fs->has_umask;
		t->state.umask = fs->umask;
	}
	protobuf_c_message_free_unpacked(&fs->base, NULL);
	return rc;
}

/*
 * Add the memory of t from start up to end to its record, as the file called
 * name. Stop at the first byte that is missing, or after MAX_ARGS bytes.
 */
static void
add_memory(struct criutask *t, const char *name, uint64_t start,
    uint64_t end)
{
	struct buf b = { 0 };
	uint8_t piece[4 * KB];
	size_t n;

	if (start < end && end - start > MAX_ARGS)
		end = start + MAX_ARGS;
	for (; start < end; start += n) {
		n = sizeof piece - start % sizeof piece;
		if (n > end - start)
			n = (size_t)(end - start);
		if (image_read(t->proc->mem, start, piece, n) == -1)
			break;
		buf_add(&b, piece, n);
	}
	filelist_buf(&t->rec, name, &b);
}

/*
 * Read the mm image and the memory of process t.
 */
static int
read_mm(struct criureader *r, struct criutask *t)
{
	static const unsigned int field[] = { CRIU_STATS };
	uint64_t *v = t->state.stat.v, bound[sizeof field / sizeof *field];
	const Criu__Mm *mm;
	uint64_t bytes;
	char name[32];
	size_t i, n;

	snprintf(name, sizeof name, "mm-%" PRIu64 ".img", t->proc->pid);
	if (criudir_message(r, &t->rec, name, CRIU_MM, &criu__mm__descriptor,
	    &t->mm) == -1 || criumaps_make(r, t) == -1 ||
	    criumem_read(r, t) == -1 || criuelf_text(r, t) == -1)
		return -1;
	mm = t->mm;
	for (i = 0; i < t->task.vma.n; i++)
		v[STAT_VSIZE] += t->task.vma.v[i].end - t->task.vma.v[i].start;
	bytes = image_bytes(t->proc->mem);
	v[STAT_RSS] = bytes / r->page;
	t->task.memkb = bytes / KB;
	n = msg_take(&mm->base, CRIU_BOUNDS, bound);
	for (i = 0; i < n; i++)
		v[field[i]] = bound[i];
	add_memory(t, "cmdline", mm->arg_start, mm->arg_end);
	add_memory(t, "environ", mm->env_start, mm->env_end);
	filelist_nums(&t->rec, "auxv", mm->mm_saved_auxv, mm->n_mm_saved_auxv);
	record_maps(&t->rec, &t->task.vma);
	return 0;
}

/*
 * Read the rest of process t: its memory, files and other threads.
 */
static int
read_process(struct criureader *r, struct criutask *t,
    const Criu__PstreeEntry *e, const Criu__Core *c)
{
	uint32_t files;
	size_t i;

	if (read_ids(r, t, c, &files) == -1 || read_mm(r, t) == -1 ||
	    read_fs(r, t) == -1 || criufiles_open(r, t, files) == -1)
		return -1;
	for (i = 0; i < e->n_threads; i++)
		if (e->threads[i] != e->pid &&
		    read_thread(r, e, t, e->threads[i]) == -1)
			return -1;
	return 0;
}

/*
 * Read the process that msg, an entry of pstree.img, describes. arg is the
 * struct criureader. Return 0, or -1 with errstr set.
 */
int
criutask_process(void *arg, const struct criuimg *im, void *msg)
{
	const Criu__PstreeEntry *e = msg;
	struct criureader *r = arg;
	struct criutask *t;
	Criu__Core *c;
	int rc;

	(void)im;
	if ((t = task_new(r, e, e->pid)) == NULL ||
	    read_core(r, t, &c) == -1)
		return -1;
	if ((rc = leader_facts(r, t, e, c)) == -1)
		wrap_core(r, t);
	if (rc == 0 && t->task.state != 'Z')
		rc = read_process(r, t, e, c);
	protobuf_c_message_free_unpacked(&c->base, NULL);
	return rc;
}

/*
 * Free what t owns.
 */
void
criutask_free(struct criutask *t)
{
	vmas_free(&t->task.vma);
	filelist_free(&t->rec);
	if (t->mm != NULL)
		protobuf_c_message_free_unpacked(&t->mm->base, NULL);
}
