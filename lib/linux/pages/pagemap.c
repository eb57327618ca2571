/*
 * Find out which pages of a process exist, without touching them: with ioctl
 * PAGEMAP_SCAN of /proc/PID/pagemap if the kernel has it (6.7), else from its
 * entries. Linux, Documentation/admin-guide/mm/pagemap.rst.
 */
#include "calls.h"
#include "linux/proc/proc.h"
#include "pages.h"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* as in linux/fs.h of Linux 6.7 and later */
struct scan_region {
	uint64_t	 start;
	uint64_t	 end;
	uint64_t	 categories;
};

struct scan_arg {
	uint64_t	 size;
	uint64_t	 flags;
	uint64_t	 start;
	uint64_t	 end;
	uint64_t	 walk_end;
	uint64_t	 vec;
	uint64_t	 vec_len;
	uint64_t	 max_pages;
	uint64_t	 category_inverted;
	uint64_t	 category_mask;
	uint64_t	 category_anyof_mask;
	uint64_t	 return_mask;
};

#define SCAN_IOCTL	_IOWR('f', 16, struct scan_arg)

enum {
	SCAN_FILE = 0x04,
	SCAN_PRESENT = 0x08,
	SCAN_SWAPPED = 0x10,
	SCAN_ZERO = 0x20,
	SCAN_HUGE = 0x40,
	SCAN_GUARD = 0x100,	/* since Linux 6.15 */
	SCAN_ANY = SCAN_PRESENT | SCAN_SWAPPED | SCAN_GUARD,
	/*
	 * maximum regions of a call: with more than 512 the kernel returns a
	 * stale walk_end, so that one cannot continue from there.
	 */
	REGIONS = 512
};

/*
 * Set errstr to the reason why a call for a pagemap failed, and return -1. The
 * result of the call is n: -1 with errno set, or 0 at the end of the pagemap.
 * ESRCH, or the end, means that no process has the memory any more
 * (pagemap_read and do_pagemap_scan of fs/proc/task_mmu.c).
 */
static int
pagemap_fail(ssize_t n)
{
	return n == 0 || errno == ESRCH || errno == ENOENT ?
	    errstr_set("it ended before it was read") : errstr_sys("pagemap");
}

/*
 * Read pagemap entries into v: those of up to max pages from address addr to
 * end (exclusive). fd is the pagemap. The bits of an entry are PME_*. Return
 * the number of entries, possibly fewer than requested, or -1 with errstr set
 * if there are none.
 */
ssize_t
pagemap_read(int fd, uint64_t addr, uint64_t end, uint64_t *v, size_t max)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	ssize_t n;

	if (max > (end - addr) / page)
		max = (size_t)((end - addr) / page);
	n = pread(fd, v, max * sizeof *v, (off_t)(addr / page * sizeof *v));
	return n <= 0 ? pagemap_fail(n) : n / (ssize_t)sizeof *v;
}

/*
 * Open the pagemap of sp, a live process. Return a descriptor, or -1 with
 * errstr set.
 */
int
space_pagemap(const struct space *sp)
{
	int fd;

	fd = proc_open((pid_t)sp->tid, 0, "pagemap", O_RDONLY);
	return fd == -1 ? pagemap_fail(-1) : fd;
}

/*
 * Return the argument for a PAGEMAP_SCAN of start..end (exclusive). The scan
 * finds the pages that have at least one of the categories in the bit mask any.
 * It writes up to n regions to v. For each region, it reports only the
 * categories in the bit mask wanted.
 */
static struct scan_arg
scan_make(uint64_t start, uint64_t end, uint64_t any, uint64_t wanted,
    struct scan_region *v, size_t n)
{
	return (struct scan_arg){ .size = sizeof(struct scan_arg),
	    .start = start, .end = end, .vec = (uint64_t)(uintptr_t)v,
	    .vec_len = n, .category_anyof_mask = any, .return_mask = wanted };
}

static unsigned int
what_of_categories(uint64_t c)
{
	if (c & SCAN_GUARD)
		return PM_GUARD;
	return (c & SCAN_PRESENT ? PM_PRESENT : 0) |
	    (c & SCAN_SWAPPED ? PM_SWAPPED : 0) |
	    (c & SCAN_FILE ? PM_FILE : 0) | (c & SCAN_ZERO ? PM_ZERO : 0) |
	    (c & SCAN_HUGE ? PM_HUGE : 0);
}

/*
 * Return the categories of pages that PAGEMAP_SCAN finds on this kernel,
 * SCAN_ANY or fewer, or 0 if the kernel does not have it. The first call tries
 * it on the pagemap fd.
 */
static uint64_t
scan_categories(int fd)
{
	static const uint64_t some[] = { SCAN_ANY, SCAN_ANY & ~SCAN_GUARD, 0 };
	static _Atomic uint64_t known = UINT64_MAX;
	struct scan_region v;
	struct scan_arg a;
	size_t i;

	for (i = 0; known == UINT64_MAX; i++) {
		a = scan_make(0, (uint64_t)sysconf(_SC_PAGESIZE), some[i],
		    some[i], &v, 1);
		if (some[i] == 0 || call_ioctl(fd, SCAN_IOCTL, &a) != -1)
			known = some[i];
		else if (errno != ENOTTY && errno != EINVAL)
			return some[i];
	}
	return known;
}

