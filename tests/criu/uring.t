#!/usr/bin/env bash
# A process with a ring of io_uring is refused in one line that says so: what
# the kernel runs in it for that is no news.
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

if [ "$(uname -m)" != x86_64 ]; then
	skip "io_uring" "nothing can be run in processes of this machine"
	finish 1
fi
"$targets/uring" </dev/null >"$tmp/out" 2>&1
if [ $? -eq 2 ]; then
	skip "io_uring" "$(head -n 1 "$tmp/out")"
	finish 1
fi
target "$targets/uring"
works() {
	grep -q iou-wrk "/proc/$pid/task/"*/comm
}
try "the kernel works in it" until_true works
# before Linux 6.10 what the rings are of is no memory that can be read
want="0 "
[ "$(grep -A 30 'io_uring' "/proc/$pid/smaps" | grep -c '^VmFlags:.* io\>')" \
    -eq 0 ] || want="1 RING is left out: device memory"
# taken WHAT [OPTION]: with no other warning
taken() {
	snap -r "${@:2}" -o "$tmp/snap" "$pid"
	is "$rc $(sed -E "s/^snap: process $pid: .*\[io_uring\]/RING/" \
	    "$tmp/err" | sort -u)" "$want" "$1"
}
taken "taken, with no other warning"
"$BUILD/snapload" -D "$tmp/img" "$tmp/snap" 2>"$tmp/err"
is "$? $(ls "$tmp/img" 2>/dev/null)" "1 " "no images"
# the test itself holds a pipe to it
is "$(sed -e "s/\<$pid\>/PID/; s/descriptor [0-9]*/descriptor N/" \
    -e '/a pipe whose reader is not/d; /nothing is written/d' \
    "$tmp/err")" \
    "snapload: process PID, descriptor N: io_uring: anon_inode:[io_uring]: cannot be restored (-f io_uring leaves it out)" "one line says why"
taken "cloned, with no other warning" -l
let_go "$pid" "let go"
unnoticed "$pid" "not noticed"
finish 7
