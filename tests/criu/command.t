#!/usr/bin/env bash
# snapload as it is typed: options, messages, and what an error leaves.  The
# images are made by hand; no criu is needed.
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
    "snapls counts in the images what it counts in the snapshot"
load -D "$tmp/new" "$tmp/snap"
is "$rc $err $(stat -c %a "$tmp/new")" "0  700" "a snapshot to images"
try "they are what they were" \
    python3 "$tests/criu/criuasm.py" same "$tmp/large" "$tmp/new"
load -D "$tmp/new" "$tmp/snap"
is "$rc $err" "1 $tmp/new: directory is not empty; use -O to write into it" \
    "not into a directory with something in it"
: >"$tmp/new/core-99.img"
load -O -D "$tmp/new" "$tmp/snap"
is "$rc $err $(there "$tmp/new/core-99.img")" "0  0" \
    "-O: other images are gone"
load -v -D "$tmp/two" --parent "$tmp/new" "$tmp/snap"
is "$rc $(readlink "$tmp/two/parent")" "0 ../new" "upon a parent"
ok "$(($(stat -c %s "$tmp"/two/pages-*.img | sort -n | tail -n 1) > 0))" \
    "what the parent has is not written again"
"$BUILD/snapload" -u -D "$tmp/two" | "$BUILD/snapload" -D "$tmp/flat"
try "and comes back" \
    python3 "$tests/criu/criuasm.py" same "$tmp/large" "$tmp/flat"
"$BUILD/snapload" -u -D "$tmp/two" >"$tmp/unloaded"
try "-u writes what snapcat writes" \
    cmp <("$BUILD/snapcat" "$tmp/two") "$tmp/unloaded"

# What cannot be written whole is not there at all.
mkdir "$tmp/mnt"
if mount -t tmpfs -o size=256k none "$tmp/mnt" 2>/dev/null; then
	load -D "$tmp/mnt/new" "$tmp/snap"
	is "$rc $(ls -A "$tmp/mnt")" "1 " "a full disk: nothing is left"
	is "$(wc -l <"$tmp/err") $(grep -c 'No space left' "$tmp/err")" "1 1" \
	    "a full disk: one line tells"
	umount "$tmp/mnt"
else
	skip "a full disk" "may not mount" 2
fi
head -c 100000 "$tmp/snap" >"$tmp/cut"
load -D "$tmp/none" "$tmp/cut"
is "$rc $(there "$tmp/none")" "1 0" \
    "a snapshot that was cut off: no directory"
cat >"$tmp/sleeps.py" <<'EOP'
import os, sys, time
os.closerange(int(sys.argv[2]), 1024)
open(sys.argv[1], 'w')
time.sleep(1000)
EOP
# One that leads no session, and has descriptors below this one, is taken
sleeps() {
	rm -f "$tmp/ready"
	python3 "$tmp/sleeps.py" "$tmp/ready" "$1" </dev/null >/dev/null 2>&1 &
	until_true test -e "$tmp/ready"
	snap -r -o "$tmp/live" $!
}
# who leads it: nobody in our pid namespace where a container was entered
leader=$(ps -o sid= -p $$ | tr -d ' ')
case $leader in
0) leader=" is not in its pid namespace" ;;
*) leader=", $leader, is not in the snapshot" ;;
esac
sleeps 3
load -OD "$tmp/job" "$tmp/live"
is "$rc $err" "0 process $!: joins the session of criu when it is \
restored: the leader of its own$leader" "leads no session: it is told"
is "$(cat "$tmp/out")" "criu restore -d -D $tmp/job --shell-job" \
    "leads no session: the command"
sleeps 4 3> >(cat >/dev/null 2>&1)
load -D "$tmp/none" "$tmp/live"
is "$rc ${err%%: a pipe*}" "1 process $!, descriptor 3" \
    "a pipe to who is not in the snapshot"
is "$(tail -n 1 "$tmp/err" | cut -d ' ' -f 2-4) $(there "$tmp/none")" \
    "nothing is written 0" "then nothing is written"
# What is wrong before the first byte is told then: behind snap -k nothing is
# lost.  Nothing ever comes through this pipe.
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
is "$rc" 1 "no such directory"
load -u
is "$rc" 2 "no -D"
load -u --parent x -D "$tmp/large"
is "$rc" 2 "-p with -u"
load -u --tcp-close -D "$tmp/large"
is "$rc" 2 "--tcp-close with -u"
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
    "no images upon compressed ones"
finish 30
