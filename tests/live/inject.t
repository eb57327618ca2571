#!/usr/bin/env bash
# snap injects system calls to record what only the process itself can read, and
# the process notices nothing.  If that is not possible, snap says so.
# beside: live long
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

cannot="snap: process N cannot be restored, nor released at once: no system call can be injected:"
cannots="snap: process N cannot be restored: no system call can be injected:"

# observed PID: print why no call was injected, and which state is recorded
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
snap -r -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "state: taken"
try "state: as the target printed it" \
    python3 "$tests/live/state.py" "$tmp/snap" "$pid" "$lines"
size() {
	grep -E '^(VmSize|VmStk|Threads|FDSize)' "/proc/$pid/status"
	resident "$pid" | grep -v Dirty
	cat "/proc/$pid/maps"
	find "/proc/$pid/fd" -type l
}
size >"$tmp/before"
many=$(often 20)
for ((i = 0; i < many; i++)); do
	"$BUILD/snap" -o /dev/null "$pid" || break
done
is "$i" "$many" "state: $many snapshots"
size >"$tmp/after"
try "state: nothing is left behind" diff "$tmp/before" "$tmp/after"
snap -n -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "observed: taken without a warning"
is "$(observed "$pid")" "asked for" \
    "observed: recorded, without injected state"
let_go "$pid" "state: released"
unnoticed "$pid" "state: not noticed"

# A stopped process stays stopped.
target "$targets/state"
kill -STOP "$pid"
until_true grep -q '^State:.T' "/proc/$pid/status"
snap -r -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "stopped: taken"
try "stopped: its state is recorded" \
    python3 "$tests/live/state.py" "$tmp/snap" "$pid" "$lines"
is "$(states "$pid")" " 0 T " "stopped: stays stopped"
kill -CONT "$pid"
unnoticed "$pid" "stopped: not noticed"

# snap -r asks a process with one thread before the stop, and snap -s in the
# stop: the records are equal.
cat >"$tmp/one.py" <<'EOF'
import ctypes, faulthandler, signal, sys
libc = ctypes.CDLL(None)
libc.prctl(36, 1, 0, 0, 0)      # PR_SET_CHILD_SUBREAPER
libc.prctl(1, 0, 0, 0, 0)       # PR_SET_PDEATHSIG
libc.prctl(1, signal.SIGUSR2, 0, 0, 0)
faulthandler.enable()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print('ready', flush=True)
word = sys.stdin.read(1)
signal.setitimer(signal.ITIMER_REAL, 1000)
print('timed', flush=True)
sys.stdin.read(1)
print('report bad 0')
EOF
told() {
	python3 - "$tmp/snap" "$pid" <<END
import sys
sys.path.insert(0, "$tests/live")
import check
record = check.record(check.load(sys.argv[1]), int(sys.argv[2]))
for name in ("child_subreaper", "itimers", "pdeath_signal", "personality",
             "posix_timers", "regset/fpregs", "robust_list", "rseq",
             "securebits", "sigaltstack", "sigmask", "tid_address"):
    print(name, record.get(name))
END
}
target python3 "$tmp/one.py"
snap -s -o "$tmp/snap" "$pid"
told >"$tmp/stopped"
snap -r -o "$tmp/snap" "$pid"
told >"$tmp/out"
is "$(cat "$tmp/out")" "$(cat "$tmp/stopped")" \
    "one thread: the same with -r and -s"
is "$(grep -E 'subreaper|pdeath' "$tmp/out" | tr '\n' ' ')" \
    "child_subreaper b'1\\n' pdeath_signal b'12\\n' " \
    "one thread: its settings are recorded"
printf x >&"${ask_fd[$pid]}"
until_true grep -q timed "$lines"
snap -r -o "$tmp/snap" "$pid"
told >"$tmp/out"
grep -q "^itimers b'real 0 99[0-9]*" "$tmp/out"
ok $? "one thread: a running timer is recorded" || diag <"$tmp/out"
unnoticed "$pid" "one thread: not noticed"

