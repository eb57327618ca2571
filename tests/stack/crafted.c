/*
 * A program with crafted DWARF: the first namespace contains 60 others, each in
 * the one before, and the sibling of each of them is its own first child.  A
 * search of both the children and the siblings visits the last one 2^60 times.
 */
#include <stdio.h>
#include <unistd.h>

int	 wait_here(void);

/* abbreviations: a unit, a namespace with a sibling, a function */
__asm__(".section .debug_abbrev,\"\",%progbits\n"
    "abbreviations:\n"
    ".byte 1, 0x11, 1, 0x13, 0x0b, 0x11, 1, 0x12, 7, 0, 0\n"
    ".byte 2, 0x39, 1, 1, 0x13, 0, 0\n"
    ".byte 3, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 7, 0, 0\n"
    ".byte 0\n"
    ".section .debug_info,\"\",%progbits\n"
    "unit: .4byte unit_end - unit - 4\n"
    ".2byte 4\n"
    ".4byte abbreviations\n"
    ".byte 8\n"
    ".byte 1, 4\n"		/* C++ */
    ".8byte wait_here, 64\n"
    ".byte 2\n"
    ".4byte function - unit\n"
    ".rept 60\n"
    ".byte 2\n"
    ".4byte . + 4 - unit\n"
    ".endr\n"
    ".zero 61\n"
    "function: .byte 3\n"
    ".asciz \"waits\"\n"
    ".8byte wait_here, 64\n"
    ".byte 0\n"
    "unit_end:\n"
    ".text\n");

__attribute__((noinline)) int
wait_here(void)
{
	printf("ready\n");
	fflush(stdout);
	return pause() + 1;
}

int
main(void)
{
	return wait_here() + 1;
}
