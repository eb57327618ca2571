#!/usr/bin/env bash
# Processes that others trace, and processes that have no memory or do not stop.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

warning="snap: process N is traced by process N: captured without stopping it, and without its registers"

# traced WHAT: $pid is traced, and snap captures it nevertheless
traced() {
	until_true grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$pid/status"
	snap -o "$tmp/snap" "$pid"
	is "$rc $err" "1 $warning" "$1: taken, with a warning"
	check "$tmp/snap" "$pid" "$1: memory matches"
	grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$pid/status"
	ok $? "$1: still traced"
}

target "$targets/anon"
if strace -V >/dev/null 2>&1; then
	strace -o /dev/null -p "$pid" 2>/dev/null &
	tracer=$!
	traced strace
	kill "$tracer"
	wait "$tracer" 2>/dev/null
	let_go "$pid" "strace: released"
else
	skip strace "not here" 4
fi
# A traced child is not cloned.  The others are, and are released at once.
target "$targets/cow"
if strace -V >/dev/null 2>&1; then
	child=$(sed -n 's/^of //p' "$lines" | head -1)
	strace -o /dev/null -p "$child" 2>/dev/null &
	tracer=$!
	until_true grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$child/status"
	snap -rv -o "$tmp/snap" "$pid"
	is "$rc $(grep -oE "${warning//N/[0-9]+}|clones|cannot.*" \
	    "$tmp/err" | sed 's/\<[1-9][0-9]*\>/N/g')" "1 $warning
clones" "a traced child: the others are cloned"
	check "$tmp/snap" "$pid" "a traced child: memory of all matches"
	kill "$tracer"
	wait "$tracer" 2>/dev/null
	let_go "$child" "a traced child: released"
	unnoticed "$pid" "a traced child: not noticed"
else
	skip "a traced child" "no strace" 4
fi

# One thread is traced: it runs on and uses the memory of the process, so that
# nothing is written there.  The other threads stay stopped.
target "$targets/threads"
if strace -V >/dev/null 2>&1; then
	tid=$(cd "/proc/$pid/task" && printf '%s\n' * | sed -n 10p)
	strace -o /dev/null -p "$tid" 2>/dev/null &
	tracer=$!
	until_true grep -q "^TracerPid:[[:space:]]*$tracer" \
	    "/proc/$pid/task/$tid/status"
	snap -o "$tmp/snap" "$pid"
	is "$rc $err" "1 ${warning/process N is/thread N of process N is}
snap: process N cannot be cloned: another process traces its thread N: all \
processes stay stopped until everything is written" \
	    "one thread: warnings"
	python3 - "$tmp/snap" "$pid" >"$tmp/told" <<END
import sys
sys.path.insert(0, "$tests/live")
import check
record = check.record(check.load(sys.argv[1]), int(sys.argv[2]))
print(*[n for n in ("sigaction", "brk", "dumpable", "membarrier", "exe",
                    "environ") if record.get(n)])
END
	is "$(cat "$tmp/told")" "exe environ" \
	    "one thread: it runs, so no call is injected"
	kill "$tracer"
	wait "$tracer" 2>/dev/null
	let_go "$pid" "one thread: released"
	unnoticed "$pid" "one thread: not noticed"
else
	skip "one thread" "no strace" 4
fi

target "$targets/anon"
if gdb --version >/dev/null 2>&1; then
	mkfifo "$tmp/gdb"
	exec 3<>"$tmp/gdb"
	gdb -nx -q -p "$pid" <"$tmp/gdb" >/dev/null 2>&1 &
	tracer=$!
	traced gdb
	echo detach >&3
	echo quit >&3
	wait "$tracer"
	let_go "$pid" "gdb: released"
else
	skip gdb "not here" 4
fi

# Two snaps at once: each captures the memory.
mkfifo "$tmp/fifo"
exec 3<>"$tmp/fifo"
"$BUILD/snap" -s "$pid" 3>&- >"$tmp/fifo" &
tracer=$!
traced "another snap"
kill "$tracer"
wait "$tracer" 2>/dev/null
bad=0
passing="snap: process N: N kilobytes could not be read: memory of N: address ADDR: Input/output error"
for ((i = 0; i < 30; i++)); do
	"$BUILD/snap" -o /dev/null "$pid" 2>/dev/null &
	snap -o "$tmp/snap" "$pid"
	wait $!
	# shellcheck disable=SC2001 # no pattern of the shell says this
	err=$(sed 's/address [0-9a-f]*:/address ADDR:/' <<<"$err")
	case "$rc $err" in
	# memory that the other snap has mapped for a moment is gone
	"0 " | "1 $warning" | "1 $warning"$'\n'"$passing") ;;
	*)
		bad=$((bad + 1))
		diag <"$tmp/err"
		;;
	esac
done
is "$bad" 0 "two at once: taken"
let_go "$pid" "two at once: released"
unnoticed "$pid" "traced by many: not noticed"

# The clone of another snap is a child with the name of its process.
cp "$targets/anon" "$tmp/cloned.$$"
target "$tmp/cloned.$$"
"$BUILD/snap" "$pid" 3>&- >"$tmp/fifo" &
tracer=$!
until_true read -r -t 0 -u 3	# it has released the process
until_true pgrep -P "$pid"
for by in "-r $pid" "cloned.$$" "-r cloned.$$"; do
	# shellcheck disable=SC2086 # words
	snap -o "$tmp/snap" $by
	is "$rc $err $("$BUILD/snapls" -no PID "$tmp/snap" | tr -d ' ')" \
	    "0  $pid" "the clone of another snap, ${by//[0-9]/}: left out"
