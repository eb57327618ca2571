/*
 * Families: processes that have nearly all of their memory in common, such as
 * workers forked from one parent. The first of them, the head, is cloned
 * (make.c), and its clone is read for the other members as well. Pages that
 * only a member has are copied while it is stopped, as are the pages that
 * clones lack (gaps.c).
 *
 * To clone a process costs four passes over its pages: to make the clone, to
 * list its pages, to look them up, and to end it. For a family this is done
 * once.
 *
 * The shared pages cannot change: each is mapped by two processes, so a write
 * to it makes a copy, and the clone does not run.
 */
#include "bisect.h"
#include "cloning.h"
#include "linux/file/file.h"
#include "linux/proxy/proxy.h"
#include "sameframes.h"
#include "state/state.h"
#include "vec.h"
#include "worker.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	MIN_COMMON = 16 * 1024,	/* minimum size of the shared memory of a
				   family, in kilobytes */
	OWN_PART = 32,	/* unshared memory is at most 1/32 of the shared
			   memory */
	MIN_OWN = 4096,		/* kilobytes of unshared memory that are
				   always allowed */
	SAMPLES = 32		/* number of pages compared as a first test */
};

struct member {			/* a process that may share the clone of the
				   process "head" */
	struct lproc	*proc;	/* borrowed, like "head" */
	struct lproc	*head;
	struct likeness	 alike;
	int		 pagemap; /* owned; -1: not open */
	bool		 is;	/* true if "proc" will be read from the clone of
				   "head" */
};

struct matching {		/* members of one family, compared by several
				   threads */
	const struct pagetable *t;	/* borrowed, like "v" */
	struct member	*v;
	size_t		 n;
	atomic_size_t	 next;
};

/*
 * Return the maximum unshared memory, in kilobytes, that process p may have as
 * a member of a family.
 */
static uint64_t
own_most(const struct lproc *p)
{
	const uint64_t part = p->common.kb / OWN_PART;

	return part > MIN_OWN ? part : MIN_OWN;
}

/*
 * Compare 32 pages of process p with the pages of process head at the same
 * addresses. The pages are spread over the mapping in which p shares the most
 * memory. Return true if most of the pages of p are in the same page frames in
 * both processes.
 */
static bool
sample_alike(const struct lproc *p, const struct lproc *head)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t addr, e[2], step;
	size_t i, has, same;
	int fd[2];

	fd[0] = proc_open(p->mmtid, 0, "pagemap", O_RDONLY);
	fd[1] = proc_open(head->origin, 0, "pagemap", O_RDONLY);
	step = (p->common.end - p->common.start) / page / SAMPLES * page;
	addr = p->common.start + step / 2 / page * page;
	for (i = has = same = 0; i < SAMPLES && fd[0] != -1 && fd[1] != -1;
	    i++, addr += step) {
		if (pagemap_read(fd[0], addr, addr + page, &e[0], 1) != 1 ||
		    pagemap_read(fd[1], addr, addr + page, &e[1], 1) != 1)
			break;
		has += (e[0] & PME_FRAME) != 0;
		same += e[0] & PME_PRESENT && (e[0] & PME_FRAME) != 0 &&
		    (e[0] & PME_FRAME) == (e[1] & PME_FRAME);
	}
	fd_drop(fd[0]);
	fd_drop(fd[1]);
	return has >= SAMPLES / 4 && same >= has - has / 8;
}

/*
 * Return true if the links called name in /proc/PID are identical for processes
 * a and b.
 */
static bool
link_same(pid_t a, pid_t b, const char *name)
{
	char *s, *t;
	bool same;

	s = proc_link(a, 0, name);
	t = proc_link(b, 0, name);
	same = s != NULL && t != NULL && strcmp(s, t) == 0;
	free(s);
	free(t);
	return same;
}

/*
 * Return true if process p has the same executable, root, mounts and namespaces
 * as process head. If so, these can be read from the clone of head after the
 * stop.
 */
