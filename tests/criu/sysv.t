#!/usr/bin/env bash
# Memory of System V is attached again by the same numbers and keys when it was
# restored, in an IPC namespace that criu makes; with it, of processes that have
# such a namespace for themselves, are their semaphores and queues.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -sr; do
	in=(unshare --ipc)
	start "$here/sysv.py" all
	in=(env)
	until_true longer 30
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	moves "snap $how" "$tmp/there" "$how"
	end
	rm -rf "$tmp/there"
done

# what an init has, and one that has nothing in its IPC namespace
for program in "$here/sysv.py all" family; do
	in=(unshare --fork --pid --ipc)
	# shellcheck disable=SC2086 # words
	start $program
	in=(env)
	outside=$pid
	pid=$(only_child "$pid")
	until_true longer 30
	take "$tmp/there" -r
	end_init "$outside"
	restore "$tmp/there" --pidfile "$tmp/pidfile"
	pid=$(cat "$tmp/pidfile")
	goes_on "the init of a pid namespace, ${program##*/}"
	is "$(readlink "/proc/$pid/ns/ipc" | grep -c "$(readlink \
	    /proc/self/ns/ipc)")" 0 'in an IPC namespace of its own'
	kill -KILL "$pid"
	until_true gone "$pid"
	rm -rf "$tmp/there" "$tmp/pidfile"
done

# the same numbers in two namespaces: each has its own memory
in=(unshare --ipc)
start "$here/sysv.py"
until_true longer 30
other=$pid
start "$here/sysv.py"
until_true longer 30
in=(env)
cp "$log" "$tmp/log.before"
snap -r -o "$tmp/snap" "$other" "$pid"
is "$rc $err" '0 ' 'snap of two namespaces'
timeout 60 "$BUILD/snapload" -p "$pid" -D "$tmp/there" "$tmp/snap" \
    >"$tmp/command" 2>"$tmp/try"
ok $? 'snapload of one of them' || diag <"$tmp/try"
end_taken
restore "$tmp/there"
goes_on 'one of two namespaces'
end
pid=$other
end

# memory that another has, too, is not theirs alone
start "$here/sysv.py"
until_true longer 30
cat >"$tmp/other.py" <<'EOC'
import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
print(libc.shmat(libc.shmget(0x7e57, 0, 0), None, 0), flush=True)
time.sleep(1000)
EOC
python3 "$tmp/other.py" >"$tmp/at" &
other=$!
disown "$other"
until_true test -s "$tmp/at"
snap -r -o "$tmp/snap" "$pid"
is "$rc $err" '0 ' 'snap where another has it'
timeout 60 "$BUILD/snapload" -D "$tmp/none" "$tmp/snap" 2>"$tmp/err"
is "$? $(grep -c 'of /SYSV00007e57 (deleted): System V shared memory that a'\
' process outside the snapshot has: cannot be restored (-f sysv leaves it out)' \
    "$tmp/err") $(wc -l <"$tmp/err")" '1 6 7' 'it is not restored'
kill "$other"
end
finish 27
