/*
 * The memory of a stopped process as a source: locations are addresses.
 * process_vm_readv(2) reads what the process itself could read;
 * /proc/PID/mem the rest, such as PROT_NONE pages.
 */
#include "live.h"

#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VECTORS = 256 };

struct livesource {
	struct source	 src;
	pid_t		 pid;
	int		 mem;		/* owned; -1: cannot be had */
	int		 pagemap;	/* owned; -1 likewise */
};

/*
 * Read a range through /proc/PID/mem.
 */
static int
mem_read(struct livesource *l, uint64_t addr, uint8_t *buf, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = pread(l->mem, buf, len, (off_t)addr);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			return errstr_set("the process went away");
		if (n == -1) {
			errstr_sys("address %jx", (uintmax_t)addr);
			return errno == ESRCH ? -1 : SOURCE_LOST;
		}
		buf += n;
		addr += (uint64_t)n;
		len -= (size_t)n;
	}
	return SOURCE_OK;
}

/*
 * Read runs from the one at i, skip bytes into it, through /proc/PID/mem.
 */
static int
mem_readruns(struct livesource *l, const struct run *r, size_t n, size_t skip,
    uint8_t *buf)
{
	size_t i, len;
	int rc;

	for (i = 0; i < n; i++) {
		len = r[i].n * KB - skip;
		rc = mem_read(l, r[i].loc + skip, buf, len);
		if (rc != SOURCE_OK)
			return rc;
		buf += len;
		skip = 0;
	}
	return SOURCE_OK;
}

static int
live_readsome(struct livesource *l, const struct run *r, size_t n,
    uint8_t *buf)
{
	struct iovec to, from[VECTORS];
	size_t i, done, total;
	ssize_t got;

	for (i = total = 0; i < n; i++) {
		from[i].iov_base = (void *)(uintptr_t)r[i].loc;
		from[i].iov_len = r[i].n * KB;
		total += from[i].iov_len;
	}
	to.iov_base = buf;
	to.iov_len = total;
	got = process_vm_readv(l->pid, &to, 1, from, n, 0);
	if (got == -1 && errno == ESRCH)
		return errstr_set("the process went away");
	done = got == -1 ? 0 : (size_t)got;
	if (done == total)
		return SOURCE_OK;
	buf += done;
	for (i = 0; done >= r[i].n * KB; i++)
		done -= r[i].n * KB;
	return mem_readruns(l, r + i, n - i, done, buf);
}

static int
live_read(struct source *src, const struct run *r, size_t n, uint8_t *buf)
{
	struct livesource *l = (struct livesource *)src;
	size_t i, k, part;
	int rc;

	for (i = 0; i < n; i += part) {
		part = n - i < VECTORS ? n - i : VECTORS;
		rc = live_readsome(l, r + i, part, buf);
		if (rc != SOURCE_OK)
			return rc;
		for (k = 0; k < part; k++)
			buf += r[i + k].n * KB;
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
 * The memory that a thread has as a source of a snapshot.  The process must
 * stay stopped as long as the source is read.
 */
struct source *
source_live(struct snap *s, pid_t tid)
{
	struct livesource *l;
	char name[32];

	snprintf(name, sizeof name, "memory of %d", tid);
	if ((l = calloc(1, sizeof *l)) == NULL ||
	    (l->src.name = strdup(name)) == NULL) {
		free(l);
		errstr_set("out of memory");
		return NULL;
	}
	l->src.ops = &live_ops;
	l->src.pitch = KB;
	l->pid = tid;
	l->mem = proc_open(tid, 0, "mem", O_RDONLY);
	l->pagemap = proc_open(tid, 0, "pagemap", O_RDONLY);
	source_add(s, &l->src);
	if (l->mem == -1 || l->pagemap == -1) {
		errstr_sys("/proc/%d/%s", tid, l->mem == -1 ? "mem" :
		    "pagemap");
		return NULL;
	}
	return &l->src;
}

/*
 * The pagemap of the process behind a live source: a descriptor.
 */
int
source_live_pagemap(const struct source *src)
{
	return ((const struct livesource *)src)->pagemap;
}
