/*
 * CRIU images of processes that snap(1) took, made of their Linux records.
 *
 * All images are made in memory before one is written, and what cannot be
 * restored is noted on the way, so that it can be told in full while nothing
 * has happened yet.  Pages, and the bytes of deleted files, stay where they
 * are: an image tells whose they are.
 */
#include "make.h"
#include "num.h"
#include "space.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Room for one more of n elements of so many bytes each; the array may move.
 * NULL, and the array stays, if there is no memory.
 */
void *
make_grow(void *v, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return v;
	if ((v = reallocarray(v, n == 0 ? 1 : n * 2, size)) == NULL)
		errstr_set("out of memory");
	return v;
}

/*
 * A new image of a kind, or NULL.
 */
struct made *
make_image(struct criumake *m, uint32_t magic, const char *fmt, ...)
{
	struct made **v, *im;
	va_list ap;
	int n;

	if ((v = make_grow(m->out->v, m->out->n, sizeof *v)) == NULL)
		return NULL;
	m->out->v = v;
	if ((im = calloc(1, sizeof *im)) == NULL) {
		errstr_set("out of memory");
		return NULL;
	}
	va_start(ap, fmt);
	n = vasprintf(&im->name, fmt, ap);
	va_end(ap);
	if (n == -1) {
		free(im);
		errstr_set("out of memory");
		return NULL;
	}
	if (magic == CRIU_INVENTORY)	/* it has no first word */
		num_add(&im->b, magic, 4);
	else
		criuimg_begin(&im->b, magic);
	v[m->out->n++] = im;
	return im;
}

/*
 * The one image of a name, which is made when it is first asked for.
 */
struct buf *
make_common(struct criumake *m, uint32_t magic, const char *name)
{
	struct made *im;
	size_t i;

	for (i = 0; i < m->ncommon; i++)
		if (strcmp(m->common[i]->name, name) == 0)
			return &m->common[i]->b;
	if (m->ncommon == sizeof m->common / sizeof *m->common ||
	    (im = make_image(m, magic, "%s", name)) == NULL)
		return NULL;
	m->common[m->ncommon++] = im;
	return &im->b;
}

static int
name_cmp(const void *a, const void *b)
{
	const struct made *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/*
 * All images are whole, and no two have one name: what is of one number is
 * not of one process then.
 */
static int
images_check(struct mades *l)
{
	struct made **v;
	size_t i;
	int rc;

	if ((v = calloc(l->n + 1, sizeof *v)) == NULL)
		return errstr_set("out of memory");
	for (i = 0; i < l->n; i++)
		v[i] = l->v[i];
	qsort(v, l->n, sizeof *v, name_cmp);
	for (rc = 0, i = 0; rc == 0 && i < l->n; i++)
		rc = i > 0 && strcmp(v[i - 1]->name, v[i]->name) == 0 ?
		    errstr_set("two processes or threads of one number: %s",
		    v[i]->name) : buf_check(&v[i]->b);
	free(v);
	return rc;
}

void
mades_free(struct mades *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		buf_free(&l->v[i]->b);
		free(l->v[i]->name);
		free(l->v[i]);
	}
	free(l->v);
	memset(l, 0, sizeof *l);
}

/*
 * The process or thread of a number of the snapshot, or NULL.
 */
