/*
 * Pages that no other process maps: find out whether pages are such, and read
 * them with process_vm_readv(2). take/source.c says why only these are read so,
 * and on which kernels.
 */
#include "linux/proc/proc.h"
#include "bisect.h"
#include "pages.h"

#include <sys/uio.h>

#include <unistd.h>

/*
 * Return true if all pages from address addr to end are present, belong to no
 * file, and no other process maps any of them. pagemap is the pagemap file of
 * their process.
 */
bool
pages_arealone(int pagemap, uint64_t addr, uint64_t end)
{
	enum { MOST = 512 };
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t want = PME_PRESENT | PME_EXCLUSIVE;
	uint64_t e[MOST];
	ssize_t n;

	for (; addr < end; addr += (uint64_t)n * page) {
		n = pagemap_read(pagemap, addr, end, e, MOST);
		if (n <= 0 || SEEK(e, (size_t)n, (*x & (want | PME_FILE)) !=
		    want) != NULL)
			return false;
	}
	return true;
}

/*
 * Read len bytes at address addr of process pid into buf. pagemap is the
 * pagemap file of the process, which must be stopped and have no huge pages
 * there. Return false if another process maps one of the pages, if one is not
 * present or belongs to a file, or if they cannot be read.
 */
bool
pages_readalone(pid_t pid, int pagemap, void *buf, size_t len, uint64_t addr)
{
	struct iovec to = { buf, len };
	struct iovec from = { (void *)(uintptr_t)addr, len };

	return pages_arealone(pagemap, addr, addr + len) &&
	    process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)len;
}
