/*
 * Perf events of threads, what the kernel permits, and the rings that events
 * are written to: perf_event_open(2).
 */
#include "linux/machine/machine.h"
#include "linux/proc/proc.h"
#include "perf.h"
#include "vec.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/perf_event.h>

#include <time.h>
#include <unistd.h>

enum { MIN_RING = 8 };	/* minimum size of a ring, in pages */

/*
 * Software events that are not tracepoints.
 */
static const uint64_t software[TRACE_POINT] = {
	[TRACE_MINOR] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
	[TRACE_MAJOR] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	[TRACE_FAULT] = PERF_COUNT_SW_PAGE_FAULTS,
};

/*
 * Open an event of this kind for thread tid on processor cpu, or on all
 * processors if cpu is -1. l says which form of the event is permitted. The
 * event starts now or, if on_exec is set, at the next execve(2) of the thread.
 * If cpu is not -1, threads and children created later inherit the event. The
 * kernel wakes us when 256 KB of a ring are used. Return a descriptor, or -1
 * with errno set.
 *
 * The event for minor faults also reports mappings, threads and programs.
 */
int
perfevent_open(const struct perflevel *l, enum trace_kind kind, pid_t tid,
    int cpu, bool on_exec)
{
	struct perf_event_attr a = { 0 };

	a.size = sizeof a;
	a.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
	    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	a.type = PERF_TYPE_SOFTWARE;
	a.config = l->format[kind].id;
	if (kind >= TRACE_POINT) {
		a.type = PERF_TYPE_TRACEPOINT;
		a.sample_type |= PERF_SAMPLE_RAW;
	}
	a.sample_period = 1;
	a.sample_id_all = 1;
	a.inherit = cpu != -1;
	a.exclude_kernel = l->user_only;
	a.exclude_hv = l->user_only;
	a.disabled = on_exec;
	a.enable_on_exec = on_exec;
	a.use_clockid = 1;
	a.clockid = CLOCK_MONOTONIC;
	a.watermark = 1;
	a.wakeup_watermark = 1 << 18;
	if (l->counts_lost)
		a.read_format = PERF_FORMAT_LOST;
	if (kind == TRACE_MINOR)
		a.mmap = a.mmap_data = a.mmap2 = a.comm = a.comm_exec =
		    a.task = 1;
	return (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1,
	    PERF_FLAG_FD_CLOEXEC);
}

/*
 * Return true if we may trace minor faults of our own. l says which form the
 * event has.
 */
static bool
level_try(const struct perflevel *l)
{
	int fd;

	if ((fd = perfevent_open(l, TRACE_MINOR, 0, -1, true)) == -1)
		return false;
	close(fd);
	return true;
}

static int
paranoid(void)
{
	return proc_setting("/proc/sys/kernel/perf_event_paranoid", -1);
}

/*
 * Find out whether we may trace minor faults, and whether this includes those
 * in system calls. Store the result in l. Return 0. Return -1 with errno and
 * errstr set if we may not: then nothing can be traced.
 */
static int
level_least(struct perflevel *l)
{
	if (level_try(l))
		return 0;
	if (errno == EINVAL) {
		l->counts_lost = false;
		if (level_try(l))
			return 0;
	}
	if (errno == EACCES || errno == EPERM) {
		l->user_only = true;
		if (level_try(l))
			return 0;
	}
	errstr_sys("perf_event_open");
	if (errno == EACCES || errno == EPERM)
		(void)errstr_set("%s: perf_event_paranoid is %d%s",
		    snap_errstr(), paranoid(), paranoid() > 2 ?
		    ": CAP_PERFMON or a value of 2 is needed" : "");
	return -1;
}

/*
 * Find out which events we may open, and store that in l. If slab is set,
 * include events for kernel allocations. The caller frees l, even after an
 * error. Return 0, or -1 with errno and errstr set if no event is permitted.
 */
int
perflevel_find(struct perflevel *l, bool slab)
{
	unsigned int k;
	int dir;

	memset(l, 0, sizeof *l);
	for (k = 0; k < TRACE_EVENTS; k++)
		l->probe[k] = -1;
	for (k = 0; k < TRACE_POINT; k++)
		l->format[k].id = software[k];
	l->counts_lost = true;
	if (level_least(l) == -1)
		return -1;
	l->has[TRACE_MINOR] = l->has[TRACE_MAJOR] = true;
	if ((dir = tracefs_open()) == -1)
		l->tracefs = errno;
	for (k = TRACE_POINT; dir != -1 && k < TRACE_EVENTS; k++) {
		if (tracepoints[k].event == NULL ||
		    (k <= TRACE_KERNEL && !isa.faults) ||
		    (tracepoints[k].slab && !slab) ||
		    tracepoint_load(&l->format[k], k, dir) == -1)
			continue;
		errno = EACCES;
		if (!l->user_only)
			l->probe[k] = perfevent_open(l, k, 0, -1, true);
		l->has[k] = l->probe[k] != -1;
		if (!l->has[k])
			l->denied = errno;
	}
	fd_drop(dir);
	l->has[TRACE_FAULT] = !l->has[TRACE_USER] || !l->has[TRACE_KERNEL];
	if (l->has[TRACE_FAULT])
		l->has[TRACE_USER] = l->has[TRACE_KERNEL] = false;
	return 0;
}

