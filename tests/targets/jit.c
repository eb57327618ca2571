/*
 * A process that calls code which it made, like a just-in-time compiler: the 64
 * pages at 0x200000000 have code that calls a function that waits.  With memfd
 * they are those of a memfd.
 *
 *	jit [memfd]
 */
#include "target.h"

#include <sys/mman.h>

enum { PAGES = 64 };

static const unsigned char code[] = {
#if defined(__x86_64__)
	0x55,				/* push %rbp */
	0x48, 0x89, 0xe5,		/* mov %rsp,%rbp */
	0xff, 0xd7,			/* call *%rdi */
	0x5d,				/* pop %rbp */
	0xc3				/* ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9,		/* stp x29,x30,[sp,#-16]! */
	0xfd, 0x03, 0x00, 0x91,		/* mov x29,sp */
	0x00, 0x00, 0x3f, 0xd6,		/* blr x0 */
	0xfd, 0x7b, 0xc1, 0xa8,		/* ldp x29,x30,[sp],#16 */
	0xc0, 0x03, 0x5f, 0xd6		/* ret */
#endif
};

static __attribute__((noinline)) void
wait_called(void)
{
	ready_await();
}

int
main(int argc, char *argv[])
{
	void (*made)(void (*)(void));
	size_t len = (size_t)(PAGES * PAGE);
	void *p;
	int fd;

	if (sizeof code <= 1)
		errx(77, "the code of this machine is not known");
	fd = -1;
	if (argc == 2 && strcmp(argv[1], "memfd") == 0 &&
	    ((fd = memfd_create("jit", 0)) == -1 ||
	    ftruncate(fd, (off_t)len) == -1))
		err(1, "memfd");
	p = mmap((void *)(uintptr_t)0x200000000, len, PROT_READ | PROT_WRITE,
	    MAP_FIXED_NOREPLACE | (fd == -1 ? MAP_PRIVATE | MAP_ANONYMOUS :
	    MAP_SHARED), fd, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	memcpy((char *)p + 0x100, code, sizeof code);
	if (mprotect(p, len, PROT_READ | PROT_EXEC) == -1)
		err(1, "mprotect");
	__builtin___clear_cache((char *)p, (char *)p + len);
	made = (void (*)(void (*)(void)))((uintptr_t)p + 0x100);
	made(wait_called);
	return 0;
}
