/*
 * A function that fills all registers of a thread and checks them.
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
 * Use the tiles of AMX once and release them, so that the kernel has their
 * state from then on.  Return false if there are none, or they are not
 * permitted (Linux, Documentation/arch/x86/xstate.rst).
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
 * Fill the registers, spin for n rounds, and return how many registers differ.
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

#elif defined __aarch64__

#include <sys/auxv.h>
#include <sys/prctl.h>

enum { SPIN_GENERAL = 26, SPIN_VECTOR = 256 };

struct spin {			/* what registers hold */
	uint64_t	 general[SPIN_GENERAL];	/* x4 to x28, and x30 */
	uint8_t		 vector[32 * SPIN_VECTOR];
	uint8_t		 mask[17 * SPIN_VECTOR / 8];	/* p0 to p15, ffr */
};

/*
 * Set the longest vectors, so that their state exceeds the initial signal
 * frame.  Return false if they are not longer than that (Linux,
 * Documentation/arch/arm64/sve.rst).
 */
static inline bool
tiles_use(void)
{
	enum { LENGTH = 0xffff, ROOM = 128 };	/* bytes */
	int len;

	len = prctl(PR_SVE_SET_VL, SPIN_VECTOR);
	return len > 0 && (len & LENGTH) >= ROOM;
}

/*
 * Fill the registers, with SVE whole vectors, spin for n rounds, and return how
 * many bytes differ.
 */
