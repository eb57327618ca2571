#!/usr/bin/env bash
# The mounts of a mount namespace are restored: criu creates those that only the
# namespace has, with the files of a tmpfs, and binds the others from outside.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# mounts PID: root, mount point, options and type of each of its mounts
mounts() {
	sed 's/^[0-9]* [0-9]* [0-9:]* \(.*\) - \([^ ]*\) .*/\1 \2/' \
	    "/proc/$1/mountinfo" | sort
}

# begin WHAT ...: start mounts.py with these arguments; $pid is the init,
# $outside its parent
begin() {
	in=(unshare --fork --pid --mount --uts --ipc --mount-proc)
	start "$here/mounts.py" "$@" 9</dev/null
	in=(env)
	outside=$pid
	pid=$(only_child "$pid")
	until_true longer 20
}

# over: end the init and its descendants
over() {
	kill -KILL "$pid"
	until_true gone "$outside"
	until_true gone "$pid"
}

# comes_back WHAT: snapshot, end and restore $pid; it goes on
comes_back() {
	mounts "$pid" >"$tmp/mounts"
	cp "$log" "$tmp/log.before"
	timeout 60 "$BUILD/snap" -r "$pid" >"$tmp/snap" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '0 ' "$1: snap"
	timeout 60 "$BUILD/snapload" -D "$tmp/there" "$tmp/snap" \
	    >"$tmp/command" 2>"$tmp/err"
	is "$? $(grep -v 'another mount covers' "$tmp/err")" '0 ' "$1: snapload"
	over
	cp "$log" "$tmp/log.was"
	: >"$log"
	restore "$tmp/there" --pidfile "$tmp/pidfile"
	pid=$(cat "$tmp/pidfile")
	outside=$pid
	goes_on "$1"
	# a mount that another one covers is not restored
	is "$(mounts "$pid" | comm -13 "$tmp/mounts" -)" '' \
	    "$1: no other mounts"
	is "$(diff <(awk '{ print $2 }' "$tmp/mounts" | sort -u) \
	    <(mounts "$pid" | awk '{ print $2 }' | sort -u))" '' \
	    "$1: the same mount points"
	over
	rm -rf "$tmp/there" "$tmp/pidfile"
}
mkdir "$tmp/own" "$tmp/chroot" "$tmp/none"
[ -x /usr/bin/python3 ] || skip_all 'no python in /usr'
begin
comes_back 'the root of the machine'
begin own "$tmp/own"
comes_back 'a root of its own'
begin chroot "$tmp/chroot"
comes_back 'a directory as its root'

# a read-only root, and one that is mounted only in the namespace
begin readonly "$tmp/own"
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -c "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(sed -n 's/.*process [0-9]*: \(the root.*\)/\1/p' "$tmp/err")" \
    "0 the root of its mount namespace is restored with the mount options \
of $tmp/own, not its own (ro, nosuid, nodev, noexec)" \
    'the lost options of a root are printed'
over
begin alone "$tmp/own"
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -c "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c -- '--root ROOT' "$tmp/out") $(grep -c \
    'is mounted nowhere else: give criu its directory with --root' "$tmp/err")" \
    '0 1 1' 'a root that is mounted only there needs --root'
over

# refused WORD ...: print the exit status and the first reason
refused() {
	begin "$@"
	"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
	rm -rf "$tmp/none"
	"$BUILD/snapload" -D "$tmp/none" "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
	echo "$? $(sed '/another mount covers/d; s/.*process [0-9]*//; s/-f [a-z]* writes.*//' \
	    "$tmp/err" | head -n 1)"
}
refused here ramfs >"$tmp/refused"
# before Linux 5.14 the source of every ramfs is "none"
is "$(sed "s/mount of none/mount of ram/" "$tmp/refused")" \
'1 : mount of ram, of type ramfs, on '\
'/mnt/ram: it is mounted nowhere else, and criu cannot create it: cannot be '\
'restored (-f mount leaves it out)' 'a mount that criu cannot create is refused'
"$BUILD/snapload" -f mount -D "$tmp/none" "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c '^criu restore' "$tmp/out")" '1 1' '-f mount leaves it out' ||
    diag <"$tmp/err"
over
refused here large >"$tmp/refused"
is "$(cat "$tmp/refused")" '1 : mount of own, of type tmpfs, on /mnt: '\
'its files are not in the snapshot: cannot be restored (-f mount leaves it out)' \
    'a tmpfs of more than 16 megabytes is refused'
over
begin here large
unshare --mount sh -c 'for tar in $(realpath /bin/tar /usr/bin/tar | sort -u); do
	[ ! -e "$tar" ] || mount --bind /dev/null "$tar"
done
exec "$@"' sh "$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
is "$? $(sed 's/process [0-9]*/process N/' "$tmp/err")" \
    '1 snap: process N: tar(1) is not installed or failed: files of a tmpfs '\
'are missing' 'without tar(1), snap says that files are missing'
over
refused here outside >"$tmp/refused"
is "$(cat "$tmp/refused")" '1 , descriptor 9: a file of another mount '\
'namespace: /dev/null: cannot be restored (-f other leaves it out)' \
    'a file of another namespace is refused'
over
finish 28
