#!/usr/bin/env bash
# snap -l releases processes before it reads their memory.  The memory is of one
# instant, even under load; the processes notice nothing, and nothing is left in
# them.  REPEAT=500 takes 10,000 snapshots in a row.
# beside: apart long
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

# A process that writes to its memory all the time.
target "$targets/sweep" 16
for i in 1 2 3; do
	snap -l -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "written all the time: taken ($i)"
	one_instant "written all the time: one instant ($i)"
done
snap -v -o "$tmp/snap" "$pid"
grep -qE '; [0-9.]+ [KM]iB were copied then, as they were written to$' "$tmp/err"
ok $? "written all the time: -v reports how much was copied" || diag <"$tmp/err"
unnoticed "$pid" "written all the time: not noticed"

target "$targets/token" 4
for i in 1 2 3 4 5; do
	snap -lr -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "a token that goes round: taken ($i)"
	one_instant "a token that goes round: one instant ($i)"
done
"$BUILD/snap" -lv -o "$tmp/snap" "$pid" 2>"$tmp/err"
unit='[0-9.]+ (us|ms|s)'
copied='(; [0-9.]+ (KiB|MiB) were copied then, as they were written to)?'
grep -qE "^snap: process $pid: stopped for $unit(; $unit to [^;]*)?$copied$" "$tmp/err"
ok $? "-v reports the length of the stop" || diag <"$tmp/err"
"$BUILD/snap" -lrv -o "$tmp/many" "$pid" 2>"$tmp/err"
grep -qE "^snap: 5 processes: stopped for $unit at most \(process [0-9]+\), \
$unit in all(; $unit to [^;]*)?$copied$" "$tmp/err"
ok $? "-v reports the longest stop of several, and the sum" || diag <"$tmp/err"
is "$(sed -n 's/ [0-9]*[.][0-9]/ N/g; s/^snap: pause in ms: //p' "$tmp/err")" \
    "stop N, registers N, asking N, records N, files N, clones N, shared memory N, memory N, release N" \
    "-v reports the time of each step"
is "$(python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
import check
live = check.record(check.load(sys.argv[2]), int(sys.argv[3]))["live"]
print(live.endswith(b"\n"), int(live) > 0)' "$tests/live" "$tmp/snap" "$pid")" \
    "True True" "the record says that the capture was live"
unnoticed "$pid" "a token that goes round: not noticed"

target "$targets/resize"
for i in 1 2 3 4 5 6; do
	snap -l -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "memory that is emptied: taken ($i)"
	one_instant "memory that is emptied: one instant ($i)"
done
unnoticed "$pid" "memory that is emptied: not noticed"

# Children that come and go.
for arg in "" x; do
	what="a parent${arg:+ with a child that stays}"
	target "$targets/reaper" $arg
	bad=0
	for ((i = 0; i < 20; i++)); do
		snap -l -o "$tmp/snap" "$pid"
		bad=$((bad + (rc != 0)))
	done
	is "$bad $err" "0 " "$what: 20 snapshots taken"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: its signals and wait calls are unaffected"
done

# Other kinds of memory and resources.
for what in anon shared lacking cow filemap leader threads manymaps fds; do
	args=()
	[ "$what" != filemap ] || args=("$tmp/data")
	target "$targets/$what" "${args[@]}"
	snap -lr -o "$tmp/snap" "$pid"
	want="0 "
	[ "$what" != leader ] || want="1 snap: process N cannot be restored, \
nor released at once: no system call can be injected: its first thread has ended"
	is "$rc $err" "$want" "$what: taken"
	[ "$what" = fds ] || check "$tmp/snap" "$pid" "$what: memory matches"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: not noticed"
done
target "$targets/blocked"
bad=0
for ((i = 0; i < 10; i++)); do
	snap -l -o "$tmp/snap" "$pid"
	[ "$rc" -eq 0 ] || diag < <(echo "exit $rc"; cat "$tmp/err")
	bad=$((bad + (rc != 0)))
done
is "$bad $err" "0 " "blocked: 10 snapshots taken"
unnoticed "$pid" "blocked: no call was interrupted"

# snap writes nothing to memory while a thread runs.  The first thread is on a
# small stack, and another one reads the memory below it.
target "$targets/coroutine"
bad=0
for ((i = 0; i < $(often 20); i++)); do
	snap -l -o "$tmp/snap" "$pid"
	bad=$((bad + (rc != 0)))
done
is "$bad $err" "0 " "a coroutine: snapshots taken"
unnoticed "$pid" "a coroutine: memory below its stack was not written to"

# has PID: print descriptors, threads, children, mappings and memory
has() {
	ls "/proc/$1/fd"
	ls "/proc/$1/task"
	cat "/proc/$1"/task/*/children
	cat "/proc/$1/maps"
	grep -E '^(VmSize|VmLck|VmPin|VmData|VmExe|VmLib|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|Threads)' \
	    "/proc/$1/status"
	# the kernel changes page tables and dirty pages at any time
	resident "$1" | grep -vE 'VmPTE|Dirty'
}

many=$(often 20)
for what in anon threads; do
	# under a name of its own, to find its clones
	cp "$targets/$what" "$tmp/many.$what"
	target "$tmp/many.$what"
	snap -l -o "$tmp/snap" "$pid"
	has "$pid" >"$tmp/before"
	bad=0
	for ((i = 0; i < many / 2; i++)); do
		"$BUILD/snap" -l -o /dev/null "$pid" 2>"$tmp/err" ||
		    bad=$((bad + 1))
	done
	is "$bad" 0 "$what, $((many / 2)) snapshots: taken"
	has "$pid" >"$tmp/after"
	try "$what, $((many / 2)) snapshots: nothing is left in it" \
	    diff "$tmp/before" "$tmp/after"
	is "$(executing "$tmp/many.$what")" 1 \
	    "$what, $((many / 2)) snapshots: no clone is left"
	unnoticed "$pid" "$what, $((many / 2)) snapshots: not noticed"
done
finish 89
