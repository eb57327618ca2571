#!/usr/bin/env bash
# snapfs mounts, ends, takes options, and refuses wrong arguments and files.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

target "$targets/odd"
snap -o "$tmp/snap" "$pid"
one=$pid
target "$targets/odd"
snap -o "$tmp/two" "$one" "$pid"

# The command returns when the mount can be used.
mkdir "$tmp/mnt"
snapfs "$tmp/snap" "$tmp/mnt"
is "$rc $err $(ls "$tmp/mnt")" "0  $one" "it is usable when snapfs returns"
server=$(server_of "$tmp/snap")
fusermount3 -u "$tmp/mnt"
until_true ended "$server"
ok $? "the server ends when it is unmounted"
cd "$tmp" || exit 1
snapfs snap mnt
is "$rc $err $(ls mnt)" "0  $one" "a relative path is mounted"
umount "$tmp/mnt" || fusermount3 -u "$tmp/mnt"
"$BUILD/snapfs" -m "$tmp/mnt" - <"$tmp/snap"
is "$? $(ls "$tmp/mnt") $(stat -c %a "$tmp/mnt/$one/mem")" "0 $one 400" \
    "standard input is mounted"
fusermount3 -u "$tmp/mnt"
# shellcheck disable=SC2002 # a pipe is what is tested
cat "$tmp/snap" | "$BUILD/snapfs" -m "$tmp/mnt" -
is "$? $(ls "$tmp/mnt") $(cmp "$tmp/mnt/$one/text" "/proc/$one/exe" 2>&1)" \
    "0 $one " "a pipe is mounted"
fusermount3 -u "$tmp/mnt"
"$BUILD/snapfs" "$one" "$tmp/mnt" 2>"$tmp/err"
is "$? $(cat "$tmp/err")$(ls "$tmp/mnt") $(cmp "$tmp/mnt/$one/text" \
    "/proc/$one/exe" 2>&1)" "0 $one " "a live process is mounted"
fusermount3 -u "$tmp/mnt"
"$BUILD/snapfs" "$one" 2147483647 "$tmp/mnt" 2>"$tmp/err"
is "$? $(ls "$tmp/mnt") $(grep -c 'no such process' "$tmp/err")" "1 $one 1" \
    "one of two processes is missing: the status is 1"
fusermount3 -u "$tmp/mnt"
env --ignore-signal=SIGCHLD "$BUILD/snapfs" "$tmp/none" "$tmp/mnt" \
    2>"$tmp/err"
is "$? $(grep -c 'No such file' "$tmp/err")" "1 1" \
    "SIGCHLD is ignored: the status is that of the server"
"$BUILD/snapfs" -p "$pid" "$tmp/two" "$tmp/mnt" 2>"$tmp/err"
is "$? $(cat "$tmp/err")$(ls "$tmp/mnt")" "0 $pid" "-p mounts one process"
fusermount3 -u "$tmp/mnt"

# The end of the server.
for sig in INT TERM; do
	serve "$tmp/snap"
	kill -$sig "$server"
	server_ends "SIG$sig unmounts"
done
serve "$tmp/snap"
exec {inside}<"$mnt/$one/mem"
fusermount3 -u "$mnt" 2>/dev/null
is "$? $(mountpoint -q "$mnt" && echo mounted)" "1 mounted" \
    "an open file keeps it mounted"
fusermount3 -uz "$mnt"
head -c 16 <"/proc/self/fd/$inside" >/dev/null 2>&1
ok $((! $(mountpoint -q "$mnt"; echo $?))) "unmounted while a file is open"
exec {inside}<&-
server_ends "the server ends when the file is closed"
serve "$tmp/snap"
(cd "$mnt/$one" && exec sleep 100) &
sleeper=$!
until_true test /proc/$sleeper/cwd -ef "$mnt/$one"
kill -TERM "$server"
server_ends "SIGTERM unmounts while a process is inside"
kill "$sleeper"
serve "$tmp/snap"
(while :; do cat "$mnt/$one/core" || break; done) >/dev/null 2>&1 &
reader=$!
sleep 0.3
kill -INT "$server"
server_ends "SIGINT unmounts while a reader is busy"
kill "$reader" 2>/dev/null
serve "$tmp/snap"
for ((i = 0; i < 10000; i++)); do
	kill -INT "$server" || break
