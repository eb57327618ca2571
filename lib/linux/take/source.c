/*
 * Sources that read the memory of a stopped process; locations are addresses.
 * There are three ways:
 *
 *	/proc/PID/mem	has no side effects, and reads pages that the process
 *			itself may not read
 *	the proxy	for mappings of files on a file server, which may not
 *			answer
 *	process_vm_readv(2)
 *			for pages that no other process maps: many runs with
 *			one call, in little more than half the time
 *
 * The last one pins pages. Before the kernel pins an anonymous page that is
 * shared, as after fork(2), it gives the process a copy of its own
 * (gup_must_unshare in mm/internal.h, since Linux 5.19): to capture eight
 * workers that share a gigabyte would cost seven more. It makes no copy of a
 * page of a file, or of one that pagemap shows to be mapped once
 * (PM_MMAP_EXCLUSIVE). Two more cases are excluded: huge pages, as they may be
 * split; and kernels before Linux 6.15, which copy a part of a huge page that
 * was split but keep the whole page (wp_can_reuse_anon_folio in mm/memory.c).
 */
#include "bisect.h"
#include "linux/clone/clone.h"
#include "linux/pages/pages.h"
#include "linux/proxy/proxy.h"
#include "taking.h"

#include <sys/uio.h>

#include <fcntl.h>
#include <unistd.h>

enum {
	TOGETHER = 256,		/* maximum number of runs read with one call */
	LEAST_KB = 64 /* minimum number of kilobytes for process_vm_readv(2) */
};

struct livesource {
	struct source	 src;
	struct lproc	*proc;		/* borrowed */
	bool		 again;		/* value of liveopts.again */
	bool		 series;	/* a later moment is compared with this
					   one */
	bool		 far;		/* memory is read through the proxy,
					   because pages may never arrive */
	pid_t		 tid;
	int		 mem;		/* owned; -1: not open */
	int		 pagemap;	/* owned; -1: not open */
};

static bool
entry_isfile(uint64_t e)
{
	return e & PME_FILE || !(e & (PME_PRESENT | PME_SWAPPED));
}

/*
 * Read at most len bytes at address addr into buf, from a mapping whose file is
 * on a file server. Stop where pages of the file end and pages of the process
 * begin, or vice versa. Return the number of bytes, or -1 with errno set.
 */
static ssize_t
far_pread(const struct livesource *l, void *buf, size_t len, uint64_t addr)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry[MAX_PROXY / 4096], end;
	size_t i;
	ssize_t n;

	len = proxy_fits(len, addr, page);
	i = (size_t)((addr + len - 1) / page - addr / page + 1);
	n = pread(l->pagemap, entry, i * sizeof *entry,
	    (off_t)(addr / page * sizeof *entry));
	if (n < (ssize_t)sizeof *entry)
		return n;
	for (i = 1; i < (size_t)n / sizeof *entry &&
	    entry_isfile(entry[i]) == entry_isfile(entry[0]); i++)
		continue;
	end = (addr / page + i) * page;
	return proxy_memory(l->mem, l->tid, entry_isfile(entry[0]), buf,
	    end - addr < len ? (size_t)(end - addr) : len, addr);
}

static int
live_read(struct source *src, const struct run *r, uint8_t *buf)
{
	struct livesource *l = (struct livesource *)src;
	uint64_t addr;
	size_t len;
	ssize_t n;

	addr = r->loc;
	for (len = (size_t)r->n * KB; len > 0; len -= (size_t)n) {
		n = l->far ? far_pread(l, buf, len, addr) :
		    pread(l->mem, buf, len, (off_t)addr);
		if (n == -1 && errno == EINTR) {
			n = 0;
			continue;
		}
		if (n <= 0) {
			errstr_sys("address %jx", (uintmax_t)addr);
			if (clone_lost(l->proc))
				return l->again ? -1 : SOURCE_LOST;
			return n == -1 ? SOURCE_LOST :
			    errstr_set("the process is gone");
		}
		buf += n;
		addr += (uint64_t)n;
	}
	return SOURCE_OK;
}

/*
 * Read the n runs r into buf with one system call. len is their total length.
 * Return false if that fails, as it does for memory that the process itself may
 * not read.
 */
static bool
read_together(const struct livesource *l, const struct run *r, size_t n,
    uint8_t *buf, size_t len)
{
	struct iovec from[TOGETHER], to = { buf, len };
	size_t i;

	for (i = 0; i < n; i++) {
		from[i].iov_base = (void *)(uintptr_t)r[i].loc;
		from[i].iov_len = (size_t)r[i].n * KB;
	}
	return process_vm_readv(l->tid, &to, 1, from, n, 0) == (ssize_t)len;
}

static int
alone_many(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	const struct livesource *l = (const struct livesource *)src;
	size_t i, len;
	int rc = SOURCE_OK;

	for (; n > 0 && rc == SOURCE_OK; n -= i, r += i, buf += len) {
		for (i = len = 0; i < n && i < TOGETHER; i++)
			len += (size_t)r[i].n * KB;
		if (read_together(l, r, i, buf, len))
			continue;
		for (i = len = 0; i < n && i < TOGETHER && rc == SOURCE_OK;
		    i++) {
			rc = live_read(src, &r[i], buf + len);
			len += (size_t)r[i].n * KB;
		}
	}
	return rc;
}