/*
 * Close the descriptors of l.
 */
void
perflevel_free(struct perflevel *l)
{
	unsigned int k;

	for (k = TRACE_POINT; k < TRACE_EVENTS; k++)
		fd_drop(l->probe[k]);
}

/*
 * Describe in s, which has room for size bytes, which events l does not permit
 * us to trace, and why. Set s to "" if all can be traced. If slab is set, also
 * consider kernel allocations.
 */
void
perflevel_lacks(const struct perflevel *l, bool slab, char *s, size_t size)
{
	char why[128];

	*s = '\0';
	if (l->tracefs != 0)
		snprintf(why, sizeof why, "no tracefs (%s)",
		    strerror(l->tracefs));
	else if (l->denied != 0)
		snprintf(why, sizeof why, "no tracepoints (%s)",
		    strerror(l->denied));
	else
		strlcpy(why, "no such tracepoint", sizeof why);
	if (!l->has[TRACE_USER])
		strlcat(s, ", read, write, execute and copy-on-write", size);
	if (!l->has[TRACE_CALL] || !l->has[TRACE_RETURN])
		strlcat(s, ", unmappings and brk", size);
	if (!l->has[TRACE_SIGNAL])
		strlcat(s, ", signals", size);
	if (slab && (!l->has[TRACE_PAGEALLOC] || !l->has[TRACE_KMALLOC] ||
	    !l->has[TRACE_CACHEALLOC]))
		strlcat(s, ", allocations of the kernel", size);
	if (*s != '\0') {
		strlcat(s, ": ", size);
		strlcat(s, why, size);
	}
	if (l->user_only) {
		snprintf(why, sizeof why, "; faults in system calls: "
		    "perf_event_paranoid is %d", paranoid());
		strlcat(s, why, size);
	}
	if (*s != '\0')
		memmove(s, s + 2, strlen(s + 2) + 1);
}

/*
 * Append a ring for each online processor to the array *ring, which has *n
 * elements. The rings are not mapped yet. The caller frees *ring, even after an
 * error. Return 0, or -1 with errstr set.
 */
int
rings_online(struct ring **ring, size_t *n)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	int first, last, c;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return errstr_sys("%s", path);
	for (c = ','; c == ',' && fscanf(f, "%d", &first) == 1;) {
		last = first;
		if ((c = getc(f)) == '-') {
			if (fscanf(f, "%d", &last) != 1)
				break;
			c = getc(f);
		}
		for (; first <= last; first++) {
			if (VEC_ADD(*ring, *n, (struct ring){ .cpu = first,
			    .fd = -1 }) == -1) {
				fclose(f);
				return -1;
			}
		}
	}
	fclose(f);
	return *n > 0 ? 0 : errstr_set("no online processors found");
}

/*
 * Make the event open as fd write to r, the ring of its processor. For the
 * first event of a ring, map the ring with size bytes, or with fewer if that is
 * not allowed. Return 0, or -1 with errstr set.
 */
int
ring_attach(struct ring *r, int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	if (r->map != NULL)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) == -1 ?
		    errstr_sys("cannot attach a perf event to its ring") : 0;
	for (;; size /= 2) {
		p = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
		if (p != MAP_FAILED)
			break;
		if (errno != EPERM || size / 2 < MIN_RING * page)
			return errstr_sys("cannot map a ring of %zu bytes",
			    size);
	}
	r->map = p;
	r->size = size;
	r->fd = fd;
	return 0;
}

/*
 * Move all records from ring r to the end of b. Return 0. If there are bytes
 * that are not records, drop them, and return -1 with errstr set.
 */
int
ring_drain(struct ring *r, struct buf *b)
{
	struct perf_event_mmap_page *p = r->map;
	uint64_t head, tail;
	int rc;

	if (p == NULL)
		return 0;
	head = __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE);
	tail = p->data_tail;
	rc = ring_copy(b, (uint8_t *)r->map + p->data_offset, r->size, tail,
	    head);
	__atomic_store_n(&p->data_tail, head, __ATOMIC_RELEASE);
	return rc;
}

/*
 * Unmap ring r.
 */
void
ring_free(struct ring *r)
{
	if (r->map != NULL)
		munmap(r->map, r->size + (size_t)sysconf(_SC_PAGESIZE));
	r->map = NULL;
}
