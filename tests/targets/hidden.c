/*
 * Memory that cannot be read: guards in private and in shared memory, secret
 * memory, a poisoned page.  If the kernel does not have one of them, it prints
 * "lacks NAME".
 */
#include "target.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <linux/userfaultfd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret	447
#endif

struct poison {			/* uffdio_poison of linux/userfaultfd.h */
	uint64_t	 start;
	uint64_t	 len;
	uint64_t	 mode;
	int64_t		 updated;
};

#define IOC_POISON	_IOWR(UFFDIO, 0x08, struct poison)

static void
guarded(const char *name, char *p, uint64_t seed)
{
	if (p == MAP_FAILED)
		err(1, "mmap");
	pattern_fill(p, 2 * PAGE, seed);
	pattern_fill(p + 4 * PAGE, 2 * PAGE, seed + 1);
	if (madvise(p + 2 * PAGE, 2 * PAGE, MADV_GUARD_INSTALL) == -1) {
		printf("lacks %s\n", name);
		return;
	}
	region("before", p, 2 * PAGE, seed);
	place("missing", name, p + 2 * PAGE, 2 * PAGE, "guard");
	region("after", p + 4 * PAGE, 2 * PAGE, seed + 1);
}

static void
secret(void)
{
	char *p;
	int fd;

	if ((fd = (int)syscall(SYS_memfd_secret, 0)) == -1 ||
	    ftruncate(fd, 4 * PAGE) == -1 ||
	    (p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0)) == MAP_FAILED) {
		puts("lacks secret");
		return;
	}
	pattern_fill(p, 4 * PAGE, 3);
	place("missing", "secret", p, 4 * PAGE, "secret");
}

static void
poisoned(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct poison po = { .len = PAGE };
	char *p;
	int fd;

	p = mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	pattern_fill(p, 2 * PAGE, 4);
	pattern_fill(p + 3 * PAGE, PAGE, 5);
	reg.range.start = (uintptr_t)p;
	reg.range.len = 6 * PAGE;
	po.start = (uintptr_t)p + 2 * PAGE;
	if (fd == -1 || ioctl(fd, UFFDIO_API, &api) == -1 ||
	    ioctl(fd, UFFDIO_REGISTER, &reg) == -1 ||
	    ioctl(fd, IOC_POISON, &po) == -1) {
		puts("lacks poison");
		return;
	}
	region("before", p, 2 * PAGE, 4);
	place("missing", "poison", p + 2 * PAGE, PAGE, "unreadable");
	region("after", p + 3 * PAGE, PAGE, 5);
	place("absent", "uffd", p + 5 * PAGE, PAGE, "");
}

int
main(int argc, char *argv[])
{
	const char *what;
	int fd;

	what = argc > 1 ? argv[1] : "guard";
	fd = memfd_create("guarded", 0);
	if (fd == -1 || ftruncate(fd, 6 * PAGE) == -1)
		err(1, "memfd");
	if (strcmp(what, "guard") == 0) {
		guarded("guard", mmap(NULL, 6 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1);
		guarded("sharedguard", mmap(NULL, 6 * PAGE, PROT_READ |
		    PROT_WRITE, MAP_SHARED, fd, 0), 10);
	} else if (strcmp(what, "secret") == 0)
		secret();
	else
		poisoned();
	ready_await();
	return 0;
}
