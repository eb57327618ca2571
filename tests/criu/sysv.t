#!/usr/bin/env bash
# System V shared memory is restored with its IDs and keys, in an IPC namespace
# that criu creates; semaphores and queues too if the processes have their own
# IPC namespace.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -sr; do
	in=(unshare --ipc)
	start "$here/sysv.py" all
	in=(env)
	until_true longer 30
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	moves "snap $how" "$tmp/there" "$how"
	is "$(grep -c 'memory 2 is not marked for removal when' "$tmp/try")" 1 \
	    "snap $how: a message names memory that was marked for removal"
	end
	rm -rf "$tmp/there"
done

# inits with their own IPC namespace, which has all of these, or is empty
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
	    /proc/self/ns/ipc)")" 0 'it is in its own IPC namespace'
	kill -KILL "$pid"
	until_true gone "$pid"
	rm -rf "$tmp/there" "$tmp/pidfile"
done

# the same IDs in two namespaces: each has its own memory
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

# memory that is also attached outside the snapshot is refused
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
is "$rc $err" '0 ' 'snap of memory that is also attached elsewhere'
timeout 60 "$BUILD/snapload" -D "$tmp/none" "$tmp/snap" 2>"$tmp/err"
is "$? $(grep -c 'of /SYSV00007e57 (deleted): System V shared memory that a'\
' process outside the snapshot has: cannot be restored (-f sysv leaves it out)' \
    "$tmp/err") $(wc -l <"$tmp/err")" '1 6 7' \
    'memory that is also attached elsewhere: refused'
kill "$other"
end
finish 29
