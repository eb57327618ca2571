/*
 * Memory that a process may not read itself, such as that of PROT_NONE.  Others
 * may, through /proc/PID/mem; but there are kernels that allow it only to the
 * thread that traces it (CONFIG_PROC_MEM_FORCE_PTRACE, which Debian's 7.3 has;
 * proc_mem.force_override of Documentation/admin-guide/kernel-parameters.txt),
 * and who reads a clone are several.  There the clone is made to allow itself
 * to read it.
 */
#include "cloning.h"
#include "linux/inject/inject.h"
#include "state/state.h"

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static bool ptraceonly;		/* such memory cannot be read by others */

/*
 * Set veiled, by a page of ours.
 */
static void
ptraceonly_find(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char c, *p;
	int fd;

	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	*(volatile char *)p = 1;
	fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd != -1 && mprotect(p, page, PROT_NONE) == 0)
		ptraceonly = pread(fd, &c, 1, (off_t)(uintptr_t)p) == -1 &&
		    errno == EIO;
	fd_drop(fd);
	munmap(p, page);
}

/*
 * Have the clone that calls are made in be able to read those of the mappings
 * vma of which it has pages, where that takes it: has tells for each whether it
 * has some.  Return 0; -1 with errstr where the clone cannot be asked any more.
 * What it may not allow itself is missing later, and told then.
 */
int
ptraceonly_show(struct inject *calls, const struct vmas *vma, const bool *has)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct vma *v;
	size_t i;

	pthread_once(&once, ptraceonly_find);
	if (!ptraceonly)
		return 0;
	for (i = 0; i < vma->n; i++) {
		v = &vma->v[i];
		if (has[i] && !(v->flags & VMA_READ) && inject_allow(calls,
		    v->start, v->end - v->start, v->flags & VMA_EXEC) == -1)
			return -1;
	}
	return 0;
}