static int
live_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	struct livesource *l = (struct livesource *)src;

	/* a page of a file can change without getting another frame */
	return pagemap_frames(l->pagemap, loc, n, l->series, id);
}

static void
live_srcfree(struct source *src)
{
	struct livesource *l = (struct livesource *)src;

	fd_drop(l->mem);
	fd_drop(l->pagemap);
}

static const struct source_ops live_ops = {
	.read = live_read, .identify = live_identify, .free = live_srcfree
};

/*
 * For a process that is alone in the set: it shares frames with no other
 * process, and looking up frame numbers would cost more than comparing pages
 * that it maps twice.
 */
static const struct source_ops single_ops = {
	.read = live_read, .free = live_srcfree
};

/*
 * without identify, as no other process maps these pages, and without free, as
 * it owns nothing
 */
static const struct source_ops alone_ops = { .many = alone_many };

/*
 * Return true if p is the only process with memory in the snapshot of set l. In
 * a series, return true if p has no clone: its frames then do not show whether
 * its pages have changed since the last moment.
 */
static bool
lproc_isalone(const struct live *l, const struct lproc *p)
{
	if (l->opts.moment != 0)
		return p->clone <= 0;
	return l->opts.early == 0 && l->opts.before == NULL &&
	    LSEEK(&l->procs, x != p && lproc_istaken(x)) == NULL;
}

/*
 * Make a source of snapshot s that reads the memory of process p or its clone.
 * If p is read from the clone of another process, return the source of that
 * process. far must be set for mappings of files on a file server, which may
 * not answer. The process or clone that is read must stay stopped until the
 * source has been read. Return NULL with errstr set on failure.
 */
struct source *
source_live(struct live *live, struct snap *s, struct lproc *p, bool far)
{
	const pid_t tid = p->mmtid;
	struct livesource *l;
	char name[32];

	if (!far && p->head != NULL && p->head->memory != NULL)
		return p->head->memory;
	snprintf(name, sizeof name, "memory of %d", p->pid);
	l = source_new(s, sizeof *l, lproc_isalone(live, p) ? &single_ops :
	    &live_ops, name, KB);
	if (l == NULL)
		return NULL;
	l->proc = p;
	l->again = live->opts.again;
	l->series = live->opts.moment != 0;
	l->far = far;
	l->tid = tid;
	l->mem = proc_open(tid, 0, "mem", O_RDONLY);
	l->pagemap = proc_open(tid, 0, "pagemap", O_RDONLY);
	if (l->mem == -1 || l->pagemap == -1) {
		errstr_sys("/proc/%d/%s", tid, l->mem == -1 ? "mem" :
		    "pagemap");
		return NULL;
	}
	if (!far)
		p->memory = &l->src;
	return &l->src;
}

/*
 * Return the pagemap descriptor of live source src, which owns it.
 */
int
source_live_pagemap(const struct source *src)
{
	return ((const struct livesource *)src)->pagemap;
}

/*
 * Make a second source of the memory of process p of set live, for pages that
 * no other process maps. all is the source of the whole memory of p. Set *alone
 * to the new source. Set it to NULL if process_vm_readv(2) should not be used,
 * or if the pages are compared by their frames with the set before. Return 0,
 * or -1 with errstr set.
 */
int
alone_source(const struct live *live, struct snap *s, const struct lproc *p,
    struct source *all, struct source **alone)
{
	struct livesource *l;
	struct source src;

	*alone = NULL;
	/* with all threads stopped it cannot fork */
	if (live->opts.before != NULL || p->clone != 0 ||
	    lproc_stands(p) == -1 || !pagemap_guards(source_live_pagemap(all)))
		return 0;
	l = source_new(s, sizeof *l, &alone_ops, all->name, KB);
	if (l == NULL)
		return -1;
	src = l->src;
	*l = *(const struct livesource *)all;
	l->src = src;
	*alone = &l->src;
	return 0;
}

/*
 * Add the pages from start to end (exclusive) to b. They are read from the
 * source called alone if single is true and there are at least LEAST_KB
 * kilobytes of them, otherwise from the source called all.
 */
static int
part_add(struct builder *b, uint64_t start, uint64_t end, struct source *all,
    struct source *alone, bool single)
{
	const uint64_t n = (end - start) / KB;

	return builder_run(b, start, n, single && n >= LEAST_KB ? alone : all,
	    start);
}

/*
 * Add the present pages from start to end (exclusive) of mapping v to b. Long
 * runs of pages that no other process maps are read from the source called
 * alone, the others from the source called all. Return 0, or -1 with errstr
 * set.
 */
int
alone_run(struct builder *b, const struct vma *v, uint64_t start, uint64_t end,
    struct source *all, struct source *alone)
{
	enum { MOST = 512 };
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t e[MOST], at;
	ssize_t i, n;
	bool is;

	/* smaps, read in the stop, has shown this for all of its pages */
	if (v->flags & VMA_ALONE)
		return part_add(b, start, end, all, alone, true);
	is = false;
	for (at = start; at < end;) {
		n = pagemap_read(source_live_pagemap(all), at, end, e, MOST);
		if (n == -1)
			return -1;
		for (i = 0; i < n; i++, at += page) {
			if ((e[i] & PME_PRESENT &&
			    e[i] & (PME_EXCLUSIVE | PME_FILE)) == is)
				continue;
			if (part_add(b, start, at, all, alone, is) == -1)
				return -1;
			start = at;
			is = !is;
		}
	}
	return part_add(b, start, end, all, alone, is);
}
