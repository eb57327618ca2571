#!/usr/bin/env bash
# After an error there is one clear line and an exit status, no file under the
# final name, and no process is left stopped.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

mkdir "$tmp/dir"
target "$targets/anon"

# refused STATUS MESSAGE ARGUMENT ...: snap fails so and leaves no file
refused() {
	local status=$1 text=$2

	shift 2
	snap "$@"
	is "$rc $err" "$status $text" "snap ${*//$tmp/TMP}" ||
	    diag <"$tmp/err"
	is "$(ls -A "$tmp/dir")" "" "no file is left"
	rm -rf "$tmp/dir"
	mkdir "$tmp/dir"
}
o=$tmp/dir/snap

refused 1 "snap: no such process: N
snap: nothing to take a snapshot of" -o "$o" 2147483647
refused 1 "snap: 0: not a process ID" -o "$o" 0
refused 1 "snap: N: not a process ID" -o "$o" 99999999999999999999
refused 1 'snap: no process is called "no such name"' -o "$o" \
    "no such name"
refused 1 'snap: empty process name' -o "$o" ""
refused 1 "snap: no-such-unit: no process is in a unit, container, pod, \
or cgroup of that name" -o "$o" -c no-such-unit
refused 1 "snap: /no/such/group: no such cgroup" -o "$o" \
    -c /no/such/group
refused 1 "snap: empty cgroup name" -o "$o" -c ""
numbers() {
	sed 's/\<[1-9][0-9]*\>/N/g' <<<"$1"
}
for at in 24:00 12:60 1:2:61 12 12: 12:00:00x now @ @x -1:00; do
	refused 2 "snap: --at: \"$(numbers "$at")\" is not a time: use \
HH:MM:SS, or @ and seconds since the Epoch" -o "$o" --at "$at" "$pid"
done
for at in "@$(($(date +%s) - 60))" "$(date -d '-1 minute' +%T)"; do
	refused 1 "snap: --at: $(numbers "$at") passed N seconds ago" \
	    -o "$o" --at "$at" "$pid"
done
refused 2 'snap: -u: there is no user "no such user"' -o "$o" \
    -u "no such user"
refused 2 'snap: -u: there is no user "N"' -o "$o" -u 4294967295
usage='usage: snap [-adfklnrsvz] [-ciNmotux argument] [--option ...] [pid|name ...]
       snap --help'
refused 2 "$usage" -o "$o"
refused 2 "$usage"
refused 2 "$BUILD/snap: invalid option -- '?'
$usage" -'?' "$pid"
refused 2 "$BUILD/snap: option requires an argument -- 'o'
$usage" "$pid" -o
refused 2 "snap: -o v: did you mean -v, and -o with a file name?\
 (for a file of that name use ./v)" -ov "$pid"
refused 2 "snap: -o -rv: did you mean -rv, and -o with a file name?\
 (for a file of that name use ./-rv)" -o -rv "$pid"
refused 2 "snap: -o N: missing file name? this is the ID of a process\
 (for a file of that name use ./N)" -o "$pid"
for p in "procmap -g" "snapcore -o" "snapcat -o" "snapload -uD $tmp/none -o"; do
	# shellcheck disable=SC2027,SC2086 # words
	(cd "$tmp/pub" && "$BUILD/"${p/ / }"$pid" 2>&1; echo "$?") >"$tmp/out"
	is "$(sed 's/.*missing file name?.*/asks/' "$tmp/out" | tr '\n' ' ')$(
	    ls "$tmp/pub")" "asks 2 " "$p: a process ID is no file name"
done
if is_root; then
	install -m 755 "$BUILD/snapcat" "$tmp/theirs"
	is "$(setpriv --reuid=65534 --clear-groups "$tmp/theirs" -o 1 2>&1)" \
	    "theirs: -o 1: missing file name? this is the ID of a process\
 (for a file of that name use ./1)" "another user's process ID is no file name"
	rm "$tmp/theirs"
else
	skip "another user's process ID is no file name" "not root"
fi
(cd "$tmp/pub" && "$BUILD/snap" -o v "$pid" && "$BUILD/snap" -oo.v "$pid")
is "$? $(cd "$tmp/pub" && echo *)" "0 o.v v" "such files can be written"
refused 1 "snap: TMP/none/snap: No such file or directory" \
    -o "$tmp/none/snap" "$pid"
refused 1 "snap: TMP/dir: Is a directory" -o "$tmp/dir" "$pid"
refused 1 'snap: "": No such file or directory' -o "" "$pid"
snap -o "$o" "$pid"
cp "$o" "$tmp/old"
snap -o "$o" 2147483647
try "an existing file stays" cmp "$o" "$tmp/old"
rm "$o"

# Snap itself: a warning, and the others are captured.
sh -c 'exec "$1" -o "$2" $$' sh "$BUILD/snap" "$o" 2>"$tmp/err"
is "$? $(sed 's/[1-9][0-9]*/N/' "$tmp/err")" \
    "1 snap: process N is this program itself: left out
snap: nothing to take a snapshot of" "itself alone"
is "$(ls -A "$tmp/dir")" "" "itself alone: no file"
sh -c 'exec "$1" -o "$2" $$ "$3"' sh "$BUILD/snap" "$o" "$pid" 2>"$tmp/err"
is "$? $(sed 's/[1-9][0-9]*/N/' "$tmp/err")" \
    "1 snap: process N is this program itself: left out" "itself and another"
