/*
 * Record the open files of a process: snap-linux(6).
 * The descriptors of all processes are listed before any is recorded, because
 * an epoll set may watch a file that only a later process has open.
 */
#include "bisect.h"
#include "opened.h"
#include "vec.h"

#include <sys/syscall.h>

#include <fcntl.h>
#include <unistd.h>

enum { MAX_TIMEREADS = 200 };	/* one takes some 7 us */

/*
 * Add the descriptors of process p, which were listed when it was stopped, to
 * set. Skip those whose files could not be examined. Return 0, or -1 with
 * errstr set.
 */
static int
survey_proc(struct files *f, const struct lproc *p, struct fdset *set)
{
	const struct openfile *o;

	set->pid = p->mmtid;
	for (o = p->task.open; o < p->task.open + p->task.nopen; o++) {
		if (o->mode == 0)
			continue;
		if (VEC_ROOM(set->v, set->n) == -1 || resource_file(f,
		    set->pid, o, &set->v[set->n]) == -1)
			return -1;
		set->n++;
	}
	return 0;
}

/*
 * List the descriptors of all processes of l. If several processes share a
 * descriptor table, list it for each of them.
 */
static int
files_survey(struct live *l)
{
	struct files *f;
	struct lproc *p;
	size_t n;

	if ((f = l->files = mem_new(1, sizeof *f)) == NULL)
		return -1;
	RB_INIT(&f->resources);
	f->budget = MAX_QUEUES;
	f->timereads = MAX_TIMEREADS;
	n = 0;
	TAILQ_FOREACH(p, &l->procs, entry)
		n++;
	if ((f->set = mem_new(n, sizeof *f->set)) == NULL)
		return -1;
	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->skip || p->mmtid == 0)
			continue;
		if (survey_proc(f, p, &f->set[f->nset++]) == -1)
			return -1;
	}
	if (l->opts.move)
		tcphold_begin(l);
	return 0;
}

/*
 * Free the lists of the open files of l, and unlock its TCP connections if they
 * are still locked.
 */
void
files_free(struct live *l)
{
	struct files *f = l->files;
	size_t i;

	if (f == NULL)
		return;
	(void)tcphold_end(l, false);
	resources_free(f);
	for (i = 0; i < f->nset; i++)
		free(f->set[i].v);
	free(f->set);
	sockets_free(f);
	free(f);
	l->files = NULL;
}

/*
 * Record in rec which processes have the memory, descriptors, fs and signal
 * handlers that process p has. For each of these four, record only the first
 * process that was found to have it; this may be p itself.
 */
static void
shares_record(struct live *l, const struct lproc *p, struct filelist *rec)
{
	static const struct {
		const char *name;
		int kind;
	} share[] = {
		{ "vm", KCMP_VM }, { "files", KCMP_FILES }, { "fs", KCMP_FS },
		{ "sighand", KCMP_SIGHAND }
	};
	const struct resource *t;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < sizeof share / sizeof *share; i++) {
		t = resource_get(l->files, &(struct resource){
		    .kind = share[i].kind, .pid = p->mmtid,
		    .id = (uint64_t)p->pid });
		if (t == NULL)
			b.failed = true;
		else
			buf_printf(&b, "%s %ju\n", share[i].name,
			    (uintmax_t)t->id);
	}
	filelist_buf(rec, "shares", &b);
}

/*
 * If a directory of process p was deleted, record its stat in rec. name says
 * which directory: "cwd" or "root".
 */
static void
dir_record(const struct lproc *p, const char *name, struct filelist *rec)
{
	const struct file *f = filelist_find(rec, name);
	struct statx sx;
	char path[64], file[32], *link;

	link = f == NULL ? NULL : strndup((const char *)f->data, f->len);
	snprintf(path, sizeof path, "/proc/%d/%s", p->mmtid, name);
	snprintf(file, sizeof file, "%s-deleted", name);
	if (link != NULL && path_isdeleted(link) && statx(AT_FDCWD, path,
	    AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &sx) == 0)
		filelist_text(rec, file, "%o %02x:%02x %ju %u %u %jd %jd\n",
		    sx.stx_mode, sx.stx_dev_major, sx.stx_dev_minor,
		    (uintmax_t)sx.stx_ino, sx.stx_uid, sx.stx_gid,
		    statx_ns(&sx.stx_atime), statx_ns(&sx.stx_mtime));
	free(link);
}

