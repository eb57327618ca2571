/*
 * Checks of memory, registers and credentials for kinds.
 */
#ifndef KINDS_H
#define KINDS_H

#include "apart.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <linux/capability.h>

#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	SEED_HIDDEN = 21, SEED_HEAP, SEED_NAMED, SEED_QUEUE, SEED_FIFO,
	BIN_CAP = CAP_NET_BIND_SERVICE,
	HEAP = (1 << 20) + 123,	/* bytes that brk moves */
	STANDS = 700		/* unread bytes in a FIFO or a socket */
};

#ifndef PR_SET_VMA
enum { PR_SET_VMA = 0x53564d41, PR_SET_VMA_ANON_NAME = 0 };
#endif

static inline char *
memory(size_t len, int flags)
{
	char *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1,
	    0);
	must(p != MAP_FAILED);
	return p;
}

/*
 * Pages that cannot be read, of which every other one has data; shared memory
 * with a name; and a heap that ends within a page.
 */
static char *hidden, *named, *heap;

static inline void
memory_begin(void)
{
	hidden = memory(4 * PAGE, MAP_PRIVATE);
	pattern_fill(hidden, PAGE, SEED_HIDDEN);
	pattern_fill(hidden + 2 * PAGE, PAGE, SEED_HIDDEN + 1);
	must(mprotect(hidden, 4 * PAGE, PROT_NONE) == 0);
	named = memory(4 * PAGE, MAP_SHARED);
	pattern_fill(named, 2 * PAGE, SEED_NAMED);
	(void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, named, 4 * PAGE,
	    "named");
	must((heap = sbrk(HEAP)) != (void *)-1);
	pattern_fill(heap, HEAP, SEED_HEAP);
}

static inline long
memory_check(void)
{
	static const char zero[MAX_PAGE];
	long wrong;

	wrong = mprotect(hidden, 4 * PAGE, PROT_READ) != 0;
	wrong += pattern_check(hidden, PAGE, SEED_HIDDEN);
	wrong += pattern_check(hidden + 2 * PAGE, PAGE, SEED_HIDDEN + 1);
	wrong += memcmp(hidden + PAGE, zero, PAGE) != 0;
	wrong += memcmp(hidden + 3L * PAGE, zero, PAGE) != 0;
	wrong += mprotect(hidden, 4 * PAGE, PROT_NONE) != 0;
	wrong += pattern_check(named, 2 * PAGE, SEED_NAMED);
	wrong += memcmp(named + 3L * PAGE, zero, PAGE) != 0;
	wrong += sbrk(0) != heap + HEAP;
	return wrong + pattern_check(heap, HEAP, SEED_HEAP);
}

/*
 * Extend a stack by a page each time, and use this process's stack.
 */
static inline long
stack_check(uint64_t n)
{
	static char *p;
	static long depth;
	char deep[4096];

	if (p == NULL) {
		p = mmap(NULL, 512L * PAGE, PROT_NONE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		must(p != MAP_FAILED && munmap(p, 512L * PAGE) == 0);
		p = mmap(p + 511L * PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED,
		    -1, 0);
		must(p != MAP_FAILED);
	}
	if (depth < 100)
		depth++;
	p[-depth * PAGE] = (char)depth;
	memset(deep, (int)n, sizeof deep);
	__asm__ volatile("" : : "r" (deep) : "memory");
	return p[-depth * PAGE] != (char)depth || p[-PAGE] != 1;
}

/*
 * Read the credentials and limits of this process from /proc.
 */
static inline void
rights_read(char text[4096])
{
	static const char *const file[] = { "/proc/self/status",
	    "/proc/self/limits" };
	static const char *const key[] = { "Umask", "Uid", "Gid", "Groups",
	    "Cap", "NoNewPrivs", "Max " };
	char line[256];
	size_t i, k, n;
	FILE *f;

	for (n = i = 0; i < 2; i++) {
		must((f = fopen(file[i], "re")) != NULL);
		while (fgets(line, sizeof line, f) != NULL)
			for (k = 0; k < sizeof key / sizeof *key; k++)
				if (strncmp(line, key[k],
				    strlen(key[k])) == 0 && n < 3800)
					n += (size_t)snprintf(text + n, 4096 -
					    n, "%s", line);
		fclose(f);
	}
}

/*
 * Become another user, with groups, one capability, limits and a umask.
 */
static inline void
rights_lessen(void)
{
	struct __user_cap_header_struct h = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct d[2] = { { 0 }, { 0 } };
	static const gid_t groups[] = { 7, 70000, 31 };
	struct rlimit l = { 12345, 23456 };

	(void)umask(0037);
	must(setrlimit(RLIMIT_SIGPENDING, &l) == 0 &&
	    setrlimit(RLIMIT_NPROC, &l) == 0);
	must(prctl(PR_SET_KEEPCAPS, 1) == 0 && setgroups(3, groups) == 0);
	must(setresgid(100, 101, 102) == 0 && setresuid(1000, 1001, 1002) ==
	    0);
	d[0].effective = d[0].permitted = d[0].inheritable = 1U << BIN_CAP;
	must(syscall(SYS_capset, &h, d) == 0);
	must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, BIN_CAP, 0, 0) == 0);
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	(void)prctl(PR_SET_DUMPABLE, 1);
	end_with_parent();
}

/*
 * Sleep with a pattern in vector and mask registers; return whether they
 * changed.
 */
static inline long
vectors_check(uint64_t seed)
{
	struct timespec t = { 0, TICK * 1000000L };
	uint64_t in[33], out[33];

	pattern_fill(in, sizeof in, seed);
	memcpy(out, in, sizeof in);
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512bw")) {
		long rc = SYS_nanosleep;
		void *how = &t, *none = NULL;

		__asm__ volatile("vmovdqu64 (%3), %%zmm3\n\t"
		    "vmovdqu64 64(%3), %%zmm15\n\t"
		    "vmovdqu64 128(%3), %%zmm16\n\t"
		    "vmovdqu64 192(%3), %%zmm31\n\t"
		    "kmovq 256(%3), %%k7\n\t"
		    "vpxorq %%zmm8, %%zmm8, %%zmm8\n\t"
		    "syscall\n\t"
		    "vmovdqu64 %%zmm3, (%4)\n\t"
		    "vmovdqu64 %%zmm15, 64(%4)\n\t"
		    "vmovdqu64 %%zmm16, 128(%4)\n\t"
		    "vmovdqu64 %%zmm31, 192(%4)\n\t"
		    "kmovq %%k7, 256(%4)\n\t"
		    "vzeroupper"
		    : "+a" (rc), "+D" (how), "+S" (none)
		    : "r" (in), "r" (out)
		    : "rcx", "r11", "memory", "cc", "xmm3", "xmm8", "xmm15");
		return memcmp(in, out, sizeof in) != 0;
	}
#endif
	(void)nanosleep(&t, NULL);
	return memcmp(in, out, sizeof in) != 0;
}

#endif
