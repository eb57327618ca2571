#!/usr/bin/env bash
# Pidfds refer to the same process after a restore: one that lives, a zombie,
# and one that was waited for.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

criu_from 4.1 || skip_all 'criu before 4.1 restores no pidfds'
start "$here/pidfds.py"
until_true longer 50
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
moves pidfds "$tmp/there" -r
: >"$log.end"
until_true grep -q killed "$log"
is "$(grep killed "$log")" 'killed 9' 'a signal through a pidfd arrives'
end

# pidfds of a process outside the snapshot, and of a thread
cat >"$tmp/others.py" <<'EOP'
#!/usr/bin/env python3
import os, sys, threading, time
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
fd = os.pidfd_open(os.getppid())
tid = []
def run():
    tid.append(threading.get_native_id())
    time.sleep(1000)
threading.Thread(target=run, daemon=True).start()
while not tid:
    time.sleep(.01)
try:
    os.pidfd_open(tid[0], os.O_EXCL)
    print('thread', file=log)
except OSError:
    print('none', file=log)
while True:
    print('others', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/others.py"
start "$tmp/others.py"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$(sed -n 's/.*descriptor 4: \(.*\): anon.*/\1/p
    s/.*descriptor 4: \(.*\): cannot.*/\1/p' "$tmp/err")" \
    'a pidfd of a process outside the snapshot' 'outside the snapshot: refused'
if grep -q none "$log"; then
	skip 'of a thread: refused' 'Linux before 6.9'
else
	is "$(sed -n 's/.*descriptor 5: \(.*\): cannot.*/\1/p' "$tmp/err")" \
	    'a pidfd of a thread' 'of a thread: refused'
fi
end
finish 8
