/*
 * Use our own [vdso] as the source for other processes, if it equals the pages
 * that they have touched. So all of it is captured without touching more pages.
 */
#include "io/io.h"
#include "linux/pages/pages.h"
#include "state/state.h"
#include "taking.h"

#include <sys/auxv.h>

#include <unistd.h>

struct comparing {
	struct source	*mem;	/* borrowed */
	uint64_t	 start;	/* start of the [vdso] of the process */
	bool		 seen;	/* a page was compared */
	bool		 same;
};

static const uint8_t *
own_vdso(void)
{
	return (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
}

static int
compare_run(void *arg, const struct pagerun *p)
{
	struct comparing *c = arg;
	uint8_t page[KB];
	struct run r;

	for (r.n = 1, r.loc = p->start; r.loc < p->end && c->same; r.loc += KB)
		c->same = source_read(c->mem, &r, 1, page) == SOURCE_OK &&
		    memcmp(page, own_vdso() + (r.loc - c->start), KB) == 0;
	c->seen = true;
	return 0;
}

/*
 * Return the size in bytes of our own [vdso], or 0 if there is none.
 */
static uint64_t
own_length(void)
{
	struct vmas l = { 0 };
	const struct vma *v;
	uint64_t n;

	n = 0;
	if (own_vdso() != NULL && maps_read(getpid(), &l) == 0 &&
	    (v = vmas_find(&l, (uintptr_t)own_vdso())) != NULL &&
	    v->start == (uintptr_t)own_vdso())
		n = v->end - v->start;
	vmas_free(&l);
	return n;
}

/*
 * Return a source of s with a copy of our own [vdso], made once for each
 * snapshot. Return NULL on failure.
 */
static struct source *
vdso_copy(struct live *l, struct snap *s)
{
	struct source *src;
	uint64_t off;

	if (l->vdso != NULL || l->vdsolen != 0)
		return l->vdso;
	if ((l->vdsolen = own_length()) == 0 ||
	    (src = source_spool(s)) == NULL)
		return NULL;
	for (off = 0; off < l->vdsolen; off += KB)
		if (spool_add(src, own_vdso() + off, KB) == -1)
			return NULL;
	if (spool_finish(src) == 0)
		l->vdso = src;
	return l->vdso;
}

/*
 * Return a source for the whole [vdso] v of a process of set l: a copy of our
 * own. Offsets in it begin at 0. mem is the memory of the process, or of its
 * clone if clone is set. Return NULL if the two may differ, as they may for a
 * 32-bit process or one restored from another kernel.
 *
 * Pages that the process has touched are compared with our own. If there are
 * none, the [vdso] is the kernel's, unless its address is low enough for a
 * 32-bit process. In a clone, all pages are compared: it has touched none
 * itself, but we may touch its pages.
 */
struct source *
vdso_source(struct live *l, struct snap *s, struct source *mem,
    const struct vma *v, bool clone)
{
	struct comparing c = { mem, v->start, false, true };
	struct pagerun all = { v->start, v->end, PM_PRESENT };
	struct source *src;

	if ((src = vdso_copy(l, s)) == NULL ||
	    v->end - v->start != l->vdsolen)
		return NULL;
	if (clone)
		(void)compare_run(&c, &all);
	else if (pagemap_walk(source_live_pagemap(mem), v->start, v->end,
	    PM_FILE, compare_run, &c) == -1)
		return NULL;
	return c.same && (c.seen || v->start > UINT32_MAX) ? src : NULL;
}