struct batch {			/* files being recorded */
	struct filerec	 all; /* members that are the same for all files */
	struct filerec	 v[FILEREC_BATCH];
	size_t		 n;
};

/*
 * Finish the records of the files in batch b, and add them to rec.
 */
static void
batch_end(struct batch *b, struct filelist *rec)
{
	struct filerec *t;
	char name[64];

	filerec_viaproxy(b->v, b->n);
	for (t = b->v; t < b->v + b->n; t++) {
		file_end(t);
		snprintf(name, sizeof name, "file/%ju",
		    (uintmax_t)t->file->id);
		filelist_buf(rec, name, &t->out);
	}
	b->n = 0;
}

/*
 * Add the open file description of r to b, and begin its record. Do nothing if
 * the description is already recorded. If b is full, first finish the records
 * in it, and add them to rec.
 */
static void
batch_add(struct batch *b, const struct fdref *r, struct filelist *rec)
{
	struct filerec *t;
	char name[64];

	if (r->file->recorded)
		return;
	if (b->n == FILEREC_BATCH)
		batch_end(b, rec);
	t = &b->v[b->n];
	*t = b->all;
	t->fd = r->fd;
	t->file = r->file;
	errno = 0;
	r->file->recorded = file_record(t);
	if (r->file->recorded) {
		b->n++;
		return;
	}
	snprintf(name, sizeof name, "file/%ju", (uintmax_t)r->file->id);
	filelist_lose(rec, name);
}

/*
 * Add the files that process p has open to its record rec and, if it is to be
 * restored, the resources that it shares with others. Note in s the files whose
 * contents must be in the snapshot. All processes must be stopped. Call this
 * once for each process, in the order of l->procs.
 */
void
files_record(struct live *l, struct snap *s, const struct lproc *p,
    struct filelist *rec)
{
	struct filelist data = { 0 };
	struct batch all = { .all = { .live = l, .snap = s,
	    .proc = p, .dup = -1, .data = &data } };
	struct filerec *t = &all.all;
	struct buf b = { 0 };
	const struct fdset *set;
	struct fdref passed;
	struct viewer w;
	struct files *f;
	size_t i;
	int pidfd;

	if (l->files == NULL && files_survey(l) == -1) {
		rec->failed = true;
		return;
	}
	f = l->files;
	if (l->opts.restore)
		shares_record(l, p, rec);
	dir_record(p, "cwd", rec);
	dir_record(p, "root", rec);
	hidden_begin(&w, l, p, rec);
	hidden_record(&w, rec);
	if ((set = SEEK(f->set, f->nset, x->pid == p->mmtid)) == NULL)
		return;
	for (i = 0; i < set->n; i++)
		buf_printf(&b, "%d %ju\n", set->v[i].fd,
		    (uintmax_t)set->v[i].file->id);
	filelist_buf(rec, "files", &b);
	tcphold_record(f, set->pid, rec);
	t->viewer = &w;
	t->set = set;
	t->tagged = sockets_tagged(p, set);
	t->pid = p->mmtid;
	t->pidfd = pidfd = (int)syscall(SYS_pidfd_open, p->mmtid,
	    p->mmtid == p->pid ? 0 : O_EXCL /* PIDFD_THREAD */);
	for (i = 0; i < set->n; i++)
		batch_add(&all, &set->v[i], rec);
	while (passed_next(t, &passed))
		batch_add(&all, &passed, rec);
	batch_end(&all, rec);
	fd_drop(pidfd);
	filelist_join(rec, &data);
}
