/*
 * Read the address space of a running process: /proc/PID/maps and smaps, until
 * both agree. Also find what a tracer must know about a process before tracing
 * it.
 */
#include "calls.h"
#include "linux/proc/proc.h"
#include "state/state.h"
#include "trace.h"

#include <sys/ioctl.h>

#include <fcntl.h>
#include <unistd.h>

enum { TRIES = 5 }; /* maximum number of attempts to read the mappings without
		       a change meanwhile */

struct query {			/* struct procmap_query of linux/fs.h */
	uint64_t	 size;
	uint64_t	 flags;
	uint64_t	 addr;
	uint64_t	 start;
	uint64_t	 end;
	uint64_t	 perms;
	uint64_t	 page;	/* page size in bytes */
	uint64_t	 off;
	uint64_t	 ino;
	uint32_t	 dev[2];
	uint32_t	 namelen;
	uint32_t	 idlen;
	uint64_t	 name;
	uint64_t	 id;
};

#define QUERY_IOCTL	_IOWR('f', 17, struct query)	/* Linux 6.11 */

/*
 * Set errstr, from errno, to say why a file of the process of sp could not be
 * read. Set sp->gone if the process does not exist. Return -1.
 */
static int
space_refuse(struct space *sp)
{
	int e = errno;
	long pid = (long)sp->pid;

	if (e == ENOENT || e == ESRCH) {
		sp->gone = true;
		return errstr_set("%ld: No such process", pid);
	}
	if (e == EACCES || e == EPERM)
		return proc_refused((pid_t)pid);
	errno = e;
	return errstr_sys("%ld", pid);
}

/*
 * Free only the mappings of sp.
 */
static void
space_forget(struct space *sp)
{
	vmas_free(&sp->vma);
	free(sp->m);
	sp->m = NULL;
}

/*
 * Set VMF_HUGETLB in the mappings of sp that consist of huge pages. The maps
 * file does not show this, so the kernel is asked about each file mapping that
 * is aligned to the smallest huge page. tid is a thread of the process. Return
 * 0, or -1 with errno set.
 */
static int
space_hugetlb(struct space *sp, pid_t tid)
{
	enum { SMALLEST = 0x10000 };
	struct query q;
	const struct vma *v;
	size_t i;
	int fd, rc;

	for (i = 0, rc = 0, fd = -1; rc == 0 && i < sp->vma.n; i++) {
		v = &sp->vma.v[i];
		if (v->ino == 0 || (v->start | v->end) % SMALLEST != 0)
			continue;
		if (fd == -1 && (fd = proc_open(tid, 0, "maps", O_RDONLY)) ==
		    -1)
			return -1;
		q = (struct query){ .size = sizeof q, .addr = v->start };
		rc = call_ioctl(fd, QUERY_IOCTL, &q);
		if (rc == 0 && q.page > (uint64_t)sysconf(_SC_PAGESIZE))
			sp->m[i].flags |= VMF_HUGETLB;
		if (rc == -1 && errno == ENOENT) /* the mapping is gone */
			rc = 0;
	}
	fd_drop(fd);
	return rc;
}

/*
 * Read the file called name (smaps or maps) of thread tid into sp. Return 0.
 * Return -1 with errno set on failure; if errno is 0, errstr is set instead.
 */
static int
space_text(struct space *sp, pid_t tid, const char *name)
{
	struct bytes b;
	int rc;

	if (proc_read(tid, 0, name, &b) == -1)
		return -1;
	rc = space_smaps(sp, b.data, b.len);
	free(b.data);
	errno = 0;
	return rc;
}

/*
 * Read the maps file of thread tid into sp, and find out which mappings consist
 * of huge pages. If the kernel has no request for that, read the smaps file
 * instead. Return 1, or -1 as space_text() does.
 */
static int
space_glance(struct space *sp, pid_t tid)
{
	int rc;

	rc = space_text(sp, tid, "maps");
	if (rc == 0 && space_hugetlb(sp, tid) == -1) {
		if (errno != ENOTTY && errno != EINVAL)
			return -1;
		space_forget(sp);
		rc = space_text(sp, tid, "smaps");
	}
	return rc == 0 ? 1 : -1;
}