static long
spin(uint64_t n)
{
	enum { SVE = 1 << 22 };	/* HWCAP_SVE */
	static const uint64_t seed = 0x9e3779b97f4a7c15;
	static _Thread_local struct spin was, is;
	const uint64_t sve = (getauxval(AT_HWCAP) & SVE) != 0;
	const struct {
		void		*was[3];
		void		*is[3];
		uint64_t	 sve;
	} at = {
		{ was.general, was.vector, was.mask },
		{ is.general, is.vector, is.mask }, sve
	};
	uint64_t len = 16;
	uint8_t *w = (uint8_t *)&was;
	long bad;
	size_t i;

	if (sve)
		__asm__ (".arch_extension sve\n\trdvl %0, #1" : "=r" (len));
	for (i = 0; i < sizeof was; i++)
		w[i] = (uint8_t)(seed * (i + 1) >> 56);
	memset(was.mask + 2 * len, 0xff, len / 8);
	is = was;
	memset(is.general, 0, sizeof is.general);
	memset(is.vector, 0, 32 * len);
	if (sve)
		memset(is.mask, 0, 17 * len / 8);
	register const void *where __asm__("x1") = &at;
	register uint64_t rounds __asm__("x2") = n;
	__asm__ volatile(
	    ".arch_extension sve\n\t"
	    "stp x1, x2, [sp, #-32]!\n\t"
	    "str x30, [sp, #16]\n\t"
	    "mov x3, x2\n\tmov x2, x1\n\t"
	    "ldr x4, [x2, #48]\n\tldr x1, [x2, #8]\n\t"
	    "cbz x4, 1f\n\t"
	    "ldr z0, [x1, #0, mul vl]\n\tldr z1, [x1, #1, mul vl]\n\t"
	    "ldr z2, [x1, #2, mul vl]\n\tldr z3, [x1, #3, mul vl]\n\t"
	    "ldr z4, [x1, #4, mul vl]\n\tldr z5, [x1, #5, mul vl]\n\t"
	    "ldr z6, [x1, #6, mul vl]\n\tldr z7, [x1, #7, mul vl]\n\t"
	    "ldr z8, [x1, #8, mul vl]\n\tldr z9, [x1, #9, mul vl]\n\t"
	    "ldr z10, [x1, #10, mul vl]\n\tldr z11, [x1, #11, mul vl]\n\t"
	    "ldr z12, [x1, #12, mul vl]\n\tldr z13, [x1, #13, mul vl]\n\t"
	    "ldr z14, [x1, #14, mul vl]\n\tldr z15, [x1, #15, mul vl]\n\t"
	    "ldr z16, [x1, #16, mul vl]\n\tldr z17, [x1, #17, mul vl]\n\t"
	    "ldr z18, [x1, #18, mul vl]\n\tldr z19, [x1, #19, mul vl]\n\t"
	    "ldr z20, [x1, #20, mul vl]\n\tldr z21, [x1, #21, mul vl]\n\t"
	    "ldr z22, [x1, #22, mul vl]\n\tldr z23, [x1, #23, mul vl]\n\t"
	    "ldr z24, [x1, #24, mul vl]\n\tldr z25, [x1, #25, mul vl]\n\t"
	    "ldr z26, [x1, #26, mul vl]\n\tldr z27, [x1, #27, mul vl]\n\t"
	    "ldr z28, [x1, #28, mul vl]\n\tldr z29, [x1, #29, mul vl]\n\t"
	    "ldr z30, [x1, #30, mul vl]\n\tldr z31, [x1, #31, mul vl]\n\t"
	    "ldr x1, [x2, #16]\n\tsetffr\n\t"
	    "ldr p0, [x1, #0, mul vl]\n\tldr p1, [x1, #1, mul vl]\n\t"
	    "ldr p2, [x1, #2, mul vl]\n\tldr p3, [x1, #3, mul vl]\n\t"
	    "ldr p4, [x1, #4, mul vl]\n\tldr p5, [x1, #5, mul vl]\n\t"
	    "ldr p6, [x1, #6, mul vl]\n\tldr p7, [x1, #7, mul vl]\n\t"
	    "ldr p8, [x1, #8, mul vl]\n\tldr p9, [x1, #9, mul vl]\n\t"
	    "ldr p10, [x1, #10, mul vl]\n\tldr p11, [x1, #11, mul vl]\n\t"
	    "ldr p12, [x1, #12, mul vl]\n\tldr p13, [x1, #13, mul vl]\n\t"
	    "ldr p14, [x1, #14, mul vl]\n\tldr p15, [x1, #15, mul vl]\n\t"
	    "b 2f\n\t"
	    "1:\n\t"
	    "ldr q0, [x1, #0]\n\tldr q1, [x1, #16]\n\t"
	    "ldr q2, [x1, #32]\n\tldr q3, [x1, #48]\n\t"
	    "ldr q4, [x1, #64]\n\tldr q5, [x1, #80]\n\t"
	    "ldr q6, [x1, #96]\n\tldr q7, [x1, #112]\n\t"
	    "ldr q8, [x1, #128]\n\tldr q9, [x1, #144]\n\t"
	    "ldr q10, [x1, #160]\n\tldr q11, [x1, #176]\n\t"
	    "ldr q12, [x1, #192]\n\tldr q13, [x1, #208]\n\t"
	    "ldr q14, [x1, #224]\n\tldr q15, [x1, #240]\n\t"
	    "ldr q16, [x1, #256]\n\tldr q17, [x1, #272]\n\t"
	    "ldr q18, [x1, #288]\n\tldr q19, [x1, #304]\n\t"
	    "ldr q20, [x1, #320]\n\tldr q21, [x1, #336]\n\t"
	    "ldr q22, [x1, #352]\n\tldr q23, [x1, #368]\n\t"
	    "ldr q24, [x1, #384]\n\tldr q25, [x1, #400]\n\t"
	    "ldr q26, [x1, #416]\n\tldr q27, [x1, #432]\n\t"
	    "ldr q28, [x1, #448]\n\tldr q29, [x1, #464]\n\t"
	    "ldr q30, [x1, #480]\n\tldr q31, [x1, #496]\n\t"
	    "2: ldr x1, [x2]\n\t"
	    "ldr x4, [x1, #0]\n\tldr x5, [x1, #8]\n\t"
	    "ldr x6, [x1, #16]\n\tldr x7, [x1, #24]\n\t"
	    "ldr x8, [x1, #32]\n\tldr x9, [x1, #40]\n\t"
	    "ldr x10, [x1, #48]\n\tldr x11, [x1, #56]\n\t"
	    "ldr x12, [x1, #64]\n\tldr x13, [x1, #72]\n\t"
	    "ldr x14, [x1, #80]\n\tldr x15, [x1, #88]\n\t"
	    "ldr x16, [x1, #96]\n\tldr x17, [x1, #104]\n\t"
	    "ldr x18, [x1, #112]\n\tldr x19, [x1, #120]\n\t"
	    "ldr x20, [x1, #128]\n\tldr x21, [x1, #136]\n\t"
	    "ldr x22, [x1, #144]\n\tldr x23, [x1, #152]\n\t"
	    "ldr x24, [x1, #160]\n\tldr x25, [x1, #168]\n\t"
	    "ldr x26, [x1, #176]\n\tldr x27, [x1, #184]\n\t"
	    "ldr x28, [x1, #192]\n\tldr x30, [x1, #200]\n\t"
	    "3: subs x3, x3, #1\n\tb.ne 3b\n\t"
	    "ldr x2, [sp]\n\tldr x1, [x2, #24]\n\t"
	    "str x4, [x1, #0]\n\tstr x5, [x1, #8]\n\t"
	    "str x6, [x1, #16]\n\tstr x7, [x1, #24]\n\t"
	    "str x8, [x1, #32]\n\tstr x9, [x1, #40]\n\t"
	    "str x10, [x1, #48]\n\tstr x11, [x1, #56]\n\t"
	    "str x12, [x1, #64]\n\tstr x13, [x1, #72]\n\t"
	    "str x14, [x1, #80]\n\tstr x15, [x1, #88]\n\t"
	    "str x16, [x1, #96]\n\tstr x17, [x1, #104]\n\t"
	    "str x18, [x1, #112]\n\tstr x19, [x1, #120]\n\t"
	    "str x20, [x1, #128]\n\tstr x21, [x1, #136]\n\t"
	    "str x22, [x1, #144]\n\tstr x23, [x1, #152]\n\t"
	    "str x24, [x1, #160]\n\tstr x25, [x1, #168]\n\t"
	    "str x26, [x1, #176]\n\tstr x27, [x1, #184]\n\t"
	    "str x28, [x1, #192]\n\tstr x30, [x1, #200]\n\t"
	    "ldr x4, [x2, #48]\n\tldr x1, [x2, #32]\n\t"
	    "cbz x4, 4f\n\t"
	    "str z0, [x1, #0, mul vl]\n\tstr z1, [x1, #1, mul vl]\n\t"
	    "str z2, [x1, #2, mul vl]\n\tstr z3, [x1, #3, mul vl]\n\t"
	    "str z4, [x1, #4, mul vl]\n\tstr z5, [x1, #5, mul vl]\n\t"
	    "str z6, [x1, #6, mul vl]\n\tstr z7, [x1, #7, mul vl]\n\t"
	    "str z8, [x1, #8, mul vl]\n\tstr z9, [x1, #9, mul vl]\n\t"
	    "str z10, [x1, #10, mul vl]\n\tstr z11, [x1, #11, mul vl]\n\t"
	    "str z12, [x1, #12, mul vl]\n\tstr z13, [x1, #13, mul vl]\n\t"
	    "str z14, [x1, #14, mul vl]\n\tstr z15, [x1, #15, mul vl]\n\t"
	    "str z16, [x1, #16, mul vl]\n\tstr z17, [x1, #17, mul vl]\n\t"
	    "str z18, [x1, #18, mul vl]\n\tstr z19, [x1, #19, mul vl]\n\t"
	    "str z20, [x1, #20, mul vl]\n\tstr z21, [x1, #21, mul vl]\n\t"
	    "str z22, [x1, #22, mul vl]\n\tstr z23, [x1, #23, mul vl]\n\t"
	    "str z24, [x1, #24, mul vl]\n\tstr z25, [x1, #25, mul vl]\n\t"
	    "str z26, [x1, #26, mul vl]\n\tstr z27, [x1, #27, mul vl]\n\t"
	    "str z28, [x1, #28, mul vl]\n\tstr z29, [x1, #29, mul vl]\n\t"
	    "str z30, [x1, #30, mul vl]\n\tstr z31, [x1, #31, mul vl]\n\t"
	    "ldr x1, [x2, #40]\n\t"
	    "str p0, [x1, #0, mul vl]\n\tstr p1, [x1, #1, mul vl]\n\t"
	    "str p2, [x1, #2, mul vl]\n\tstr p3, [x1, #3, mul vl]\n\t"
	    "str p4, [x1, #4, mul vl]\n\tstr p5, [x1, #5, mul vl]\n\t"
	    "str p6, [x1, #6, mul vl]\n\tstr p7, [x1, #7, mul vl]\n\t"
	    "str p8, [x1, #8, mul vl]\n\tstr p9, [x1, #9, mul vl]\n\t"
	    "str p10, [x1, #10, mul vl]\n\tstr p11, [x1, #11, mul vl]\n\t"
	    "str p12, [x1, #12, mul vl]\n\tstr p13, [x1, #13, mul vl]\n\t"
	    "str p14, [x1, #14, mul vl]\n\tstr p15, [x1, #15, mul vl]\n\t"
	    "rdffr p0.b\n\tstr p0, [x1, #16, mul vl]\n\t"
	    "b 5f\n\t"
	    "4:\n\t"
	    "str q0, [x1, #0]\n\tstr q1, [x1, #16]\n\t"
	    "str q2, [x1, #32]\n\tstr q3, [x1, #48]\n\t"
	    "str q4, [x1, #64]\n\tstr q5, [x1, #80]\n\t"
	    "str q6, [x1, #96]\n\tstr q7, [x1, #112]\n\t"
	    "str q8, [x1, #128]\n\tstr q9, [x1, #144]\n\t"
	    "str q10, [x1, #160]\n\tstr q11, [x1, #176]\n\t"
	    "str q12, [x1, #192]\n\tstr q13, [x1, #208]\n\t"
	    "str q14, [x1, #224]\n\tstr q15, [x1, #240]\n\t"
	    "str q16, [x1, #256]\n\tstr q17, [x1, #272]\n\t"
	    "str q18, [x1, #288]\n\tstr q19, [x1, #304]\n\t"
	    "str q20, [x1, #320]\n\tstr q21, [x1, #336]\n\t"
	    "str q22, [x1, #352]\n\tstr q23, [x1, #368]\n\t"
	    "str q24, [x1, #384]\n\tstr q25, [x1, #400]\n\t"
	    "str q26, [x1, #416]\n\tstr q27, [x1, #432]\n\t"
	    "str q28, [x1, #448]\n\tstr q29, [x1, #464]\n\t"
	    "str q30, [x1, #480]\n\tstr q31, [x1, #496]\n\t"
	    "5: ldr x30, [sp, #16]\n\tadd sp, sp, #32"
	    : "+r" (where), "+r" (rounds) : : "x3",
	    "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	    "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",
	    "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1",
	    "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
	    "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
	    "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
	    "v30", "v31", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7",
	    "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "memory",
	    "cc");
	for (bad = 0, i = 0; i < sizeof was; i++)
		bad += ((uint8_t *)&is)[i] != w[i];
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
