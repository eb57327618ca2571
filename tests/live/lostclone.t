#!/usr/bin/env bash
# snap -l while it, its guard, a clone or the target is killed, while another
# snap captures the target, or where no clone can be made: there is a message or
# a snapshot, the process notices nothing, and no clone is left.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

# alone FILE N: succeeds if N processes execute FILE, so that no clone is left
alone() {
	[ "$(executing "$1")" -eq "$2" ]
}

# If snap is killed while it writes, no clone survives.
cp "$targets/threads" "$tmp/killed"
target "$tmp/killed"
mkfifo "$tmp/fifo"
exec 3<>"$tmp/fifo"
bad=0
for ((i = 0; i < 12; i++)); do
	"$BUILD/snap" -l "$pid" 3>&- >"$tmp/fifo" 2>/dev/null &
	taker=$!
	sleep "0.0$((i * 7 % 10))$((i % 10))"
	kill -KILL "$taker"
	wait "$taker" 2>/dev/null
	until_true alone "$tmp/killed" 1 || bad=$((bad + 1))
done
exec 3>&-
rm "$tmp/fifo"
is "$bad" 0 "snap is killed: no clone survives"
let_go "$pid" "snap is killed: released"
snap -l -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "snap was killed: another snapshot is taken"
check "$tmp/snap" "$pid" "snap was killed: memory matches"
unnoticed "$pid" "snap is killed: not noticed"

# held WHAT [TARGET ...]: start snap -l, do not read its output: $clone exists
held() {
	cp "$targets/${2:-threads}" "$tmp/$1"
	target "$tmp/$1" "${@:3}"
	exec 3<>"$tmp/fifo"
	"$BUILD/snap" -l "$pid" 3>&- >"$tmp/fifo" 2>"$tmp/err" &
	taker=$!
	until_true free_and_cloned
	ok $? "$1: cloned and released"
	read -r clone <"/proc/$pid/task/$pid/children"
}
free_and_cloned() {
	grep -q . "/proc/$pid/task/$pid/children" && free_again "$pid"
}
# held_end: read the output and wait for snap: $rc, $err, and the number of
# children that $pid has left in $left
held_end() {
	cat <&3 >/dev/null &
	wait "$taker"
	rc=$?
	kill $! && wait $! 2>/dev/null
	exec 3>&-
	err=$(sed 's/\<[1-9][0-9]*\>/N/g' "$tmp/err")
	left=$(wc -w <"/proc/$pid/task/$pid/children")
}
mkfifo "$tmp/fifo"
held "the guard is killed"
nice=$(nice)
until_true eval '[ "$(ps -L -o ni= -p "$taker" | sort -u | tr -d " ")" = \
    $((nice < 10 ? 10 : nice)) ]'
ok $? "after the release snap has nice value 10"
is "$(ps -o ni= -p "$(pgrep -P "$taker" -x snap-guard)" | tr -d ' ')" "$nice" \
    "its guard, which stops the process, keeps its nice value"
kill -KILL "$(pgrep -P "$taker" -x snap-guard)"
held_end
is "$rc $err $left" "0  0" "the guard is killed: taken, and no clone is left"
unnoticed "$pid" "the guard is killed: not noticed"
held "both are killed"
guard=$(pgrep -P "$taker" -x snap-guard)
kill -STOP "$guard"
kill -KILL "$taker" "$guard"
wait "$taker" 2>/dev/null
exec 3>&-
try "both are killed: the clone ends" until_true grep -q '^State:.Z' "/proc/$clone/status"
snap -o "$tmp/snap" "$pid"
is "$rc $err $(wc -w <"/proc/$pid/task/$pid/children")" "0  0" \
    "both are killed: the next snapshot reaps the clone"
