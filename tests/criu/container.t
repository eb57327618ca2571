#!/usr/bin/env bash
# What is mounted in a mount namespace of its own is mounted again when it is
# restored: what only it has is made, with the files of a tmpfs, and what is
# outside, too, criu binds from there.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# mounts PID: what it has mounted: the root of each, where, how, and what
mounts() {
	sed 's/^[0-9]* [0-9]* [0-9:]* \(.*\) - \([^ ]*\) .*/\1 \2/' \
	    "/proc/$1/mountinfo" | sort
}

# begin WHAT ...: mounts.py with these words; $pid is the init, $outside who
# waits for it
begin() {
	in=(unshare --fork --pid --mount --uts --ipc --mount-proc)
	start "$here/mounts.py" "$@" 9</dev/null
	in=(env)
	outside=$pid
	pid=$(only_child "$pid")
	until_true longer 20
}

# over: end the init and all below it
over() {
	kill -KILL "$pid"
	until_true gone "$outside"
	until_true gone "$pid"
}

# comes_back WHAT: what runs is taken, ended, restored, and goes on
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
	# what covers something else is there alone
	is "$(mounts "$pid" | comm -13 "$tmp/mounts" -)" '' \
	    "$1: nothing is mounted that was not"
	is "$(awk '{ print $2 }' "$tmp/mounts" | sort -u)" \
	    "$(mounts "$pid" | awk '{ print $2 }' | sort -u)" \
	    "$1: on the same directories"
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

# a root that is not to be written to, and one that nobody else has
begin readonly "$tmp/own"
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -c "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(sed -n 's/.*process [0-9]*: \(the root.*\)/\1/p' "$tmp/err")" \
    "0 the root of its mount namespace is restored with the mount options \
of $tmp/own, not its own (ro, nosuid, nodev, noexec)" \
    'the options of a root are told'
over
begin alone "$tmp/own"
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -c "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c -- '--root ROOT' "$tmp/out") $(grep -c \
    'is mounted nowhere else: give criu its directory with --root' "$tmp/err")" \
    '0 1 1' 'where nobody else has it, who restores tells where it is'
over

# refused WORDS ...: what hinders it
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
'restored (-f mount leaves it out)' 'one that criu cannot make is refused'
"$BUILD/snapload" -f mount -D "$tmp/none" "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c '^criu restore' "$tmp/out")" '1 1' 'but can be left out' ||
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
'are missing' 'without tar the files of a tmpfs are missing, and that is said'
over
refused here outside >"$tmp/refused"
is "$(cat "$tmp/refused")" '1 , descriptor 9: a file of another mount '\
'namespace: /dev/null: cannot be restored (-f other leaves it out)' \
    'a file of another namespace is refused'
over
finish 28
