#!/usr/bin/env bash
# What depends on the machine that we run on stands in lib/linux/machine, in a
# folder a machine; what depends on that of a snapshot is chosen from the table
# of lib/machine.h when it runs.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$tests/.." || exit 1

room=lib/linux/machine
names='__(x86_64|amd64|i386|aarch64|arm|riscv|powerpc|powerpc64|s390|s390x|mips|loongarch|sparc|alpha|ARM_[A-Z_0-9]+)(__)?\>'

# asked DIR ...: where the preprocessor is asked for a machine
asked() {
	find "$@" -name '*.[ch]' ! -path "$room/*" -exec grep -nHE \
	    "^[ 	]*#[ 	]*(if|ifdef|ifndef|elif)\>.*\<($names)" {} +
}

is "$(asked lib fmt cmd)" '' "no file outside of the room asks for the machine"

mkdir "$tmp/lib"
printf '#if defined(__x86_64__)\n#elif defined __aarch64__\n' >"$tmp/lib/x.c"
is "$(asked "$tmp/lib" | wc -l)" 2 "who asks is found"

# of a machine's files, what is compiled elsewhere is nothing
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
is "$(wrapped amd64 '#ifdef __x86_64__')" '' "amd64 is wrapped whole"
is "$(wrapped arm64 '#ifdef __aarch64__')" '' "arm64 is wrapped whole"
is "$(wrapped other '#if !defined __x86_64__ && !defined __aarch64__')" '' \
    "other is for no other"
finish 5
