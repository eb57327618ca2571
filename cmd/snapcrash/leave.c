/*
 * What is left out of a crash that there is not room for as a whole: never a
 * cut file, but less of the memory, and the snapshot tells what (excluded of
 * snap(6)).  Mapped files go first, which are elsewhere, too; unmodified pages
 * of those that are private are not taken anyway.  Then goes shared memory, and
 * then that of the process alone; of each the largest mappings.  Those that a
 * stack pointer is in stay, and, of the others, what registers point near.
 */
#include "bisect.h"
#include "crash.h"
#include "vec.h"

#include <dirent.h>
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	LEAVE_MOST = 1000,	/* ranges: they are arguments of a program */
	NEAR = 64 * KB,		/* bytes, before and behind an address */
	EACH = 64 * KB		/* bytes, of which pages of any machine are
				   parts */
};

struct near {			/* what stays of a mapping that goes */
	uint64_t	 start;
	uint64_t	 end;
};

/*
 * Return the stack pointer of a thread, as /proc/TID/syscall has it behind the
 * six arguments; 0 if it is not told.
 */
static uint64_t
thread_sp(pid_t pid, const char *tid)
{
	unsigned long long sp;
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%.16s/syscall", pid, tid);
	if ((f = fopen(path, "re")) == NULL)
		return 0;
	/* a number and arguments, but outside of a call -1 alone */
	if (fscanf(f, "-1 %llx", &sp) != 1) {
		rewind(f);
		if (fscanf(f, "%*d %*x %*x %*x %*x %*x %*x %llx", &sp) != 1)
			sp = 0;
	}
	fclose(f);
	return sp;
}

struct leaving {
	const struct space *space;
	struct near	*near;	/* owned; ascending, when they are sorted */
	size_t		 nnear;
	bool		*stays;	/* of each mapping */
	size_t		*order;	/* of mappings, the largest first */
};

/*
 * Note which mappings are stacks.
 */
static void
stacks_find(struct leaving *v)
{
	char path[64];
	struct dirent *e;
	uint64_t sp;
	size_t i;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%ju/task",
	    (uintmax_t)v->space->pid);
	if ((d = opendir(path)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		sp = thread_sp((pid_t)v->space->pid, e->d_name);
		for (i = 0; sp != 0 && i < v->space->vma.n; i++)
			if (sp - v->space->vma.v[i].start <
			    v->space->vma.v[i].end - v->space->vma.v[i].start)
				v->stays[i] = true;
	}
	closedir(d);
	for (i = 0; i < v->space->vma.n; i++)
		if (v->space->m[i].flags & MAPPING_STACK)
			v->stays[i] = true;
}

/*
 * Have what is near an address stay.
 */
static void
near_add(void *arg, uint64_t at)
{
	struct leaving *v = arg;
	const uint64_t first = at & ~(uint64_t)(EACH - 1);

	if (at < NEAR || at > UINT64_MAX - 2 * NEAR)
		return;
	if (VEC_ROOM(v->near, v->nnear) == -1)
		err(1, "%s", snap_errstr());
	v->near[v->nnear++] = (struct near){ first - NEAR,
	    first + EACH + NEAR };
}

CMP(near_cmp, struct near, start)

/*
 * Return how many bytes of a mapping a snapshot may take.
 */
static uint64_t
mapping_takes(const struct space *sp, size_t i)
{
	const struct mapping *m = &sp->m[i];
	const uint64_t file = m->rss > m->anon ? m->rss - m->anon : 0;

	return (m->anon + m->swap + (sp->vma.v[i].flags & VMA_SHARED ? file :
	    0)) * KB;
}

enum { CLASS_MAPPED, CLASS_MEMORY, CLASS_OWN };

/*
 * Return the class of a mapping: those of less go first.
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
	const struct space *sp = arg;
	const size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const uint64_t x = mapping_takes(sp, i), y = mapping_takes(sp, k);
	const int p = mapping_class(&sp->vma.v[i]);
	const int q = mapping_class(&sp->vma.v[k]);

	return p != q ? p - q : x > y ? -1 : x < y;
}

/*
 * Return how many bytes a snapshot of sp, a process, may take.
 */
uint64_t
leave_need(const struct space *sp)
{
	uint64_t sum;
	size_t i;

	for (sum = 0, i = 0; i < sp->vma.n; i++)
		sum += mapping_takes(sp, i);
	return sum + (sp->rss - (sp->rss < sum / KB ? sp->rss : sum / KB)) *
	    KB;
}

/*
 * Add to *words the arguments of snap(1) that leave out a mapping, but for what
 * registers point near.  Return how many bytes less are taken so.
 */
static uint64_t
mapping_leave(const struct leaving *v, size_t i, char ***words, size_t *n)
{
	const struct vma *m = &v->space->vma.v[i];
	uint64_t at, until, left;
	size_t k;
	char *s;

	for (at = m->start, left = 0, k = 0; at < m->end;) {
		while (k < v->nnear && v->near[k].end <= at)
			k++;
		until = k < v->nnear && v->near[k].start < m->end ?
		    v->near[k].start : m->end;
		if (until > at) {
			if (asprintf(&s, "-x%" PRIx64 "-%" PRIx64, at,
			    until) == -1 || VEC_ROOM(*words, *n) == -1)
				err(1, NULL);
			(*words)[(*n)++] = s;
			left += until - at;
		}
		at = until < m->end ? v->near[k].end : until;
	}
	return (uint64_t)((double)mapping_takes(v->space, i) * (double)left /
	    (double)(m->end - m->start));
}

/*
 * Add to *words, of which there are *n, the arguments of snap(1) that leave out
 * so much of sp, a process, that the rest takes room bytes, or as much as can
 * be.  The words are the caller's to free.
 */
void
leave_choose(const struct space *sp, uint64_t room, char ***words, size_t *n)
{
	struct leaving v = { .space = sp };
	const size_t all = *n;
	uint64_t need;
	size_t i, k;

	need = leave_need(sp);
	if (need <= room)
		return;
	v.stays = calloc(sp->vma.n + 1, sizeof *v.stays);
	v.order = calloc(sp->vma.n + 1, sizeof *v.order);
	if (v.stays == NULL || v.order == NULL)
		err(1, NULL);
	stacks_find(&v);
	registers_each(STDIN_FILENO, near_add, &v);
	SORT(v.near, v.nnear, near_cmp);
	for (i = 0; i < sp->vma.n; i++)
		v.order[i] = i;
	qsort_r(v.order, sp->vma.n, sizeof *v.order, earlier,
	    (void *)(uintptr_t)sp);
	for (i = 0; i < sp->vma.n && *n - all < LEAVE_MOST && need > room;
	    i++) {
		k = v.order[i];
		if (!v.stays[k] && mapping_takes(sp, k) > 0)
			need -= mapping_leave(&v, k, words, n);
	}
	free(v.stays);
	free(v.order);
	free(v.near);
}
