#!/usr/bin/env bash
# snapls reads a small part of a compressed snapshot on a server, which rclone
# has mounted.
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

for p in rclone fusermount3 python3; do
	if ! command -v $p >/dev/null; then
		skip "a snapshot on a server" "no $p"
		finish 1
		exit 0
	fi
done
if ! is_root || [ ! -c /dev/fuse ]; then
	skip "a snapshot on a server" "no FUSE, or not root"
	finish 1
	exit 0
fi

export RCLONE_CONFIG=$tmp/none
: >"$RCLONE_CONFIG"
python3 -c 'import os, time
much = os.urandom(64 << 20)
print("ready", flush=True)
time.sleep(1000)' >"$tmp/ready" &
pid=$!
has() {
	[ -s "$1" ]
}
until_true has "$tmp/ready"
"$BUILD/snap" -zo "$tmp/far.snap.gz" "$pid"
size=$(stat -c %s "$tmp/far.snap.gz")
"$BUILD/snapls" -l "$tmp/far.snap.gz" >"$tmp/want"

# the server, and a relay that counts the bytes from it
mkdir "$tmp/server" "$tmp/mnt"
port=$(python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])')
rclone serve webdav --addr "127.0.0.1:$port" "$tmp/server" 2>"$tmp/log" &
python3 "$tests/fs/relay.py" "$port" "$tmp/count" >"$tmp/relay" &
listens() {
	(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}
until_true listens
until_true has "$tmp/relay"
export RCLONE_CONFIG_STORE_TYPE=webdav RCLONE_CONFIG_STORE_VENDOR=other
RCLONE_CONFIG_STORE_URL=http://127.0.0.1:$(cat "$tmp/relay")
export RCLONE_CONFIG_STORE_URL

# the command in snap(7) that snapcrash runs for an administrator
sh -c 'exec rclone copy "$1" store:crashes' hook "$tmp/far.snap.gz" \
    2>"$tmp/err"
is "$? $(stat -c %s "$tmp/server/crashes/far.snap.gz")" "0 $size" "it is sent"
rclone mount --read-only --buffer-size 0 --vfs-read-chunk-size 128K \
    store:crashes "$tmp/mnt" 2>"$tmp/err" &
there() {
	[ -e "$tmp/mnt/far.snap.gz" ]
}
until_true there
: >"$tmp/count"
"$BUILD/snapls" -l "$tmp/mnt/far.snap.gz" >"$tmp/got" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "the mounted snapshot is listed"
try "the list is that of the local file" cmp "$tmp/want" "$tmp/got"
came=$(awk '{ s += $1 } END { print s + 0 }' "$tmp/count")
ok $((came == 0 || came > size / 20)) \
    "less than a twentieth of its bytes is read"
[ "$came" -le $((size / 20)) ] || echo "$came of $size" | diag
umount "$tmp/mnt"
finish 4
