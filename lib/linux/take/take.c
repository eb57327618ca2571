/*
 * Capture stopped processes one by one, in a thread of its own, so that one
 * process is read while another is written.
 *
 * Facts from /proc and ptrace(2) were read before, while all processes were
 * stopped (gather.c). Here their memory is read, from the process or from its
 * clone (clone.c).
 */
#include "clock.h"
#include "linux/clone/clone.h"
#include "linux/file/file.h"
#include "linux/stop/stop.h"
#include "model.h"
#include "taking.h"
#include "vec.h"
#include "worker.h"

#include <pthread.h>

enum { AHEAD = 64 };	/* maximum number of processes and threads that wait
			   to be written */

struct taker {			/* the thread that captures stopped processes */
	struct live	*live;		/* borrowed, as all pointers here are */
	struct snap	*snap;
	take_fn		 take;
	void		*arg;
	pthread_t	 thread;
	bool		 threaded;
	atomic_bool	 quit;
	pthread_mutex_t	 lock;		/* protects the members below, and also
					   "snap" while it grows */
	pthread_cond_t	 ready;
	pthread_cond_t	 wanted;
	size_t		 ngiven;	/* number of processes and threads
					   that live_next() has returned */
	size_t		 nready;	/* number of processes and threads that
					   live_next() may return */
	bool		 done;
	bool		 failed;
	char		 why[1024];
};

/*
 * Wait until fewer than AHEAD captured processes and threads wait to be
 * written.
 */
static void
take_room(struct taker *k)
{
	pthread_mutex_lock(&k->lock);
	while (k->threaded && !k->quit && k->nready - k->ngiven >= AHEAD)
		pthread_cond_wait(&k->wanted, &k->lock);
	pthread_mutex_unlock(&k->lock);
}

/*
 * Wake live_next(), which may now return everything that the snapshot contains.
 */
static void
take_ready(struct taker *k)
{
	pthread_mutex_lock(&k->lock);
	k->nready = k->snap->nproc;
	pthread_cond_signal(&k->ready);
	pthread_mutex_unlock(&k->lock);
}

/*
 * If smaps in the record of process lp was read before the stop, correct it to
 * match the mappings during the stop.
 */
static int
record_refit(const struct lproc *lp, struct filelist *rec)
{
	struct bytes maps, smaps;
	struct file *from, *at;
	int rc;

	from = filelist_find(rec, "maps");
	at = filelist_find(rec, "smaps");
	if (lp->maps != MAPS_REFIT || from == NULL || at == NULL)
		return 0;
	maps = (struct bytes){ from->data, from->len };
	smaps = (struct bytes){ at->data, at->len };
	rc = mappings_smaps(lp, &maps, &smaps);
	at->data = smaps.data;
	at->len = smaps.len;
	return rc;
}

/*
 * Capture the memory of process lp as the memory of p. If the clone of lp is
 * killed before it is read, fail if liveopts.again is set. Otherwise record all
 * of the memory as missing, since it is uncertain which pages the clone had.
 */
static int
memory_take(struct taker *k, struct lproc *lp, struct proc *p,
    const struct task *t, struct buf *pages)
{
	size_t i;
	int rc;

	rc = memory_image(k->live, lp, k->snap, p, t, pages);
	if (!clone_lost(lp))
		return rc;
	if (k->live->opts.again)
		return errstr_wrap("memory of %d", lp->pid);
	live_warn(k->live, "process %d: its memory could not be read: %s",
	    lp->pid, snap_errstr());
	buf_free(pages);
	if (lp->memory != NULL)
		lp->memory->image = NULL;
	image_free(p->mem);
	if ((p->mem = image_new(p, IMAGE_MEM)) == NULL)
		return -1;
	for (rc = 0, i = 0; i < t->vma.n && rc == 0; i++)
		rc = image_miss(p->mem, t->vma.v[i].start, t->vma.v[i].end,
		    "unreadable");
	return rc;
}

/*
 * Capture thread th, which t describes. Add a process to the snapshot, and let
 * the callback k->take, if there is one, fill it in. If th is the first thread
 * of its process, also capture text and memory. On success, free the contents
 * of t.
 */