/*
 * Return true if the kernel supports PAGEMAP_SCAN on the pagemap fd, so that
 * pagemap_walk() reports zero pages and huge pages.
 */
bool
pagemap_scans(int fd)
{
	return scan_categories(fd) != 0;
}

/*
 * Return true if PAGEMAP_SCAN on the pagemap fd reports guards (Linux 6.15 and
 * later).
 */
bool
pagemap_guards(int fd)
{
	return (scan_categories(fd) & SCAN_GUARD) != 0;
}

/*
 * Do the work of pagemap_walk() with PAGEMAP_SCAN.
 */
static int
walk_scan(int fd, uint64_t start, uint64_t end, unsigned int more,
    pagerun_fn fn, void *arg)
{
	const uint64_t any = scan_categories(fd);
	struct scan_region v[REGIONS];
	struct scan_arg a = scan_make(start, end, any, any | SCAN_ZERO |
	    (more & PM_FILE ? SCAN_FILE : 0) |
	    (more & PM_HUGE ? SCAN_HUGE : 0), v, REGIONS);
	struct pagerun r;
	long i, n;

	do {
		a.start = start;
		if ((n = call_ioctl(fd, SCAN_IOCTL, &a)) == -1)
			return pagemap_fail(-1);
		start = a.walk_end;
		for (i = 0; i < n; i++) {
			r.start = v[i].start;
			r.end = v[i].end;
			r.what = what_of_categories(v[i].categories);
			if (fn(arg, &r) == -1)
				return -1;
			if (start < r.end)
				start = r.end;
		}
	} while (n == REGIONS && start < end);
	return 0;
}

static uint64_t zero_frame;	/* page frame of the zero page; 0: unknown */

/*
 * Set zero_frame to the page frame of the zero page, which backs memory that
 * was only read. To find it, map and read a page.
 */
static void
zero_find(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t e;
	char *p;
	int fd;

	p = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	(void)*(volatile char *)p;
	if ((fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) != -1) {
		if (pagemap_read(fd, (uintptr_t)p, (uintptr_t)p + page, &e,
		    1) == 1 && e & PME_PRESENT && !(e & PME_EXCLUSIVE))
			zero_frame = e & PME_FRAME;
		close(fd);
	}
	munmap(p, page);
}

static unsigned int
what_of_entry(uint64_t e)
{
	if (!(e & PME_PRESENT) && e & PME_GUARD)
		return PM_GUARD;
	return (e & PME_PRESENT ? PM_PRESENT : 0) |
	    (e & PME_SWAPPED ? PM_SWAPPED : 0) |
	    (e & PME_FILE ? PM_FILE : 0) |
	    (e & PME_PRESENT && zero_frame != 0 &&
	    (e & PME_FRAME) == zero_frame ? PM_ZERO : 0);
}

/*
 * Return PM_HUGE if the n entries at v look like those of a huge page, else 0.
 * This is not certain.
 */
static unsigned int
huge_of_entries(const uint64_t *v, size_t n)
{
	const uint64_t first = v[0] & PME_FRAME, last = v[n - 1] & PME_FRAME;

	return v[0] & v[n - 1] & PME_PRESENT && first != 0 &&
	    first % n == 0 && last == first + n - 1 ? PM_HUGE : 0;
}

/*
 * Return where a read of entries that begins at addr should end. This is end,
 * unless there would be more than max entries. In that case the read ends
 * earlier, but not within a huge page, unless addr is in that huge page.
 */
static uint64_t
entries_end(uint64_t addr, uint64_t end, uint64_t page, size_t max)
{
	const uint64_t huge = page / sizeof addr * page;
	uint64_t to;

	if ((end - addr) / page <= max)
		return end;
	to = addr + max * page;
	return to - to % huge > addr ? to - to % huge : to;
}

/*
 * Do the work of pagemap_walk() with pagemap entries. These identify zero pages
 * and huge pages only if we may see page frames (CAP_SYS_ADMIN).
 */
static int
walk_entries(int fd, uint64_t start, uint64_t end, unsigned int more,
    pagerun_fn fn, void *arg)
{
	enum { MOST = 4096 };
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t v[MOST], addr, page;
	struct pagerun r = { 0 };
	unsigned int huge, what;
	ssize_t each, i, n;

	pthread_once(&once, zero_find);
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	each = (ssize_t)(page / sizeof *v);	/* number of entries in a page
						   table */
	for (addr = start; addr < end;) {
		n = pagemap_read(fd, addr, entries_end(addr, end, page, MOST),
		    v, MOST);
		if (n == -1)
			return -1;
		for (i = 0, huge = 0; i < n; i++, addr += page) {
			if (addr / page % (uint64_t)each == 0)
				huge = n - i < each ? 0 :
				    huge_of_entries(v + i, (size_t)each);
			what = what_of_entry(v[i]) | (huge & more);
			if (what == r.what && r.end == addr) {
				r.end += page;
				continue;
			}
			if (r.what != 0 && fn(arg, &r) == -1)
				return -1;
			r.start = addr;
			r.end = addr + page;
			r.what = what;
		}
	}
	return r.what != 0 ? fn(arg, &r) : 0;
}

