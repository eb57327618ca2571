#!/usr/bin/env bash
# snapstack limits its memory, because ELF files in a snapshot may be crafted.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/stack/stack.sh
. "$(dirname "$0")/stack.sh"
[ -z "${SANITIZED-}" ] || skip_all "sanitizers reserve terabytes"

# 150 MB of zeros in 22 KB, more than the limit below
cp "$targets/stacks" "$tmp/bomb"
strip "$tmp/bomb"
head -c 150000000 /dev/zero | xz -0 >"$tmp/bomb.xz"
objcopy --add-section .gnu_debugdata="$tmp/bomb.xz" "$tmp/bomb"
taken bomb "$tmp/bomb" signal

# limited KB: print the exit status, and the message
limited() {
	(
		ulimit -d "$1"
		"$BUILD/snapstack" "$tmp/bomb.snap" >"$tmp/out" 2>"$tmp/err"
		echo "$? $(cat "$tmp/err")"
	)
}
is "$(limited 131072)" "1 snapstack: the limit of 128 MiB of memory was \
reached: names and lines may be missing" "the limit is reported"
is "$(grep -c '#.* in bomb' "$tmp/out")" 4 "the stack is printed without names"
is "$(limited unlimited)" "0 " "half of the machine's memory is enough"

mkfifo "$tmp/fifo"
"$BUILD/snapstack" <"$tmp/fifo" 2>"$tmp/err" &
pid=$!
exec 7>"$tmp/fifo"
memory=$(($(getconf _PHYS_PAGES) * $(getconf PAGE_SIZE) / 2))
[ "$memory" -ge $((1 << 30)) ] || memory=$((1 << 30))
limit_is() {
	grep -q "^Max data size  *$memory " "/proc/$pid/limits"
}
until_true limit_is
ok $? "the limit is half of the machine's memory"
exec 7>&-
wait "$pid"
finish 4
