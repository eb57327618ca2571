#!/usr/bin/env bash
# Sockets that belong to another network namespace than their process's are
# refused.  The process is not an init: a note says that it is restored in
# criu's network namespace.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

cat >"$tmp/other" <<'END'
#!/usr/bin/env python3
import ctypes, os, socket, sys, time
os.setsid()
os.closerange(3, 1024)
log = open(sys.argv[1], 'a', buffering=1)
kept = []
if len(sys.argv) > 2:
    kept = [socket.socket(socket.AF_INET, socket.SOCK_STREAM),
            socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)]
NEWNET = 0x40000000
if ctypes.CDLL(None).unshare(NEWNET) == -1:
    sys.exit(2)
kept.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
for n in range(100000):
    print('other', n + 1, 0, file=log)
    time.sleep(.01)
END
chmod +x "$tmp/other"
start "$tmp/other" kept
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(sed -n 's/.*, \(descriptor .*network namespace.*:\).*/\1/p' "$tmp/err")" \
    '1 descriptor 4: an IP socket: it belongs to another network namespace than its process:
descriptor 5: it belongs to another network namespace than its process:' \
    'sockets of another network namespace: refused'
end
start "$tmp/other"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/images" "$tmp/snap" 2>&1 >/dev/null |
    sed 's/process [0-9]*/process N/' >"$tmp/err"
is "${PIPESTATUS[0]} $(cat "$tmp/err")" "0 snapload: process N: it is restored \
in criu's net namespace, not one of its own (it is not an init)" \
    'its own network namespace: a note'
end
finish 2
