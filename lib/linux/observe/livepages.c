/*
 * List the pages of a live process from /proc/PID/pagemap (Linux,
 * Documentation/admin-guide/mm/pagemap.rst). Pages shared with other processes
 * are identified by their page frames, which the kernel shows to root only.
 */

#include "linux/pages/pages.h"
#include <unistd.h>

enum { STORE_FRAMES = 1 };

struct livepages {
	struct pagelist	*list;	/* borrowed */
	int		 fd;	/* pagemap of the process */
	uint64_t	 page;	/* page size in bytes */
};

static int
pages_entry(const struct livepages *lp, uint64_t addr, uint64_t e, bool huge)
{
	struct pagespan p = { addr, addr + lp->page, PAGES_RAW, 0, 0, 0 };

	if (!(e & PME_PRESENT))
		return 0;
	if (!(e & PME_EXCLUSIVE))
		p.kind = PAGES_SHARED;
	if ((huge || p.kind == PAGES_SHARED) && (e & PME_FRAME) != 0) {
		p.store = STORE_FRAMES;
		p.at = (e & PME_FRAME) * (lp->page / KB);
	}
	return pagelist_add(lp->list, &p);
}

/*
 * Append the present pages of run r to the list of lp. For huge pages, record
 * page frames even if the pages seem not to be shared, because PME_EXCLUSIVE is
 * not reliable for them (see entries.c).
 */
static int
pages_present(const struct livepages *lp, const struct pagerun *r)
{
	enum { MOST = 512 };
	uint64_t v[MOST], addr;
	ssize_t i, n;

	for (addr = r->start; addr < r->end;) {
		if ((n = pagemap_read(lp->fd, addr, r->end, v, MOST)) == -1)
			return -1;
		for (i = 0; i < n; i++, addr += lp->page)
			if (pages_entry(lp, addr, v[i],
			    r->what & PM_HUGE) == -1)
				return -1;
	}
	return 0;
}

static int
pages_run(void *arg, const struct pagerun *r)
{
	const struct livepages *lp = arg;
	struct pagespan p = { r->start, r->end, PAGES_ZERO, 0, 0, 0 };

	if (r->what & PM_GUARD)
		p.kind = PAGES_GUARD;
	else if (r->what & PM_SWAPPED)
		p.kind = PAGES_SWAPPED;
	else if (!(r->what & PM_ZERO))
		return pages_present(lp, r);
	return pagelist_add(lp->list, &p);
}

/*
 * List in l the pages of sp, a live process. The caller frees l, even after a
 * failure. Return 0, or -1 with errstr set.
 */
int
pages_live(struct pagelist *l, const struct space *sp)
{
	struct livepages lp = { .list = l };
	const struct vma *v;
	size_t i;
	int rc;

	lp.page = (uint64_t)sysconf(_SC_PAGESIZE);
	if ((lp.fd = space_pagemap(sp)) == -1)
		return errstr_wrap("%ld", (long)sp->pid);
	for (rc = 0, i = 0; rc == 0 && i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		if (v->start < INT64_MAX)	/* pagemap does not cover
						   [vsyscall] */
			rc = pagemap_walk(lp.fd, v->start, v->end, PM_HUGE,
			    pages_run, &lp);
	}
	close(lp.fd);
	return rc == -1 ? errstr_wrap("%ld", (long)sp->pid) : 0;
}
