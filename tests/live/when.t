#!/usr/bin/env bash
# snap --when: a snapshot is taken when a condition becomes true, and not before.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# wait_for OPTION ...: run snap in the background
wait_for() {
	rm -f "$tmp/snap"
	"$BUILD/snap" -o "$tmp/snap" "$@" 2>"$tmp/err" &
	waiting=$!
}
# said: print the messages without what differs from run to run
said() {
	sed "s,$tmp,TMP,g; s/$pid/PID/g; s/has [0-9.]*\([MG%]*\)\$/has N\1/" \
	    "$tmp/err"
}
# reads LOG: snap has opened LOG, and blocks SIGUSR1
reads() {
	readlink "/proc/$waiting/fd/"* | grep -qx "$1"
}
act() {
	echo act >&"${ask_fd[$pid]}"
}
moments() {
	[ "$("$BUILD/snapls" -n "$tmp/snap" 2>/dev/null | wc -l)" -eq "$1" ]
}

said_twice() {
	[ "$(grep -c 'fds>2' "$tmp/err")" -gt 1 ]
}

# a program for bash that uses a processor a third of the time
works='while :; do
	for i in {1..3000}; do :; done
	read -rt 0.02 _
done'

# Each limit: the process exceeds it when it is asked to.
target python3 -c 'print("ready", flush=True)
input()
memory = b"x" * (200 << 20)
input()'
wait_for --when 'rss>150M' "$pid"
act
wait $waiting
is "$? $(said)" '0 snap: rss>150M: process PID has NM' 'memory'
[ "$("$BUILD/snapls" -n -b -o memory "$tmp/snap")" -gt $((150 << 20)) ]
ok $? 'the memory is in the snapshot' || "$BUILD/snapls" "$tmp/snap" | diag

# shellcheck disable=SC2016 # for the other shell
target bash -c 'echo ready; read -r _
for i in {20..69}; do
	eval "exec $i</dev/null"
done
read -r _'
wait_for --when 'rss>900G' --when 'fds>50' "$pid"
act
wait $waiting
is "$? $(said)" '0 snap: fds>50: process PID has N' 'descriptors, or memory'
# a value that stays over the limit: a series, with the moments that -N allows
wait_for -i 0.001 -N 2 --when 'fds>50' "$pid"
wait $waiting
is "$? $(said | sort -u)" '0 snap: fds>50: process PID has N' 'a series'
moments 2
ok $? 'a series: two moments'

target python3 -c 'import threading, time
print("ready", flush=True)
input()
for i in range(20):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
input()'
wait_for --when 'threads>20' "$pid"
act
wait $waiting
is "$? $(said)" '0 snap: threads>20: process PID has N' 'threads'

target bash -c "echo ready; read -r _; $works"
wait_for -z --when 'cpu>0.5%' "$pid"
act
wait $waiting
is "$? $(said)" '0 snap: cpu>0.5%: process PID has N%' 'processor time'
try '-z: it is compressed' gzip -t "$tmp/snap"
# the value must exceed the limit for two seconds; this one always does
was=$(date +%s)
wait_for --when 'cpu>0.01%:2' "$pid"
wait $waiting
is $? 0 'processor time, for two seconds'
[ $(($(date +%s) - was)) -ge 2 ]
ok $? 'snap waited for two seconds'
kill "$pid"

# The first thread has ended, and another lives.
target "$targets/leader"
for limit in 'rss>100K' 'fds>2' 'threads>1'; do
	timeout 60 "$BUILD/snap" --when "$limit" -o "$tmp/snap" "$pid" \
	    2>"$tmp/err"
	is "$(said | sed 's, has .*,,;q')" "snap: $limit: process PID" \
	    "the first thread has ended: $limit"
done
unnoticed "$pid" 'the first thread has ended: not noticed'

# Pressure: more processes than one processor can run, in a cgroup.
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/snap.when.$$
if mkdir "$group" 2>/dev/null && [ -e "$group/cpu.pressure" ]; then
	target bash -c 'echo ready; read -r _'
	echo "$pid" >"$group/cgroup.procs"
	wait_for --when 'psi-cpu>1.5%' "$pid"
	mkfifo "$tmp/never"
	for i in 1 2 3; do
		taskset -c "$(first_cpu)" bash -c 'echo $$ >"$1/cgroup.procs"
		    '"$works" - "$group" <>"$tmp/never" &
		busy[i]=$!
	done
	wait $waiting
	is "$? $(said)" '0 snap: psi-cpu>1.5%: process PID has N%' 'pressure'
	kill "${busy[@]}" "$pid"
	wait "${busy[@]}" "$pid" 2>/dev/null
	until_true rmdir "$group"
