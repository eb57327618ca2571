#!/usr/bin/env bash
# criu restores an init with its own root in a new user namespace, with the same
# users.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

unshare --user --map-root-user true 2>"$tmp/err" ||
    skip_all "no user namespaces: $(tail -n 1 "$tmp/err")"
mkdir -p "$tmp/own/proc"
cc -D_GNU_SOURCE -static -o "$tmp/own/rooted" "$here/rooted.c" 2>"$tmp/err" ||
    skip_all "no static programs: $(tail -n 1 "$tmp/err")"

# who PID: print its user map and IDs
who() {
	tr -s ' ' <"/proc/$1/uid_map"
	grep '^[UG]id' "/proc/$1/status"
}

# comes_back NAME: end process $pid, restore it from $tmp/there, and check that
# it goes on; set $pid to its new ID
comes_back() {
	kill -KILL "$pid"
	until_true gone "$outside"
	cp "$log" "$tmp/log.was"
	: >"$log"
	rm -f "$tmp/pidfile"
	restore "$tmp/there" --pidfile "$tmp/pidfile"
	pid=$(cat "$tmp/pidfile")
	goes_on "$1"
}

log=$tmp/own/log
: >"$log"
unshare --fork --user --map-root-user --pid --mount --uts --ipc --net \
    "$tmp/own/rooted" "$tmp/own" 2>/dev/null &
outside=$!
disown
until_true longer 20
pid=$(only_child "$outside")
who "$pid" >"$tmp/who"

# criu cannot bind a root with mounts below it in a user namespace
mkdir "$tmp/own/data"
mount --bind "$tmp/own/data" "$tmp/own/data"
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -D "$tmp/there" 2>"$tmp/err"
is "$(cat "$tmp/err")" "snapload: process $pid: its user namespace, which criu \
cannot create with --root $tmp/own because $tmp/own/data is mounted there: \
cannot be restored (-f userns leaves it out)
snapload: nothing is written (-f userns writes the rest)" \
    "a mount below the root: refused"
umount "$tmp/own/data"

take "$tmp/there" -r
comes_back "a user namespace"
is "$(who "$pid")" "$(cat "$tmp/who")" "it has its users"
is "$(readlink "/proc/$pid/ns/user" | grep -c "$(readlink \
    /proc/self/ns/user)")" "0" "it is in its own user namespace"
kill -KILL "$pid"

# users that are not the same numbers inside: also of the files in a tmpfs
apart_from_us() {
	[ "$(readlink "/proc/$holder/ns/user")" != \
	    "$(readlink /proc/self/ns/user)" ]
}
mkdir "$tmp/own/tmp"
chown 100000:100000 "$tmp/own" "$log"
chmod 711 "$tmp"
: >"$log"
unshare --user sleep 1000 &
holder=$!
disown
until_true apart_from_us
echo '0 100000 65536' >"/proc/$holder/uid_map"
echo '0 100000 65536' >"/proc/$holder/gid_map"
nsenter --user="/proc/$holder/ns/user" -S 0 -G 0 unshare --fork --pid --mount \
    --uts --ipc --net "$tmp/own/rooted" "$tmp/own" 2>/dev/null &
outside=$!
disown
until_true longer 20
pid=$(only_child "$outside")
kill "$holder"
owners() {
	stat -c '%u %g' "/proc/$pid/root/tmp" "/proc/$pid/root/tmp/file"
}
owners >"$tmp/owners"
is "$(cat "$tmp/owners")" "100005 100006
100007 100008" 'a tmpfs with files of others'
rm -rf "$tmp/there"
cp "$log" "$tmp/log.before"
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -D "$tmp/there" >"$tmp/command" \
    2>"$tmp/err"
is "$(cat "$tmp/err")" "snapload: process $pid: criu also reads images as user \
100000, the root of its user namespace: run chown -R 100000 and chmod -R g+rX" \
    'other numbers: taken'
chown -R 100000 "$tmp/there"
chmod -R g+rX "$tmp/there"
comes_back 'other numbers'
is "$(owners)" "$(cat "$tmp/owners")" 'the tmpfs and its file have their owners'
kill -KILL "$pid"
finish 13
