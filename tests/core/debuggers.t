#!/usr/bin/env bash
# Debuggers print the same for a core made from a snapshot as for the process.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! command -v gdb >/dev/null; then
	skip_all "no gdb"
fi

# gdb_bt ARG ...: print the backtraces, without text that differs in cores
gdb_bt() {
	timeout 60 "${gdb[@]}" -ex 'thread apply all bt' "$@" 2>"$tmp/gdb.err" |
	    sed -nE '/^Thread/,${/^(Thread|#)/{s/ "[^"]*"\)/)/;s/process/LWP/;p}}' |
	    by_thread
}

# compare WHAT EXE: stop $pid, and compare it with its core in debuggers
compare() {
	local what=$1 exe=$2

	kill -STOP "$pid"
	until_true is_stopped
	gdb_bt -p "$pid" >"$tmp/live.bt"
	snap -o "$tmp/snap" "$pid"
	try "$what: a core" "$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
	gdb_bt "$exe" "$tmp/core" >"$tmp/core.bt"
	ok "$((! $(grep -c '^Thread' "$tmp/core.bt")))" "$what: gdb reads it"
	try "$what: gdb prints the same" diff "$tmp/live.bt" "$tmp/core.bt"
	is "$(gdb_faults "$tmp/gdb.err")" "" \
	    "$what: gdb does not complain"
	if command -v eu-stack >/dev/null; then
		frames eu-stack -p "$pid" >"$tmp/live.bt"
		frames eu-stack -e "$exe" --core "$tmp/core" >"$tmp/core.bt"
		ok "$((! $(grep -c '^#' "$tmp/core.bt")))" \
		    "$what: eu-stack reads it"
		try "$what: eu-stack prints the same" \
		    diff "$tmp/live.bt" "$tmp/core.bt"
	else
		skip "$what: eu-stack" "no eu-stack" 2
	fi
	is "$(timeout 60 readelf -hlW "$tmp/core" 2>&1 >/dev/null)" "" \
	    "$what: readelf accepts it"
	lldb_reads "$what" "$exe"
	kill -CONT "$pid"
}

# Each thread's frames, in the order of thread ids.
frames() {
	timeout 60 "$@" 2>/dev/null | awk '/^TID/ { t = $2; next }
	    /^#/ { print t, $0 }' | sort -s -n -k1,1 | sed 's/^[^#]*//'
}

# lldb_bt ARG ...: print threads and their frames: addresses and functions
lldb_bt() {
	timeout 120 lldb -x -b "$@" -o 'thread backtrace all' \
	    -o 'process detach' 2>/dev/null | sed -nE '/backtrace all/,${
		s/^[* ] (thread #[0-9]+).*/\1/p
		s/^[* ]+(frame #[0-9]+: 0x[0-9a-f]+ [^(+]*[^ (+]).*/\1/p; }'
}

# lldb finds all threads and their callers.
lldb_reads() {
	local n bits32=0

	[ "$1" != "32 bits" ] || bits32=1
	if ! command -v lldb >/dev/null; then
		skip "$1: lldb" "no lldb" $((3 - bits32))
		return
	fi
	lldb_bt -p "$pid" >"$tmp/live.bt"
	lldb_bt -c "$tmp/core" "$2" >"$tmp/core.bt"
	n=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)
	is "$(grep -c '^thread' "$tmp/core.bt") $(
	    grep -c '^frame #0: 0x' "$tmp/core.bt")" "$n $n" \
	    "$1: lldb finds each thread and its frame"
	try "$1: lldb prints the same" diff "$tmp/live.bt" "$tmp/core.bt"
	[ "$bits32" -eq 1 ] && return	# it calls nothing
	# main has no name if stripped, and no frame if it ends with a tail call
	grep -qE '^frame #[1-9][0-9]*: .*`(main|_start)( |$)' "$tmp/core.bt"
	ok $? "$1: lldb finds main or _start" ||
	    diag <"$tmp/core.bt"
}

target "$targets/threads" busy
compare "C threads" "$targets/threads"
kill "$pid"	# its threads are busy

target python3 -c '
import sys, threading
kept = {i: str(i) * 50 for i in range(5000)}
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()'
compare python "$(readlink "/proc/$pid/exe")"

if [ -x "$targets/bits32" ]; then
	target "$targets/bits32"
	compare "32 bits" "$targets/bits32"
else
	skip "32 bits" "the compiler cannot make it" 9
fi

# The first thread has ended: another one comes first.
target "$targets/leader"
snap -o "$tmp/snap" "$pid"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "0 " "the first thread has ended: a core"
ok "$((! $(gdb_bt "$targets/leader" "$tmp/core" | grep -c '^#')))" \
    "the first thread has ended: gdb reads it"
finish 31
