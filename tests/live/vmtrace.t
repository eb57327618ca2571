#!/usr/bin/env bash
# vmtrace prints, in order, each fault and each change of mappings that a
# program expects: of a command and of a running process, as root and as nobody.
# It leaves nothing behind.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

vmtrace=$BUILD/vmtrace

# trace ARG ...: run it; status in $rc, output in $tmp/out and $tmp/err.
trace() {
	rc=0
	timeout -s KILL 30 "${as[@]}" "$vmtrace" "$@" >"$tmp/out" \
	    2>"$tmp/err" </dev/null || rc=$?
	not_said
}

# not_said: remove the message about missing tracepoints from $tmp/err, if they
# are known to be missing
not_said() {
	[ "${full-0}" -eq 0 ] || sed -i '/: no such tracepoint$/d' "$tmp/err"
}

# begin ARG ...: run it as $tracer, and wait until it traces.
begin() {
	: >"$tmp/out"
	timeout -s KILL 30 "$vmtrace" "$@" >"$tmp/out" 2>"$tmp/err" \
	    </dev/null &
	tracer=$!
	until_true grep -q TIME "$tmp/out"
}

# expected FILE: print vmtrace's lines that the program expected
expected() {
	awk '$3 == "-" { next }
	    function change(s) { return s ~ /^(map|unmap|protect|remap|brk)$/ }
	    NR == FNR && change($1) { want[$1, $2, $3]; next }
	    NR == FNR { want[$2]; next }
	    change($3) {
		if (($3, $4, $5) in want)
			print $3, $4, $5 ($6 == "" ? "" : " " $6)
		next
	    }
	    $4 in want { print $3, $4, $5, $6 }' "$1" "$tmp/out"
}

trace true
case $(cat "$tmp/err") in
"vmtrace: perf_event_open: "*)
	skip_all "$(cat "$tmp/err")" ;;
esac
is "$rc" 0 'a command that exits 0'
full=$(grep -c 'read, write' "$tmp/err")
mounts=$(grep tracefs /proc/mounts)
# global: print global settings, if tracefs is mounted
global() {
	cat /sys/kernel/tracing/{tracing_on,set_event,current_tracer} \
	    2>/dev/null
}
state=$(global)
# closing the last event of a tracepoint takes long: keep others open
sleep 300 &
holder=$!
"$vmtrace" -sk "$holder" >/dev/null 2>&1 </dev/null &

# check_faults DESCRIPTION: the program expected exactly these lines
check_faults() {
	expected "$tmp/want" >"$tmp/got"
	if diff "$tmp/want" "$tmp/got" >"$tmp/diff" && [ -s "$tmp/want" ]; then
		ok 0 "$1"
	else
		ok 1 "$1"
		diag <"$tmp/diff"
	fi
}

if [ "$full" -eq 0 ]; then
	trace "$targets/faults" "$tmp/want" "$tmp"
	check_faults 'each fault and change of mappings of a command, in order'
	is "$rc $(cat "$tmp/err")" "0 " 'exit status 0, no messages'
	is "$(awk 'NR > 1 && $1 + 0 < t + 0 { n++ } { t = $1 } END { print n + 0 }' \
	    "$tmp/out")" 0 'times do not go back'
	grep -q " cow   u .* rw-p $tmp.*/faults\.[A-Za-z0-9]* (deleted)+0x0$" \
	    "$tmp/out"
	ok $? 'a fault shows the mapped file and the offset'
	is "$(awk '$3 == "SIGSEGV" && / no mapping$/ { n++ } END { print n }' \
	    "$tmp/out")" 3 'unmapped or moved memory has no mapping'
	grep -q ' rw-p \[stack\]+0x' "$tmp/out"
	ok $? 'the stack has its name'

	target "$targets/faults" "$tmp/want" "$tmp" wait
	# named twice, and by a thread
	begin "$pid" "$pid" "$(find "/proc/$pid/task" -mindepth 1 \
	    -maxdepth 1 -printf '%f\n' | sort -n | tail -1)"
	unnoticed=$(states "$pid")
	echo q >&"${ask_fd[$pid]}"
	wait "$tracer"
	is "$? $(cat "$tmp/err")" "0 " 'a process that runs: status'
	check_faults 'each of its faults, its thread'\''s and its child'\''s'
	is "$unnoticed" " 0 S " 'it is not stopped or traced'
	wait "$pid"
	is $? 0 'it exits 0'
else
	skip 'faults' "$(cat "$tmp/err")" 10
fi

