/*
 * Read the entries of /proc/PID/pagemap for all mappings of a process in as few
 * calls as possible: with large reads that span several mappings, none for
 * empty ranges and, where it suffices, one entry per huge page.
 *
 * A huge page is mapped by one entry of a higher level. Linux 6.18 gives all of
 * its parts the PME_EXCLUSIVE of the first, although other processes may map
 * some of the parts (fs/proc/task_mmu.c). The flags of its page frame are more
 * reliable.
 */
#include "pages.h"

#include <unistd.h>

enum {
	LEAST = 64, /* number of entries to read first after a hole */
	MOST = 8192 /* walk.v has room for at least this many entries */
};

/* bits of kpageflags: linux/kernel-page-flags.h */
#define KPF_ANON		((uint64_t)1 << 12)
#define KPF_COMPOUND_HEAD	((uint64_t)1 << 15)
#define KPF_THP			((uint64_t)1 << 22)
/* PG_owner_2 of an anonymous page */
#define KPF_ANON_EXCLUSIVE	((uint64_t)1 << 34)

struct walk {
	int		 fd;	/* pagemap of the process */
	const struct vmas *l;	/* borrowed */
	size_t		 n;	/* number of mappings that pagemap covers */
	size_t		 i;	/* index of the mapping that contains "addr" */
	uint64_t	 addr;	/* address of the page to read next */
	uint64_t	 page;	/* page size in bytes */
	uint64_t	 huge;	/* size of a huge page in bytes */
	const struct frames *flags; /* flags by page frame; NULL: not
				       readable */
	uint64_t	*v;	/* owned; entries that were read */
	size_t		 most;	/* size of "v", in entries */
	size_t		 want;
	bool		 hole;	/* there may be a hole at the address "addr" */
	entries_fn	 fn;
	void		*arg;	/* borrowed */
};

/*
 * Advance w to the next page to read, which may be in the next mapping. If
 * there is a hole in the pagemap, skip it. Return 1 on success, 0 at the end,
 * or -1 with errstr set.
 */
static int
walk_seek(struct walk *w)
{
	int rc;

	while (w->i < w->n && w->l->v[w->i].end <= w->addr)
		w->i++;
	if (w->i == w->n)
		return 0;
	if (w->addr < w->l->v[w->i].start)
		w->addr = w->l->v[w->i].start;
	if (!w->hole)
		return 1;
	w->hole = false;
	rc = pagemap_first(w->fd, &w->addr, w->l->v[w->n - 1].end);
	/* the page found may be in a later mapping: update w->i */
	return rc == 1 ? walk_seek(w) : rc;
}

/*
 * Read entries from w->addr on, possibly for several mappings. Do not read
 * entries beyond the end of the last of these mappings. Return the number of
 * entries, or -1 with errstr set.
 */
static ssize_t
walk_read(struct walk *w)
{
	uint64_t stop;
	size_t i;

	stop = w->addr + w->want * w->page;
	if (w->addr % w->huge == 0 && stop - w->addr < w->huge)
		stop = w->addr + w->huge;
	if (stop / w->huge > w->addr / w->huge)
		stop -= stop % w->huge;
	for (i = w->i; i + 1 < w->n && w->l->v[i + 1].start < stop; i++)
		continue;
	if (stop > w->l->v[i].end)
		stop = w->l->v[i].end;
	return pagemap_read(w->fd, w->addr, stop, w->v, w->most);
}

/*
 * Pass the n entries that were read to w->fn, one mapping at a time. Return 0,
 * or -1 if w->fn returns -1.
 */
static int
walk_give(struct walk *w, size_t n)
{
	struct entries e = { .each = 1 };
	const struct vma *v;
	uint64_t end, to;
	size_t i;

	end = w->addr + n * w->page;
	for (i = w->i; i < w->n && w->l->v[i].start < end; i++) {
		v = &w->l->v[i];
		e.vma = i;
		e.addr = v->start > w->addr ? v->start : w->addr;
		to = v->end < end ? v->end : end;
		e.v = w->v + (e.addr - w->addr) / w->page;
		e.n = (size_t)((to - e.addr) / w->page);
		if (w->fn(w->arg, &e) == -1)
			return -1;
	}
	w->hole = w->v[n - 1] == 0;
	w->want = w->hole ? LEAST : w->want < w->most ? w->want * 2 :
	    w->most;
	w->addr = end;
	return 0;
}

/*
 * Return 1 if only this process maps the huge page whose first entry is e.
 * Return 0 if not, or -1 with errstr set. If e is not the entry of a huge page,
 * return 1 if all is set, else 0.
 */