done
kill "$tracer"
wait "$tracer" 2>/dev/null
unnoticed "$pid" "the clone of another snap: not noticed"

target "$targets/zombie"
child=$(sed -n 's/^child //p' "$lines")
snap -o "$tmp/snap" "$child"
is "$err" "snap: process N is a zombie: it no longer has memory or registers" \
    "a zombie: a warning"
is "$rc" 1 "a zombie: exit status 1"
"$BUILD/snapls" "$tmp/snap" | grep -q "^ *$child "
ok $? "a zombie: taken"
snap -r -o "$tmp/snap" "$pid"
"$BUILD/snapls" -no NAME,STATE "$tmp/snap" | grep -c zombie >"$tmp/list"
is "$(cat "$tmp/list")" 2 "a zombie and its parent"
unnoticed "$pid" "a zombie's parent: not noticed"

if is_root && grep -q kthreadd /proc/2/comm 2>/dev/null; then
	snap -o "$tmp/snap" 2
	is "$err" "snap: process N (kthreadd) is a kernel thread: it has no memory or registers of its own" \
	    "a thread of the kernel: a warning" ||
	    diag <"$tmp/err"
	is "$rc" 1 "a thread of the kernel: exit status 1"
	"$BUILD/snapls" "$tmp/snap" | grep -q kthreadd
	ok $? "a thread of the kernel: taken"
else
	skip "a thread of the kernel" "none is visible here" 3
fi

# A parent in vfork(2) does not stop; its child does.
target "$targets/vforker"
parent=$pid
snap -o "$tmp/snap" "$parent"
is "$rc $err" "1 snap: process N shares the memory of process N but is not captured: it keeps running, and may change the memory during the capture
snap: thread N of process N does not stop (it was in state D): captured without its registers
snap: process N cannot be cloned: thread N does not stop: all processes stay stopped until everything is written" \
    "vfork: the parent is taken"
snap -r -o "$tmp/snap" "$parent"
is "$rc" 1 "vfork: both are taken"
is "$("$BUILD/snapls" "$tmp/snap" | awk '$1 == "total" { print $2 }')" 2 \
    "vfork: both are there"
unnoticed "$pid" "vfork: not noticed"

# snap reports a process that shares the memory and is not stopped.
target "$targets/sharer"
child=$(sed -n 's/^child //p' "$lines")
snap -o "$tmp/snap" "$pid"
is "$rc $(cat "$tmp/err")" "1 snap: process $child shares the memory of process $pid but is not captured: it keeps running, and may change the memory during the capture
snap: process $pid cannot be cloned: process $child shares its memory, and is not stopped: all processes stay stopped until everything is written" \
    "a process that shares memory runs: a message"
snap -l -o "$tmp/snap" "$child"
is "$rc $(cat "$tmp/err")" "1 snap: process $pid shares the memory of process $child but is not captured: it keeps running, and may change the memory during the capture
snap: process $child cannot be cloned: process $pid shares its memory, and is not stopped: all processes stay stopped until everything is written" \
    "the other way round, with clones"
snap -o "$tmp/snap" "$pid" "$child"
is "$rc $err" "0 " "both are named: no message"
snap -r -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "both are found: no message"
unnoticed "$pid" "sharers: not noticed"
target "$targets/sharer" copy
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "a copy shares nothing"
unnoticed "$pid" "a copy: not noticed"

# Another snap traces a stopped process briefly: it is listed as stopped.
target "$targets/anon"
kill -STOP "$pid"
until_true is_stopped
for _ in $(seq 15); do
	"$BUILD/snap" -o /dev/null "$pid" 2>/dev/null
done &
others=$!
: >"$tmp/states"
while kill -0 $others 2>/dev/null; do
	! "$BUILD/snap" -o "$tmp/snap" "$pid" 2>/dev/null ||
	    "$BUILD/snapls" "$tmp/snap" | sed -n 2p >>"$tmp/states"
done
is "$(grep -c tracing "$tmp/states")" 0 "another snap: no tracing stop" ||
    diag <"$tmp/states"
ok "$((! $(wc -l <"$tmp/states")))" "another snap: taken"

# A stopped process that gets no processor takes longer to seize than one
# attempt may wait: it is listed as stopped.  It was in no system call.
mapfile -t cpus < <(python3 -c 'import os
print(*sorted(os.sched_getaffinity(0)), sep="\n")')
if [ ${#cpus[@]} -gt 1 ] && chrt -f 1 true 2>/dev/null &&
    [ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" -gt 0 ]; then
	taskset -c "${cpus[0]}" sh -c 'while :; do :; done' &
	pid=$!
	until_true eval '[ "$(cut -d " " -f 14 "/proc/$pid/stat")" -gt 5 ]'
	kill -STOP "$pid"
	until_true is_stopped
	chrt -f 1 taskset -c "${cpus[0]}" sh -c 'while :; do :; done' &
	busy=$!
	: >"$tmp/states"
	for _ in 1 2; do
		until_true is_stopped
		rm -f "$tmp/snap"
		taskset -c "${cpus[1]}" "$BUILD/snap" -s -o "$tmp/snap" \
		    "$pid" 2>/dev/null
		"$BUILD/snapls" -no STATE "$tmp/snap" >>"$tmp/states"
	done
	kill -KILL "$busy" "$pid"
	is "$(tr -d ' ' <"$tmp/states" | sort | uniq -c | tr -s ' ')" \
	    ' 2 stopped' "no processor: stopped"
else
	skip "no processor: stopped" "one processor, or no SCHED_FIFO"
fi
finish 48
