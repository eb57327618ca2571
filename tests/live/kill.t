#!/usr/bin/env bash
# snap -k kills all processes when their snapshot is safe.  After an earlier
# error all run on.  If something cannot be restored, snap says so and kills
# none; snap -d says the same.
# beside: live
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

# apart PROGRAM ...: start a target that shares nothing with this test, so that
# it can be restored: $pid
apart() {
	rm -f "$tmp/out"
	"${as[@]}" setsid python3 -c 'import os, sys
os.closerange(3, 4096)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" </dev/null >"$tmp/out" 2>&1 3>&- &
	pid=$!
	disown "$pid"	# no message when it is killed
	others+=("$pid")
	until_true grep -q . "$tmp/out"
}
others=()
leave() {
	[ "$BASHPID" -ne $$ ] || kill -KILL "${others[@]/#/-}"
	cleanup
} 2>/dev/null
trap leave EXIT

# two: a restorable process with three threads, and a child that has three
cat >"$tmp/two.py" <<'EOF'
import os, sys, threading
done, tell = os.pipe()
child = os.fork()
for i in range(2):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
kept = {i: str(i) * 50 for i in range(20000)}
os.close(done if child == 0 else tell)
if child:
    os.read(done, 1)
    os.write(1, b"%d\n" % child)
    os.close(done)
else:
    os.close(tell)
threading.Event().wait()
EOF
two() {
	apart python3 "$tmp/two.py"
	child=$(cat "$tmp/out")
}

running() {
	local p

	for p; do
		free_again "$p" || return 1
	done
}

ended() {
	local p

	for p; do
		[ "$(ps -o stat= -p "$p" | cut -c1)" = Z ] || gone "$p" ||
		    return 1
	done
}

# The output is a file.
two
snap -d -r "$pid"
is "$rc $err" "0 snap: all processes can be restored" "-d: all can be restored"
running "$pid" "$child"
ok $? "-d: they run on"
snap -d -k -f "$pid"
is "$rc $err" "0 snap: all processes can be restored" "-d -k -f: the same"
running "$pid" "$child"
ok $? "-d -k -f: they run on"
snap -k -o "$tmp/snap" "$pid"
ended "$pid" "$child"
is "$? $rc $err" "0 0 " "to a file: all have ended when snap ends"
try "to a file: the snapshot is whole" "$BUILD/snapls" -c "$tmp/snap"
try "to a file: it can be loaded" "$BUILD/snapload" -D "$tmp/images" "$tmp/snap"

# A reader must have read all of a pipe: here the last bytes are still in it.
two
mkfifo "$tmp/fifo"
exec 3<>"$tmp/fifo"
python3 -c 'import fcntl; fcntl.fcntl(3, 1031, 1 << 20)'
"$BUILD/snap" -k "$child" >"$tmp/first" 2>/dev/null	# to know its size
size=$(stat -c %s "$tmp/first")
two
timeout -s KILL 60 "$BUILD/snap" -k "$child" 3>&- >"$tmp/fifo" 2>"$tmp/err" &
taker=$!
exec 4<"$tmp/fifo" 3>&-
# the rest fits into the pipe
head -c $((size - 500000)) <&4 >"$tmp/snap"
until_true grep -q 'stay stopped until the output is read' "$tmp/err"
ok $? "to a pipe: snap waits for the reader"
is_traced "$child"
ok $? "to a pipe: not killed while data is in it"
cat <&4 >>"$tmp/snap"
wait "$taker"
rc=$?
ended "$child"
is "$? $rc" "0 0" "to a pipe: killed when all is read"
try "to a pipe: the snapshot is whole" "$BUILD/snapls" -c "$tmp/snap"
exec 4<&-

# A signal that the record lacks: the process gets it.
two
"$BUILD/snap" -k "$child" 2>"$tmp/err" | {
	head -c 100000
	kill -TERM "$child"
	cat
} >"$tmp/snap"
is "${PIPESTATUS[0]} $(apart_from_criu | tail -n 1)" \
    "1 snap: no process killed: process $child received signal 15 during the move" \
    "a signal comes late: a message"
until_true ended "$child"
ok $? "a signal comes late: the process gets it"
running "$pid"
ok $? "a signal comes late: no process is killed"

# Signals of a timer are none: it is in the record.
apart python3 -c 'import signal, os
signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
os.write(1, b"ready\n")
while True:
    signal.pause()'
"$BUILD/snap" -k "$pid" 2>"$tmp/err" | {
	sleep 0.2
	cat
} >"$tmp/snap"
rc=${PIPESTATUS[0]}
ended "$pid"
is "$? $rc $(apart_from_criu)" "0 0 " "a timer expires in the stop: killed"

# The reader ends early, the disk is full, or snap is killed.
two
snap -kr "$pid" > >(head -c 100000 >/dev/null)
is "$rc $err" "1 snap: standard output: write: Broken pipe" \
    "a reader that ends: a message"
