/*
 * Memory that its own process may not read, such as that of PROT_NONE. Others
 * may usually read it through /proc/PID/mem, but some kernels allow that only
 * to the thread that traces the process (CONFIG_PROC_MEM_FORCE_PTRACE, which
 * Debian's 7.3 has; proc_mem.force_override of
 * Documentation/admin-guide/kernel-parameters.txt), and several threads of ours
 * read a clone. On such a kernel the clone is made to change the protection of
 * that memory with an injected mprotect(2).
 */
#include "cloning.h"
#include "linux/inject/inject.h"
#include "state/state.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static bool ptraceonly;		/* true if this kernel lets only the tracer read
				   PROT_NONE memory */

/*
 * Set ptraceonly by trying to read a PROT_NONE page of our own.
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
 * Make unreadable mappings of a clone readable, if this kernel lets only the
 * tracer read them. calls is the handle for injecting calls into the clone. vma
 * has the mappings of the clone. Change only mappings with pages: has[i] is
 * true for these. If a mapping cannot be changed, it is reported as missing
 * when it is read. Return 0, or -1 with errstr set if no more calls can be
 * injected.
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
