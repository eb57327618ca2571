#!/usr/bin/env bash
# Pending signals are recorded with their origin, and stay pending, whether the
# process runs or is stopped.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# taken_as FLAGS WHAT: a snapshot of $pid; $tmp/before has its signals
taken_as() {
	snap -o "$tmp/snap" ${1:+"$1"} "$pid"
	is "$rc" 0 "$2: taken" || diag <"$tmp/err"
	python3 "$tests/live/pending.py" "$pid" >"$tmp/after"
	try "$2: signals stay pending" diff "$tmp/before" "$tmp/after"
	python3 "$tests/live/pending.py" "$tmp/snap" "$pid" >"$tmp/rec"
	try "$2: signals are recorded" diff "$tmp/before" "$tmp/rec"
}

stop() {
	kill -STOP "$pid"
	until_true is_stopped
}

for flags in "" -n -l; do
	for all in cont stop; do
		what="$all $flags"
		target "$targets/pending" "$all"
		python3 "$tests/live/pending.py" "$pid" >"$tmp/before"
		is "$(wc -l <"$tmp/before")" \
		    "$([ "$all" = cont ] && echo 286 || echo 292)" \
		    "$what: all are pending"
		taken_as "$flags" "$what"
		unnoticed "$pid" "$what: all are delivered"
	done

	# stopped, and SIGSTOP is pending for it and for each of its threads
	target "$targets/pending" stop
	stop
	kill -STOP "$pid"
	python3 - "$pid" <<'PY'
import ctypes, os, signal, sys
pid = int(sys.argv[1])
for tid in os.listdir('/proc/%d/task' % pid):
    ctypes.CDLL(None).tgkill(pid, int(tid), signal.SIGSTOP)
PY
	python3 "$tests/live/pending.py" "$pid" >"$tmp/before"
	is "$(grep -c 'signal 19' "$tmp/before")" 3 \
	    "stopped $flags: SIGSTOP is pending"
	taken_as "$flags" "stopped $flags"
	try "stopped $flags: stays stopped" is_stopped
	kill -CONT "$pid"
	let_go "$pid" "stopped $flags: runs on"

	# unblocked signals, which are delivered when it continues
	target "$targets/threads"
	stop
	for sig in TERM STOP TSTP TTIN; do
		kill -s "$sig" "$pid"
	done
	python3 "$tests/live/pending.py" "$pid" >"$tmp/before"
	is "$(grep -c '^process: signal' "$tmp/before")" 4 \
	    "unblocked $flags: all are pending"
	taken_as "$flags" "unblocked $flags"
	try "unblocked $flags: stays stopped" is_stopped
	kill -CONT "$pid"
	wait "$pid" 2>/dev/null
	is "$?" 143 "unblocked $flags: ends by SIGTERM"
done

# The kernel would search all of them for each that is read.
target python3 -c 'import os, resource, signal
resource.setrlimit(resource.RLIMIT_SIGPENDING, (6000, 6000))
some = {signal.SIGRTMIN}
signal.pthread_sigmask(signal.SIG_BLOCK, some)
for i in range(5000):
    os.kill(os.getpid(), signal.SIGRTMIN)
print("ready", flush=True)
input()
n = 0
while signal.sigtimedwait(some, 0):
    n += 1
print("report lost", 5000 - n)'
snap -o "$tmp/snap" "$pid"
is "$rc $err" "1 snap: process N: sigpending/process of thread N could not be \
read: Input/output error" "thousands: not recorded, and snap says so"
unnoticed "$pid" "thousands: stay pending"
finish 68
