#!/usr/bin/env bash
# snapstack shows the descriptor and the addresses of the socket that a thread
# waits for, even if the addresses are in the record of another process.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
needs snapstack

cat >"$tmp/waiting.py" <<'END'
import os, socket, sys

u = socket.socket(socket.AF_UNIX)
u.bind(sys.argv[1])
u.listen()
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen()
c = socket.create_connection(s.getsockname())
d = s.accept()[0]
if os.fork() == 0:
    d.recv(1)
    os._exit(0)
if os.fork() == 0:
    s.accept()
    os._exit(0)
print('ready', flush=True)
u.accept()
END
target python3 "$tmp/waiting.py" "$tmp/listens"

# asleep PROCESS ...: do they sleep in a call?
asleep() {
	local p

	for p; do
		grep -q '^[0-9]' "/proc/$p/syscall" || return 1
	done
}
children=$(cat "/proc/$pid/task/$pid/children")
# shellcheck disable=SC2086 # numbers
until_true asleep "$pid" $children
"$BUILD/snap" -r -o "$tmp/x.snap" "$pid"
"$BUILD/snapstack" "$tmp/x.snap" >"$tmp/out"
# shellcheck disable=SC2086 # numbers
kill -KILL $children
is "$(sed -nE "s,$tmp,TMP,; s/:\[[0-9]+\]/:[N]/; s/(127.0.0.1) [0-9]+/\1 N/g
    s/^  in //p" "$tmp/out")" 'accept4 of 3 (socket:[N], TMP/listens)
recvfrom of 6 (socket:[N], 127.0.0.1 N to 127.0.0.1 N)
accept4 of 4 (socket:[N], 127.0.0.1 N)' "addresses of the sockets"
finish 1
