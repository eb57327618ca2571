#!/usr/bin/env bash
# A process that uses io_uring is refused in one line; snap prints nothing about
# the kernel's threads for it.  A move is refused before the process is stopped,
# and MariaDB's setting that avoids io_uring is named.
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

if [ "$(uname -m)" != x86_64 ]; then
	skip "io_uring" "no system call can be injected on this machine"
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
try "the kernel has a worker thread in it" until_true works
# before Linux 6.10 the mapped rings are device memory, which cannot be read
want="0 "
[ "$(grep -A 30 'io_uring' "/proc/$pid/smaps" | grep -c '^VmFlags:.* io\>')" \
    -eq 0 ] || want="1 RING is left out: device memory"
# taken WHAT [OPTION]: snap has no other warning
taken() {
	snap -r "${@:2}" -o "$tmp/snap" "$pid"
	is "$rc $(sed -E "s/^snap: process $pid: .*\[io_uring\]/RING/" \
	    "$tmp/err" | sort -u)" "$want" "$1"
}
taken "taken, with no other warning"
"$BUILD/snapload" -D "$tmp/img" "$tmp/snap" 2>"$tmp/err"
is "$? $(ls "$tmp/img" 2>/dev/null)" "1 " "no images"
# without the pipe to this test
is "$(sed -e "s/\<$pid\>/PID/; s/descriptor [0-9]*/descriptor N/" \
    -e '/a pipe whose reader is not/d; /nothing is written/d' \
    "$tmp/err")" \
    "snapload: process PID, descriptor N: io_uring: anon_inode:[io_uring]: cannot be restored (-f io_uring leaves it out)" "one line says why"
taken "cloned, with no other warning" -l

# refused WHAT WHY COMMAND ...: COMMAND refuses with the reason WHY
refused() {
	local what=$1 why=$2

	timeout 60 "${@:3}" 2>"$tmp/err" >/dev/null
	is "$? $(sed -e "s/\<$pid\>/PID/; s/descriptor [0-9]*/descriptor N/" \
	    "$tmp/err")" "1 snap: process PID, descriptor N: $why: \
anon_inode:[io_uring]: cannot be restored (snapload -f io_uring leaves it out)
snap: nothing written, no process killed: not all can be restored (snap -d \
lists all obstacles)" "$what"
}
refused "-k: refused" io_uring "$BUILD/snap" -k -o "$tmp/none" "$pid"
refused "--to: refused" io_uring "$BUILD/snap" --to 'cat >/dev/null' "$pid"
if strace -qq -e trace=none true 2>/dev/null; then
	strace -f -qq -o "$tmp/calls" -e signal=none -e trace=ptrace \
	    "$BUILD/snap" -k -o "$tmp/none" "$pid" 2>/dev/null
	is "$(cat "$tmp/calls")" '' "-k: refused before it is stopped"
else
	skip "-k: refused before it is stopped" "no strace, or it may not trace"
fi
let_go "$pid" "let go"
unnoticed "$pid" "not noticed"

cp "$targets/uring" "$tmp/mariadbd"
target "$tmp/mariadbd"
avoided='io_uring (innodb_use_native_aio=0 avoids it)'
refused "MariaDB: -k names the setting" "$avoided" "$BUILD/snap" -k \
    -o "$tmp/none" "$pid"
"$BUILD/snap" -d "$pid" 2>"$tmp/err"
is "$(grep -o 'io_uring ([^)]*)' "$tmp/err")" "$avoided" \
    "MariaDB: -d names the setting"
let_go "$pid" "MariaDB: let go"
finish 13