/*
 * Call fn, with arg, for each run of pages in start..end (exclusive) that are
 * present, in swap, or guards. The runs are in ascending order. Stop if fn
 * returns -1. fd is the pagemap of the process. The range may contain several
 * mappings and gaps; a run may extend from one mapping into the next. PM_FILE
 * and PM_HUGE are reported only if their bits are set in more. PM_FILE is slow,
 * because the kernel must examine each page. Return 0, or -1 with errstr set.
 */
int
pagemap_walk(int fd, uint64_t start, uint64_t end, unsigned int more,
    pagerun_fn fn, void *arg)
{
	return (pagemap_scans(fd) ? walk_scan : walk_entries)(fd, start, end,
	    more, fn, arg);
}

/*
 * Advance *addr to the first page before end that is present, in swap, or a
 * guard. fd is the pagemap. Return 1, 0 if there is none, or -1 with errstr
 * set. If the kernel cannot search for such pages, return 1 with *addr
 * unchanged.
 */
int
pagemap_first(int fd, uint64_t *addr, uint64_t end)
{
	const uint64_t any = scan_categories(fd);
	struct scan_region v;
	struct scan_arg a = scan_make(*addr, end, any, any, &v, 1);
	long n;

	if (any == 0)
		return 1;
	a.max_pages = 1;
	if ((n = call_ioctl(fd, SCAN_IOCTL, &a)) == -1)
		return pagemap_fail(-1);
	if (n > 0)
		*addr = v.start;
	return n > 0;
}

/*
 * Return the end of the huge pages that begin at addr, but at most end. fd is
 * the pagemap. Return addr if the page there is not huge, or if the kernel does
 * not report huge pages.
 */
uint64_t
pagemap_huge(int fd, uint64_t addr, uint64_t end)
{
	struct scan_region v;
	struct scan_arg a = scan_make(addr, addr +
	    (uint64_t)sysconf(_SC_PAGESIZE), SCAN_PRESENT, SCAN_HUGE, &v, 1);

	if (call_ioctl(fd, SCAN_IOCTL, &a) != 1 || !(v.categories & SCAN_HUGE))
		return addr;
	a.end = end;		/* the scan stops where the category changes */
	return call_ioctl(fd, SCAN_IOCTL, &a) == 1 && v.start == addr &&
	    v.categories & SCAN_HUGE ? v.end : addr;
}

static int
run_found(void *arg, const struct pagerun *r)
{
	bool *found = arg;

	(void)r;
	*found = true;
	return -1;
}

/*
 * Find out whether a page in start..end (exclusive) is present, in swap, or a
 * guard. fd is the pagemap. Reading stops at the first such page. Return 1 if
 * there is one, 0 if there is none, or -1 with errstr set.
 */
int
pagemap_any(int fd, uint64_t start, uint64_t end)
{
	bool found = false;
	int rc;

	if (pagemap_scans(fd))
		return pagemap_first(fd, &start, end);
	rc = walk_entries(fd, start, end, 0, run_found, &found);
	return found ? 1 : rc;
}

/*
 * Set the n elements of frame to the page frames of n pages of 4 KiB, from
 * address addr on. fd is the pagemap. Frames are numbered in units of 4 KiB. An
 * element is 0 if the page is absent, if no other process maps it, or if the
 * kernel hides its frame (without CAP_SYS_ADMIN). If anon is true, it is also 0
 * for a page of a file or of shared memory. Return 0, or -1 with errstr set.
 */
int
pagemap_frames(int fd, uint64_t addr, size_t n, bool anon, uint64_t *frame)
{
	enum { MOST = 512 };	/* number of entries that the kernel copies at
				   once */
	const uint64_t not = PME_EXCLUSIVE | (anon ? PME_FILE : 0);
	uint64_t v[MOST], page, per, i, k, want;
	ssize_t got;

	page = (uint64_t)sysconf(_SC_PAGESIZE);
	per = page / (IDENTITY_KB * KB);
	for (i = 0; i < n; i += k) {
		want = (n - i + per - 1) / per;
		got = pagemap_read(fd, addr, addr + want * page, v, MOST);
		if (got == -1)
			return -1;
		want = (uint64_t)got * per;
		for (k = 0; k < want && i + k < n; k++) {
			frame[i + k] = 0;
			if (v[k / per] & PME_PRESENT &&
			    !(v[k / per] & not) &&
			    (v[k / per] & PME_FRAME) != 0)
				frame[i + k] = (v[k / per] & PME_FRAME) *
				    per + k % per;
		}
		addr += k * IDENTITY_KB * KB;
	}
	return 0;
}
