/*
 * A thread that computes with all registers it has, and sees when one of
 * them is not what it was.
 */
#ifndef SPIN_H
#define SPIN_H

#include <sys/syscall.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__

struct spin {			/* what registers hold */
	uint64_t	 general[9];	/* rbx, r8 and up */
	uint64_t	 xmm[16][2];
	uint64_t	 ymm[16][2];	/* upper halves, with AVX */
	long double	 x87;
};

/*
 * Use the tiles of AMX once, and release them, so that the kernel has room for
 * them from then on.  Return false where there are none, or none may be had
 * (Linux, Documentation/arch/x86/xstate.rst).
 */
static inline bool
tiles_use(void)
{
	enum { REQUEST = 0x1023, TILEDATA = 18 };	/* arch_prctl(2) */
	const uint8_t config[64] = { [0] = 1, [16] = 64, [48] = 1 };

	if (syscall(SYS_arch_prctl, REQUEST, TILEDATA) != 0)
		return false;
	__asm__ volatile("ldtilecfg %0\n\ttilezero %%tmm0\n\ttilerelease"
	    : : "m" (config));
	return true;
}

/*
 * Fill the registers, spin for n rounds, and see: how many differ.
 */
static long
spin(uint64_t n)
{
	static const uint64_t seed = 0x9e3779b97f4a7c15;
	struct spin was, is;
	uint64_t *w = (uint64_t *)&was;
	long avx, bad;
	size_t i;

	memset(&was, 0, sizeof was);
	memset(&is, 0, sizeof is);
	for (i = 0; i < 9 + 64; i++)
		w[i] = seed * (i + 1);
	was.x87 = 3.25L;
	avx = __builtin_cpu_supports("avx");
	__asm__ volatile(
	    "leaq -128(%%rsp), %%rsp\n\t"	/* the red zone */
	    "pushq %%rbp\n\tpushq %%rbx\n\t"
	    "pushq %[is]\n\tpushq %[avx]\n\t"
	    "testq %[avx], %[avx]\n\tjz 1f\n\t"
#define LOAD(r, at) "vmovdqu 72+256+" #at "(%[was]), %%xmm" #r "\n\t" \
	    "vinsertf128 $1, %%xmm" #r ", %%ymm" #r ", %%ymm" #r "\n\t"
	    LOAD(0, 0) LOAD(1, 16) LOAD(2, 32) LOAD(3, 48) LOAD(4, 64)
	    LOAD(5, 80) LOAD(6, 96) LOAD(7, 112) LOAD(8, 128) LOAD(9, 144)
	    LOAD(10, 160) LOAD(11, 176) LOAD(12, 192) LOAD(13, 208)
	    LOAD(14, 224) LOAD(15, 240)
	    "1:\n\t"
#define LOW(r, at) "movups 72+" #at "(%[was]), %%xmm" #r "\n\t"
	    LOW(0, 0) LOW(1, 16) LOW(2, 32) LOW(3, 48) LOW(4, 64)
	    LOW(5, 80) LOW(6, 96) LOW(7, 112) LOW(8, 128) LOW(9, 144)
	    LOW(10, 160) LOW(11, 176) LOW(12, 192) LOW(13, 208)
	    LOW(14, 224) LOW(15, 240)
	    "fldt %c[x87](%[was])\n\t"
	    "movq 0(%[was]), %%rbx\n\tmovq 8(%[was]), %%r8\n\t"
	    "movq 16(%[was]), %%r9\n\tmovq 24(%[was]), %%r10\n\t"
	    "movq 32(%[was]), %%r11\n\tmovq 40(%[was]), %%r12\n\t"
	    "movq 48(%[was]), %%r13\n\tmovq 56(%[was]), %%r14\n\t"
	    "movq 64(%[was]), %%r15\n\tmovq %%rbx, %%rbp\n\t"
	    "2: decq %%rcx\n\tjnz 2b\n\t"
	    "cmpq %%rbx, %%rbp\n\tje 3f\n\tnotq %%rbx\n\t3:\n\t"
	    "popq %%rdx\n\tpopq %%rdi\n\t"
	    "fstpt %c[x87](%%rdi)\n\t"
	    "movq %%rbx, 0(%%rdi)\n\tmovq %%r8, 8(%%rdi)\n\t"
	    "movq %%r9, 16(%%rdi)\n\tmovq %%r10, 24(%%rdi)\n\t"
	    "movq %%r11, 32(%%rdi)\n\tmovq %%r12, 40(%%rdi)\n\t"
	    "movq %%r13, 48(%%rdi)\n\tmovq %%r14, 56(%%rdi)\n\t"
	    "movq %%r15, 64(%%rdi)\n\t"
#define KEEP(r, at) "movups %%xmm" #r ", 72+" #at "(%%rdi)\n\t"
	    KEEP(0, 0) KEEP(1, 16) KEEP(2, 32) KEEP(3, 48) KEEP(4, 64)
	    KEEP(5, 80) KEEP(6, 96) KEEP(7, 112) KEEP(8, 128) KEEP(9, 144)
	    KEEP(10, 160) KEEP(11, 176) KEEP(12, 192) KEEP(13, 208)
	    KEEP(14, 224) KEEP(15, 240)
	    "testq %%rdx, %%rdx\n\tjz 4f\n\t"
#define HIGH(r, at) "vextractf128 $1, %%ymm" #r ", 72+256+" #at "(%%rdi)\n\t"
	    HIGH(0, 0) HIGH(1, 16) HIGH(2, 32) HIGH(3, 48) HIGH(4, 64)
	    HIGH(5, 80) HIGH(6, 96) HIGH(7, 112) HIGH(8, 128) HIGH(9, 144)
	    HIGH(10, 160) HIGH(11, 176) HIGH(12, 192) HIGH(13, 208)
	    HIGH(14, 224) HIGH(15, 240)
	    "vzeroupper\n\t"
	    "4:\n\tpopq %%rbx\n\tpopq %%rbp\n\t"
	    "leaq 128(%%rsp), %%rsp"
	    : "+c" (n)
	    : [was] "S" (&was), [is] "D" (&is), [avx] "d" (avx),
	    [x87] "i" (offsetof(struct spin, x87))
	    : "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rax",
	    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
	    "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
	    "xmm15", "memory", "cc");
	if (!avx)
		memcpy(is.ymm, was.ymm, sizeof is.ymm);
	for (bad = is.x87 != was.x87, i = 0; i < 9 + 64; i++)
		bad += ((uint64_t *)&is)[i] != w[i];
	return bad;
}

#else

static inline bool
tiles_use(void)
{
	return false;
}

static long
spin(uint64_t n)
{
	volatile double d = 1;

	while (n-- > 0)
		d = d * 2 / 2;
	return d != 1;
}

#endif
#endif