# The process is stopped and continued while calls are injected.
target "$targets/compute"
n=$(often 20)
for ((i = 0; i < n; i++)); do
	"$BUILD/snap" -r -o "$tmp/snap" "$pid" 2>"$tmp/err" &
	for ((j = 0; j < 5; j++)); do
		kill -STOP "$pid"
		sleep "0.00$((RANDOM % 10))"
		kill -CONT "$pid"
	done
	wait $! || break
done
is "$i" "$n" "stopped at any moment: taken" || diag <"$tmp/err"
let_go "$pid" "stopped at any moment: released"
unnoticed "$pid" "stopped at any moment: not noticed"

# A child forked by a thread is on that thread's stack; its own is used up.
target "$targets/threadfork"
child=$(sed -n 's/^child //p' "$lines")
for flags in "" -l; do
	snap -r -o "$tmp/snap" ${flags:+"$flags"} "$child"
	is "$rc $err" "0 " "forked by a thread: taken $flags"
done
let_go "$child" "forked by a thread: released"
unnoticed "$pid" "forked by a thread: not noticed"

# A zombie has no state to record, and cannot be restored.
target "$targets/zombie"
snap -r -o "$tmp/snap" "$(sed -n 's/^child //p' "$lines")"
is "$rc $err" "1 snap: process N is a zombie: it no longer has memory or registers" \
    "zombie: taken"
snap -v -r -o /dev/null "$pid"
is "$(grep -o 'stopped for' "$tmp/err" | wc -l) $(grep -c \
    "process $pid: stopped for" "$tmp/err")" "1 1" \
    "zombie: only its parent is stopped"
"$BUILD/snapload" -D "$tmp/images" "$tmp/snap" 2>"$tmp/err"
is "$? $(sed 's/process [0-9]*/process N/' "$tmp/err")" \
    "1 snapload: process N: it is a zombie whose parent is not in the snapshot: cannot be restored
snapload: nothing is written" "zombie: snapload refuses it"
unnoticed "$pid" "zombie: not noticed by its parent"

if [ -x "$targets/bits32" ]; then
	target "$targets/bits32"
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "1 $cannot it is a N-bit process" "32 bits: refused"
	snap -s -o "$tmp/snap" "$pid"
	is "$rc $err" "1 $cannots it is a N-bit process" "32 bits, -s: refused"
	is "$(observed "$pid")" "it is a 32-bit process" \
	    "32 bits: the record says why"
	unnoticed "$pid" "32 bits: not noticed"
else
	skip "32 bits" "not built" 4
fi

# A process with PR_SET_SYSCALL_USER_DISPATCH keeps it.
target "$targets/dispatched"
if grep -q none "$lines"; then
	skip "dispatched" "not in this kernel" 2
else
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "1 $cannot it hands its system calls to itself (PR_SET_SYSCALL_USER_DISPATCH)" \
	    "dispatched: refused"
	unnoticed "$pid" "dispatched: not noticed"
fi

# If snap may suspend seccomp(2), it can inject calls despite a filter.
for mode in "" strict; do
	# shellcheck disable=SC2086 # no argument, or one
	target "$targets/sandboxed" $mode
	if is_root; then
		snap -r -o "$tmp/snap" "$pid"
		is "$rc $err" "0 " "seccomp $mode: taken"
		is "$(observed "$pid")" "nothing
sigaction brk sigaltstack" "seccomp $mode: state is recorded"
		let_go "$pid" "seccomp $mode: released"
	else
		skip "seccomp $mode" "needs root" 3
	fi
	unnoticed "$pid" "seccomp $mode: not noticed"
done