/*
 * Read the smaps file of thread tid into sp, and compare it with the maps file.
 * If the kernel has no smaps, read maps twice. If sp->brief is set, call
 * space_glance() instead. Return 1 if both texts have the same mappings, 0 if
 * not, or -1 as space_text() does.
 */
static int
space_try(struct space *sp, pid_t tid)
{
	struct bytes b;
	int rc;

	if (sp->brief)
		return space_glance(sp, tid);
	if ((space_text(sp, tid, "smaps") == -1 &&
	    (errno != ENOENT || space_text(sp, tid, "maps") == -1)) ||
	    proc_read(tid, 0, "maps", &b) == -1)
		return -1;
	rc = vmas_match(&b, &sp->vma);
	free(b.data);
	return rc;
}

static int
space_mappings(struct space *sp, pid_t tid)
{
	int i, rc;

	for (i = rc = 0; rc == 0 && i < TRIES; i++) {
		space_forget(sp);
		if ((rc = space_try(sp, tid)) == -1)
			return errno == 0 ? -1 : space_refuse(sp);
	}
	sp->moving = rc == 0;
	sp->tid = (uint64_t)tid;
	return 0;
}

/*
 * If the space arg has no mappings yet, read them from thread tid. Skip the
 * first thread: it was tried before, and may have ended before the others.
 * Return 0.
 */
static int
try_thread(void *arg, long tid)
{
	struct space *sp = arg;

	if (sp->vma.n == 0 && (uint64_t)tid != sp->pid &&
	    space_mappings(sp, (pid_t)tid) == -1) {
		space_forget(sp);
		sp->gone = false;
	}
	return 0;
}

/*
 * Set errstr to the reason why the process of sp has no mappings, and return
 * -1.
 */
static int
space_empty(struct space *sp)
{
	struct task t;

	if (proc_stat((pid_t)sp->pid, 0, &t) == -1)
		return space_refuse(sp);
	return errstr_set("%ld: no user address space: it is a %s",
	    (long)sp->pid, t.kernel ? "kernel thread" :
	    t.state == 'Z' || t.state == 'X' ? "zombie" :
	    "process that is exiting");
}

/*
 * Fill in sp with the address space of live process pid. If brief is set, leave
 * out the sizes, for which the kernel must walk all pages, and all flags but
 * VMF_HUGETLB. The caller frees sp, even after a failure; sp->gone then says
 * whether the process is gone. Return 0, or -1 with errstr set.
 */
int
space_live(struct space *sp, pid_t pid, bool brief)
{
	static const struct {
		const char	*name;
		void		(*take)(struct space *, const void *, size_t);
	} files[] = { { "status", space_status }, { "stat", space_stat },
	    { "limits", space_limits } };
	struct bytes b;
	size_t i;

	memset(sp, 0, sizeof *sp);
	sp->pid = sp->tid = (uint64_t)pid;
	sp->brief = brief;
	for (i = 0; i < (brief ? 1 : sizeof files / sizeof *files); i++) {
		if (proc_read(pid, 0, files[i].name, &b) == -1) {
			if (i == 0)
				return space_refuse(sp);
			continue;
		}
		files[i].take(sp, b.data, b.len);
		free(b.data);
	}
	if (space_mappings(sp, pid) == -1)
		return -1;
	if (sp->vma.n == 0)
		(void)proc_list(pid, "task", try_thread, sp);
	return sp->vma.n > 0 ? 0 : space_empty(sp);
}

/*
 * Return the process that thread tid belongs to. Return -1 with errstr set if
 * there is no such thread. Also return -1 for a kernel thread or zombie, which
 * has nothing to trace.
 */
pid_t
traced_process(pid_t tid)
{
	struct task t;
	pid_t pid;

	if (proc_stat(tid, 0, &t) == -1)
		return errstr_set("No such process");
	if (t.kernel)
		return errstr_set("a kernel thread has no page faults");
	if ((t.state == 'Z' || t.state == 'X') && proc_ended(tid))
		return errstr_set("a zombie has no page faults");
	return (pid = proc_leader(tid)) != -1 ? pid : tid;
}
