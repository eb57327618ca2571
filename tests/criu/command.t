#!/usr/bin/env bash
# The options and messages of snapload, and what it leaves after an error.
# criuasm.py makes the images; criu is not needed.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

load() {
	timeout 60 "$BUILD/snapload" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	err=$(sed 's/^snapload: //' "$tmp/err")
}

there() {
	[ ! -e "$1" ]
	echo $?
}

images() {
	python3 "$tests/criu/criuasm.py" make "$1" "$2"
}

images large "$tmp/large"
load -u -D "$tmp/large" -o "$tmp/snap"
is "$rc $err" "0 " "images to a snapshot"
is "$("$BUILD/snapls" -l "$tmp/large")" "$("$BUILD/snapls" -l "$tmp/snap")" \
    "snapls prints the same for images and snapshot"
load -D "$tmp/new" "$tmp/snap"
is "$rc $err $(stat -c %a "$tmp/new")" "0  700" "a snapshot to images"
try "the images are the same" \
    python3 "$tests/criu/criuasm.py" same "$tmp/large" "$tmp/new"
load -D "$tmp/new" "$tmp/snap"
is "$rc $err" "1 $tmp/new: directory is not empty; use -O to write into it" \
    "a directory that is not empty is refused"
: >"$tmp/new/core-99.img"
load -O -D "$tmp/new" "$tmp/snap"
is "$rc $err $(there "$tmp/new/core-99.img")" "0  0" \
    "-O removes other images"
load -v -D "$tmp/two" --parent "$tmp/new" "$tmp/snap"
is "$rc $(readlink "$tmp/two/parent")" "0 ../new" "--parent creates the link"
ok "$(($(stat -c %s "$tmp"/two/pages-*.img | sort -n | tail -n 1) > 0))" \
    "pages of the parent are not written again"
"$BUILD/snapload" -u -D "$tmp/two" | "$BUILD/snapload" -D "$tmp/flat"
try "images without a parent are the same" \
    python3 "$tests/criu/criuasm.py" same "$tmp/large" "$tmp/flat"
"$BUILD/snapload" -u -D "$tmp/two" >"$tmp/unloaded"
try "-u writes what snapcat writes" \
    cmp <("$BUILD/snapcat" "$tmp/two") "$tmp/unloaded"

# after an error nothing is left
mkdir "$tmp/mnt"
if mount -t tmpfs -o size=256k none "$tmp/mnt" 2>/dev/null; then
	load -D "$tmp/mnt/new" "$tmp/snap"
	is "$rc $(ls -A "$tmp/mnt")" "1 " "a full disk: nothing is left"
	is "$(wc -l <"$tmp/err") $(grep -c 'No space left' "$tmp/err")" "1 1" \
	    "a full disk: one line says so"
	umount "$tmp/mnt"
else
	skip "a full disk" "may not mount" 2
fi
head -c 100000 "$tmp/snap" >"$tmp/cut"
load -D "$tmp/none" "$tmp/cut"
is "$rc $(there "$tmp/none")" "1 0" \
    "a truncated snapshot: no directory"
cat >"$tmp/sleeps.py" <<'EOP'
import os, sys, time
os.closerange(int(sys.argv[2]), 1024)
open(sys.argv[1], 'w')
time.sleep(1000)
EOP
# sleeps N: snapshot a process that leads no session and has no descriptors
# from N on
sleeps() {
	rm -f "$tmp/ready"
	python3 "$tmp/sleeps.py" "$tmp/ready" "$1" </dev/null >/dev/null 2>&1 &
	until_true test -e "$tmp/ready"
	snap -r -o "$tmp/live" $!
}
# the leader is in no visible pid namespace if a container was entered
leader=$(ps -o sid= -p $$ | tr -d ' ')
case $leader in
0) leader=" is not in its pid namespace" ;;
*) leader=", $leader, is not in the snapshot" ;;
esac
sleeps 3
load -OD "$tmp/job" "$tmp/live"
is "$rc $err" "0 process $!: joins the session of criu when it is \
restored: the leader of its own$leader" "leads no session: a note says so"
is "$(cat "$tmp/out")" "criu restore -d -D $tmp/job --shell-job" \
    "leads no session: the command"
sleeps 4 3> >(cat >/dev/null 2>&1)
load -D "$tmp/none" "$tmp/live"
is "$rc ${err%%: a pipe*}" "1 process $!, descriptor 3" \
    "a pipe to a process outside the snapshot is refused"
is "$(tail -n 1 "$tmp/err" | cut -d ' ' -f 2-4) $(there "$tmp/none")" \
    "nothing is written 0" "the last line says that nothing is written"
# Errors that need no input are reported before input is read, so that after
# snap -k nothing is lost.  This pipe never has data.
mkfifo "$tmp/silent"
sleep 1000 >"$tmp/silent" &
mkdir "$tmp/full" "$tmp/part"
: >"$tmp/full/file"
early() {
	load "${@:2}" <"$tmp/silent"
	is "$rc $err $(there "$tmp/none")" "1 $tmp/$1 0" "at once: ${1##*: }"
}
early "none/images: No such file or directory" -D "$tmp/none/images"
early "full/file: Not a directory" -D "$tmp/full/file"
early "full: directory is not empty; use -O to write into it" -D "$tmp/full"
early "absent: No such file or directory" --parent "$tmp/absent" -D "$tmp/none"
early "part: a directory cannot be its own parent" --parent "$tmp/part" \
    -D "$tmp/part"
load -D "$tmp/none" "$tmp/absent"
is "$rc $err" "1 $tmp/absent: No such file or directory" "no such snapshot"
load -u -D "$tmp/none"
is "$rc" 1 "-u: no such directory"
load -u
is "$rc" 2 "-u without -D is refused"
load -u --parent x -D "$tmp/large"
is "$rc" 2 "--parent with -u is refused"
load -u --tcp-close -D "$tmp/large"
is "$rc" 2 "--tcp-close with -u is refused"
images loop "$tmp/loop"
load -u -D "$tmp/loop" -o "$tmp/x"
is "$rc $(wc -l <"$tmp/err") $(there "$tmp/x")" "1 1 0" \
    "bad images: one line, no file"

# criu might take compressed pages of a parent for pages
images lz4-4 "$tmp/packed"
load -u -D "$tmp/packed" -o "$tmp/packed.snap"
is "$rc $err" "0 " "compressed images to a snapshot"
load -D "$tmp/upon" --parent "$tmp/packed" "$tmp/packed.snap"
is "$rc $(grep -c 'compressed pages' <<<"$err") $(there "$tmp/upon")" "1 1 0" \
    "a compressed parent is refused"
finish 30