running "$pid" "$child"
ok $? "a reader that ends: they run on"
if is_root && mkdir "$tmp/mnt" &&
    mount -t tmpfs -o size=200k none "$tmp/mnt"; then
	snap -kr -o "$tmp/mnt/snap" "$pid"
	running "$pid" "$child"
	is "$? $rc $(ls -A "$tmp/mnt")" "0 1 " "a full disk: they run on"
	umount "$tmp/mnt"
else
	skip "a full disk" "needs root"
fi
for sig in KILL TERM; do
	exec 3<>"$tmp/fifo"
	"$BUILD/snap" -kr "$pid" 3>&- >"$tmp/fifo" 2>/dev/null &
	taker=$!
	until_true is_traced "$child"
	kill -s "$sig" "$taker"
	wait "$taker" 2>/dev/null
	exec 3>&-
	until_true running "$pid" "$child"
	ok $? "SIG$sig ends snap: they run on"
done
snap -k -o /dev/null "$pid"
is "$rc $err" \
    "1 snap: the output is a device: cannot determine whether it keeps the snapshot" \
    "to a device: refused"

"$BUILD/snap" -k "$pid" 2>"$tmp/err" >/dev/udp/127.0.0.1/9
is "$? $(apart_from_criu)" "1 snap: the output is a socket: cannot determine \
whether its peer receives the snapshot" "to a datagram socket: refused"

# Processes that cannot be restored or captured.
exec 8> >(cat >/dev/null)
target "$targets/threads"
exec 8>&-
snap -d "$pid"
told=$err
is "$rc $(grep -c 'process N, descriptor N: .*: cannot be restored' <<<"$err")" \
    "1 $(($(wc -l <"$tmp/err") - 1))" "-d: names process and reason"
snap -k -o "$tmp/none" "$pid"
is "$rc $err" "1 ${told//snap: not all/snap: nothing written, no process killed: not all}" \
    "-k: says the same"
snap -k -o "$tmp/none" "$pid" 99999999
grep -q 'nothing written, no process killed' "$tmp/err"
is "$? $rc $([ -e "$tmp/none" ] || echo none)" "0 1 none" \
    "refused: there is no file"
let_go "$pid" "refused: released"
unnoticed "$pid" "refused: not noticed"
two
snap -kr -o "$tmp/none" "$pid" 99999999
is "$rc $err" "1 snap: no such process: N
snap: nothing written, no process killed: some of the processes could \
not be captured completely" \
    "one is missing: refused"
running "$pid" "$child"
ok $? "one is missing: the others run on"
snap -kn "$pid"
is "$rc $err" "2 snap: -n cannot be combined with -d, or with -k \
without -f: the processes could not be restored" \
    "-kn: refused before anything is stopped"
snap -k -x secrets "$pid"
is "$rc $err" "2 snap: -x cannot be combined with -d, or with -k \
without -f: the processes could not be restored" \
    "-kx: refused before anything is stopped"
snap -f "$pid"
is "$rc" 2 "-f without -k: wrong usage"
snap -kr -f -o "$tmp/snap" "$pid" 99999999
ended "$pid" "$child"
is "$? $rc $err" "0 1 snap: no such process: N" "-f: killed nevertheless"

# A zombie is complete.
apart python3 -c 'import os, time
child = os.fork()
if not child:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
os.write(1, b"ready\n")
time.sleep(1000)'
snap -kr -o "$tmp/snap" "$pid"
ended "$pid"
is "$? $rc $err" \
    "0 0 snap: process N is a zombie: it no longer has memory or registers" \
    "with a zombie: killed"

# snapload restores several trees one after the other, which needs a file.
two
one=$pid
two
trees="snap: 2 process trees, each restored by itself: use snapload -p with \
$one, $pid"
"$BUILD/snap" -d "$one" "$pid" 2>"$tmp/err"
is "$? $(apart_from_criu)" "0 $trees
snap: all processes can be restored" "two trees: -d reports them"
"$BUILD/snap" -k "$one" "$pid" 2>"$tmp/err" > >(cat >"$tmp/piped")
is "$? $(apart_from_criu)" "1 $trees
snap: nothing written, no process killed: several process trees cannot go \
through a pipe; use -o file" \
    "two trees: refused to a pipe"
running "$one" "$pid" "$child"
ok $? "two trees: they run on"
"$BUILD/snap" -k -o "$tmp/snap" "$one" "$pid" 2>"$tmp/err"
is "$? $(apart_from_criu)" "0 $trees" "two trees: to a file"
for p in "$one" "$pid"; do
	try "two trees: one can be loaded" \
	    "$BUILD/snapload" -p "$p" -D "$tmp/of.$p" "$tmp/snap"
done

# Processes of one's own, without privilege.
if is_root; then
	as_nobody
	two
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	snap -kr -o "$tmp/pub/snap" "$pid"
	ended "$pid" "$child"
	is "$? $rc $err" "0 0 " "without privilege: killed"
	as=(env)
	two
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	snap -kr -o "$tmp/pub/none" "$pid"
	as=(env)
	running "$pid" "$child"
	is "$? $rc" "0 1" "another user's: they run on"
else
	skip "without privilege" "needs root" 2
fi
finish 42
