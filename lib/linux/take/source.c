/*
 * The memory of a stopped process as a source: locations are addresses, and
 * /proc/PID/mem is read.
 *
 * process_vm_readv(2), which is faster, is for pages that no other process has
 * (alone.c): it pins, and what is shared would be copied for that.
 * /proc/PID/mem only looks, and also at what the process itself may not read.
 */
#include "linux/clone/clone.h"
#include "linux/pages/pages.h"
#include "linux/proxy/proxy.h"
#include "taking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct livesource {
	struct source	 src;
	struct lproc	*proc;		/* borrowed */
	bool		 again;		/* as liveopts has it */
	bool		 far;		/* pages may never come */
	pid_t		 tid;
	int		 mem;		/* owned; -1: cannot be had */
	int		 pagemap;	/* owned; -1 likewise */
};

/*
 * Read pages of one kind of a mapping whose file others serve: either of the
 * file, or of the process.  Return how many bytes, or -1 with errno.
 */
static ssize_t
far_pread(const struct livesource *l, void *buf, size_t len, uint64_t addr)
{
	uint64_t entry[PROXY_MOST / 4096], page, end;
	bool file, f;
	ssize_t n;
	size_t i;

	page = (uint64_t)sysconf(_SC_PAGESIZE);
	len = proxy_fits(len, addr, page);
	i = (size_t)((addr + len - 1) / page - addr / page + 1);
	n = pread(l->pagemap, entry, i * sizeof *entry,
	    (off_t)(addr / page * sizeof *entry));
	if (n < (ssize_t)sizeof *entry)
		return n;
	file = false;
	end = addr + len;
	for (i = 0; i < (size_t)n / sizeof *entry; i++) {
		f = (entry[i] & PME_FILE) != 0 || (entry[i] & (PME_PRESENT |
		    PME_SWAPPED)) == 0;
		if (i == 0)
			file = f;
		else if (f != file) {
			end = (addr / page + i) * page;
			break;
		}
	}
	return proxy_memory(l->mem, l->tid, file, buf, (size_t)(end - addr),
	    addr);
}

static int
live_readrun(struct livesource *l, const struct run *r, uint8_t *buf)
{
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
			    errstr_set("the process went away");
		}
		buf += n;
		addr += (uint64_t)n;
	}
	return SOURCE_OK;
}

static int
live_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	struct livesource *l = (struct livesource *)src;
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		if ((rc = live_readrun(l, &r[i], buf)) != SOURCE_OK)
			return rc;
		buf += r[i].n * KB;
	}
	return SOURCE_OK;
}

static int
live_identify(struct source *src, uint64_t loc, size_t n, uint64_t *id)
{
	struct livesource *l = (struct livesource *)src;

	return pagemap_frames(l->pagemap, loc, n, id);
}

static void
live_srcfree(struct source *src)
{
	struct livesource *l = (struct livesource *)src;

	if (l->mem != -1)
		close(l->mem);
	if (l->pagemap != -1)
		close(l->pagemap);
}

static const struct source_ops live_ops = {
	live_read, live_identify, live_srcfree
};

/*
 * Of a process that is alone in the set: its frames are those of no other, and
 * to look for them would cost more than to compare what it maps twice.
 */
static const struct source_ops alone_ops = {
	live_read, NULL, live_srcfree
};

/*
 * Return true if no other process of set l than p has memory.
 */
static bool
lproc_isalone(const struct live *l, const struct lproc *p)
{
	const struct lproc *other;

	TAILQ_FOREACH(other, &l->procs, entry)
		if (other != p && !other->skip && !other->kernel)
			return false;
	return true;
}

/*
 * Make a source, as source_live, far as source_livefar.  Of a process that has
 * the clone of another it is that of the other.
 */
static struct source *
live_source(struct live *live, struct snap *s, struct lproc *p, bool far)
{
	const pid_t tid = p->mmtid;
	struct livesource *l;
	char name[32];

	if (!far && p->head != NULL && p->head->memory != NULL)
		return p->head->memory;
	snprintf(name, sizeof name, "memory of %d", p->pid);
	l = source_new(s, sizeof *l, lproc_isalone(live, p) ? &alone_ops :
	    &live_ops, name, KB);
	if (l == NULL)
		return NULL;
	l->proc = p;
	l->again = live->opts.again;
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
 * Make a source of snapshot s of the memory of process p, or of its clone;
 * NULL with errstr.  The process must stay stopped as long as the source is
 * read.
 */
struct source *
source_live(struct live *live, struct snap *s, struct lproc *p)
{
	return live_source(live, s, p, false);
}

/*
 * Do the same for mappings of files that others serve, who may not answer.
 */
struct source *
source_livefar(struct live *live, struct snap *s, struct lproc *p)
{
	return live_source(live, s, p, true);
}

/*
 * Return a descriptor of the pagemap of the process behind a live source,
 * which owns it.
 */
int
source_live_pagemap(const struct source *src)
{
	return ((const struct livesource *)src)->pagemap;
}
