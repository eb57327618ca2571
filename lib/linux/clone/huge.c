/*
 * Transparent huge pages of processes that were cloned (clone.c).
 *
 * Where a process writes to one that its clone has as well, the kernel copies
 * the small page alone and maps the others one by one (do_huge_pmd_wp_page of
 * mm/huge_memory.c).  They stay so until khugepaged comes to them, if ever.  So
 * they are joined when the clone is gone: process_madvise(2) with
 * MADV_COLLAPSE, which takes Linux 6.1 and CAP_SYS_NICE.  For each of them the
 * process cannot map anything while it is copied, for less than a millisecond.
 *
 * The memory of the process does not grow by that: only what is there as a
 * whole, and what no other process has, is joined.
 */
#include "clock.h"
#include "cloning.h"
#include "linux/pages/pages.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25	/* of <linux/mman.h> */
#endif

struct joining {		/* the huge pages of a process */
	int		 pidfd;	/* owned */
	int		 pagemap; /* owned */
	uint64_t	 page;	/* bytes, as the next */
	uint64_t	 huge;
	uint64_t	 until;	/* ms of now_ms */
};

/*
 * Note that r, pages of process p, is mapped as huge pages, in p as in its
 * clone, which was made just now.  Runs ascend.  What cannot be noted for want
 * of memory is not joined.
 */
void
huge_note(struct lproc *p, const struct pagerun *r)
{
	struct pagerun *last = p->nhuge > 0 ? &p->huge[p->nhuge - 1] : NULL;

	if (last != NULL && last->end == r->start)
		last->end = r->end;
	else if (VEC_ROOM(p->huge, p->nhuge) == 0)
		p->huge[p->nhuge++] = *r;
}

/*
 * Return true if all small pages of the huge page at addr are there, and no
 * other process has one.
 */
static bool
huge_isown(const struct joining *j, uint64_t addr)
{
	enum { MOST = 512 };
	const uint64_t want = PME_PRESENT | PME_EXCLUSIVE, end = addr + j->huge;
	uint64_t e[MOST];
	ssize_t i, n;

	for (; addr < end; addr += (uint64_t)n * j->page) {
		if ((n = pagemap_read(j->pagemap, addr, end, e, MOST)) <= 0)
			return false;
		for (i = 0; i < n; i++)
			if ((e[i] & (want | PME_FILE)) != want)
				return false;
	}
	return true;
}

/*
 * Join what was split of run r.  Return false if no more can be joined.
 */
static bool
run_join(const struct joining *j, const struct pagerun *r)
{
	struct iovec iov = { .iov_len = (size_t)j->huge };
	uint64_t addr, next;

	addr = (r->start + j->huge - 1) / j->huge * j->huge;
	for (; addr + j->huge <= r->end; addr = next) {
		if (now_ms() > j->until)
			return false;
		next = pagemap_huge(j->pagemap, addr, r->end);
		if (next >= addr + j->huge)	/* they are not split */
			continue;
		next = addr + j->huge;
		iov.iov_base = (void *)(uintptr_t)addr;
		if (huge_isown(j, addr) && syscall(SYS_process_madvise,
		    j->pidfd, &iov, 1, MADV_COLLAPSE, 0) == -1 &&
		    (errno == EPERM || errno == ESRCH || errno == ENOSYS))
			return false;
	}
	return true;
}

/*
 * Join what was split of the huge pages of process p, until a time in ms of
 * now_ms.
 */
static void
lproc_join(const struct lproc *p, uint64_t until)
{
	struct joining j = { .until = until };
	struct procstat st;
	size_t i;

	j.page = (uint64_t)sysconf(_SC_PAGESIZE);
	j.huge = j.page / sizeof(uint64_t) * j.page; /* all of a table */
	j.pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	j.pagemap = proc_open(p->pid, 0, "pagemap", O_RDONLY);
	/* its number may be another's by now */
	if (j.pidfd != -1 && j.pagemap != -1 &&
	    proc_readstat(p->pid, 0, &st) >= STAT_START &&
	    st.v[STAT_START] == p->start)
		for (i = 0; i < p->nhuge && run_join(&j, &p->huge[i]); i++)
			continue;
	fd_drop(j.pidfd);
	fd_drop(j.pagemap);
}

/*
 * Join what was split of the huge pages of all processes of set l, whose clones
 * are gone: as much as can be within the time that snap(1) has with -t.
 */
void
huge_join(const struct live *l)
{
	const uint64_t until = now_ms() + l->opts.patience * 1000;
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (p->nhuge > 0)
			lproc_join(p, until);
}