else
	rmdir "$group" 2>/dev/null
	skip 'pressure' 'no cgroup of version 2 can be made'
fi

# A thread that did not stop at a moment is released when it wakes, although the
# next condition is not true.
target "$targets/vforker"
: >"$tmp/log"
wait_for -i 0.001 -N 2 --when signal --when "log=$tmp/log:x" "$pid"
until_true reads "$tmp/log"
kill -USR1 $waiting
until_true moments 1
unnoticed "$pid" 'a thread that does not stop: not noticed'
kill $waiting
wait $waiting

# SIGUSR1, each time it arrives.  The target does not notice.
target "$targets/anon"
: >"$tmp/log"
wait_for -i 0.001 -N 2 --when signal --when "log=$tmp/log:x" "$pid"
until_true reads "$tmp/log"
kill -USR1 $waiting
until_true moments 1
kill -USR1 $waiting
wait $waiting
is "$? $(said | tr '\n' '.')" "0 snap: signal: SIGUSR1 arrived.snap: signal: \
SIGUSR1 arrived." 'SIGUSR1, twice'
moments 2
ok $? 'SIGUSR1: two moments'
wait_for --when "log=$tmp/log:x" "$pid"
until_true reads "$tmp/log"
kill -USR1 $waiting
echo x >>"$tmp/log"
wait $waiting
is "$? $(said | grep log)" '0 snap: log=TMP/log:x: x' \
    'SIGUSR1 without this condition: the wait goes on'

# Lines of a log that is replaced, and truncated.
echo 'ERROR 1, before' >"$tmp/log"
wait_for -i 0.001 -N 4 --when "log=$tmp/log:ERROR [0-9]+" "$pid"
until_true reads "$tmp/log"
echo 'ERROR' >>"$tmp/log"
printf 'a part of ERROR' >>"$tmp/log"
echo ' 2' >>"$tmp/log"
until_true moments 1
mv "$tmp/log" "$tmp/log.1"
printf 'x\nERROR 3\ny\nERROR 3, again\n' >"$tmp/log"
until_true moments 2
: >"$tmp/log"
# snap has read to the end of the log
until_true grep -qx $'pos:\t0' /proc/$waiting/fdinfo/*
echo 'ERROR 4' >>"$tmp/log"
until_true moments 3
head -c 200000 /dev/zero | tr '\0' x >>"$tmp/log"
printf '\nERROR 5 \033[m\n' >>"$tmp/log"
wait $waiting
is "$? $(said | sed 's/^.*: //' | tr '\n' '.')" \
    '0 a part of ERROR 2.ERROR 3.ERROR 4.ERROR 5 ?[m.' 'lines of a log'
mkfifo "$tmp/lines"
"$BUILD/snap" --when log=/dev/stdin:ERROR -o "$tmp/snap" "$pid" \
    <"$tmp/lines" 2>"$tmp/err" &
echo 'an ERROR' >"$tmp/lines"
wait $!
is "$? $(said)" '0 snap: log=/dev/stdin:ERROR: an ERROR' 'lines of a pipe'
unnoticed "$pid" 'not noticed'

# The process ends before the condition is true.
target bash -c 'echo ready; read -r _'
wait_for --when 'rss>900G' "$pid"
act
wait $waiting
# it may have ended before snap looked at it
is "$? $(said | sed '/^snap: no such process/d')" \
    '1 snap: no process is left, and no condition of --when became true' \
    'the process ended: a message'
[ ! -e "$tmp/snap" ]
ok $? 'the process ended: no file'
target bash -c 'echo ready; read -r _'
wait_for -i 0.001 --when 'fds>2' "$pid"
until_true said_twice
act
wait $waiting
is "$? $(said | sed '/fds>2/d; /exited/d; s/after [0-9]*/after N/; s/: n.*/: ./')" \
    '0 snap: the series ends after N moments: .' 'the process ended: a series'
snap --when signal no-such-name
is "$rc $err" '1 snap: no process is called "no-such-name"' 'no such process'

