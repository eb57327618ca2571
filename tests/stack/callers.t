#!/usr/bin/env bash
# Callers that snapstack cannot know for certain are marked, and a stack is
# whole only if its outermost frame was reached.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/stack/stack.sh
. "$(dirname "$0")/stack.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "it has assembly for amd64"
command -v cc >/dev/null || skip_all "no compiler"

# made NAME FLAG ...: build NAME from NAME.c, run it, take NAME.snap
made() {
	local name=$1

	shift
	cc -O1 -fno-stack-protector "$@" -o "$tmp/$name" "$tmp/$name.c" \
	    2>"$tmp/cc" || diag <"$tmp/cc"
	taken "$name" "$tmp/$name"
}

# functions NAME: the functions of NAME.snap from wait_here on, with the marks
# of guesses, and whether main's caller was reached
functions() {
	"$BUILD/snapstack" -j "$tmp/$1.snap" | jq -r '([.frames[] |
	    (if .guess then "?" else "" end) + (.function // .address)] |
	    join(" ")), .why' | sed 's/.*\(wait_here\)/\1/;s/ ?*__libc.*//' |
	    tr '\n' ';'
}

cat >"$tmp/zero.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static char stack[65536] __attribute__((aligned(4096)));
__attribute__((noinline)) void wait_here(void) {
	pause();
	__asm__ volatile("");
}
__attribute__((noinline)) void lone(void) {
	wait_here();
	__asm__ volatile("");
}
__attribute__((noinline)) void overwrite(int n) {
	volatile uint64_t *frame = __builtin_frame_address(0);
	frame[1] = 0;
	wait_here();
}
__attribute__((noinline)) int outer(int n) {
	overwrite(n);
	return n + 1;
}
int main(int argc, char *argv[]) {
	puts("ready");
	fflush(stdout);
	if (SWITCHED)
		__asm__ volatile("mov %0, %%rsp\n pushq $0\n jmp lone" ::
		    "r"(stack + sizeof stack) : "memory");
	return outer(1) + 1;
}
END
made zero -DSWITCHED=0
is "$(functions zero)" "wait_here overwrite ?main;null;" \
    "a return address of 0: the caller is guessed"
made zero -DSWITCHED=1
is "$(functions zero)" "wait_here lone;the return address is 0;" \
    "a return address of 0 where nothing can be guessed"
is "$("$BUILD/snapstack" -f "$tmp/zero.snap" |
    sed 's/\(lone;wait_here\).*/\1/')" "zero;[unknown];lone;wait_here" \
    "-f: an unknown outermost function"

# main and tabled have tables, wait_here and bare have none and no frame pointer
cat >"$tmp/tabled.c" <<'END'
#include <stdio.h>
void bare(void);
/* remove return addresses of earlier calls */
__attribute__((noinline)) void wipe(void) {
	volatile char array[32768];
	for (unsigned int i = 0; i < sizeof array; i++)
		array[i] = 0;
}
__attribute__((noinline)) int tabled(int n) {
	volatile char array[n + 50];
	array[3] = n;
	bare();
	return array[3];
}
__attribute__((noinline)) int middle(int n) {
	volatile char array[n + 50];
	array[3] = n;
	return tabled(n) + array[3];
}
int main(int argc, char *argv[]) {
	puts("ready");
	fflush(stdout);
	wipe();
	return middle(argc) + 1;
}
END
cat >"$tmp/bare.c" <<'END'
#include <unistd.h>
__attribute__((noinline)) void wait_here(void) {
	pause();
	__asm__ volatile("");
}
void bare(void) {
	wait_here();
	__asm__ volatile("");
}
END
cc -O1 -c -fomit-frame-pointer -fno-asynchronous-unwind-tables \
    -o "$tmp/bare.o" "$tmp/bare.c"
made tabled "$tmp/bare.o"
is "$(functions tabled)" "wait_here ?middle main;null;" \
    "a frame that the frame pointer leads to is marked"

# as before, but the frame pointer leads to words that look like a frame
cat >"$tmp/bare.c" <<'END'
#include <stdint.h>
#include <unistd.h>
int decoy(void) {
	return 5;
}
__attribute__((noinline)) void wait_here(void) {
	pause();
	__asm__ volatile("");
}
void bare(void) {
	volatile uint64_t frame[2] = { 0, (uintptr_t)decoy + 4 };
	__asm__ volatile("push %%rbp\n sub $120, %%rsp\n mov %0, %%rbp\n"
	    " call wait_here\n add $120, %%rsp\n pop %%rbp" :: "r"(frame) :
	    "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
	    "r10", "r11");
}
END
cc -O1 -c -fomit-frame-pointer -fno-asynchronous-unwind-tables \
    -mno-red-zone -o "$tmp/bare.o" "$tmp/bare.c"
made tabled "$tmp/bare.o"
is "$(functions tabled)" "wait_here ?decoy ?tabled ?middle ?main;null;" \
    "guesses go up the stack"
finish 5
