/*
 * What is left out of a crash that there is not room for as a whole: never a
 * cut file, but less of the memory, and the snapshot tells what (excluded of
 * snap(6)).  The largest mappings go first; those that a stack pointer is in
 * stay.
 */
#include "crash.h"
#include "vec.h"

#include <dirent.h>
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVE_MOST = 1000 };	/* mappings: they are arguments of a program */

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
 * Return how many bytes of a mapping a snapshot may take.
 */
static uint64_t
mapping_takes(const struct mapping *m)
{
	return (m->anon + m->swap) * KB;
}

static int
larger(const void *a, const void *b, void *arg)
{
	const struct mapping *m = arg;
	const uint64_t x = mapping_takes(&m[*(const size_t *)a]);
	const uint64_t y = mapping_takes(&m[*(const size_t *)b]);

	return x > y ? -1 : x < y;
}

/*
 * Return how many bytes a snapshot of a process may take.
 */
uint64_t
leave_need(const struct space *sp)
{
	uint64_t sum;
	size_t i;

	for (sum = 0, i = 0; i < sp->vma.n; i++)
		sum += mapping_takes(&sp->m[i]);
	return sum + (sp->rss - (sp->rss < sum / KB ? sp->rss : sum / KB)) *
	    KB;
}

/*
 * Add to *words, of which there are *n, the arguments of snap(1) that leave out
 * so much of a process that the rest takes room bytes, or as much as can be.
 * The words are the caller's to free.
 */
void
leave_choose(const struct space *sp, uint64_t room, char ***words, size_t *n)
{
	struct leaving v = { .space = sp };
	const struct vma *m;
	uint64_t need;
	size_t i, k;
	char *s;

	need = leave_need(sp);
	if (need <= room)
		return;
	v.stays = calloc(sp->vma.n + 1, sizeof *v.stays);
	v.order = calloc(sp->vma.n + 1, sizeof *v.order);
	if (v.stays == NULL || v.order == NULL)
		err(1, NULL);
	stacks_find(&v);
	for (i = 0; i < sp->vma.n; i++)
		v.order[i] = i;
	qsort_r(v.order, sp->vma.n, sizeof *v.order, larger, sp->m);
	for (i = 0; i < sp->vma.n && i < LEAVE_MOST && need > room; i++) {
		k = v.order[i];
		m = &sp->vma.v[k];
		if (v.stays[k] || mapping_takes(&sp->m[k]) == 0)
			continue;
		need -= mapping_takes(&sp->m[k]);
		if (asprintf(&s, "-x%" PRIx64 "-%" PRIx64, m->start,
		    m->end) == -1 || VEC_ROOM(*words, *n) == -1)
			err(1, NULL);
		(*words)[(*n)++] = s;
	}
	free(v.stays);
	free(v.order);
}