static int
thread_take(struct taker *k, struct lproc *lp, struct lthread *th,
    struct task *t)
{
	const struct liveopts *o = &k->live->opts;
	struct buf pages = { 0 };
	struct proc *p;
	bool leads;

	leads = th->tid == lp->pid;
	if ((!leads || lp->clone != 0) && o->early == 0)
		thread_finish(k->live, lp, th);
	take_room(k);
	pthread_mutex_lock(&k->lock); /* live_next() may be reading the array of
					 the snapshot */
	/* the stream also has the earlier copies or moments of the process */
	p = snap_add(k->snap, (uint64_t)th->tid + EARLY_PID *
	    (uint64_t)(o->moment != 0 ? o->moment - 1 : o->early));
	pthread_mutex_unlock(&k->lock);
	if (p == NULL)
		return -1;
	p->leader = leads ? 0 : (uint64_t)lp->pid;
	if (leads && lp->mmtid != 0) {
		if (o->perfmaps)
			perfmap_record(lp, t, &th->rec);
		if (record_refit(lp, &th->rec) == -1 ||
		    (o->early == 0 && text_image(k->live, lp, k->snap, p,
		    &th->rec) == -1) ||
		    memory_take(k, lp, p, t, &pages) == -1) {
			buf_free(&pages);
			return -1;
		}
		th->rec.failed |= pages.failed;
		filelist_add(&th->rec, "pages", pages.data, pages.len);
		if (lp->clone != 0)
			filelist_text(&th->rec, "live", "%ju\n",
			    (uintmax_t)lp->held);
	}
	if (th->rec.failed)
		return errstr_set("out of memory");
	if (regs_unpack(th, t->reg) == -1 || (k->take != NULL &&
	    k->take(k->arg, p, t, th->rec.file, th->rec.n) == -1))
		return -1;
	take_ready(k);
	task_free(t);
	filelist_free(&th->rec);
	return 0;
}

/*
 * Capture thread th, which is not the first of its process. Skip it if its stat
 * could not be read, for example because it had ended.
 */
static int
later_take(struct taker *k, struct lproc *lp, struct lthread *th)
{
	struct task t = { 0 };
	int rc;

	rc = thread_gather(k->live, lp, th, &t) ?
	    thread_take(k, lp, th, &t) : 0;
	task_free(&t);
	return rc;
}

static int
proc_take(struct taker *k, struct lproc *lp)
{
	struct lthread *th;
	int rc;

	/* it was killed while it was stopped, and has no memory */
	if (!lp->skip && lp->clone == 0 && lp->mmtid != 0 &&
	    proc_died(lp->pid, lp->mmtid))
		lproc_leave(k->live, lp);
	TAILQ_FOREACH(th, &lp->threads, entry) {
		if (k->quit || lp->skip)
			break;
		rc = 0;
		if (th->later)
			rc = later_take(k, lp, th);
		else if (th->tid == lp->pid)
			rc = thread_take(k, lp, th, &lp->task);
		if (rc == -1)
			return -1;
	}
	return 0;
}

/*
 * Add to rec those attributes of file c that are needed if the file must be
 * created again when the snapshot is restored. length bytes of it are saved.
 */
static void
record_inode(const struct carry *c, uint64_t length, struct filelist *rec)
{
	const struct stat *st = &c->st;

	if (c->mem || length < (uint64_t)st->st_size)
		filelist_text(rec, "size", "%ju\n", (uintmax_t)st->st_size);
	if (c->ipc != 0)
		filelist_text(rec, "ns/ipc", "ipc:[%ju]", (uintmax_t)c->ipc);
	if (c->mem || st->st_nlink == 0 || path_isdeleted(c->vma.name))
		filelist_text(rec, "inode", "%o %ju %u %u %jd %jd\n",
		    (unsigned int)st->st_mode, (uintmax_t)st->st_nlink,
		    st->st_uid, st->st_gid,
		    timespec_ns(&st->st_atim), timespec_ns(&st->st_mtim));
}

/*
 * Add embedded file c to the snapshot.
 */
