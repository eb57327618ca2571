#!/usr/bin/env bash
# In a series, what a process had open is closed when the process ends or
# executes another program, not with the next moment.  Its clone ends with it.
# beside: live
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

cat >"$tmp/holds.py" <<'END_PY'
# holds LOCK [FILE]: lock LOCK, open FILE, and execute sleep(1) when told to
import fcntl
import os
import sys

held = [open(a) for a in sys.argv[1:]]
fcntl.flock(held[0], fcntl.LOCK_EX)
print('ready', flush=True)
if sys.stdin.readline() == 'x\n':
    os.execvp('sleep', ['sleep', '1000'])
END_PY

# begin NAME [FILE]: start a target and a series of it, until the first moment
# is written
begin() {
	: >"$tmp/$1.lock"
	target python3 "$tmp/holds.py" "$tmp/$1.lock" "${@:2}"
	"$BUILD/snap" -v -i 1000 -N 2 -o "$tmp/$1" "$pid" 2>"$tmp/$1.err" &
	series=$!
	until_true grep -q 'moment 1:' "$tmp/$1.err"
}
unlocked() {
	flock -n "$tmp/$1.lock" true
}
none_left() {
	! pgrep -f "$tmp/$1.lock" >/dev/null
}
closed() {
	until_true unlocked "$1"
	ok $? "$1: the file is closed"
	kill "$series"
	wait "$series"
	is "$?" 143 "$1: the series went on"
}

begin killed
kill -KILL "$pid"
until_true none_left killed
ok $? "killed: the clone ends"
closed killed

# a thread ID selects its process, which goes on when the thread ends
target python3 -c '
import sys, threading
t = threading.Thread(target=sys.stdin.readline)
t.start()
print(t.native_id, flush=True)
print("ready", flush=True)
threading.Event().wait()'
thread=$(head -n 1 "$lines")
"$BUILD/snap" -v -i 1 -N 3 -o "$tmp/thread" "$thread" 2>"$tmp/thread.err" &
series=$!
until_true grep -q 'moment 1:' "$tmp/thread.err"
echo >&"${ask_fd[$pid]}"
until_true gone "$thread"
wait "$series"
is "$? $(grep -c '^snap: moment .:' "$tmp/thread.err")" '0 3' \
    'a thread ends: the series of its process goes on' || diag <"$tmp/thread.err"

mkdir "$tmp/mnt"
if ! "$BUILD/snapfs" "$tmp/killed" "$tmp/mnt" 2>"$tmp/err"; then
	skip "with a file of a file server" "$(head -n 1 "$tmp/err")" 4
	finish 8
fi
file=$(find "$tmp/mnt" -name text -type f | head -n 1)
begin 'file server, killed' "$file"
kill -KILL "$pid"
closed 'file server, killed'
begin 'file server, executes' "$file"
echo x >&"${ask_fd[$pid]}"
closed 'file server, executes'
finish 8
