#!/usr/bin/env bash
# What a process tells of itself is recorded, and it does not notice that it
# was asked; where it cannot be asked, that is said.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cannot="snap: process N cannot be restored: nothing can be run in it:"

# What the record of the last snapshot says of why nothing was run.
observed() {
	python3 - "$tests/live" "$tmp/snap" "$1" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import check
rec = check.record(check.load(sys.argv[2]), int(sys.argv[3]))
print(rec.get('observed', b'nothing\n').decode(), end='')
print(*(n for n in ('sigaction', 'brk', 'sigaltstack') if n in rec))
PY
}

target "$targets/state"
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "state: taken"
try "state: as the process tells it" \
    python3 "$tests/live/state.py" "$tmp/snap" "$pid" "$lines"
size() {
	grep -E '^(VmSize|VmRSS|RssAnon|VmPTE|VmStk|Threads|FDSize)' \
	    "/proc/$pid/status"
	cat "/proc/$pid/maps"
	find "/proc/$pid/fd" -type l
}
size >"$tmp/before"
many=${SNAPSHOTS:-100}
for ((i = 0; i < many; i++)); do
	"$BUILD/snap" -o /dev/null "$pid" || break
done
is "$i" "$many" "state: $many snapshots"
size >"$tmp/after"
try "state: nothing is left behind" diff "$tmp/before" "$tmp/after"
snap -n -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "observed: taken without a warning"
is "$(observed "$pid")" "asked for" "observed: says so, and has nothing that only the process knows"
let_go "$pid" "state: let go"
unnoticed "$pid" "state: not noticed"

# What is stopped stays so, with nothing on its mind.
target "$targets/state"
kill -STOP "$pid"
until_true grep -q '^State:.T' "/proc/$pid/status"
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "stopped: taken"
try "stopped: tells all the same" \
    python3 "$tests/live/state.py" "$tmp/snap" "$pid" "$lines"
is "$(states "$pid")" " 0 T " "stopped: stays stopped"
kill -CONT "$pid"
unnoticed "$pid" "stopped: not noticed"

# Stopped and continued while it is made to run calls.
target "$targets/compute"
for ((i = 0; i < 40; i++)); do
	"$BUILD/snap" -o "$tmp/snap" "$pid" 2>"$tmp/err" &
	for ((j = 0; j < 5; j++)); do
		kill -STOP "$pid"
		sleep "0.00$((RANDOM % 10))"
		kill -CONT "$pid"
	done
	wait $! || break
done
is "$i" 40 "stopped at any moment: taken" || diag <"$tmp/err"
let_go "$pid" "stopped at any moment: let go"
unnoticed "$pid" "stopped at any moment: all goes on"

if [ -x "$targets/bits32" ]; then
	target "$targets/bits32"
	snap -o "$tmp/snap" "$pid"
	is "$rc $err" "1 $cannot it is a N-bit process" "32 bits: refused"
	is "$(observed "$pid")" "it is a 32-bit process" "32 bits: recorded"
	unnoticed "$pid" "32 bits: not noticed"
else
	skip "32 bits" "not built"
fi

# One who may suspend seccomp(2) can ask a process that is under it.
for mode in "" strict; do
	# shellcheck disable=SC2086 # no argument, or one
	target "$targets/sandboxed" $mode
	if is_root; then
		snap -o "$tmp/snap" "$pid"
		is "$rc $err" "0 " "seccomp $mode: taken"
		is "$(observed "$pid")" "nothing
sigaction brk sigaltstack" "seccomp $mode: asked"
		let_go "$pid" "seccomp $mode: let go"
	else
		skip "seccomp $mode" "needs root"
	fi
	unnoticed "$pid" "seccomp $mode: not noticed"
done

# Killed at any moment; those that wait are not woken.
for arg in "" wait; do
	# shellcheck disable=SC2086 # no argument, or one
	target "$targets/compute" $arg
	size >"$tmp/before"
	try "compute $arg: killed 80 times" python3 - "$BUILD/snap" "$pid" <<'PY'
import os, random, signal, subprocess, sys, time
random.seed(int(sys.argv[2]))
devnull = os.open(os.devnull, os.O_WRONLY)
began = time.monotonic()
subprocess.run([sys.argv[1], '-o', '/dev/null', sys.argv[2]], check=True)
whole = time.monotonic() - began
for i in range(80):
    p = subprocess.Popen([sys.argv[1], '-o', '/dev/null', sys.argv[2]],
                         stderr=devnull)
    time.sleep(random.random() * whole)
    p.kill()
    p.wait()
    try:
        os.kill(int(sys.argv[2]), 0)
    except ProcessLookupError:
        sys.exit('it died at %d' % i)
PY
	let_go "$pid" "compute $arg: let go"
	unnoticed "$pid" "compute $arg: all registers are as they were"
done

# The target is killed while it is asked: an error that says so, soon.
for ((i = 0; i < 20; i++)); do
	"$targets/compute" wait </dev/zero >/dev/null 2>&1 3>&- &
	sleep 0.01
	pid=$!
	timeout -s KILL 20 "$BUILD/snap" -o "$tmp/snap" "$pid" 2>"$tmp/err" &
	taker=$!
	sleep "0.0$(printf %02d $((RANDOM % 40)))"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	wait "$taker"
	rc=$?
	if [ "$rc" -gt 1 ]; then
		break
	fi
done
is "$i $rc" "20 ${rc#[2-9]*}" "killed while it is asked: an error" || diag <"$tmp/err"

if is_root; then
	as_nobody
	target "$targets/sandboxed"
	as+=(env)
	snap -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "1 $cannot it is under seccomp(N)" \
	    "seccomp: refused without privilege"
	cp "$tmp/pub/snap" "$tmp/snap"
	is "$(observed "$pid")" "it is under seccomp(2)" "seccomp: recorded"
	unnoticed "$pid" "seccomp: not noticed"
	target "$targets/state"
	snap -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "0 " "without privilege: taken"
	try "without privilege: as the process tells it" python3 \
	    "$tests/live/state.py" "$tmp/pub/snap" "$pid" "$lines"
	unnoticed "$pid" "without privilege: not noticed"
else
	skip "seccomp: refused without privilege" "needs root"
fi
finish