unnoticed "$pid" "both are killed: not noticed"
# A clone is not the only child that ends without a signal.
target python3 -c 'import ctypes, os, platform, sys
nr = {"x86_64": 56, "aarch64": 220}[platform.machine()]
child = ctypes.CDLL(None).syscall(nr, 0, 0, 0, 0, 0)
if child == 0:
    os._exit(3)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | -0x80000000)
print("ready", flush=True)
sys.stdin.read(1)
pid, status = os.waitpid(child, -0x80000000)
print("report lost", int((pid, status) != (child, 0x300)))'
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "a child without a signal: taken"
unnoticed "$pid" "a child without a signal: its parent can wait for it"
# more memory than snap reads before its output is read
held "the clone is killed" sweep 64
bare() {
	[ -d "/proc/$1/fd" ] && [ -z "$(find "/proc/$1/fd" -mindepth 1)" ]
}
try "the clone is killed: it had no descriptors" until_true bare "$clone"
kill -KILL "$clone"
held_end
is "$((rc == 1)) $(wc -l <"$tmp/err") $left" "1 1 0" \
    "the clone is killed: one message, and no clone is left" || diag <"$tmp/err"
unnoticed "$pid" "the clone is killed: not noticed"
rm "$tmp/fifo"

# The target is killed during a snapshot.
cp "$targets/sweep" "$tmp/dies"
away='process [0-9]+ exited|no such process|is a zombie|the process is gone|executable cannot'
mkfifo "$tmp/fifo"
exec 3<>"$tmp/fifo"
bad=0
for ((i = 0; i < 12; i++)); do
	"$tmp/dies" 16 <&3 3>&- >"$tmp/out" 2>&1 &
	pid=$!
	until_true grep -q ready "$tmp/out"
	{ sleep "0.0$((i % 3))$((i % 10))"; kill -KILL "$pid"; } &
	patience=20 snap -l -o "$tmp/snap" "$pid"
	wait $! "$pid" 2>/dev/null
	sed -i '/: nothing to take a snapshot of$/d' "$tmp/err"
	if [ "$rc" -gt 1 ] || [ "$(wc -l <"$tmp/err")" -gt "$rc" ] ||
	    grep -vE "$away" "$tmp/err" >"$tmp/other"; then
		bad=$((bad + 1))
		echo "# status $rc"
		diag <"$tmp/err"
	fi
done
exec 3>&-
is "$bad" 0 "the target is killed: a message or a snapshot"
try "the target is killed: no clone survives" until_true alone "$tmp/dies" 0

# Two snapshots of one process at the same time.
target "$targets/threads"
bad=0
for ((i = 0; i < 8; i++)); do
	"$BUILD/snap" -l -o "$tmp/snap2" "$pid" 2>"$tmp/err2" &
	snap -l -o "$tmp/snap" "$pid"
	wait $!
	case "$rc $err" in
	"0 " | "1 snap: process N is traced by process N: captured without "* | \
	    "1 snap: thread N of process N is traced by process N"*) ;;
	*)
		bad=$((bad + 1))
		diag <"$tmp/err"
		;;
	esac
	for e in "$tmp/err" "$tmp/err2"; do
		# it may see memory that the other snap maps in the target,
		# and does not clone it if both have stopped threads
		[ "$(grep -vcE ' could not be read|: another process traces' \
		    "$e")" -le 1 ] || {
			bad=$((bad + 1))
			diag <"$e"
		}
	done
done
is "$bad" 0 "two at once: both succeed, or one reports the other"
let_go "$pid" "two at once: released"
unnoticed "$pid" "two at once: not noticed"

# If no clone can be made, snap takes the snapshot and prints a message.
without() {
	# a leak checker cannot create a process either, and says so
	is "$(grep -c '^snap: ' "$tmp/err") $((rc <= 1))" "1 1" \
	    "$1: one message" ||
	    diag <"$tmp/err"
	check "$tmp/snap" "$pid" "$1: memory matches"
	let_go "$pid" "$1: released"
	unnoticed "$pid" "$1: not noticed"
}
target "$targets/jailed"
snap -l -o "$tmp/snap" "$pid"
is "$(($(wc -l <"$tmp/err") <= 1)) $((rc <= 1))" "1 1" \
    "seccomp, root: a snapshot, or one message" || diag <"$tmp/err"