done 2>/dev/null
server_ends "repeated SIGINT unmounts"
serve "$tmp/snap"
exec {inside}<"$mnt/$one/core"
kill -KILL "$server"
wait "$server" 2>/dev/null
head -c 16 <&"$inside" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out" | grep -c .)" "1 1" "killed: readers get an error"
exec {inside}<&-
umount -l "$mnt" 2>/dev/null || fusermount3 -uz "$mnt"

# Several snapshots.
serve "$tmp/snap" "$tmp/two"
is "$(ls "$mnt" | tr '\n' ' ')" "$(printf '%s\n' "$one" "$one.2" "$pid" |
    sort | tr '\n' ' ')" "a process in two snapshots is shown twice"
is "$(cat "$tmp/err")" "snapfs: process $one is in another snapshot as well:\
 here it is $one.2" "a message names the second one"
unserve
server_ends "the server of two snapshots ends"

# Options.
serve -o "noatime,allow_other" -o max_read=65536,fsname=a "$tmp/snap"
until_true mountpoint -q "$mnt"
unserve
is "$(cat "$tmp/err" | sed 's/.*: //' | head -1)" "" "FUSE options work" ||
    diag <"$tmp/err"
# a group that an access control list denies, and the mask of which permits
cp "$tmp/snap" "$tmp/listed"
chmod 640 "$tmp/listed"
if is_root && command -v setpriv >/dev/null && python3 -c '
import os, struct, sys
acl = struct.pack("<I", 2)
for tag, perm, who in ((1, 6, -1), (2, 4, 65534), (4, 0, -1), (16, 4, -1),
                       (32, 0, -1)):
    acl += struct.pack("<HHi", tag, perm, who)
os.setxattr(sys.argv[1], "system.posix_acl_access", acl)' "$tmp/listed" \
    2>"$tmp/err"; then
	chmod 755 "$tmp"
	chgrp 65533 "$tmp/listed"
	serve -o allow_other "$tmp/listed"
	chmod 755 "$mnt" 2>"$tmp/err"
	setpriv --reuid 65533 --regid 65533 --clear-groups \
	    cat "$mnt/$one/status" >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/out") $(stat -c %a "$mnt/$one/status")" "1  400" \
	    "a group that an access control list denies may not read"
	unserve
else
	skip "a group that an access control list denies" "no list can be set"
fi
serve -o rw,suid,dev,exec "$tmp/snap"
is "$(sed -n "s, $mnt fuse.snapfs \(ro\,nosuid\,nodev\,noexec\).*,\1," \
    /proc/mounts | head -1; grep " $mnt " /proc/mounts |
    grep -c ' ro,nosuid,nodev,noexec')" 1 "no option makes it writable"
unserve
serve -d "$tmp/snap"
ls "$mnt" >/dev/null
unserve
grep -q '^snapfs: .*LOOKUP\|^snapfs: .*READDIR' "$tmp/err"
ok $? "-d prints requests"
snapfs -o nonsense "$tmp/snap" "$tmp/mnt"
is "$rc $(grep -c '^snapfs: .*nonsense' "$tmp/err") $(wc -l <"$tmp/err")" \
    "2 1 1" "an unknown option of FUSE is an error" || diag <"$tmp/err"
name=$'a,b\\c d'
cp "$tmp/snap" "$tmp/$name"
serve "$tmp/$name"
is "$(ls "$mnt")" "$one" "a file name may have a comma"
is "$(findmnt -n -o SOURCE "$mnt")" "$tmp/$name" "findmnt(8) shows this name" ||
    grep "$mnt" /proc/mounts | diag
