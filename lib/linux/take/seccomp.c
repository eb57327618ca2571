/*
 * Record the seccomp(2) filters of threads: snap-linux(6). Most threads have
 * the same filters, and each filter is recorded once.
 *
 * The kernel shows filters only to a tracer that has CAP_SYS_ADMIN and no
 * filter itself (seccomp_get_filter of kernel/seccomp.c).
 */
#include "taking.h"
#include "bisect.h"
#include "vec.h"

#include <sys/ptrace.h>

#include <linux/filter.h>
#include <linux/ptrace.h>

enum { MAX_FILTERS = 512 };	/* maximum number of filters of a thread that
				   are recorded: the kernel counts from the
				   first for each of them */

/*
 * Set *id to the number of the filter whose program is the len bytes at data.
 * If the filter is new, add it to set l and to record rec.
 */
static int
filter_number(struct live *l, const void *data, size_t len,
    struct filelist *rec, size_t *id)
{
	const struct bytes *v;
	uint8_t *copy;
	char name[32];

	v = SEEK(l->filter, l->nfilter, x->len == len &&
	    memcmp(x->data, data, len) == 0);
	*id = v == NULL ? l->nfilter : (size_t)(v - l->filter);
	if (v != NULL)
		return 0;
	if ((copy = pool_dup(&l->pool, data, len)) == NULL ||
	    VEC_ADD(l->filter, l->nfilter, (struct bytes){ copy, len }) == -1)
		return -1;
	snprintf(name, sizeof name, "seccomp/%zu", *id);
	filelist_copy(rec, name, data, len);
	return 0;
}

/*
 * Add the seccomp(2) filters of thread tid, which is stopped, to record rec,
 * beginning with the oldest. Keep in l the filters that were found, so that
 * each is recorded once. If there are more than MAX_FILTERS, record the list as
 * lost.
 */
void
filters_record(struct live *l, pid_t tid, struct filelist *rec)
{
	struct sock_filter code[BPF_MAXINSNS];
	struct seccomp_metadata meta;
	struct buf b = { 0 };
	uintptr_t i;
	size_t id = 0;
	long n;

	for (i = 0;; i++) {
		n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, code);
		if (n <= 0 || n > BPF_MAXINSNS)
			break;
		if (i == MAX_FILTERS) {
			errno = EIO;
			n = -1;
			break;
		}
		meta = (struct seccomp_metadata){ .filter_off = i };
		if (ptrace(PTRACE_SECCOMP_GET_METADATA, tid,
		    (void *)sizeof meta, &meta) == -1)
			meta.flags = 0;
		if (filter_number(l, code, (size_t)n * sizeof *code, rec,
		    &id) == -1) {
			b.failed = true;
			break;
		}
		buf_printf(&b, "%zu %jx\n", id, (uintmax_t)meta.flags);
	}
	if (b.failed || (n == -1 && i > 0 && errno != ENOENT)) {
		filelist_lose(rec, "seccomp-filters");
		buf_free(&b);
	} else if (b.len > 0)
		filelist_buf(rec, "seccomp-filters", &b);
}
