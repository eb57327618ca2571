/*
 * Read tracefs: IDs of tracepoints and the positions of their fields. Also the
 * list of requested tracepoints, and decoding of their records to struct trace.
 * Nothing is written to tracefs, because it belongs to the whole machine.
 */
#include "full.h"
#include "linux/proc/proc.h"
#include "num.h"
#include "perf.h"

#include <sys/syscall.h>

#include <linux/mount.h>

#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Open the directory of tracefs. If tracefs is not mounted, mount it detached,
 * so that the mount disappears with the descriptor. debugfs is not tried:
 * looking up "tracing" there would mount tracefs. Return a descriptor, or -1
 * with errno and errstr set.
 */
int
tracefs_open(void)
{
	int fd, fs, e;

	fd = open("/sys/kernel/tracing", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1 && faccessat(fd, "events", R_OK | X_OK, AT_EACCESS) == 0)
		return fd;
	e = errno;
	fd_drop(fd);
	fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (fs != -1 && (fd = unseen_mount(fs, MOUNT_ATTR_RDONLY)) != -1)
		return fd;
	if (e == EACCES)
		errno = e;
	return errstr_sys("tracefs");
}

/*
 * Set *id to the ID of the tracepoint whose format file contains text. Return
 * 0, or -1 with errstr set.
 */
int
format_id(const char *text, uint64_t *id)
{
	const char *s;
	char *end;

	s = strncmp(text, "ID:", 3) == 0 ? text : strstr(text, "\nID:");
	if (s == NULL)
		return errstr_set("the format has no ID");
	s = strchr(s, ':') + 1;
	*id = strtoull(s, &end, 10);
	return end == s || *end != '\n' ? errstr_set("the ID in the format is "
	    "not a number") : 0;
}

/*
 * Set *n to the number that follows key in line, as in "size:8;". A semicolon
 * must follow the number. Return false if there is no such number, or if it is
 * too large.
 */
static bool
format_number(const char *line, const char *key, size_t *n)
{
	const char *s;
	char *end;

	if ((s = strstr(line, key)) == NULL)
		return false;
	s += strlen(key);
	if (!isdigit((unsigned char)*s))
		return false;
	*n = strtoul(s, &end, 10);
	return *end == ';' && *n <= UINT16_MAX;
}

/*
 * Return true if s, a declaration that ends in a semicolon, declares a field
 * called name, which may be an array.
 */
static bool
declares(const char *s, const char *name)
{
	const char *end, *p;
	size_t n;

	if ((end = strchr(s, ';')) == NULL)
		return false;
	if (end > s && end[-1] == ']')
		for (p = end; p > s && *end != '['; p--)
			end = p - 1;
	n = strlen(name);
	return (size_t)(end - s) > n && strncmp(end - n, name, n) == 0 &&
	    (end[-(ssize_t)n - 1] == ' ' || end[-(ssize_t)n - 1] == '*');
}

/*
 * Set f to the position that text gives for the field called name. text is the
 * format file of a tracepoint, with lines field:TYPE NAME; offset:N; size:N;
 * signed:N; Return 0, or -1 with errstr set if there is no such field, or its
 * line cannot be parsed.
 */
int
format_field(const char *text, const char *name, struct tpfield *f)
{
	const char *s;
	char line[256];
	size_t sign;

	memset(f, 0, sizeof *f);
	for (s = text; (s = strstr(s, "\tfield:")) != NULL;) {
		s += strlen("\tfield:");
		snprintf(line, sizeof line, "%.*s", (int)strcspn(s, "\n"), s);
		if (!declares(line, name))
			continue;
		if (!format_number(line, "\toffset:", &f->off) ||
		    !format_number(line, "\tsize:", &f->size) ||
		    !format_number(line, "\tsigned:", &sign) || f->size == 0)
			break;
		f->sign = sign != 0;
		f->loc = strncmp(line, "__data_loc", 10) == 0;
		return 0;
	}
	f->size = 0;
	return errstr_set("the format has no field \"%s\"", name);
}

/*
 * Return the number in field f of raw, which has len bytes. If the field is an
 * array of words, return element i. Return 0 if raw is too short.
 */
uint64_t
field_get(const struct tpfield *f, const uint8_t *raw, size_t len, size_t i)
{
	size_t size, off;
	uint64_t v;

	size = f->size > sizeof v ? sizeof(long) : f->size;
	off = f->off + i * size;
	if (i * size >= f->size || off > len || size > len - off)
		return 0;
	v = num_here(raw + off, size);
	if (f->sign && size > 0 && size < sizeof v &&
	    v >> (size * 8 - 1) & 1)
		v |= UINT64_MAX << size * 8;
	return v;
}

/*
 * Copy the string in field f of raw, which has len bytes, to out. The copy is
 * truncated to fit into size bytes. Copy "" if raw is too short.
 */
void
field_string(const struct tpfield *f, const uint8_t *raw, size_t len,
    char *out, size_t size)
{
	size_t off, n;
	uint64_t v;

	off = f->off;
	n = f->size;
	if (f->loc) {
		v = field_get(f, raw, len, 0);
		off = v & 0xffff;
		n = v >> 16 & 0xffff;
	}
	if (off > len || n > len - off)
		n = 0;
	if (n > size - 1)
		n = size - 1;
	memcpy(out, raw + (n == 0 ? 0 : off), n);
	out[n] = '\0';
}

#define STRING(x) #x
#define ID(call) "id == " STRING(call)
/* filter for system calls that change mappings */
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
 * Read the format of the tracepoint of this kind into f. dir is the directory
 * of tracefs. A field that the tracepoint does not have gets size 0. Return 0,
 * or -1 with errstr set.
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
	if (full_readfile(dir, path, &b) == -1)
		rc = errstr_sys("tracefs: %s", path);
	else {
		buf_add(&b, "", 1);
		rc = buf_check(&b);
	}
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
 * Set the arguments and the name of t from the raw data of its record, using
 * format f.
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