check "$o" "$pid" "itself and another: the other is taken"

# By name: all of them.
cp "$targets/odd" "$tmp/named.$$"
target "$tmp/named.$$"
first=$pid
target "$tmp/named.$$"
snap -o "$o" "named.$$"
is "$rc $err" "0 " "by name: taken"
check "$o" "$first" "by name: the first"
check "$o" "$pid" "by name: the second"
cp "$targets/odd" "$tmp/a rather long name $$"
target "$tmp/a rather long name $$"
snap -o "$o" "a rather long name $$"
check "$o" "$pid" "by a name that the kernel cuts"
snap -o "$o" "a rather long name of no one"
is "$rc" 1 "by a name that only begins like it"

for p in "${!lines_of[@]}"; do
	let_go "$p" "released"
done

# Input that snapls cannot read.
head -c 100000 "$tmp/old" >"$tmp/cut"
"$BUILD/snapls" "$tmp/cut" >/dev/null 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" "1 1" "snapls: a cut snapshot is an error"
head -c $(($(stat -c %s "$tmp/old") - 1)) "$tmp/old" >"$tmp/cut"
"$BUILD/snapls" "$tmp/old" >"$tmp/list"
"$BUILD/snapls" "$tmp/cut" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c "^snapls: $tmp/cut: byte .*; snapcat -s saves what precedes it\$" \
    "$tmp/err")" "1 1" "snapls: a cut snapshot: how to save its data"
try "snapls: a cut snapshot is listed" cmp "$tmp/list" "$tmp/out"
"$BUILD/snapls" <"$tmp/cut" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c '^snapls: standard input: byte .*; snapcat -s saves what' \
    "$tmp/err") $(cmp "$tmp/list" "$tmp/out")" "1 1 " \
    "snapls: the same from standard input"
# shellcheck disable=SC2002 # a pipe is meant
cat "$tmp/cut" | "$BUILD/snapls" 2>/dev/null | cmp - "$tmp/list"
is "${PIPESTATUS[*]}" "0 1 0" "snapls: the same from a pipe"
# cut within a segment
head -c $(($(stat -c %s "$tmp/old") / 2)) "$tmp/old" >"$tmp/cut"
"$BUILD/snapls" "$tmp/cut" >"$tmp/list" 2>/dev/null
"$BUILD/snapls" <"$tmp/cut" >"$tmp/out" 2>/dev/null
try "snapls: half a snapshot from standard input: the same memory" \
    cmp "$tmp/list" "$tmp/out"
mkfifo "$tmp/fifo"
cat "$tmp/cut" >"$tmp/fifo" &
timeout 10 "$BUILD/snapls" "$tmp/fifo" \
    >"$tmp/out" 2>/dev/null
is "$? $(cmp "$tmp/list" "$tmp/out")" "1 " "snapls: the same from a FIFO"
wait $!
timeout 10 "$BUILD/snapls" /dev/zero 2>"$tmp/err"
is "$? $(cut -c 1-42 "$tmp/err")" \
    "1 snapls: /dev/zero: byte 0: not a snapshot:" \
    "snapls: a device is not read for ever"
"$BUILD/snapls" -c "$tmp/cut" 2>&1 >"$tmp/out" |
    grep -vc "^snapls: $tmp/cut: " >"$tmp/err"
is "$(cat "$tmp/err")" 0 "snapls -c: each line names the file"
"$BUILD/snapls" <"$tmp/old" >"$tmp/list"
is $? 0 "snapls: from standard input"
# shellcheck disable=SC2002 # a pipe is meant
cat "$tmp/old" | "$BUILD/snapls" | cmp - "$tmp/list"
is "${PIPESTATUS[1]}" 0 "snapls: from a pipe"
"$BUILD/snapls" "$tmp/old" >/dev/full 2>/dev/null
is $? 1 "snapls: a full disk is an error"
if is_root && unshare -pf true 2>/dev/null; then
	is "$(unshare -pf bash -c 'sleep 1000 & "$0" "$@" $! 2>&1; echo $?
	    kill $!' "$BUILD/snap" -o "$tmp/other")" \
	    "snap: /proc shows another PID namespace; mount one for this namespace
1" "the /proc of another PID namespace is an error"
else
	skip "the /proc of another PID namespace" "not root"
fi

# An asynchronous read with O_DIRECT goes astray if the process is cloned, before
# Linux 6.5.
on_disk
: >"$disk/file"
python3 -c 'import ctypes, os, sys, time
try:
    os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
    ring = ctypes.c_ulong()
    number = 206 if os.uname().machine == "x86_64" else 0
    if ctypes.CDLL(None).syscall(number, 8, ctypes.byref(ring)):
        raise OSError
    print("ready", flush=True)
except OSError:
    print("none", flush=True)
time.sleep(1000)' "$disk/file" >"$tmp/direct" &
pid=$!
until_true grep -q . "$tmp/direct"
snap -o "$tmp/other" "$pid"
if ! grep -q ready "$tmp/direct"; then
	skip "asynchronous reads with O_DIRECT" "there are none"
elif printf '6.5\n%s\n' "$(uname -r)" | sort -C -V; then
	is "$rc $err" "0 " "asynchronous reads with O_DIRECT: cloned"
else
	is "$rc $err" "0 snap: process N cannot be cloned: it reads files with \
O_DIRECT, in the background: all processes stay stopped until everything is \
written" "asynchronous reads with O_DIRECT: not cloned"
fi
finish 98
