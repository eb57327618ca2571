# What the tests that compare stacks with those of gdb share; sourced behind
# tap.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # for those that source it
needs snapstack

# taken NAME COMMAND ...: a snapshot NAME of it, and a core, when it is ready
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

# Does a process run, or sleep in a system call that it stays in?  It does that
# soon after it said that it is ready.
asleep() {
	local s

	s=$(cat "/proc/$1/task"/*/syscall) && case $s in
	*running*) return 0 ;;
	esac
	sleep 0.1
	[ "$s" = "$(cat "/proc/$1/task"/*/syscall)" ]
}

frames() {
	"$BUILD/snapstack" -j "$@" | python3 "$tests/stack/frames.py"
}

# What gdb finds; it lets what Go has on a stack begin at 0.
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