kernel=$(pgrep -x kthreadd)
if [ -n "$kernel" ]; then
	timeout 60 "$BUILD/snap" --when signal -o "$tmp/snap" "$kernel" \
	    2>"$tmp/err"
	is "$? $(<"$tmp/err")" "1 snap: process $kernel (kthreadd) is a kernel thread: --when cannot wait for it" \
	    'a kernel thread'
else
	skip 'a kernel thread' 'none is seen here'
fi

# Two limits of one kind.
target bash -c "echo ready; $works"
timeout 60 "$BUILD/snap" --when 'cpu>9000%' --when 'cpu>0%' -o "$tmp/snap" \
    "$pid" 2>"$tmp/err"
is "$? $(said | sed 's/process.*//')" '0 snap: cpu>0%: ' 'the second of two limits'
kill -KILL "$pid"

# Lines that are hard to read, and mistakes that are found before the wait.
target bash -c 'echo ready; read -r _'
is "$(printf 'nothing\nan\0ERROR' | timeout 60 "$BUILD/snap" \
    --when log=/dev/stdin:ERROR -o "$tmp/snap" "$pid" 2>&1)" \
    'snap: log=/dev/stdin:ERROR: an ERROR' 'a NUL in a line without end'
is "$(echo nothing | timeout 60 "$BUILD/snap" --when log=/dev/stdin:ERROR \
    -o "$tmp/snap" "$pid" 2>&1)" 'snap: the log has ended, and no condition of --when became true' \
    'the end of a pipe'
timeout 60 "$BUILD/snap" --when 'rss>900G' -o "$tmp/none/snap" "$pid" \
    2>"$tmp/err"
is "$? $(said)" '1 snap: TMP/none/snap: No such file or directory' 'no directory'
timeout 60 "$BUILD/snap" --when "log=$tmp:x" -o "$tmp/snap" "$pid" 2>"$tmp/err"
is "$? $(said)" '2 snap: --when log=TMP:x: TMP: is a directory' 'a directory'
let_go "$pid" 'not stopped by these'

# Malformed conditions.
for with in 'cpu 80%' 'cpu' 'cpu>' 'cpu>x%' 'cpu>0x1p-5%' 'cpu>1.2.3%' 'rss>-1' 'rss>2X' \
    'fds>1K' 'threads>5:' 'threads>5:x' 'threads>5:0' 'size>3' '' 'log=x' 'log=:x' \
    "log=$tmp/log:a(" "log=$tmp/none:x" 'signal:3'; do
	"$BUILD/snap" --when "$with" $$ >/dev/null 2>"$tmp/err"
	echo "$? $(said)"
done >"$tmp/out"
limits='not a condition: use cpu, rss, threads, fds, psi-cpu, psi-io or
psi-memory with >LIMIT, signal, or log=FILE:REGEX'
limits=${limits/$'\n'/ }
is "$(<"$tmp/out")" "2 snap: --when cpu 80%: $limits
2 snap: --when cpu: cpu requires a limit, such as cpu>80%
2 snap: --when cpu>: cpu requires a limit, such as cpu>80%
2 snap: --when cpu>x%: cpu requires a limit, such as cpu>80%
2 snap: --when cpu>0x1p-5%: cpu requires a limit, such as cpu>80%
2 snap: --when cpu>1.2.3%: cpu requires a limit, such as cpu>80%
2 snap: --when rss>-1: rss requires a limit, such as rss>2G
2 snap: --when rss>2X: rss requires a limit, such as rss>2G
2 snap: --when fds>1K: fds requires a limit, such as fds>500
2 snap: --when threads>5:: \"\" is not a number of seconds from 1 to 86400
2 snap: --when threads>5:x: \"x\" is not a number of seconds from 1 to 86400
2 snap: --when threads>5:0: \"0\" is not a number of seconds from 1 to 86400
2 snap: --when size>3: $limits
2 snap: --when : $limits
2 snap: --when log=x: use log=FILE:REGEX
2 snap: --when log=:x: use log=FILE:REGEX
2 snap: --when log=TMP/log:a(: \"a(\": Unmatched ( or \\(
2 snap: --when log=TMP/none:x: TMP/none: No such file or directory
2 snap: --when signal:3: $limits" 'malformed conditions'
finish 34
