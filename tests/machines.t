#!/usr/bin/env bash
# Only lib/linux/machine has code for one architecture, in a folder for each.
# For the architecture of a snapshot, programs use the table of lib/machine.h.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$tests/.." || exit 1

room=lib/linux/machine
names='__(x86_64|amd64|i386|aarch64|arm|riscv|powerpc|powerpc64|s390|s390x|mips|loongarch|sparc|alpha|ARM_[A-Z_0-9]+)(__)?\>'

# asked DIR ...: print lines that test for an architecture
asked() {
	find "$@" -name '*.[ch]' ! -path "$room/*" -exec grep -nHE \
	    "^[ 	]*#[ 	]*(if|ifdef|ifndef|elif)\>.*\<($names)" {} +
}

is "$(asked lib fmt cmd)" '' "no file elsewhere tests for an architecture"

mkdir "$tmp/lib"
printf '#if defined(__x86_64__)\n#elif defined __aarch64__\n' >"$tmp/lib/x.c"
is "$(asked "$tmp/lib" | wc -l)" 2 "such tests are found"

# wrapped FOLDER LINE: print the files that are not inside one #if, which is
# LINE
wrapped() {
	local f

	for f in "$room/$1"/*.c; do
		awk -v want="$2" '
		    /^[a-z{}]/ && !open { bad = 1 }
		    /^#if/ { if (!open++ && $0 != want) bad = 1; n++ }
		    /^#endif/ { open--; ends = NR }
		    END { exit bad || n == 0 || open || ends != NR }' "$f" ||
		    echo "$f"
	done
}
is "$(wrapped amd64 '#ifdef __x86_64__')" '' "amd64 is inside its #ifdef"
is "$(wrapped arm64 '#ifdef __aarch64__')" '' "arm64 is inside its #ifdef"
is "$(wrapped other '#if !defined __x86_64__ && !defined __aarch64__')" '' \
    "other is inside its #if"
finish 5