unserve

# Mount points.
refused() {
	local what=$1 want=$2

	shift 2
	snapfs "$@"
	is "$rc $err" "$want" "refused: $what"
}
refused "no mount point" "1 snapfs: TMP/none: No such file or directory" \
    "$tmp/snap" "$tmp/none"
refused "a file" "1 snapfs: TMP/two: not a directory" "$tmp/snap" "$tmp/two"
mkdir "$tmp/full"
touch "$tmp/full/x"
refused "a full directory" "1 snapfs: TMP/full: directory is not empty \
(use -a to mount over it)" "$tmp/snap" "$tmp/full"
snapfs -a "$tmp/snap" "$tmp/full"
is "$rc $err $(ls "$tmp/full")" "0  $one" "-a mounts over a full directory"
fusermount3 -u "$tmp/full"
is "$(ls "$tmp/full")" x "its file is visible again after umount"
serve "$tmp/snap"
refused "a directory with a file system mounted" "1 snapfs: TMP/mnt$mounts: \
a file system is mounted there (use -a to mount over it)" "$tmp/snap" "$mnt"
unserve
usage=$'2 usage: snapfs [-adf] [-@ moment] [-c group] [-o opt] [-p pid|name]
              [file | pid | name ...] mtpt
       snapfs [-adf] [-@ moment] [-c group] [-o opt] [-p pid|name] -m mtpt
              [file | pid | name ...]
       snapfs [-f] [-@ moment] [-c group] [-p pid|name] -s address
              [file | pid | name ...]
       snapfs --help'
refused "no file" "$usage" "$tmp/mnt"
refused "no arguments" "$usage"
refused "no file after -m" "$usage" -m "$tmp/mnt"
snapfs -x "$tmp/snap" "$tmp/mnt"
is "$rc $(tail -n +2 "$tmp/err")" "$usage" "refused: an unknown option"

# Snapshots.
refused "no snapshot" "1 snapfs: TMP/none: No such file or directory" \
    "$tmp/none" "$tmp/mnt"
echo hello >"$tmp/bad"
snapfs "$tmp/bad" "$tmp/mnt"
is "$rc $err" "1 snapfs: TMP/bad: byte 0: not a snapshot: it does not begin \
with \"process snapshot\"" "refused: a file that is not a snapshot"
for cut in 100 5000 100000; do
	head -c $cut "$tmp/snap" >"$tmp/bad"
	snapfs "$tmp/bad" "$tmp/mnt"
	is "$rc $(grep -c '^snapfs: .*/bad: byte ' "$tmp/err") $(
	    wc -l <"$tmp/err")" "1 1 1" "refused: truncated to $cut bytes"
done
"$BUILD/snapcore" -p "$one" -o "$tmp/core" "$tmp/snap"
head -c -4096 "$tmp/core" >"$tmp/cut"
snapfs "$tmp/cut" "$tmp/mnt"
fusermount3 -u "$tmp/mnt"
is "$rc $(grep -c 'truncated: . segments are incomplete' "$tmp/err")" "1 1" \
    "a truncated core is mounted: exit status 1"
snapfs "$tmp/snap" "$tmp/bad" "$tmp/mnt"
is "$rc $(mountpoint -q "$tmp/mnt" && echo mounted)" "1 " \
    "nothing is mounted if one of two snapshots is damaged"
if is_root; then
	snap=$BUILD/snapfs
	mkdir "$tmp/nodev"
	unshare -m sh -c "mount --bind '$tmp/nodev' /dev &&
	    '$BUILD/snapfs' '$tmp/snap' '$tmp/mnt'" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "1 snapfs: /dev/fuse: No such file or \
directory (is FUSE available?)" "a missing /dev/fuse is an error"
else
	skip "a missing /dev/fuse is an error" "needs root"
fi
finish 46
