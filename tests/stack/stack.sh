# Functions for tests that compare stacks with gdb; sourced after tap.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # for those that source it
needs snapstack

# taken NAME COMMAND ...: make NAME.snap and NAME.core of a target
taken() {
	local name=$1

	shift
	target "$@"
	until_true asleep "$pid"
	"$BUILD/snap" -o "$tmp/$name.snap" "$pid" 2>"$tmp/err"
	"$BUILD/snapcore" -o "$tmp/$name.core" "$tmp/$name.snap"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# asleep PID: does it run, or stay in one system call?  It does soon after it
# has printed "ready".
asleep() {
	local s

	s=$(cat "/proc/$1/task"/*/syscall) || return
	sleep 0.1
	[ "$s" = "$(cat "/proc/$1/task"/*/syscall)" ]
}

frames() {
	"$BUILD/snapstack" -j "$@" | python3 "$tests/stack/frames.py"
}

# gdb_frames ARG ...: print gdb's frames, without the one at 0 below those of Go
gdb_frames() {
	gdb -nx -batch -iex 'set debuginfod enabled off' \
	    -x "$tests/stack/gdbframes.py" "$@" 2>/dev/null |
	    sed -n '/^THREAD/{s/ 0:0$//;p;}'
}

# same WHAT NAME PROGRAM: gdb finds the same frames
same() {
	if ! command -v gdb >/dev/null; then
		skip "$1" "no gdb"
		return
	fi
	gdb_frames "$3" "$tmp/$2.core" >"$tmp/gdb"
	frames "$tmp/$2.snap" >"$tmp/ours"
	if [ -s "$tmp/gdb" ] && cmp -s "$tmp/gdb" "$tmp/ours"; then
		ok 0 "$1"
	else
		ok 1 "$1"
		diff "$tmp/gdb" "$tmp/ours" | diag
	fi
}