# A process with many threads, which start others meanwhile.
cat >"$tmp/threads.py" <<'END'
import mmap, sys, threading
PAGE = mmap.PAGESIZE
m = mmap.mmap(-1, PAGE * 64, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
if hasattr(m, 'madvise'):
    m.madvise(getattr(mmap, 'MADV_NOHUGEPAGE', 15))
b = threading.Barrier(17)
def touch(i):
    b.wait()
    m[i * PAGE] = 1
    t = threading.Thread(target=lambda: m.__setitem__((i + 32) * PAGE, 1))
    t.start()
    t.join()
for i in range(16):
    threading.Thread(target=touch, args=(i,), daemon=True).start()
print('ready', flush=True)
sys.stdin.readline()
b.wait()
for t in threading.enumerate():
    if t is not threading.current_thread():
        t.join()
print('%x' % __import__('ctypes').addressof(
    __import__('ctypes').c_char.from_buffer(m)), flush=True)
END
target python3 "$tmp/threads.py"
begin "$pid"
echo q >&"${ask_fd[$pid]}"
wait "$tracer" "$pid"
base=$(tail -1 "$lines")
for ((i = 0; i < 48; i++)); do
	if [ "$i" -lt 16 ] || [ "$i" -ge 32 ]; then
		printf '%x\n' $((0x$base + i * $(getconf PAGESIZE)))
	fi
done | sort >"$tmp/want"
awk 'NR == FNR { want[$1]; next }
    $3 ~ /^(minor|major)$/ && $4 in want { print $4 }' \
    "$tmp/want" "$tmp/out" | sort >"$tmp/got"
try 'old and new threads: each fault once' \
    diff "$tmp/want" "$tmp/got"

# Threads come and go while vmtrace starts.
n=$((500 * TIMEFACTOR * $(busy)))
target "$targets/faults" churn "$n"
timeout -s KILL 30 "$vmtrace" "$pid" >"$tmp/out" 2>"$tmp/err"
rc=$?
not_said
is "$rc $(cat "$tmp/err")" '0 ' 'threads that come and go: status'
from=$(awk '$1 == "region" { print substr($3, 3) }' "$lines")
awk '$3 ~ /^(minor|major)$/ { print $4 }' "$tmp/out" >"$tmp/all"
python3 - "$tmp/all" "$from" "$n" >"$tmp/got" <<'END'
import collections, mmap, os, sys
base, count = int(sys.argv[2], 16), int(sys.argv[3])
n = collections.Counter(int(x, 16) for x in open(sys.argv[1]))
own = {a: k for a, k in n.items()
       if base <= a < base + count * mmap.PAGESIZE and
       (a - base) % mmap.PAGESIZE == 0}
print(len(own) > 300 // int(os.environ["TIMEFACTOR"]), sorted(set(own.values())))
END
is "$(cat "$tmp/got")" 'True [1]' 'threads that come and go: each fault once'

# vmtrace does not wait for the result of a fault that has none; a signal that
# is sent is not a result.
if [ "$full" -eq 0 ]; then
	cat >"$tmp/none.py" <<'END'
import ctypes, os, signal
signal.signal(signal.SIGSEGV, signal.SIG_IGN)
libc = ctypes.CDLL(None)
zero = os.open('/dev/zero', os.O_RDONLY)
read, addr, me = libc.read, ctypes.c_void_p(16), os.getpid()
def call(say, fd):
    read(zero, addr, 8)
    os.write(1, say)
    os.read(fd, 2)
    libc.kill(me, 11)
# for the first time there are faults besides
call(b'ready\n', zero)
os.read(0, 2)
call(b'called\n', 0)
END
	target python3 "$tmp/none.py"
	failing=$pid
	target "$targets/faults" many 1
	begin "$failing" "$pid"
	echo q >&"${ask_fd[$failing]}"
	until_true grep -q '^called$' "${lines_of[$failing]}"
	echo q >&"${ask_fd[$pid]}"
	until_true grep -q " $pid minor " "$tmp/out"
	ok $? 'a fault without a result is not waited for'
	echo q >&"${ask_fd[$failing]}"
	wait "$tracer" "$pid" "$failing"
	grep -q ' none  *10 write k ' "$tmp/out"
	ok $? 'it is printed at the end, not as the SIGSEGV'
else
	skip 'a fault without a result' 'no tracepoints' 2
fi

# Totals.
trace -sj "$targets/faults" "$tmp/want" "$tmp"
is "$rc $(python3 -c 'import json, sys
sums = {}
for o in map(json.loads, sys.stdin):
    sums[o["type"]] = sums.get(o["type"], 0) + o["faults"]
print(len(set(sums.values())), *sorted(sums))' <"$tmp/out")" \
    "0 1 instruction mapping" '-j: totals as JSON'
if strip -o "$tmp/stripped" "$targets/faults" 2>"$tmp/err"; then
	trace -sj "$tmp/stripped" "$tmp/want" "$tmp"
	is "$rc $(grep -F "\"$tmp/stripped\"" "$tmp/out" |
	    grep -o '"symbol":[^,}]*' | sort -u)" '0 "symbol":null' \
	    '-j: the symbol of a file without symbols'
else
	skip '-j: the symbol of a file without symbols' 'no strip'
fi
trace -sk "$targets/faults" "$tmp/want" "$tmp"
n=$(awk '/ALLOCS/ { exit } $3 ~ /^touch_pages\+/ { n += $1 }
    END { print n }' "$tmp/out")
is "$n" 32 '-s: the faults of a function'
is "$(awk '/^ *FAULTS/ { part++; next } /ALLOCS/ { exit } NF == 0 { next }
    part == 1 { a += $1; m += $2 + $3 + $4 } part == 2 { b += $1 }
    END { print (a > 50), a - b, a - m }' "$tmp/out")" '1 0 0' \
    '-s: mappings and instructions have the same sum'
if [ "$full" -eq 0 ]; then
	grep -q 'vm_area_struct  *vm_area_alloc+' "$tmp/out" ||
	    grep -q ' vm_area_struct' "$tmp/out" ||
	    grep -q ' object  *vm_area_alloc+' "$tmp/out"
	ok $? '-k: mappings are made of slab objects'
	awk -v page="$(getconf PAGESIZE)" \
	    '$4 == "pages" && $3 >= $1 * page { f = 1 } END { exit !f }' \
	    "$tmp/out"
	ok $? '-k: pages'
	trace -k "$targets/faults" "$tmp/want" "$tmp"
	is "$(awk '{ print $3 }' "$tmp/out" | grep -E '^(page|slab)[+-]$' |
	    sort -u | tr '\n' ' ')" 'page+ page- slab+ slab- ' \
	    '-k: lines of each kind'
	is "$(awk '$3 == "page+" { n++; f += $NF ~ /^GFP_[A-Z_|]+$/ }
	    END { print (f > n / 2) }' "$tmp/out")" 1 '-k: names of flags'
else
	skip '-k' 'no tracepoints' 4
fi

# traces PID: succeed if a tracer has opened all events and waits for records
traces() {
	find "/proc/$1/fd" -lname '*perf_event*' | grep -q . &&
	    grep -q poll "/proc/$1/wchan"
}

# Two adjacent mappings are two, though their names and permissions are equal.
cat >"$tmp/two.py" <<'END'
import ctypes, mmap, sys
DONTFORK = 10
PAGE = mmap.PAGESIZE
m = mmap.mmap(-1, 2 * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
second = ctypes.addressof(ctypes.c_char.from_buffer(m)) + PAGE
ctypes.CDLL(None).madvise(ctypes.c_void_p(second), PAGE, DONTFORK)
print('%x\nready' % second, flush=True)
sys.stdin.readline()
m[0] = m[PAGE] = 1
END
target python3 "$tmp/two.py"
"$vmtrace" -s "$pid" >"$tmp/out" 2>"$tmp/err" </dev/null &
tracer=$!
until_true traces "$tracer"
echo q >&"${ask_fd[$pid]}"
wait "$tracer" "$pid"
is "$(grep -c " $(head -n 1 "$lines")-.* rw-p" "$tmp/out")" 1 \
    '-s: adjacent mappings'

# The end of vmtrace.
trace -n 5 true
is "$rc $(grep -cE ' (minor|major|none) ' "$tmp/out")" '0 5' '-n'
target "$targets/faults" "$tmp/want" "$tmp" wait
sleeper=$pid
trace -t 0.2 "$sleeper"
is "$rc $(wc -l <"$tmp/out")" '0 1' '-t'
trace -n 1 sh -c 'echo $$ >'"$tmp/pid"'; exec sleep 60'
until_true test -s "$tmp/pid"
kill -0 "$(cat "$tmp/pid")"
is "$rc $?" '0 0' 'a command runs on when vmtrace ends'
kill "$(cat "$tmp/pid")"
for sig in INT TERM; do
	target "$targets/faults" many 1
	# a shell's background jobs ignore SIGINT
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' \
	    "$vmtrace" -s "$sleeper" "$pid" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	until_true traces "$tracer"
	echo q >&"${ask_fd[$pid]}"
	wait "$pid"
	kill -"$sig" "$tracer"
	wait "$tracer"
	is "$? $(grep -c FAULTS "$tmp/out")" '0 2' \
	    "SIG$sig: totals, and exit status 0"
done
trace sh -c 'kill -SEGV $$'
is "$rc $(sed 's/ (.*//' "$tmp/err")" '139 vmtrace: sh: killed by signal 11' \
    'the signal that kills a command is printed'
trace sh -c 'exit 3'
is "$rc $(cat "$tmp/err")" '3 vmtrace: sh: exit status 3' \
    'the exit status of a command is printed'
trace -o "$tmp/lines" echo text
is "$rc $(cat "$tmp/out" "$tmp/err") $(awk '$3 == "exec"' "$tmp/lines" | wc -l)" '0 text 1' \
    '-o: standard output is the command'"'"'s'
is "$(stat -c %a "$tmp/lines")" 600 '-o: other users may not read the file'
trace -o "$tmp/none/lines" echo text
is "$rc $(cat "$tmp/out" "$tmp/err")" \
    "1 vmtrace: $tmp/none/lines: No such file or directory" \
    '-o: a file that cannot be created: nothing is run'

# If nobody reads the output, a second signal ends vmtrace nevertheless.
target "$targets/faults" many 100000
mkfifo "$tmp/full"
exec 9<>"$tmp/full"
"$vmtrace" "$pid" >&9 2>/dev/null </dev/null &
tracer=$!
until_true traces "$tracer"
echo q >&"${ask_fd[$pid]}"
wait "$pid"
signalled() {
	kill -TERM "$tracer"
	gone "$tracer"
}
until_true signalled || kill -KILL "$tracer"
wait "$tracer"
is $? 143 'a second signal ends it when nobody reads'
exec 9>&-

# vmtrace reports lost events.
target "$targets/faults" many 100000
begin "$pid"
stopped=$(pgrep -P "$tracer")
kill -STOP "$stopped"
echo q >&"${ask_fd[$pid]}"
wait "$pid"
kill -CONT "$stopped"
wait "$tracer"
rc=$?
not_said
is "$rc $(sed 's/[0-9][0-9]*/N/' "$tmp/err")" '1 vmtrace: N events were lost' \
    'lost events are reported'

# Errors.
# refused STATUS MESSAGE ARG ...
refused() {
	local status=$1 want=$2

	shift 2
	trace "$@"
	is "$rc $(head -1 "$tmp/err") $(wc -c <"$tmp/out")" \
	    "$status vmtrace: $want 0" "refused: $*"
}
refused 1 '999999999: No such process' 999999999
refused 1 '99999999999999999999: not a process ID' 99999999999999999999
refused 1 '0: not a process ID' 0
refused 1 "$tmp/none: No such file or directory" "$tmp/none"
refused 1 "$tmp: Permission denied" "$tmp"
refused 2 '-n 0: the number is too small' -n 0 true
refused 2 '-n x: the number is invalid' -n x true
refused 2 '-t: "x" is not a number of seconds' -t x true
refused 2 '-t: "nan" is not a number of seconds' -t nan true
refused 2 '-t: "0x1" is not a number of seconds' -t 0x1 true
refused 2 '-t: "-1" is not a number of seconds' -t -1 true
refused 2 'true: not a process ID' "$sleeper" true
if grep -q kthreadd /proc/2/comm 2>/dev/null; then
	refused 1 '2: a kernel thread has no page faults' 2
else
	skip 'refused: a thread of the kernel' 'process 2 is not one here'
fi
trace
is "$rc $(head -1 "$tmp/err" | cut -c -14)" '2 usage: vmtrace' 'no operands'

# Processes selected by name, and commands that have the name of a process.
name=traced$$
cp "$targets/anon" "$tmp/$name"
target "$tmp/$name"
begin -p "$name" -p "$pid"
echo q >&"${ask_fd[$pid]}"
wait "$tracer"
rc=$?
not_said
is "$rc $(cat "$tmp/err")" '0 ' '-p: it ends with the process'
is "$(awk -v pid="$pid" '$2 == pid && $3 == "exit"' "$tmp/out" | wc -l)" 1 \
    '-p: a process by its name, named twice'
target "$tmp/$name"
printf '#!/bin/sh\ntouch "%s/started"\n' "$tmp" >"$tmp/pub/$name"
chmod 755 "$tmp/pub/$name"
PATH=$PATH:$tmp/pub
refused 2 "$name: a process has this name: use vmtrace -p $name to trace it, \
or vmtrace -- $name to start the command" "$name"
try 'the name of a process starts no command' \
    test ! -e "$tmp/started"
trace -n 1 -- "$name"
is "$rc $(until_true test -e "$tmp/started" && echo started)" '0 started' \
    '--: a command of the same name'
rm "$tmp/started"
trace -n 1 "$name" with arguments
is "$rc $(until_true test -e "$tmp/started" && echo started)" '0 started' \
    'arguments: a command of the same name'
trace -t 0.1 -u 64995
is "$rc $(cat "$tmp/err")" '1 vmtrace: user 64995 has no processes' '-u'
refused 1 "no process is called \"$name.none\"" -p "$name.none"
refused 1 "$name.none: no process is in a unit, container, pod, or \
cgroup of that name" -c "$name.none"
trace -p "$name" true
is "$rc $(head -1 "$tmp/err" | cut -c -14)" '2 usage: vmtrace' \
    'a process and a command: refused'
trace -x true
is "$rc" 2 'an unknown option is refused'
trace -t 0.1 999999999 "$sleeper"
is "$rc $(cat "$tmp/err") $(wc -l <"$tmp/out")" \
    '1 vmtrace: 999999999: No such process 1' 'the others are traced'
if [ -w /dev/full ]; then
	"$vmtrace" true >/dev/full 2>"$tmp/err"
	rc=$?
	not_said
	is "$rc $(cat "$tmp/err")" \
	    '1 vmtrace: standard output: No space left on device' \
	    'a full disk'
else
	skip 'a full disk' 'no /dev/full'
fi

is "$(global)" "$state" 'nothing of tracefs is changed'
is "$(grep tracefs /proc/mounts)" "$mounts" 'nothing is mounted'

# Without privilege.
if is_root && command -v setpriv >/dev/null; then
	as_nobody
	cp "$vmtrace" "$BUILD"
	chmod 755 "$BUILD/vmtrace"
	vmtrace=$BUILD/vmtrace
	trace "$targets/faults" "$tmp/pub/want" "$tmp/pub"
	nothing=
	if grep -q 'perf_event_open' "$tmp/err"; then
		nothing=$(cat "$tmp/err")
		skip 'as nobody' "$nothing" 3
	else
		is "$rc $(head -1 "$tmp/err" | cut -c -49)" \
		    '0 vmtrace: not shown: read, write, execute and copy' \
		    'as nobody: a message about what is not shown'
		# all but faults in system calls and changes of mappings
		awk '$1 ~ /^(minor|major)$/ && $4 == "u" { print $1, $2 }' \
		    "$tmp/pub/want" >"$tmp/want"
		awk 'NR == FNR { want[$2]; next }
		    $3 ~ /^(minor|major)$/ && $4 in want { print $3, $4 }' "$tmp/want" "$tmp/out" \
		    >"$tmp/got"
		try 'as nobody: each visible fault' \
		    diff "$tmp/want" "$tmp/got"
		trace -t 0.2 1
		is "$rc $(tail -1 "$tmp/err")" \
		    '1 vmtrace: 1: process 1 belongs to root: run as root, or as that user' \
		    'as nobody: a process of another user is refused'
	fi
	install -m 4755 "$(command -v sleep)" "$tmp/pub/sleep"
	if [ -n "$nothing" ]; then
		skip 'a set-user-ID program' "$nothing"
	elif [ "$("${as[@]}" "$tmp/pub/sleep" 1 >/dev/null & sleep 0.1
	    stat -c %u "/proc/$!")" = 0 ]; then
		trace "$tmp/pub/sleep" 2
		is "$rc $(tail -1 "$tmp/err")" "1 vmtrace: $tmp/pub/sleep: \
changed credentials, so it is no longer traceable; it is still running" \
		    'as nobody: a set-user-ID program'
	else
		skip 'a set-user-ID program' 'a set-user-ID bit is of \
no use'
	fi
else
	skip 'as nobody' 'not root' 6
fi

as=(env)
trace -st 0.2 "$sleeper"
is "$rc $(wc -c <"$tmp/out")" '0 0' '-s: a process that does nothing' ||
    diag <"$tmp/out"
target "$targets/leader"
trace -t 0.2 "$pid"
is "$rc" 0 'the first thread has ended' || diag <"$tmp/err"
as=(env --ignore-signal=SIGCHLD)
trace sh -c 'exit 3'
is "$rc" 3 'SIGCHLD is ignored: the status is that of the command'
kill "$sleeper" "$holder"
finish 73