static int
huge_alone(const struct walk *w, uint64_t e, bool all)
{
	const uint64_t alone = KPF_ANON | KPF_COMPOUND_HEAD | KPF_THP |
	    KPF_ANON_EXCLUSIVE;
	uint64_t flags;

	if (frames_once(w->flags, e & PME_FRAME, &flags) == -1)
		return -1;
	return (flags & alone) == alone || (all && !(flags & KPF_THP));
}

/*
 * Pass the first entry of each huge page from w->addr on to w->fn. Stop at a
 * page that is not huge, or that other processes may map. Return 0. Return -1
 * on an error, or if w->fn returns -1.
 */
static int
walk_huge(struct walk *w)
{
	struct entries e = { .vma = w->i, .v = w->v, .n = 1 };
	const struct vma *v = &w->l->v[w->i];
	uint64_t upto;
	int rc;

	if (w->flags == NULL || w->addr % w->huge != 0 ||
	    v->end - w->addr < w->huge)
		return 0;
	e.each = (size_t)(w->huge / w->page);
	upto = pagemap_huge(w->fd, w->addr, v->end);
	for (; upto - w->addr >= w->huge; w->addr += w->huge) {
		if (pagemap_read(w->fd, w->addr, upto, w->v, 1) == -1)
			return -1;
		if (!(w->v[0] & PME_EXCLUSIVE) || (w->v[0] & PME_FRAME) == 0)
			return 0;
		if ((rc = huge_alone(w, w->v[0], false)) != 1)
			return rc;
		e.addr = w->addr;
		if (w->fn(w->arg, &e) == -1)
			return -1;
		w->hole = true;
		w->want = LEAST;
	}
	return 0;
}

/*
 * Among the n entries that were read, clear PME_EXCLUSIVE in those of huge
 * pages that other processes also map. The kernel wrongly sets this bit for
 * such pages.
 */
static int
walk_doubt(struct walk *w, size_t n)
{
	const size_t each = (size_t)(w->huge / w->page);
	uint64_t *v, *end;
	size_t i;
	int rc;

	if (w->flags == NULL || w->addr % w->huge != 0)
		return 0;
	for (v = w->v, end = v + n; (size_t)(end - v) >= each; v += each) {
		if (!(v[0] & v[each - 1] & PME_EXCLUSIVE) ||
		    (v[0] & PME_FRAME) == 0 || (v[0] & PME_FRAME) % each != 0 ||
		    (v[each - 1] & PME_FRAME) != (v[0] & PME_FRAME) + each - 1)
			continue;
		if ((rc = huge_alone(w, v[0], true)) == -1)
			return -1;
		for (i = 0; rc == 0 && i < each; i++)
			v[i] &= ~PME_EXCLUSIVE;
	}
	return 0;
}

/*
 * Call fn, with arg, for the pagemap entries of the mappings l, in ascending
 * order, until fn returns -1. fd is the pagemap of the process. Entries of
 * absent pages may be left out. flags has kpageflags, or is NULL. With flags,
 * PME_EXCLUSIVE is set only where it is certain, and a huge page that has it is
 * passed as one entry. Return 0, or -1 with errstr set. It is an error if the
 * pagemap ends before the last mapping.
 */
int
pagemap_entries(int fd, const struct vmas *l, const struct frames *flags,
    entries_fn fn, void *arg)
{
	struct walk w = { .fd = fd, .l = l, .want = LEAST, .hole = true,
	    .flags = flags, .fn = fn, .arg = arg };
	ssize_t n;
	int rc;

	w.page = (uint64_t)sysconf(_SC_PAGESIZE);
	/* a page table fills a page */
	w.huge = w.page / sizeof *w.v * w.page;
	for (w.n = l->n; w.n > 0 && l->v[w.n - 1].start > INT64_MAX; w.n--)
		continue;		/* [vsyscall] has no entries */
	w.most = (size_t)(w.huge / w.page);
	if (w.most < MOST)
		w.most = MOST;
	if ((w.v = calloc(w.most, sizeof *w.v)) == NULL)
		return errstr_set("out of memory");
	while ((rc = walk_seek(&w)) == 1) {
		if ((rc = walk_huge(&w)) == -1)
			break;
		if (w.hole)
			continue;
		n = walk_read(&w);
		rc = n == -1 ? -1 : walk_doubt(&w, (size_t)n);
		if (rc == -1 || (rc = walk_give(&w, (size_t)n)) == -1)
			break;
	}
	free(w.v);
	return rc;
}
