#!/usr/bin/env bash
# While snap reads a container's files, a process in it replaces a file with a
# FIFO and back: snap reads nothing from the FIFO.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

cat >"$tmp/races.py" <<'END'
"""races.py LOG: an init with a tmpfs on /mnt, and who puts a FIFO with bytes in
the place of a file there, all the time; the log tells if a byte is gone"""
import array
import ctypes
import fcntl
import os
import signal
import sys
import termios

EXCHANGE = 2
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b'own', b'/mnt', b'tmpfs', 0, b'size=1m') != 0:
    sys.exit('mount')
with open('/mnt/file', 'wb') as file:
    file.write(bytes(100))
os.mkfifo('/mnt/fifo')
fifo = os.open('/mnt/fifo', os.O_RDWR)
os.write(fifo, b'x' * 4096)
log = open(sys.argv[1], 'w', buffering=1)
if os.fork() == 0:
    libc.prctl(1, signal.SIGKILL)
    left = array.array('i', [0])
    for turn in range(1 << 62):
        for i in range(1000):
            libc.renameat2(-1, b'/mnt/fifo', -1, b'/mnt/file', EXCHANGE)
        fcntl.ioctl(fifo, termios.FIONREAD, left)
        if left[0] != 4096:
            print('gone', file=log)
            break
        print('turn', file=log)
while True:
    signal.pause()
END
if ! is_root || ! unshare --pid --mount --fork true 2>"$tmp/err"; then
	skip "a tmpfs" "no namespaces" 2
	finish 2
fi
unshare --fork --pid --mount --mount-proc --kill-child \
    python3 "$tmp/races.py" "$tmp/log" 3>&- &
outside=$!
until_true grep -q turn "$tmp/log"
pid=$(tr -d ' ' <"/proc/$outside/task/$outside/children")
bad=0
for ((i = 0; i < 30; i++)); do
	"$BUILD/snap" -o "$tmp/snap" "$pid" 2>"$tmp/err" || bad=$((bad + 1))
done
is "$bad" 0 "all snapshots are taken" || diag <"$tmp/err"
n=$(wc -l <"$tmp/log")
# shellcheck disable=SC2317 # called by until_true
later() {
	[ "$(wc -l <"$tmp/log")" -gt "$n" ]
}
until_true later
is "$(grep -c gone "$tmp/log")" 0 "nothing is read from the FIFO"
finish 2
