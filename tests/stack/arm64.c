/*
 * The program of arm64.hex, a snapshot that tests read on any machine.  It was
 * made with these commands, in a directory of its own:
 *
 *	aarch64-linux-gnu-gcc -static -nostdlib -ffreestanding -g -O1 \
 *	    -fdebug-prefix-map="$PWD"=. -o arm64 arm64.c
 *	ulimit -c unlimited; env -i qemu-aarch64-static ./arm64
 *	snapcore -r -e arm64 -o snap qemu_arm64*.core
 *
 * with another first line, and without a trailer.
 */
static volatile int number;

static __attribute__((noinline)) void
fail(int n)
{
	number = n;
	*(volatile int *)0 = 1;
}

static inline __attribute__((always_inline)) int
twice(int n)
{
	fail(n + 1);
	return 2 * number;
}

static __attribute__((noinline)) int
middle(int n)
{
	return twice(n) + n;
}

__attribute__((used)) static void
begin(void)
{
	number = middle(7) + 1;
}

__asm__(".globl _start\n"
    ".type _start, %function\n"
    "_start:\n"
    ".cfi_startproc\n"
    ".cfi_undefined x30\n"
    "	bl begin\n"
    "	brk #0\n"
    ".cfi_endproc\n"
    ".size _start, . - _start\n");
