/*
 * Attributes that the kernel keeps for a process or a thread, which carryon
 * reads once and compares later.
 */
#ifndef CARRYTRAITS_H
#define CARRYTRAITS_H

#include "apart.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __aarch64__
#define RSEQ_SIG 0xd428bc00
#else
#define RSEQ_SIG 0x53053053
#endif

enum { TRAITS = 24 };

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

struct traits {
	uint64_t v[TRAITS];
};

/*
 * Return the control words of the calling thread's floating-point units.
 */
static inline uint64_t
rounding(void)
{
	uint64_t how = 0;

#ifdef __x86_64__
	uint16_t word;

	__asm__ volatile("fnstcw %0" : "=m" (word));
	how = (uint64_t)word << 32 | (__builtin_ia32_stmxcsr() & 0xffc0);
#elif defined __aarch64__
	__asm__ volatile("mrs %0, fpcr" : "=r" (how));
#endif
	return how;
}

static inline void
rounding_differ(void)
{
#ifdef __x86_64__
	uint16_t word = 0x0b7f;		/* up */

	__asm__ volatile("fldcw %0" : : "m" (word));
	__builtin_ia32_ldmxcsr(0x5f80);
#elif defined __aarch64__
	uint64_t how = 1 << 22;		/* up */

	__asm__ volatile("msr fpcr, %0" : : "r" (how));
#endif
}

/*
 * Read those of the process; only the umask is set to read it.
 */
static inline void
traits_process(struct traits *t)
{
	uint64_t *v = t->v;
	struct rlimit l;
	int reaper;

	memset(t, 0, sizeof *t);
	*v++ = (uint64_t)getpid();
	*v++ = (uint64_t)getpgid(0);
	*v++ = (uint64_t)getsid(0);
	*v = (uint64_t)umask(077);
	(void)umask((mode_t)*v++);
	(void)getrlimit(RLIMIT_NOFILE, &l);
	*v++ = l.rlim_cur;
	*v++ = l.rlim_max;
	(void)getrlimit(RLIMIT_CORE, &l);
	*v++ = l.rlim_cur;
	*v++ = (uint64_t)prctl(PR_GET_DUMPABLE);
	reaper = 0;
	(void)prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	*v++ = (uint64_t)reaper;
	*v++ = (uint64_t)(uintptr_t)sbrk(0);
	*v++ = (uint64_t)prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	*v++ = (uint64_t)prctl(PR_GET_SECUREBITS);
	*v++ = (uint64_t)prctl(PR_GET_KEEPCAPS);
	*v++ = (uint64_t)prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
	*v++ = (uint64_t)prctl(PR_CAPBSET_READ, 25);
}

/*
 * Read those of the calling thread.
 */
static inline void
traits_thread(struct traits *t)
{
	uint64_t *v = t->v;
	struct sched_param p;
	sigset_t mask;
	stack_t ss;
	void *head;
	size_t len;
	int sig, i;

	memset(t, 0, sizeof *t);
	*v++ = (uint64_t)gettid();
	(void)prctl(PR_GET_NAME, v);
	v += 2;
	*v++ = (uint64_t)sched_getscheduler(0);
	*v++ = sched_getparam(0, &p) == 0 ? (uint64_t)p.sched_priority : 99;
	*v++ = (uint64_t)getpriority(PRIO_PROCESS, (id_t)gettid());
	sig = 0;
	(void)prctl(PR_GET_PDEATHSIG, &sig);
	*v++ = (uint64_t)sig;
	(void)sigaltstack(NULL, &ss);
	*v++ = (uint64_t)(uintptr_t)ss.ss_sp;
	*v++ = ss.ss_size;
	*v++ = (uint64_t)ss.ss_flags;
	head = NULL;
	len = 0;
	(void)syscall(SYS_get_robust_list, 0, &head, &len);
	*v++ = (uint64_t)(uintptr_t)head;
	*v++ = len;
	(void)prctl(40 /* PR_GET_TID_ADDRESS */, &head);
	*v++ = (uint64_t)(uintptr_t)head;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (i = 1; i <= 64; i++)
		*v |= (uint64_t)(sigismember(&mask, i) == 1) << (i - 1);
	v++;
	*v++ = rounding();
}

/*
 * Return whether the thread's area for rseq(2) is not registered: a second
 * registration fails.
 */
static inline bool
rseq_lost(void)
{
	char *area;

	if (&__rseq_size == NULL || __rseq_size == 0)
		return false;
	area = (char *)__builtin_thread_pointer() + __rseq_offset;
	return syscall(SYS_rseq, area, 32, 0, RSEQ_SIG) != -1 ||
	    (errno != EBUSY && errno != EINVAL);
}

/*
 * Sleep with a pattern in vector registers; return whether they changed.
 */
static inline long
vectors_sleep(uint64_t seed)
{
	struct timespec t = { 0, TICK * 1000000L }, *how = &t, *none = NULL;
	uint64_t in[8], out[8];
	long rc = SYS_nanosleep;

	pattern_fill(in, sizeof in, seed);
	memcpy(out, in, sizeof in);
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx")) {
		__asm__ volatile("vmovdqu (%3), %%ymm7\n\t"
		    "vmovdqu 32(%3), %%ymm15\n\t"
		    "syscall\n\t"
		    "vmovdqu %%ymm7, (%4)\n\t"
		    "vmovdqu %%ymm15, 32(%4)\n\t"
		    "vzeroupper"
		    : "+a" (rc), "+D" (how), "+S" (none)
		    : "r" (in), "r" (out)
		    : "rcx", "r11", "memory", "cc", "xmm7", "xmm15");
		return memcmp(in, out, sizeof in) != 0;
	}
#elif defined __aarch64__
	register struct timespec *x0 __asm__("x0") = how;
	register struct timespec *x1 __asm__("x1") = none;
	register long x8 __asm__("x8") = rc;

	__asm__ volatile("ldp q7, q15, [%3]\n\t"
	    "ldp q16, q31, [%3, #32]\n\t"
	    "svc #0\n\t"
	    "stp q7, q15, [%4]\n\t"
	    "stp q16, q31, [%4, #32]"
	    : "+r" (x0), "+r" (x1), "+r" (x8)
	    : "r" (in), "r" (out)
	    : "memory", "cc", "v7", "v15", "v16", "v31");
	return memcmp(in, out, sizeof in) != 0;
#endif
	(void)rc;
	(void)nanosleep(how, none);
	return memcmp(in, out, sizeof in) != 0;
}

#endif