struct maketask *
make_find(const struct criumake *m, uint64_t pid)
{
	size_t lo, hi, mid;

	for (lo = 0, hi = m->nbypid; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (m->bypid[mid]->proc->pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->nbypid && m->bypid[lo]->proc->pid == pid ?
	    m->bypid[lo] : NULL;
}

/*
 * The fields of stat: 1 and those from 4 on are numbers, 3 is a letter.
 */
static int
stat_read(struct maketask *t)
{
	char *text, *s, *end;
	size_t i;

	if ((text = words_text(&t->rec, "stat")) == NULL)
		return errstr_set("no stat");
	t->stat[1] = strtoull(text, NULL, 10);
	i = 2;
	if ((s = strrchr(text, ')')) != NULL && s[1] == ' ' && s[2] != '\0') {
		t->state = s[2];
		for (s += 3, i = 4; i < STAT_FIELDS; i++, s = end) {
			t->stat[i] = *s != ' ' ? 0 : s[1] == '-' ?
			    (uint64_t)strtoll(s, &end, 10) :
			    strtoull(s, &end, 10);
			if (*s != ' ' || end == s)
				break;
		}
	}
	free(text);
	return i == STAT_FIELDS ? 0 : errstr_set("stat: not 52 fields");
}

/*
 * The last number of a line of status: the one in the innermost namespace.
 */
static int
inner_number(const struct maketask *t, const char *key, uint32_t *out)
{
	enum { DEEPEST = 33 };	/* MAX_PID_NS_LEVEL of the kernel, and 1 */
	uint64_t v[DEEPEST];
	size_t n;

	n = status_numbers(t, key, 10, v, DEEPEST);
	if (n == 0 || n > DEEPEST || v[n - 1] > INT32_MAX)
		return errstr_set("status: no %s", key);
	*out = (uint32_t)v[n - 1];
	return 0;
}

static int
task_read(struct maketask *t)
{
	if (linuxrec_open(&t->rec, proc_file(t->proc, "proc")) == -1 ||
	    stat_read(t) == -1)
		return -1;
	t->status = words_text(&t->rec, "status");
	if (inner_number(t, "NSpid", &t->pid) == -1)
		return -1;
	if (t->proc->leader != 0)
		return 0;
	return inner_number(t, "NSpgid", &t->pgid) == -1 ? -1 :
	    inner_number(t, "NSsid", &t->sid);
}

static int
task_cmp(const void *a, const void *b)
{
	const struct maketask *const *x = a, *const *y = b;

	return (*x)->proc->pid < (*y)->proc->pid ? -1 :
	    (*x)->proc->pid > (*y)->proc->pid;
}

/*
 * All processes and threads, or, where one was asked for, those that were
 * taken with it: the others' numbers of processes and inodes are not its own.
 */
static int
tasks_read(struct criumake *m)
{
	struct maketask *t;
	struct proc *p;
	uint64_t part, only;
	size_t i;

	m->task = calloc(m->snap->nproc, sizeof(*m->task));
	m->bypid = calloc(m->snap->nproc, sizeof(*m->bypid));
	if (m->task == NULL || m->bypid == NULL)
		return errstr_set("out of memory");
	only = 0;
	p = m->opts->root == 0 ? NULL : snap_find(m->snap, m->opts->root);
	if (p != NULL && proc_part(p, &only) == -1)
		return -1;
	for (i = 0; i < m->snap->nproc; i++) {
		p = m->snap->proc[i];
		if (p->carried != NULL)
			continue;
		if (proc_part(p, &part) == -1)
			return -1;
		if (m->opts->root != 0 && part != only)
			continue;
		if ((t = m->task[i] = calloc(1, sizeof *t)) == NULL)
			return errstr_set("out of memory");
		m->bypid[m->nbypid++] = t;
		t->proc = p;
		t->part = part;
		t->files = t;
		if (task_read(t) == -1)
			return errstr_wrap("process %" PRIu64, p->pid);
	}
	if (m->nbypid > 1)
		qsort(m->bypid, m->nbypid, sizeof(*m->bypid), task_cmp);
	return 0;
}

static void
make_free(struct criumake *m)
{
	struct maketask *t;
	size_t i;

	for (i = 0; m->task != NULL && i < m->snap->nproc; i++) {
		if ((t = m->task[i]) == NULL)
			continue;
		linuxrec_close(&t->rec);
		free(t->status);
		free(t->fd);
		free(t->byopen);
		vmas_free(&t->maps);
		free(t->kept);
		free(t);
	}
	for (i = 0; i < m->ntext; i++)
		free(m->text[i].path);
	free(m->task);
	free(m->bypid);
	free(m->text);
	free(m->order);
	free(m->ghost);
	free(m->shm);
	makeopen_free(m);
	makewhy_free(m);
}

/*
 * Tell of a worker of the kernel in a process, if it was not told what it
 * works for: a ring that has no descriptor.
 */
static int
worker_refuse(struct criumake *m, struct maketask *t,
    const struct maketask *worker)
{
	if (t->ring)
		return 0;
	t->ring = true;
	return make_refuse(m, WHY_IO_URING, "process %" PRIu64 ": thread %"
	    PRIu64 " works in the kernel, as for io_uring", t->proc->pid,
	    worker->proc->pid);
}

/*
 * All images of a process but those of its descriptors.
 */
static int
process_write(struct criumake *m, struct maketask *t)
{
	const struct maketask *thread;
	const size_t *at;
	size_t i, n;

	if (makecore_write(m, t, t) == -1)
		return -1;
	if (maketask_ended(t))
		return 0;
	if (snap_threads(m->snap, t->proc->pid, &at, &n) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (maketask_runs(m->task[at[i]]) &&
		    makecore_write(m, t, m->task[at[i]]) == -1)
			return -1;
	if (maketree_ids(m, t) == -1 || makemm_write(m, t) == -1)
		return -1;
	for (i = 0; i < n; i++) {
		thread = m->task[at[i]];
		if (!maketask_ended(thread) && !maketask_runs(thread) &&
		    worker_refuse(m, t, thread) == -1)
			return -1;
	}
	return makefd_write(m, t);
}

static int
make_all(struct criumake *m)
{
	struct made *files;
	size_t i;

	if (tasks_read(m) == -1 || maketree_choose(m) == -1 ||
	    makeopen_read(m) == -1)
		return -1;
	if (m->fatal)
		return 0;
	for (i = 0; i < m->norder; i++)
		if (makeopen_fds(m, m->order[i]) == -1)
			return -1;
	if (makefd_judge(m) == -1 ||
	    (files = make_image(m, CRIU_FILES, "files.img")) == NULL)
		return -1;
	m->files = &files->b;
	if (makefile_write(m) == -1)
		return -1;
	for (i = 0; i < m->norder; i++)
		if (process_write(m, m->order[i]) == -1)
			return -1;
	if (makemem_write(m) == -1 || maketree_write(m) == -1)
		return -1;
	return images_check(m->out);
}

/*
 * Is it a snapshot that snap(1) took, with what restoring takes?
 */
bool
criumake_can(struct snap *s)
{
	struct linuxrec r;
	struct recfile f;
	size_t i;
	bool can;

	for (can = false, i = 0; i < s->nproc && !can; i++) {
		can = s->proc[i]->carried == NULL &&
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
 * Make the images of the processes of a snapshot that o->root tells of: all
 * of a directory.  What cannot be restored is told to o->warn, each a line,
 * and is an error unless all of it is of kinds that o->leave has.
 */
int
criumake(struct snap *s, const struct criuopts *o, struct mades *out)
{
	struct criumake m = { .snap = s, .opts = o, .out = out };
	int rc;

	rc = make_all(&m);
	if (rc == 0)
		rc = makewhy_judge(&m);
	make_free(&m);
	return rc;
}
