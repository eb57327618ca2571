#!/usr/bin/env bash
# A POSIX message queue is opened by its name when it is restored; one without a
# name is refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

mkdir "$tmp/queues"
mount -t mqueue none "$tmp/queues" 2>"$tmp/err" ||
    skip_all "no message queues: $(tail -n 1 "$tmp/err")"

start "$here/mqueue.py"
until_true longer 20
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
moves mqueue "$tmp/there" -r
touch "$log.over"
until_true gone_session "$pid"
is "$(find "$tmp/queues" -name 'snap-test-*')" '' 'it can delete its name'

start "$here/mqueue.py" gone
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(sed -n 's/.*, descriptor [0-9]*: //p' "$tmp/err" |
    sed "s/snap-test-[0-9]*/NAME/")" "1 a POSIX message queue: it has no name \
by which it can be opened: /NAME: cannot be restored (-f mqueue leaves it out)" \
    'deleted: refused'
end
umount "$tmp/queues"

# no process has its file system mounted
start "$here/mqueue.py"
is "$("$BUILD/snap" -d -r "$pid" 2>&1 | grep -c "a POSIX message queue: it has \
no name by which it can be opened: /snap-test-$pid: cannot be restored \
(snapload -f mqueue leaves it out)")" 1 'mounted nowhere: refused'
end

# an init with its own IPC namespace, which criu creates without queues
in=(unshare --fork --pid --ipc)
start "$here/mqueue.py"
in=(env)
outside=$pid
pid=$(only_child "$pid")
until_true longer 20
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -c 2>&1 | sed -E \
    's/[23] messages/3 messages/;s/snap-test-1/NAME/' >"$tmp/told"
is "$(grep -c "process $pid: POSIX message queue /NAME in its IPC namespace, \
with 3 messages: cannot be restored (snapload -f mqueue leaves it out)" \
    "$tmp/told")" 1 'in an IPC namespace that criu creates: refused' ||
    diag <"$tmp/told"
kill -KILL "$pid"
until_true gone "$outside"
finish 9