static bool
places_same(const struct lproc *p, const struct lproc *head)
{
	static const char *const name[] = { "exe", "ns/cgroup", "ns/ipc",
	    "ns/mnt", "ns/net", "ns/user", "ns/uts" };

	return p->mounts != NULL && p->mounts == head->mounts &&
	    p->root.ino != 0 && p->root.ino == head->root.ino &&
	    p->root.mount == head->root.mount &&
	    p->root.dev == head->root.dev &&
	    program_same(p->mmtid, head->clone) &&
	    SEEK_IN(name, !link_same(p->mmtid, head->clone, *x)) == NULL;
}

/*
 * Return true if mapping v of process p can be read from a clone with mappings
 * l. Return false for rings of io_setup(2) and memory under userfaultfd(2), and
 * true for other private memory without a file. For anything else, such as the
 * [vdso], return true if l has the same mapping and reading it needs no file
 * server.
 */
static bool
mapping_fits(const struct lproc *p, const struct vma *v, const struct vmas *l)
{
	const struct vma *w;

	if (vma_isring(v) || v->flags & VMA_UFFD)
		return false;
	if (v->ino == 0 && v->dev == 0 && !(v->flags & VMA_SHARED) &&
	    strcmp(v->name, "[vdso]") != 0)
		return true;
	w = vmas_find(l, v->start);
	return w != NULL && vma_stayed(w, v) && w->flags == v->flags &&
	    strcmp(w->name, v->name) == 0 &&
	    ((v->ino == 0 && v->dev == 0) || localfs_hasdevice(p->pid, v->dev));
}

/*
 * Return true if m->proc can be captured from the clone of m->head, as far as
 * can be decided without comparing pages.
 */
static bool
member_fits(const struct live *l, const struct member *m)
{
	const struct lproc *p = m->proc, *head = m->head;
	const struct vmas *vma = &p->task.vma;

	return !head->skip && head->clone > 0 && head->whole && !l->monitor &&
	    places_same(p, head) &&
	    SEEK(vma->v, vma->n, !mapping_fits(p, x, &head->task.vma)) == NULL;
}

/*
 * Compare the private mappings of m->proc with those of m->head. Mark a mapping
 * as different (ALIKE_NOT) if m->head has something else mapped at its
 * addresses. Return false if the [vdso] differs.
 */
static bool
member_doubt(struct member *m)
{
	const struct vmas *vma = &m->proc->task.vma, *l = &m->head->task.vma;
	const struct vma *v, *w;
	size_t i;

	for (i = 0; i < vma->n; i++) {
		v = &vma->v[i];
		for (w = vmas_next(l, v->start); w != NULL && w < l->v + l->n &&
		    w->start < v->end; w++)
			if ((w->flags ^ v->flags) & (VMA_SHARED | VMA_DEVICE) ||
			    w->dev != v->dev || w->ino != v->ino)
				m->alike.how[i] = ALIKE_NOT;
		if (m->alike.how[i] == ALIKE_NOT &&
		    strcmp(v->name, "[vdso]") == 0)
			return false;
	}
	return true;
}

static void *
members_match(void *arg)
{
	struct matching *g = arg;
	struct member *m;
	size_t i;

	while ((i = g->next++) < g->n) {
		m = &g->v[i];
		if (!m->is)
			continue;
		m->alike.most = (size_t)(own_most(m->proc) * KB) /
		    (size_t)sysconf(_SC_PAGESIZE);
		m->pagemap = proc_open(m->proc->mmtid, 0, "pagemap", O_RDONLY);
		m->is = m->pagemap != -1 && alike_compare(&m->alike, g->t,
		    m->pagemap, &m->proc->task.vma) == 0 && member_doubt(m);
	}
	return NULL;
}

/*
 * Decide which of the n candidates v belong to the family of their common head.
 * Set v[i].is for those that do. Use one thread for each processor.
 */