static int
carry_take(struct taker *k, const struct carry *c)
{
	const uint64_t length = c->mem ? (uint64_t)c->st.st_size :
	    treatment_length(k->live, c->vma.name, &c->st);
	struct filelist rec = { 0 };
	struct proc *p;
	int rc;

	record_inode(c, length, &rec);
	pthread_mutex_lock(&k->lock);
	p = (c->mem ? embedded_addmem : embedded_add)(k->snap, &c->vma, c->src,
	    length);
	pthread_mutex_unlock(&k->lock);
	rc = p == NULL ? -1 : rec.failed ? errstr_set("out of memory") :
	    k->take == NULL ? 0 : k->take(k->arg, p, NULL, rec.file, rec.n);
	filelist_free(&rec);
	if (rc == -1)
		return errstr_wrap("%s", c->vma.name);
	take_ready(k);
	return 0;
}

static void *
take_all(void *arg)
{
	struct taker *k = arg;
	const struct carry *c;
	struct lproc *lp;
	int rc;

	rc = 0;
	TAILQ_FOREACH(lp, &k->live->procs, entry)
		if (!lp->skip && rc == 0 && !k->quit)
			rc = proc_take(k, lp);
	for (c = carry_first(k->live); rc == 0 && !k->quit && c != NULL;
	    c = c->after)
		rc = carry_take(k, c);
	pthread_mutex_lock(&k->lock);
	if (k->live->opts.progress != NULL)
		k->live->opts.progress->total = snap_kb(k->snap) * KB;
	if (rc == -1)
		strlcpy(k->why, snap_errstr(), sizeof k->why);
	k->failed = rc == -1;
	k->done = true;
	pthread_cond_signal(&k->ready);
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/*
 * Start the thread that captures the processes of set l into snapshot s, as
 * live_take() describes. Return 0, or -1 with errstr set.
 */
int
take_begin(struct live *l, struct snap *s, take_fn take, void *arg)
{
	struct taker *k;

	if ((k = mem_new(1, sizeof *k)) == NULL)
		return -1;
	*k = (struct taker){ .live = l, .snap = s, .take = take, .arg = arg,
	    .threaded = true, .lock = PTHREAD_MUTEX_INITIALIZER,
	    .ready = PTHREAD_COND_INITIALIZER,
	    .wanted = PTHREAD_COND_INITIALIZER };
	l->taker = k;
	if (worker_start(&k->thread, take_all, k) != 0) {
		k->threaded = false;
		take_all(k);
	}
	return 0;
}

/*
 * Wait for the next captured process or thread of set l. The first thread of a
 * process comes before the others. Call this in the thread that called
 * live_stop(): it also releases threads that have stopped too late. Return 1
 * with *p set, 0 if there are no more, or -1 with errstr set.
 */
int
live_next(struct live *l, struct proc **p)
{
	struct taker *k = l->taker;
	int rc;

	(void)late_release();
	pthread_mutex_lock(&k->lock);
	while (k->ngiven == k->nready && !k->done)
		pthread_cond_wait(&k->ready, &k->lock);
	rc = 1;
	if (k->ngiven < k->nready) {
		*p = k->snap->proc[k->ngiven++];
		pthread_cond_signal(&k->wanted);
	} else if (k->failed)
		rc = errstr_set("%s", k->why);
	else if (k->nready == 0)
		rc = errstr_set("nothing to take a snapshot of");
	else
		rc = 0;
	pthread_mutex_unlock(&k->lock);
	return rc;
}

/*
 * Stop the thread that captures set l, even if it is not finished. The snapshot
 * keeps what was captured.
 */
void
take_finish(struct live *l)
{
	struct taker *k = l->taker;

	if (k == NULL)
		return;
	pthread_mutex_lock(&k->lock);
	k->quit = true;
	pthread_cond_signal(&k->wanted);
	pthread_mutex_unlock(&k->lock);
	if (k->threaded)
		pthread_join(k->thread, NULL);
	pthread_mutex_destroy(&k->lock);
	pthread_cond_destroy(&k->ready);
	pthread_cond_destroy(&k->wanted);
	free(k);
	l->taker = NULL;
}
