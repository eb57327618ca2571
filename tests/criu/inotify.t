#!/usr/bin/env bash
# What an inotify set watches it watches after a restore, by the same numbers.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/inotify.py"
until_true longer 20
moves inotify "$tmp/there" -r
: >"$log.talk"
until_true eval '[ "$(grep -c ^event "$log")" -eq 2 ]'
is "$(grep '^event' "$log")" 'event 1 100 new
event 3 2 ' 'and tells of what happens'
end
rm -rf "$log.a b" "$log".*

start "$here/inotify.py" events
until_true longer 10
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(grep -c 'an inotify set with unread events' "$tmp/err")" '1 1' \
    'events that wait: refused'
rm -rf "$log.a b"

# A file that has no name cannot be found again.
cat >"$tmp/nameless.py" <<'EOP'
#!/usr/bin/env python3
import ctypes, os, sys, time
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
libc = ctypes.CDLL(None)
file = os.open(sys.argv[1] + '.gone', os.O_CREAT | os.O_RDWR)
libc.inotify_add_watch(libc.inotify_init(), (sys.argv[1] + '.gone').encode(), 2)
os.unlink(sys.argv[1] + '.gone')
while True:
    print('nameless', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/nameless.py"
end
start "$tmp/nameless.py"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(grep -c 'watches a file whose path is not known' "$tmp/err")" '1 1' \
    'a file without a name: refused'
end
finish 7