static void
family_find(const struct live *l, struct member *v, size_t n)
{
	const struct lproc *head = v->head;
	struct matching g = { .v = v, .n = n };
	struct pagetable *t = NULL;
	size_t i, most;
	bool any;
	int fd;

	for (any = false, i = 0; i < n; i++)
		any |= v[i].is = member_fits(l, &v[i]);
	fd = any ? proc_open(head->clone, 0, "pagemap", O_RDONLY) : -1;
	/* without PAGEMAP_SCAN it would cost an entry for each absent page */
	if (fd != -1 && pagemap_scans(fd))
		t = table_read(fd, &head->task.vma);
	if (t != NULL) {
		g.t = t;
		most = (size_t)processors_count();
		workers_run(most < n ? most : n, members_match, &g);
	}
	any = t != NULL && table_holds(t, fd);
	for (i = 0; i < n && !any; i++)
		v[i].is = false;
	table_free(t);
	fd_drop(fd);
}

/*
 * Decide whether to clone process p now. Return true to defer p: it may belong
 * to the family of an earlier process, and the clone of that process can then
 * be read for both. Otherwise return false; p may then become the head of a new
 * family.
 */
bool
family_defers(struct family *f, struct lproc *p)
{
	size_t i;

	if (p->common.kb < MIN_COMMON)
		return false;
	for (i = 0; i < HEADS && i < f->nhead && p->common.own <= own_most(p);
	    i++)
		if (sample_alike(p, f->head[i]) && VEC_ADD(f->v, f->n,
		    (struct member){ .proc = p, .head = f->head[i],
		    .pagemap = -1 }) == 0)
			return true;
	f->head[f->nhead++ % HEADS] = p;
	return false;
}

CMP2(member_compare, struct member, head->pid, proc->pid)

/*
 * Copy the pages that only m->proc has. Return true on success; m->proc then
 * needs no clone of its own.
 */
static bool
member_keep(struct live *l, struct snap *s, struct member *m)
{
	struct lproc *p = m->proc;
	const struct vmas *vma = &p->task.vma;

	if (headroom_claim(l, p, vma->n) == -1 || gaps_keep(l, s, p,
	    vma, &(struct lacking){ .clone = m->head->clone, .whole = true,
	    .alike = &m->alike }) == -1) {
		p->ngaps = 0;
		return false;
	}
	p->head = m->head;
	return true;
}

/*
 * For each deferred process of f, decide whether it belongs to the family of a
 * cloned process. If so, set its member head to that process, so that one clone
 * is read for both. Copy the pages that only the deferred process has, and add
 * the sources of the copies to snapshot s.
 */
void
family_keep(struct live *l, struct snap *s, struct family *f)
{
	size_t i, n;

	SORT(f->v, f->n, member_compare);
	for (i = 0; i < f->n; i += n) {
		for (n = 1; i + n < f->n && f->v[i + n].head == f->v[i].head;)
			n++;
		family_find(l, &f->v[i], n);
	}
	for (i = 0; i < f->n; i++)
		f->v[i].is = f->v[i].is && member_keep(l, s, &f->v[i]);
}

/*
 * Starting at index *i, return the next deferred process that belongs to no
 * family and must be cloned itself. Advance *i. Return NULL if there is none.
 */
struct lproc *
family_next(const struct family *f, size_t *i)
{
	while (*i < f->n)
		if (!f->v[(*i)++].is)
			return f->v[*i - 1].proc;
	return NULL;
}

void
family_free(struct family *f)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		alike_free(&f->v[i].alike);
		fd_drop(f->v[i].pagemap);
	}
	free(f->v);
}

/*
 * From now on, read each member of a family from the clone of its head. Call
 * this while the members are still stopped, once everything that must be read
 * from them directly has been read.
 */
void
family_read(struct live *l)
{
	struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry) {
		if (p->skip || p->head == NULL)
			continue;
		if (proc_died(p->pid, p->mmtid)) {
			lproc_leave(l, p);
			continue;
		}
		p->mmtid = p->clone = p->head->clone;
	}
}
