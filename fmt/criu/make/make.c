/*
 * Make CRIU images from the Linux records of processes that snap(1) captured.
 *
 * All images are made in memory before the first is written. Reasons why
 * something cannot be restored are collected first, so that they can be
 * reported together before anything is written. Pages and the content of
 * deleted files are not copied: an image has a pointer to the process that has
 * them.
 */
#include "criumake.h"

static void
make_free(struct criumake *m)
{
	maketask_free(m);
	pool_free(&m->msgs);
	pool_free(&m->texts);
	pool_free(&m->pool);
}

/*
 * Record as an obstacle that process t has an io_uring without a descriptor.
 * The sign of the io_uring is worker, a kernel thread of t. Do nothing if an
 * io_uring of t is already recorded.
 */
static int
worker_refuse(struct criumake *m, struct maketask *t,
    const struct maketask *worker)
{
	if (t->ring)
		return 0;
	t->ring = true;
	return make_refuse(m, t, NULL, WHY_IO_URING, "thread %" PRIu64 " is a "
	    "worker of the kernel, as for io_uring", worker->proc->pid);
}

/*
 * Make all images of process t.
 */
static int
process_write(struct criumake *m, struct maketask *t)
{
	struct maketask *thread;

	if (makecore_write(m, t, t) == -1)
		return -1;
	if (maketask_ended(t))
		return 0;
	for (thread = t->thread; thread != NULL; thread = thread->thread)
		if (maketask_runs(thread) &&
		    makecore_write(m, t, thread) == -1)
			return -1;
	if (maketree_ids(m, t) == -1 || makemm_write(m, t) == -1)
		return -1;
	for (thread = t->thread; thread != NULL; thread = thread->thread)
		if (!maketask_ended(thread) && !maketask_runs(thread) &&
		    worker_refuse(m, t, thread) == -1)
			return -1;
	return makefd_write(m, t);
}

/*
 * Make all images. Stop early if a process as a whole cannot be restored.
 */
static int
make_all(struct criumake *m)
{
	struct made *files;
	size_t i;

	if (maketask_read(m) == -1 || maketree_choose(m) == -1 ||
	    makesysv_read(m) == -1 || makespaces_check(m) == -1 ||
	    makecgroup_read(m) == -1 || makeopen_read(m) == -1)
		return -1;
	if (m->fatal)
		return 0;
	makespaces_made(m);
	for (i = 0; i < m->norder; i++)
		if (makeopen_fds(m, m->order[i]) == -1)
			return -1;
	if (makequeue_use(m) == -1 || makejudge_opens(m) == -1 ||
	    (files = make_image(m, CRIU_FILES, "files.img")) == NULL)
		return -1;
	m->files = &files->b;
	if (makefile_write(m) == -1)
		return -1;
	for (i = 0; i < m->norder; i++) {
		if (process_write(m, m->order[i]) == -1)
			return -1;
		pool_free(&m->texts);
	}
	if (makeghost_dirs(m) == -1 || makeseccomp_write(m) == -1 ||
	    makeshm_write(m) == -1 || makesysv_write(m) == -1 ||
	    maketree_write(m) == -1)
		return -1;
	return mades_check(m->out);
}

/*
 * Return true if s has records of snap(1) from which images can be made: a
 * process of s is a zombie, or has the file pages, observed or shares in its
 * record.
 */
bool
criumake_can(struct snap *s)
{
	struct linuxrec r;
	struct recfile f;
	size_t i;
	bool can;

	for (can = false, i = 0; i < s->nproc && !can; i++) {
		can = s->proc[i]->embedded == NULL &&
		    linuxrec_open(&r, proc_file(s->proc[i], "proc")) == 0;
		if (!can)
			continue;
		can = linuxrec_find(&r, "pages", &f) ||
		    linuxrec_find(&r, "observed", &f) ||
		    linuxrec_find(&r, "shares", &f) ||
		    (linuxrec_find(&r, "status", &f) &&
		    memmem(f.data, f.len, "\nState:\tZ", 9) != NULL);
		linuxrec_close(&r);
	}
	return can;
}

/*
 * Make all images for process o->root of s and its descendants. Append them to
 * out, which must be empty; the caller frees it. Call o->warn with a line for
 * each thing that cannot be restored. Fail if the kind of such a thing is not
 * in o->leave. Return 0, or -1 with errstr set.
 */
int
criumake(struct snap *s, const struct criuopts *o, struct mades *out)
{
	struct criumake m = { .snap = s, .opts = o, .out = out };
	int rc;

	rc = make_all(&m);
	/* a text that is NULL for lack of memory counts as missing */
	if (rc == 0 && (m.pool.failed || m.msgs.failed || m.texts.failed))
		rc = errstr_set("out of memory");
	if (rc == 0)
		rc = makewhy_judge(&m);
	if (o->need != NULL)
		*o->need |= m.need | CRIU_MADE;
	make_free(&m);
	return rc;
}

/*
 * Find the processes of s whose parents are not in s. Each can be the root of a
 * directory of images. Set *pid to an array of their pids, which the caller
 * frees, and *n to their number. Return 0, or -1 with errstr set.
 */
int
criumake_roots(struct snap *s, uint64_t **pid, size_t *n)
{
	const struct criuopts all = { 0 };
	struct criumake m = { .snap = s, .opts = &all };
	int rc;

	rc = maketask_read(&m);
	if (rc == 0)
		rc = maketree_roots(&m, pid, n);
	make_free(&m);
	return rc;
}