# killed_often: kill snap at random moments, again and again
killed=$(often 20)
killed_often() {
	python3 - "$BUILD/snap" "$pid" "$killed" <<'PY'
import os, random, signal, subprocess, sys, time
random.seed(int(sys.argv[2]))
devnull = os.open(os.devnull, os.O_WRONLY)
began = time.monotonic()
subprocess.run([sys.argv[1], "-r", "-o", "/dev/null", sys.argv[2]], check=True)
whole = time.monotonic() - began
for i in range(int(sys.argv[3])):
    p = subprocess.Popen([sys.argv[1], "-r", "-o", "/dev/null", sys.argv[2]],
                         stderr=devnull)
    time.sleep(random.random() * whole)
    p.kill()
    p.wait()
    try:
        os.kill(int(sys.argv[2]), 0)
    except ProcessLookupError:
        sys.exit('it died at %d' % i)
PY
}

# Processes that wait are not woken.
for arg in "" wait; do
	# shellcheck disable=SC2086 # no argument, or one
	target "$targets/compute" $arg
	size >"$tmp/before"
	try "compute $arg: killed $killed times" killed_often
	let_go "$pid" "compute $arg: released"
	unnoticed "$pid" "compute $arg: all registers are as they were"
done

# Code that returns from a signal is enough: the [vdso] has the other code.
vdso_calls() {
	python3 - "$targets/nolibc" <<'PY'
import re, sys
call = re.compile(rb'\x0f\x05(\x48\x83\xc4[\0-\x7f]|\x41?[\x58-\x5b\x5d-\x5f]|'
                  rb'\x45?\x31[\xc0-\xe3\xe5-\xeb\xed-\xff])*\xc3')
own = open(sys.argv[1], 'rb').read()
if call.search(own) or b'\x58\xc3' in own:
    print('nolibc has more than it should')
for line in open('/proc/self/maps'):
    if line.endswith('[vdso]\n'):
        start, end = (int(n, 16) for n in line.split()[0].split('-'))
        mem = open('/proc/self/mem', 'rb')
        mem.seek(start)
        print('can call' if call.search(mem.read(end - start)) else 'cannot')
PY
}
if [ ! -x "$targets/nolibc" ]; then
	skip "without a library" "not built" 7
elif [ "$(vdso_calls)" = cannot ]; then
	skip "without a library" "the [vdso] has no call that returns" 7
else
	is "$(vdso_calls)" "can call" "without a library: no code but the least"
	target "$targets/nolibc"
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "without a library: taken"
	is "$(observed "$pid")" "nothing
sigaction brk sigaltstack" "without a library: state is recorded"
	snap -l -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "without a library: cloned"
	try "without a library: killed $killed times" killed_often
	let_go "$pid" "without a library: released"
	unnoticed "$pid" "without a library: not noticed"
fi

# The target is killed while calls are injected: snap reports that, soon.
for ((i = 0; i < 20; i++)); do
	"$targets/compute" wait </dev/zero >/dev/null 2>&1 3>&- &
	sleep 0.01
	pid=$!
	timeout -s KILL 20 "$BUILD/snap" -r -o "$tmp/snap" "$pid" 2>"$tmp/err" &
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
is "$i $rc" "20 ${rc#[2-9]*}" \
    "killed meanwhile: no crash, no hang" || diag <"$tmp/err"

if is_root; then
	as_nobody
	target "$targets/sandboxed"
	as+=(env)
	snap -r -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "1 $cannot its seccomp(N) filters cannot be suspended" \
	    "seccomp: refused without privilege"
	cp "$tmp/pub/snap" "$tmp/snap"
	is "$(observed "$pid")" "its seccomp(2) filters cannot be suspended" \
	    "seccomp: the record says why"
	unnoticed "$pid" "seccomp: not noticed"
	target "$targets/state"
	snap -r -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "0 " "without privilege: taken"
	try "without privilege: as the target printed it" python3 \
	    "$tests/live/state.py" "$tmp/pub/snap" "$pid" "$lines"
	unnoticed "$pid" "without privilege: not noticed"
else
	skip "seccomp: refused without privilege" "needs root" 6
fi
finish 61
