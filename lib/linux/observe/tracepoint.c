/*
 * The tracepoints that are asked for, and their records as struct trace.
 */
#include "perf.h"

#include <sys/syscall.h>

#include <string.h>

#define STRING(x) #x
#define ID(call) "id == " STRING(call)
/* the system calls that change mappings */
#define CALLS ID(SYS_mmap) " || " ID(SYS_munmap) " || " ID(SYS_brk) " || " \
	ID(SYS_mremap) " || " ID(SYS_mprotect) " || " ID(SYS_pkey_mprotect) \
	" || " ID(SYS_shmat) " || " ID(SYS_shmdt)

const struct tracepoint tracepoints[TRACE_EVENTS] = {
	[TRACE_USER] = { "exceptions/page_fault_user", NULL,
	    { "address", "ip", "error_code" }, false },
	[TRACE_KERNEL] = { "exceptions/page_fault_kernel", NULL,
	    { "address", "ip", "error_code" }, false },
	[TRACE_SIGNAL] = { "signal/signal_generate", "sig == 7 || sig == 11",
	    { "sig", "code" }, false },
	[TRACE_CALL] = { "raw_syscalls/sys_enter", CALLS, { "id", "args" },
	    false },
	[TRACE_RETURN] = { "raw_syscalls/sys_exit", CALLS, { "id", "ret" },
	    false },
	[TRACE_PAGEALLOC] = { "kmem/mm_page_alloc", NULL,
	    { "pfn", "order", "gfp_flags" }, true },
	[TRACE_PAGEFREE] = { "kmem/mm_page_free", NULL,
	    { "pfn", "order" }, true },
	[TRACE_PAGEFREES] = { "kmem/mm_page_free_batched", NULL,
	    { "pfn" }, true },
	[TRACE_KMALLOC] = { "kmem/kmalloc", NULL, { "call_site", "ptr",
	    "bytes_req", "bytes_alloc", "gfp_flags" }, true },
	[TRACE_KFREE] = { "kmem/kfree", NULL, { "call_site", "ptr" }, true },
	[TRACE_CACHEALLOC] = { "kmem/kmem_cache_alloc", NULL, { "call_site",
	    "ptr", "bytes_req", "bytes_alloc", "gfp_flags", "name" }, true },
	[TRACE_CACHEFREE] = { "kmem/kmem_cache_free", NULL,
	    { "call_site", "ptr", "name" }, true },
};

/*
 * Look up the tracepoint of that kind in tracefs, the directory dir, into f.
 * Fields that it does not have stay unknown.  Return 0, or -1 with errstr.
 */
int
tracepoint_load(struct tpformat *f, enum trace_kind kind, int dir)
{
	const struct tracepoint *t = &tracepoints[kind];
	struct buf b = { 0 };
	char path[128];
	size_t i;
	int rc;

	memset(f, 0, sizeof *f);
	snprintf(path, sizeof path, "events/%s/format", t->event);
	rc = tracefs_read(dir, path, &b);
	if (rc == 0)
		rc = format_id((char *)b.data, &f->id);
	for (i = 0; rc == 0 && i < TRACE_ARGS && t->field[i] != NULL; i++)
		(void)format_field((char *)b.data, t->field[i], &f->field[i]);
	if (rc == 0)
		tpflags_parse(&f->flags, (char *)b.data);
	f->known = rc == 0;
	buf_free(&b);
	return rc;
}

/*
 * Fill in the args of t, and the name, from the raw data of its record, by f.
 */
void
tracepoint_decode(struct trace *t, const struct tpformat *f)
{
	const char *const *name = tracepoints[t->kind].field;
	const uint8_t *raw = t->rec->raw;
	size_t i, j, k, n, len = t->rec->rawlen;

	t->flags = &f->flags;
	if (raw == NULL)
		return;
	for (i = n = 0; i < TRACE_ARGS && name[i] != NULL; i++) {
		if (strcmp(name[i], "name") == 0) {
			field_string(&f->field[i], raw, len, t->name,
			    sizeof t->name);
			continue;
		}
		k = f->field[i].size <= sizeof t->arg[0] ? 1 :
		    f->field[i].size / sizeof(long);
		for (j = 0; j < k && n < TRACE_ARGS; j++)
			t->arg[n++] = field_get(&f->field[i], raw, len, j);
	}
}
