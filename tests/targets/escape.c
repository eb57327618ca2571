/*
 * A process that is killed for most system calls (seccomp(2)), and a second one
 * of the same user, which has no filter and changes the code of the first while
 * that is stopped: a call injected into the first then creates FILE.  With
 * "clone" the code changes when the first has a new child.
 *
 *	escape FILE [clone]
 */
#include "target.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

enum {
	EVIL = 0x80,		/* offset of the code that creates FILE */
	NAME = 0x200,
	STILL_US = 100,
	BAD_US = 20000
};

static struct shared {
	atomic_ulong	 rounds;	/* made by the first */
} *shared;

static char *code;		/* mapped by the second */

/*
 * The code of the first: syscall, ret; pop %rax, ret.  Or a jump to a call of
 * openat(AT_FDCWD, NAME, O_WRONLY | O_CREAT, 0600), and an endless loop.
 */
static const uint16_t good = 0x050f, bad = (EVIL - 2) << 8 | 0xeb;
static const char rest[] = "\xc3\x58\xc3";
static const char evil[] =
    "\xb8\x01\x01\0\0"			/* mov $257, %eax */
    "\x48\xc7\xc7\x9c\xff\xff\xff"	/* mov $-100, %rdi */
    "\x48\x8d\x35\x6d\x01\0\0"		/* lea NAME(%rip), %rsi */
    "\xba\x41\0\0\0"			/* mov $0101, %edx */
    "\x41\xba\x80\x01\0\0"		/* mov $0600, %r10d */
    "\x0f\x05\xeb\xfe";

static void
code_set(uint16_t v)
{
	__atomic_store_n((uint16_t *)(void *)code, v, __ATOMIC_SEQ_CST);
}

static void
spin_us(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) /
	    1000 < us);
}

/*
 * While the first is stopped, change its code all the time.  The first is busy
 * otherwise, so that a stop is noticed soon.
 */
static void __attribute__((noreturn))
change_still(void)
{
	unsigned long was;
	long us;

	for (us = 1;; us = us % 50 + 1) {
		was = shared->rounds;
		(void)usleep(STILL_US);
		for (; shared->rounds == was; us = us % 50 + 1) {
			code_set(bad);
			spin_us(us);
			code_set(good);
			spin_us(us);
		}
	}
}

/*
 * When the first has a new child, change its code for a moment.
 */
static void __attribute__((noreturn))
change_child(pid_t first)
{
	char buf[64], path[64];
	ssize_t n, had;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", first, first);
	if ((fd = open(path, O_RDONLY)) == -1)
		_exit(1);
	/* this process is the first child */
	for (had = 0;; had = n) {
		n = pread(fd, buf, sizeof buf, 0);
		if (n > had && had != 0) {
			code_set(bad);
			spin_us(BAD_US);
			code_set(good);
		}
	}
}

static void
filter_set(void)
{
#ifndef SYS_poll	/* poll(3) makes this call here */
#define SYS_poll SYS_ppoll
#endif
#define ALLOW(nr) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_poll),
		ALLOW(SYS_rt_sigreturn), ALLOW(SYS_restart_syscall),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	};
	struct sock_fprog prog = { sizeof filter / sizeof *filter, filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == -1)
		err(1, "seccomp");
}

int
main(int argc, char *argv[])
{
	/* above all other code, so that it is found first */
	char *const high = (char *)0x7ffffffe0000;
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	pid_t first;
	int fd;

	first = getpid();
	fd = memfd_create("code", 0);
	if (argc < 2 || fd == -1 || ftruncate(fd, PAGE) == -1)
		err(1, "memfd_create");
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED |
	    MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || shared == MAP_FAILED || mmap(high, PAGE,
	    PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) != high)
		err(1, "mmap");
	code_set(good);
	memcpy(code + 2, rest, sizeof rest - 1);
	memcpy(code + EVIL, evil, sizeof evil - 1);
	snprintf(code + NAME, PAGE - NAME, "%s", argv[1]);
	(void)*(volatile char *)high;	/* make it present */
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		end_with_parent();
		if (argc > 2)
			change_child(first);
		change_still();
	}
	ready();
	filter_set();
	while (poll(&p, 1, argc > 2) == 0)
		for (fd = 0; fd < 1000; fd++)
			shared->rounds++;
	report("end", 0);
	_exit(0);
}
