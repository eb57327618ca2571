#!/usr/bin/env bash
# A process whose session leader or terminal is not in the snapshot, such as a
# job of a shell or script, is moved with snap -k, snapload and the command that
# snapload prints.  snapload refuses nothing after snap -k killed the process:
# snap -k refuses first.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

cat >"$tmp/job.py" <<'EOP'
import os, sys, time
os.closerange(3, 1024)
log = open(sys.argv[1], 'a', buffering=1)
more = [os.open(path, os.O_RDWR | os.O_NOCTTY) for path in sys.argv[2:]]
n = 0
while True:
    n += 1
    log.write('job %d 0\n' % n)
    try:
        os.write(1, b'job %d\r\n' % n)
        os.write(more[0] if more else 1, b'more %d\r\n' % n)
    except OSError as e:
        log.write('job %d %s\n' % (n, e))
    time.sleep(.01)
EOP
mkdir "$tmp/path"
cat >"$tmp/path/criu" <<EOT
#!/bin/sh
exec "$criu" "\$@"
EOT
chmod 755 "$tmp/path/criu"
PATH=$tmp/path:$PATH

# begun NAME: set $pid to the process that writes $log; wait until it counts
begun() {
	log=$tmp/log.$1
	dir=$tmp/$1
	until_true longer 10
	pid=$(pgrep -f "python3 $tmp/job.py $log")
	leader=$(ps -o sid= -p "$pid" | tr -d ' ')
}

# moved WHAT NOTES COMMAND: move $pid to images with snap -k and snapload
moved() {
	timeout 60 "$BUILD/snap" -k "$pid" 2>"$tmp/snap.err" |
	    timeout 60 "$BUILD/snapload" -D "$dir" >"$tmp/command" 2>"$tmp/err"
	is "${PIPESTATUS[*]} $(sed 's/^snapload: //' "$tmp/err")" "0 0 $2" \
	    "$1: moved, with these notes"
	is "$(sed 's/^snap: //' "$tmp/snap.err")" \
	    "$(sed 's/^snapload: //' "$tmp/err")" \
	    "$1: snap prints the same notes"
	is "$(sed 's/:\[[0-9]*\]/:[INODE]/g' "$tmp/command")" "$3" \
	    "$1: the command"
	until_true gone "$pid"
	was=$(lines)
}

shown() {
	grep -q "^$2 " "$tmp/shown.$1"
}

job="python3 '$tmp/job.py' '$tmp/log"
other='the leader of its own'

# a job of a script, without a terminal
setsid bash -c "$job.script' </dev/null 2>/dev/null | cat >/dev/null &
    wait" </dev/null >/dev/null 2>&1 &
disown $!
begun script
moved 'a script' "process $pid: joins the session of criu when it is \
restored: $other, $leader, is not in the snapshot
process $pid, descriptor 1: becomes the standard output of criu when it is restored" \
    "criu restore -d -D $dir --shell-job --inherit-fd 'fd[1]:pipe:[INODE]'"
setsid sh -c "sh '$tmp/command' </dev/null | cat >'$tmp/shown.script'" &
disown $!
counts_on 'a script' "$was"
until_true shown script job
ok $? 'a script: writes to the output of criu'
kill -KILL "$pid"

# a job of a shell, on its terminal
"$here/onpty.py" "$tmp/first" bash -c "set -m; $job.shell' &
    wait" </dev/null &
disown $!
begun shell
terminal=/dev/$(ps -o tty= -p "$pid")
moved 'a shell' "process $pid: joins the session of criu when it is \
restored: $other, $leader, is not in the snapshot
process $pid, descriptor 0: $terminal becomes the terminal on criu's standard \
input when it is restored" "criu restore -D $dir --shell-job"
timeout 60 setsid sh "$tmp/command" </dev/null >"$tmp/criu.out" 2>&1
ok $(($? == 0)) 'a shell: not restored without a terminal'
"$here/onpty.py" "$tmp/shown.shell" sh "$tmp/command" </dev/null &
disown $!
counts_on 'a shell' "$was"
until_true shown shell job
ok $? 'a shell: on the terminal of criu'
kill -KILL "$pid"

# a session leader
"$here/onpty.py" "$tmp/first" sh -c "exec $job.leader'" </dev/null &
disown $!
begun leader
terminal=/dev/$(ps -o tty= -p "$pid")
moved 'a leader' "process $pid, descriptor 0: $terminal becomes the terminal \
on criu's standard input when it is restored
process $pid: its session has no controlling terminal when it is restored" \
    "criu restore -D $dir --shell-job"
"$here/onpty.py" "$tmp/shown.leader" sh "$tmp/command" </dev/null &
disown $!
counts_on 'a leader' "$was"
until_true shown leader job
ok $? 'a leader: on the terminal of criu'
kill -KILL "$pid"

# a job that writes to /dev/tty
"$here/onpty.py" "$tmp/first" bash -c "set -m; $job.tty' /dev/tty </dev/null \
    >/dev/null 2>&1 & wait" </dev/null &
disown $!
begun tty
until_true grep -q more "$tmp/first"
moved '/dev/tty' "process $pid: joins the session of criu when it is \
restored: $other, $leader, is not in the snapshot
process $pid, descriptor 4: /dev/tty becomes the terminal of criu's session \
when it is restored" "criu restore -D $dir --shell-job"
"$here/onpty.py" "$tmp/shown.tty" sh "$tmp/command" </dev/null &
disown $!
counts_on '/dev/tty' "$was"
until_true shown tty more
ok $? '/dev/tty: the terminal of criu'
kill -KILL "$pid"

# refused WHAT WHY: snap -k refuses, and the process runs on
refused() {
	timeout 60 "$BUILD/snap" -k "$pid" 2>"$tmp/err" >"$tmp/snap"
	is "$? $(sed "s,/dev/pts/.*: cannot,TTY: cannot," "$tmp/err")" "1 $(
	    )snap: process $pid, descriptor 4: $2: cannot be restored \
(snapload -f tty leaves it out)
snap: nothing written, no process killed: not all can be restored \
(snapload -f tty restores the rest)" "$1: snap -k refuses"
	is "$(stat -c %s "$tmp/snap")" 0 "$1: nothing is written"
	counts_on "$1" "$(lines)"
	kill -KILL "$pid"
}
"$here/onpty.py" "$tmp/first" sleep 1000 </dev/null &
disown $!
sleeper=$!
asleep() {
	terminal=$(ps -o tty= --ppid "$sleeper")
	[[ $terminal == pts/* ]]
}
until_true asleep
"$here/onpty.py" "$tmp/second" bash -c "set -m; $job.two' /dev/$terminal &
    wait" </dev/null &
disown $!
begun two
refused 'two terminals' \
    'one of several terminals whose masters are outside the snapshot: TTY'
"$here/onpty.py" "$tmp/first" sh -c "exec $job.own' /dev/tty" </dev/null &
disown $!
begun own
refused '/dev/tty of a leader' \
    'the terminal of a session, which is not open by its own name: /dev/tty'
finish 33