check "$tmp/snap" "$pid" "seccomp, root: memory matches"
unnoticed "$pid" "seccomp, root: not noticed"

if is_root && mkdir "$tmp/mnt" &&
    mount -t tmpfs -o size=16k none "$tmp/mnt"; then
	target "$targets/shared"
	TMPDIR=$tmp/mnt snap -l -o "$tmp/snap" "$pid"
	without "no room for shared memory"
	head -c 65536 /dev/urandom >"$tmp/deleted"
	sleep 1000 8<"$tmp/deleted" &
	until_true grep -q sleep "/proc/$!/comm"
	cp "$tmp/deleted" "$tmp/copy"
	rm "$tmp/deleted"
	TMPDIR=$tmp/mnt snap -l -o "$tmp/snap" $!
	is "$rc $(wc -l <"$tmp/err")" "0 1" \
	    "no room for a deleted file: one message" || diag <"$tmp/err"
	try "no room for a deleted file: it is embedded" python3 -c 'import sys
snap, want = (open(name, "rb").read() for name in sys.argv[1:])
sys.exit(any(snap.find(want[i:i + 1024]) < 0 for i in range(0, 65536, 1024)))' \
	    "$tmp/snap" "$tmp/copy"
	umount "$tmp/mnt"
else
	skip "no room" "needs root" 6
fi

group=/sys/fs/cgroup/snap-test.$$
if is_root && mkdir "$group" 2>/dev/null && [ -e "$group/pids.max" ]; then
	target "$targets/threads"
	echo "$pid" >"$group/cgroup.procs"
	ls "/proc/$pid/task" | wc -l >"$group/pids.max"
	snap -l -o "$tmp/snap" "$pid"
	without "pids.max"
else
	skip "pids.max" "cannot create such a cgroup" 4
fi
rmdir "$group" 2>/dev/null

if is_root; then
	sleep 1000 &
	foreign=$!
	as_nobody
	cd "$tmp/pub" || exit 1
	target "$targets/jailed"
	snap -l -o "$tmp/pub/snap" "$pid"
	mv "$tmp/pub/snap" "$tmp/snap"
	without "seccomp"
	# a user without other processes, which would count
	alone=$((100000 + $$))
	chown "$alone" "$tmp/pub"
	as=(prlimit --nproc=0 setpriv --reuid="$alone" --regid=65534
	    --clear-groups)
	target "$targets/anon"
	as=(setpriv --reuid="$alone" --regid=65534 --clear-groups)
	snap -l -o "$tmp/pub/snap" "$pid"
	mv "$tmp/pub/snap" "$tmp/snap"
	without "RLIMIT_NPROC"
	as=(prlimit --nproc=1 setpriv --reuid="$alone" --regid=65534
	    --clear-groups)
	target "$targets/anon"
	snap -l -o "$tmp/pub/snap" "$pid"
	mv "$tmp/pub/snap" "$tmp/snap"
	without "no guard"
	as=(setpriv --reuid="$alone" --regid=65534 --clear-groups)
	snap -l -o "$tmp/pub/snap" "$foreign"
	is "$rc $err" "1 snap: process N belongs to root: run as root, or as that user: left out
snap: nothing to take a snapshot of" \
	    "another user's process is refused"
	target "$targets/anon"
	snap -l -o "$tmp/pub/snap" "$pid"
	is "$rc $err" "0 " "a process of one's own: taken"
	check "$tmp/pub/snap" "$pid" "a process of one's own: memory matches" -o
	unnoticed "$pid" "a process of one's own: not noticed"
else
	skip "other users and limits" "needs root" 16
fi
finish 54
