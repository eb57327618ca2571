/*
 * Choose what to leave out if there is no room for all of it: memory of the
 * process that dumps core, other processes, and embedded files. The snapshot
 * lists the memory that was left out (excluded in snap(6)). Shared mappings of
 * files are left out first, because the files exist elsewhere; then shared
 * memory; then private memory; in each class the largest mappings first. A
 * mapping that a stack pointer points into is kept, and in other mappings the
 * bytes near an address that is in a register.
 */
#include "bisect.h"
#include "job.h"
#include "model.h"

#include <err.h>

enum {
	NEAR = 64 * KB,		/* number of bytes kept before and after a block
				   to which a register points */
	EACH = 64 * KB /* size of a block; a multiple of all page sizes */
};

struct near { /* range to keep in a mapping that is otherwise left out */
	uint64_t	 start;
	uint64_t	 end;
};

struct leaving {
	struct space	 space;
	struct near	*near;	/* owned; sorted by "start" after
				   live_coreregs() */
	size_t		 nnear;
	bool		*stays;	/* owned; whether each mapping is kept whole */
	uint64_t	*takes;	/* owned; bytes that each mapping takes */
	size_t		*order;	/* owned; indices of mappings in the order in
				   which they are left out */
};

/*
 * Keep the bytes near addr in the snapshot. This address was found in a
 * register. If stack is true, addr is a stack pointer: also keep the whole
 * mapping that contains addr.
 */
static void
register_see(void *arg, uint64_t addr, bool stack)
{
	struct leaving *v = arg;
	const struct vma *m = stack ? vmas_find(&v->space.vma, addr) : NULL;
	const uint64_t first = addr & ~(uint64_t)(EACH - 1);

	if (m != NULL)
		v->stays[m - v->space.vma.v] = true;
	if (addr < NEAR || addr > UINT64_MAX - 2 * NEAR)
		return;
	MUST_ROOM(v->near, v->nnear);
	v->near[v->nnear++] = (struct near){ first - NEAR,
	    first + EACH + NEAR };
}

CMP(near_cmp, struct near, start)

enum { CLASS_MAPPED, CLASS_MEMORY, CLASS_OWN };

/*
 * Return the class of mapping v. Mappings of lower classes are left out first.
 */
static int
mapping_class(const struct vma *v)
{
	if (!(v->flags & VMA_SHARED))
		return CLASS_OWN;
	return class_of(v) == CLASS_FILE ? CLASS_MAPPED : CLASS_MEMORY;
}

static int
earlier(const void *a, const void *b, void *arg)
{
	const struct leaving *v = arg;
	const size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const int p = mapping_class(&v->space.vma.v[i]);
	const int q = mapping_class(&v->space.vma.v[k]);

	return p != q ? p - q : ORDER(v->takes[k], v->takes[i]);
}

/*
 * Add to take[i], for each mapping i of l, the bytes of im in it that are not
 * zero.
 */
static void
takes_add(uint64_t *take, const struct vmas *l, const struct image *im)
{
	const struct segment *s;
	const struct extent *e;
	uint64_t at, end;
	size_t i, k;

	for (i = k = 0; im != NULL && k < im->nseg; k++) {
		s = im->seg[k];
		for (at = 0; at < segment_kb(s) &&
		    (e = segment_extent(s, at)) != NULL; at = end) {
			end = e->kb + e->n;
			while (i < l->n && l->v[i].end <= s->base + at * KB)
				i++;
			if (i < l->n && s->base + end * KB > l->v[i].end)
				end = (l->v[i].end - s->base) / KB;
			if (i < l->n && e->src != NULL)
				take[i] += (end - at) * KB;
		}
	}
}

/*
 * Leave mapping i out of the snapshot by adding it to x, except for the ranges
 * near addresses in registers. Return an estimate of the bytes saved.
 */
static uint64_t
mapping_leave(const struct leaving *v, size_t i, struct exclude *x)
{
	const struct vma *m = &v->space.vma.v[i];
	uint64_t at, until, left;
	char range[40];
	size_t k;

	for (at = m->start, left = 0, k = 0; at < m->end;) {
		while (k < v->nnear && v->near[k].end <= at)
			k++;
		until = k < v->nnear && v->near[k].start < m->end ?
		    v->near[k].start : m->end;
		if (until > at) {
			snprintf(range, sizeof range, "%" PRIx64 "-%" PRIx64,
			    at, until);
			if (exclude_add(x, range) == -1)
				errx(1, "%s", snap_errstr());
			left += until - at;
		}
		at = until < m->end ? v->near[k].end : until;
	}
	return (uint64_t)((double)v->takes[i] * (double)left /
	    (double)(m->end - m->start));
}

