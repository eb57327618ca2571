#!/usr/bin/env bash
# Debuggers say the same of a core made of a snapshot as of the process.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! command -v gdb >/dev/null; then
	echo "1..0 # SKIP no gdb"
	exit 0
fi

# What a debugger prints, without what is not of the process.
gdb_bt() {
	timeout 60 gdb -nx -batch -iex 'set debuginfod enabled off' \
	    -ex 'thread apply all bt' "$@" 2>"$tmp/gdb.err" |
	    sed -nE '/^Thread/,${/^(Thread|#)/{s/ "[^"]*"\)/)/;s/process/LWP/;p}}'
}

# compare WHAT EXE: of the process $pid, which is stopped.
compare() {
	local what=$1 exe=$2

	kill -STOP "$pid"
	until_true stopped "$pid"
	gdb_bt -p "$pid" >"$tmp/live.bt"
	snap -o "$tmp/snap" "$pid"
	try "$what: a core" "$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
	gdb_bt "$exe" "$tmp/core" >"$tmp/core.bt"
	ok "$((! $(grep -c '^Thread' "$tmp/core.bt")))" "$what: gdb reads it"
	try "$what: gdb says the same" diff "$tmp/live.bt" "$tmp/core.bt"
	# gdb before 14 says of the kernel's own cores that .reg-xstate is too
	# small, where AVX-512 state lies elsewhere (AMD's processors)
	is "$(grep -iE 'warning|error' "$tmp/gdb.err" |
	    grep -vE 'system-supplied DSO|auto-load|reg-xstate.*small')" "" \
	    "$what: gdb does not complain"
	if command -v eu-stack >/dev/null; then
		frames eu-stack -p "$pid" >"$tmp/live.bt"
		frames eu-stack -e "$exe" --core "$tmp/core" >"$tmp/core.bt"
		ok "$((! $(grep -c '^#' "$tmp/core.bt")))" \
		    "$what: eu-stack reads it"
		try "$what: eu-stack says the same" \
		    diff "$tmp/live.bt" "$tmp/core.bt"
	else
		skip "$what: eu-stack" "no eu-stack"
	fi
	is "$(timeout 60 readelf -hlW "$tmp/core" 2>&1 >/dev/null)" "" \
	    "$what: readelf has nothing against it"
	lldb_reads "$what" "$exe"
	kill -CONT "$pid"
}

# Each thread's frames, in the order of thread ids.
frames() {
	timeout 60 "$@" 2>/dev/null | awk '/^TID/ { t = $2; next }
	    /^#/ { print t, $0 }' | sort -s -n -k1,1 | sed 's/^[^#]*//'
}

stopped() {
	case $(states "$1") in
	*T*) return 0 ;;
	esac
	return 1
}

# lldb finds all threads, and who called whom.
lldb_reads() {
	local n

	if ! command -v lldb >/dev/null; then
		skip "$1: lldb" "no lldb"
		return
	fi
	timeout 120 lldb -x -b -c "$tmp/core" "$2" -o 'thread list' \
	    -o 'thread backtrace all' >"$tmp/lldb" 2>/dev/null
	n=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)
	is "$(sed '/frame #/d' "$tmp/lldb" | grep -cE '^ *[* ] thread #')" \
	    $((2 * n)) "$1: lldb finds its threads"
	is "$(grep -cE 'frame #0: 0x' "$tmp/lldb")" "$n" \
	    "$1: and where each is"
	[ "$1" = "32 bits" ] && return	# it has no main
	grep -q 'frame #[1-9].*`main' "$tmp/lldb"
	ok $? "$1: lldb finds the way to main"
}

target "$targets/threads"
compare "C threads" "$targets/threads"

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
	skip "32 bits" "the compiler cannot make it"
fi

# The first thread has ended: what is left comes first.
target "$targets/leader"
snap -o "$tmp/snap" "$pid"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "0 " "the first thread has ended: a core"
ok "$((! $(gdb_bt "$targets/leader" "$tmp/core" | grep -c '^#')))" \
    "the first thread has ended: gdb reads it"
finish
