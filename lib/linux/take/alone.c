/*
 * Pages that no other process maps, of a process that is stopped: they are read
 * with process_vm_readv(2), many runs with one call, which takes little more
 * than half the time of /proc/PID/mem.
 *
 * That pins pages, and the kernel gives a process a copy of its own of a page
 * of memory that it shares, as after fork(2), before it lets anyone pin it
 * (gup_must_unshare in mm/internal.h, since Linux 5.19).  To take eight workers
 * so that share a gigabyte would cost them seven more.  A page of a file, and
 * one that pagemap tells to be mapped once (PM_MMAP_EXCLUSIVE), it does not
 * copy.  What is left out all the same: what one entry maps with others, for
 * that may be split; and kernels before Linux 6.15, which copy a part of a
 * huge page that has been split, and keep the whole (wp_can_reuse_anon_folio
 * in mm/memory.c).
 */
#include "linux/pages/pages.h"
#include "taking.h"

#include <sys/uio.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TOGETHER = 256,		/* runs that are read with one call */
	LEAST_KB = 64		/* in a run that is told to be alone */
};

struct alonesource {
	struct source	 src;
	struct source	*all;	/* borrowed; of all memory of the process */
	pid_t		 tid;
};

/*
 * Read n runs together into buf, whose length len is that of all.  Return
 * false if that cannot be done so: what may not be read by the process itself
 * cannot.
 */
static bool
read_together(const struct alonesource *a, const struct run *r, size_t n,
    uint8_t *buf, size_t len)
{
	struct iovec from[TOGETHER], to = { buf, len };
	size_t i;

	for (i = 0; i < n; i++) {
		from[i].iov_base = (void *)(uintptr_t)r[i].loc;
		from[i].iov_len = (size_t)r[i].n * KB;
	}
	return process_vm_readv(a->tid, &to, 1, from, n, 0) == (ssize_t)len;
}

static int
alone_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	const struct alonesource *a = (const struct alonesource *)src;
	size_t i, len;
	int rc;

	for (; n > 0; n -= i, r += i, buf += len) {
		for (i = len = 0; i < n && i < TOGETHER; i++)
			len += (size_t)r[i].n * KB;
		if (read_together(a, r, i, buf, len))
			continue;
		/* who reads of this source names it in what goes wrong */
		rc = a->all->ops->read(a->all, r, i, buf);
		if (rc != SOURCE_OK)
			return rc;
	}
	return SOURCE_OK;
}

/* no identities: no other process has these pages */
static const struct source_ops alone_ops = { .read = alone_read };

/*
 * Make a source of snapshot s of pages that process p has alone, beside the
 * source all of its whole memory.  Return 0; or -1 with errstr.  *alone is NULL
 * where none are to be read so.
 */
int
alone_source(struct snap *s, const struct lproc *p, struct source *all,
    struct source **alone)
{
	struct alonesource *a;

	*alone = NULL;
	/* while all its threads are stopped it does not fork */
	if (p->clone != 0 || lproc_stands(p) == -1 ||
	    !pagemap_guards(source_live_pagemap(all)))
		return 0;
	a = source_new(s, sizeof *a, &alone_ops, all->name, KB);
	if (a == NULL)
		return -1;
	a->all = all;
	a->tid = p->mmtid;
	*alone = &a->src;
	return 0;
}

static bool
entry_isalone(uint64_t e)
{
	return e & PME_PRESENT && e & (PME_EXCLUSIVE | PME_FILE);
}

/*
 * Add start..end (exclusive) to what is built: pages of alone, if is and if
 * they are worth an extent of their own; else of all.
 */
static int
part_add(struct builder *b, uint64_t start, uint64_t end, struct source *all,
    struct source *alone, bool is)
{
	const uint64_t n = (end - start) / KB;

	return builder_run(b, start, n, is && n >= LEAST_KB ? alone : all,
	    start);
}

/*
 * Add start..end (exclusive) of mapping v, which are present, to what is built:
 * pages that the process has alone, in runs that are long enough, as pages of
 * alone; the others as pages of all.  Return 0, or -1 with errstr.
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

	/* of all of its pages smaps has told that, which looks at each, too */
	if (v->flags & VMA_ALONE)
		return part_add(b, start, end, all, alone, true);
	is = false;
	for (at = start; at < end;) {
		n = pagemap_read(source_live_pagemap(all), at, end, e, MOST);
		if (n == -1)
			return -1;
		for (i = 0; i < n; i++, at += page) {
			if (entry_isalone(e[i]) == is)
				continue;
			if (part_add(b, start, at, all, alone, is) == -1)
				return -1;
			start = at;
			is = !is;
		}
	}
	return part_add(b, start, end, all, alone, is);
}
