/*
 * Transparent huge pages of processes that were cloned (clone.c).
 *
 * When a process writes to a huge page that its clone maps as well, the kernel
 * copies one small page and maps the others one by one (do_huge_pmd_wp_page of
 * mm/huge_memory.c). They stay split until khugepaged joins them, if ever. So
 * they are joined when the clone is gone: process_madvise(2) with
 * MADV_COLLAPSE, which needs Linux 6.1 and CAP_SYS_NICE. While one is copied,
 * less than a millisecond, the process cannot change its mappings.
 *
 * This does not make the process larger: a huge page is joined only if all of
 * its small pages are present and no other process maps any of them.
 */
#include "clock.h"
#include "cloning.h"
#include "linux/pages/pages.h"
#include "vec.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <fcntl.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25	/* from <linux/mman.h> */
#endif

struct joining {		/* state while joining the huge pages of a
				   process */
	int		 pidfd;	/* owned */
	int		 pagemap; /* owned */
	uint64_t	 huge;	/* size of a huge page in bytes */
	uint64_t	 until;	/* deadline in ms, as returned by now_ms() */
};

/*
 * Record that run r of process p is mapped as huge pages. Process p must have a
 * clone of its own, which maps the same huge pages. If memory runs out, r is
 * not recorded, and its pages are not joined later.
 */
void
huge_note(struct lproc *p, const struct pagerun *r)
{
	(void)VEC_ADD(p->huge, p->nhuge, *r);
}

/*
 * Join those huge pages of run r that were split. Return false if no more can
 * be joined.
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
		if (next >= addr + j->huge) /* the page at addr is still huge */
			continue;
		next = addr + j->huge;
		iov.iov_base = (void *)(uintptr_t)addr;
		if (pages_arealone(j->pagemap, addr, next) &&
		    syscall(SYS_process_madvise, j->pidfd, &iov, 1,
		    MADV_COLLAPSE, 0) == -1 &&
		    (errno == EPERM || errno == ESRCH || errno == ENOSYS))
			return false;
	}
	return true;
}

/*
 * Join those huge pages of process p that were split. Stop when now_ms()
 * reaches deadline.
 */
static void
lproc_join(const struct lproc *p, uint64_t deadline)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct joining j = { .until = deadline,
	    /* bytes mapped by one page table */
	    .huge = page / sizeof(uint64_t) * page };
	size_t i;

	j.pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	j.pagemap = proc_open(p->pid, 0, "pagemap", O_RDONLY);
	/* its process ID may have been reused */
	if (j.pidfd != -1 && j.pagemap != -1 && p->start != 0 &&
	    proc_began(p->pid) == p->start)
		for (i = 0; i < p->nhuge && run_join(&j, &p->huge[i]); i++)
			continue;
	fd_drop(j.pidfd);
	fd_drop(j.pagemap);
}

/*
 * In the processes of set l, join the huge pages that were split while the
 * processes had clones. Stop after the time that option -t of snap(1) allows.
 */
void
huge_join(const struct live *l)
{
	const uint64_t until = now_ms() + l->opts.timeout * 1000;
	const struct lproc *p;

	TAILQ_FOREACH(p, &l->procs, entry)
		if (p->nhuge > 0)
			lproc_join(p, until);
}
