#!/usr/bin/env bash
# Terminals keep their settings, sizes and groups after a restore: a pseudo
# terminal with both ends, which is the terminal of a session; and the terminal
# that a process was started on, which becomes the terminal of criu.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/terminals.py"
until_true longer 100
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
before=$(cut -d ' ' -f 5-8 "/proc/$(pgrep -P "$pid")/stat")
take "$tmp/pair" -r
cp "$log" "$tmp/log.taken"
child=$(pgrep -P "$pid")
below=$(pgrep -P "$child")
kill -KILL "$below" "$child"
end_taken
until_true gone "$child"
until_true gone "$below"
restore "$tmp/pair"
goes_on pair
is "$(cut -d ' ' -f 5-8 "/proc/$(pgrep -P "$pid")/stat")" "$before" \
    'group, session, terminal, foreground group'
: >"$log.talk"
until_true grep -q told "$log"
is "$(grep -E '^(heard|told)' "$log")" "heard question
told b'answer'" 'both ends talk to each other'
kill -KILL "$(pgrep -P "$(pgrep -P "$pid")")" "$(pgrep -P "$pid")"
end
rm "$log.talk"

# unread bytes would be lost
cat >"$tmp/waits.py" <<'EOP'
#!/usr/bin/env python3
import os, pty, sys, time
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
master, slave = pty.openpty()
os.write(master, b'line\n')
while True:
    print('waits', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/waits.py"
start "$tmp/waits.py"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(grep -m 1 -o 'a terminal with unread bytes' "$tmp/err")" \
    '1 a terminal with unread bytes' 'unread bytes: refused'
end

# the terminal of a session whose leader is not in the snapshot
log=$tmp/log.outside
"$here/onpty.py" "$tmp/shown" sh -c "exec 3<&0; \
    '$here/terminals.py' '$log' outside <&3 & \
    echo \$! >'$tmp/pid'; wait" </dev/null &
disown $!
until_true longer 50
pid=$(cat "$tmp/pid")
cp "$log" "$tmp/log.before"
try 'snap outside' "$BUILD/snap" -r -o "$tmp/job" "$pid"
try 'snapload outside' "$BUILD/snapload" -D "$tmp/outside" "$tmp/job"
is "$(grep -v '^#' "$tmp/try" | grep -v '^snapload')" \
    "criu restore -D $tmp/outside --shell-job" 'the command that restores it'
kill -KILL "$pid"
until_true gone "$pid"
cp "$log" "$tmp/log.was"
: >"$log"
"$here/onpty.py" "$tmp/shown" sh -c "'$criu' \
    $(sed -n 's/^criu //p' "$tmp/try") -o '$tmp/criu.log'" </dev/null &
disown $!
goes_on outside
: >"$log.talk"
until_true grep -q answer "$tmp/shown"
ok $? 'it writes to the terminal of criu' || diag <"$tmp/shown"
kill -KILL "$pid"
finish 14
