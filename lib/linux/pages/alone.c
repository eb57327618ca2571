/*
 * Read pages that no other process maps, with process_vm_readv(2).
 * take/source.c says why only these, and on which kernels.
 */
#include "linux/proc/proc.h"
#include "bisect.h"
#include "pages.h"

#include <sys/uio.h>

#include <unistd.h>

/*
 * Read len bytes at address addr of process pid into buf. pagemap is the
 * pagemap file of the process, which must be stopped and have no huge pages
 * there. Return false if another process maps one of the pages, if one is not
 * present or belongs to a file, or if they cannot be read.
 */
bool
pages_readalone(pid_t pid, int pagemap, void *buf, size_t len, uint64_t addr)
{
	enum { MOST = 512 };
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t want = PME_PRESENT | PME_EXCLUSIVE, end = addr + len;
	struct iovec to = { buf, len }, from = { .iov_len = len };
	uint64_t at, e[MOST];
	ssize_t n;

	for (at = addr; at < end; at += (uint64_t)n * page) {
		n = pagemap_read(pagemap, at, end, e, MOST);
		if (n <= 0 || SEEK(e, (size_t)n, (*x & (want | PME_FILE)) !=
		    want) != NULL)
			return false;
	}
	from.iov_base = (void *)(uintptr_t)addr;
	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)len;
}
