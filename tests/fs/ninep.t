#!/usr/bin/env bash
# snapfs -s serves over 9P2000 the tree that it mounts.  A client can end only
# its own connection.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

client() {
	timeout 250 python3 "$tests/fs/ninep.py" "$@" 2>&1 | head -20
}

target "$targets/threads" busy
snap -o "$tmp/snap" "$pid"
kill -STOP "$pid"	# its threads are busy
sleep 1000 &
other=$!
"$BUILD/snap" -o "$tmp/snap2" "$other"
serve "$tmp/snap" "$tmp/snap2"
env --default-signal=INT "$BUILD/snapfs" -f -s "$tmp/9p" "$tmp/snap" \
    "$tmp/snap2" 2>"$tmp/err9" &
ninep=$!
until_true [ -S "$tmp/9p" ]
is "$(stat -c %a "$tmp/9p")" 700 "only its owner may use the socket"
is "$(awk '$1 == "Seccomp:" || $1 == "NoNewPrivs:" { print $2 }' \
    "/proc/$ninep/status" | tr '\n' ' ')" "1 2 " "the server is confined"
is "$(client "$tmp/9p" same "$mnt")" "" "the tree is that of the mount"
is "$(client "$tmp/9p" rules)" "" "the rules for requests are kept"
is "$(client "$tmp/9p" hostile "${SEED:-1}")" "" \
    "hostile clients end only their own connections"
mkdir "$tmp/mnt9"
if is_root && grep -q '\<9p$' /proc/filesystems; then
	try "Linux mounts it" mount -t 9p \
	    -o trans=unix,version=9p2000,access=any,ro "$tmp/9p" "$tmp/mnt9"
	diff -r -x mem -x core -x map "$mnt" "$tmp/mnt9" >"$tmp/diff" 2>&1
	is "$(head "$tmp/diff")" "" "the mount of Linux shows the same files"
	try "and the same core" cmp "$mnt/$other/core" "$tmp/mnt9/$other/core"
	umount "$tmp/mnt9"
else
	skip "Linux mounts it" "this kernel has no 9p, or not for us" 3
fi
kill -INT "$ninep"
wait "$ninep"
is "$?" 0 "a signal ends the server"
until_true [ ! -e "$tmp/9p" ]
ok $? "the socket is removed when the server ends"
is "$(cat "$tmp/err9")" "" "the server printed no messages"

# the script in snap(7) that makes names for acid
sed -n "/symbols.sh <<'END'/,/^END/p" "$tests/../cmd/snap/snap.7" |
    sed '1d;$d;s/\\e/\\/g' >"$tmp/symbols.sh"
if command -v gdb >/dev/null; then
	is "$(cd "$mnt/$pid" && sh "$tmp/symbols.sh" | grep '^main = ')" \
	    "$(gdb -p "$pid" -batch -ex 'print/x (long)&main' 2>/dev/null |
	    sed -n 's/^$1 = \(.*\)/main = \1;/p')" "names for acid are right"
else
	skip "names for acid are right" "no gdb"
fi
unserve

# in the background, on a port, with a live process; invalid addresses
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
snapfs -s "tcp!127.0.0.1!$port" "$pid"
is "$rc $err" "0 " "the server is ready when the command returns"
ninep=$(server_of "tcp!127.0.0.1!$port")
is "$(client "127.0.0.1:$port" rules)" "" "a live process is served on a port"
snapfs -s "127.0.0.1:$port" "$tmp/snap"
is "$rc $err" "1 snapfs: 127.0.0.1:$port: Address already in use" \
    "a port in use is an error"
for p in $(server_of "127.0.0.1:$port") $ninep; do
	kill "$p"
	until_true gone "$p"
done
snapfs -s "tcp!*!$port" "$tmp/snap"
is "$rc $err" "0 " "all addresses of the machine"
hosts=(127.0.0.1)
grep -q '^0*1 ' /proc/net/if_inet6 2>/dev/null && hosts+=(::1)
try "it is reached at ${hosts[*]}" python3 -c 'import socket, sys
for host in sys.argv[2:]:
    socket.create_connection((host, int(sys.argv[1]))).close()' \
    "$port" "${hosts[@]}"
ninep=$(server_of "tcp!\*!$port")
kill "$ninep"
until_true gone "$ninep"
: >"$tmp/file"
snapfs -s "unix!$tmp/file" "$tmp/snap"
is "$rc $err" "1 snapfs: unix!TMP/file: Address already in use" \
    "an existing file is an error"
try "the existing file is kept" test -f "$tmp/file"
snapfs -s 5640 "$tmp/snap"
is "$rc $err" "1 snapfs: 5640: not a path, HOST:PORT or tcp!HOST!PORT" \
    "an invalid address is an error"
snapfs -s localhost:65536 "$tmp/snap"
is "$rc $err" "1 snapfs: localhost:65536: no such port" \
    "a port that is too large is an error"
snapfs -s "$tmp/9p" -m "$tmp" "$tmp/snap"
is "$rc $(ls "$tmp/9p" 2>/dev/null)" "2 " "-s with -m is an error"
finish 22