/*
 * Choose which mappings of p, a process of l that is dumping core, to leave out
 * of the snapshot. Add these to x until the text of p and the other mappings
 * take at most limit bytes, or until no more may be left out. Return true if
 * some were left out.
 */
bool
leave_choose(struct live *l, const struct proc *p, uint64_t limit,
    struct exclude *x)
{
	struct leaving v = { 0 };
	const struct space *sp = &v.space;
	uint64_t need;
	bool some = false;
	size_t i, k;

	if (space_live(&v.space, (pid_t)p->pid, false) == -1) {
		space_free(&v.space);
		return false;
	}
	v.takes = must(calloc(sp->vma.n + 1, sizeof *v.takes));
	v.stays = must(calloc(sp->vma.n + 1, sizeof *v.stays));
	v.order = must(calloc(sp->vma.n + 1, sizeof *v.order));
	takes_add(v.takes, &sp->vma, p->mem);
	for (need = image_kb(p->text) * KB, i = 0; i < sp->vma.n; i++) {
		if (exclude_dontdump(x) && sp->m[i].flags & VMF_DONTDUMP)
			v.takes[i] = 0;
		need += v.takes[i];
	}
	live_coreregs(l, (pid_t)p->pid, register_see, &v);
	SORT(v.near, v.nnear, near_cmp);
	for (i = 0; i < sp->vma.n; i++)
		v.order[i] = i;
	qsort_r(v.order, sp->vma.n, sizeof *v.order, earlier, &v);
	for (i = 0; i < sp->vma.n && need > limit; i++) {
		k = v.order[i];
		if (!v.stays[k] && (sp->m[k].flags & VMF_STACK) == 0 &&
		    v.takes[k] > 0) {
			need -= mapping_leave(&v, k, x);
			some = true;
		}
	}
	free(v.takes);
	free(v.stays);
	free(v.order);
	free(v.near);
	space_free(&v.space);
	return some;
}

/*
 * Return true if shared memory dev:ino is among the first n in k->shared. Add
 * it to k->shared unless it is there.
 */
static bool
shared_seen(struct taking *k, size_t n, uint64_t dev, uint64_t ino)
{
	const struct sharedfile *f;

	f = SEEK(k->shared, k->nshared, x->dev == dev && x->ino == ino);
	if (f != NULL)
		return f < k->shared + n;
	MUST_ROOM(k->shared, k->nshared);
	k->shared[k->nshared++] = (struct sharedfile){ dev, ino };
	return false;
}

/*
 * Return the maximum number of bytes that process or embedded file p takes in
 * the snapshot. Shared memory takes none if another process has it, and was
 * counted before.
 */
static uint64_t
whole_takes(struct taking *k, const struct proc *p)
{
	const uint64_t text = image_kb(p->text) * KB;
	const size_t known = k->nshared;
	struct vmas l = { 0 };
	uint64_t sum, *take;
	size_t i;

	if (p->embedded != NULL)
		return shared_seen(k, known, p->embedded->dev,
		    p->embedded->ino) ? 0 : text + image_kb(p->mem) * KB;
	if (proc_vmas(p, &l) == -1)
		return text + image_kb(p->mem) * KB;
	take = must(calloc(l.n + 1, sizeof *take));
	takes_add(take, &l, p->mem);
	for (sum = text, i = 0; i < l.n; i++)
		if (!(l.v[i].flags & VMA_SHARED) ||
		    !shared_seen(k, known, l.v[i].dev, l.v[i].ino))
			sum += take[i];
	free(take);
	vmas_free(&l);
	return sum;
}

/*
 * Return true if p, a process, thread or embedded file, must be left out. The
 * process that dumps core is kept. Another process is left out if it does not
 * fit in the room that is left, or if memory of the process that dumps core was
 * left out. A thread is left out with its process. An embedded file may also
 * use an eighth more than the room.
 */
bool
leave_whole(struct taking *k, const struct proc *p)
{
	const uint64_t most = k->job->most, dumps = (uint64_t)k->job->dumps;
	const uint64_t limit = p->embedded == NULL ? most : most + most / 8;
	uint64_t need;

	if (most == 0 || p->leader == dumps)
		return false;
	if (proc_isthread(p))
		return p->leader == k->left;
	need = whole_takes(k, p);
	if (p->pid == dumps || (!(k->tight && p->embedded == NULL) &&
	    output_pos(k->out) + need / KB * (KB + 1) <= limit))
		return false;
	k->left = p->pid;
	return true;
}
