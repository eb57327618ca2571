#!/usr/bin/env bash
# Pages that a stopped process has alone are read in another way than those
# that it shares: nobody gets a copy of any of them, nor is a huge page split.
# Of one that goes on, huge pages that were split by that are joined again.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

# What there is of memory of its own, and whose it is.
whose() {
	for p in "$pid" "$child"; do
		resident "$p"
		grep -E '^(Anon|Pss_Anon|Pss_Shmem|Private_Dirty|Shared_Dirty)' \
		    "/proc/$p/smaps_rollup"
		awk '/^[0-9a-f]+-/ { name = $1 }
		    /^(AnonHugePages|Anonymous|Private_Dirty):/ && $2 > 0 {
			print name, $0 }' "/proc/$p/smaps"
	done
}

target "$targets/alone"
child=$(sed -n 's/^child //p' "$lines")
sed -n 's/^lacks/# lacks/p' "$lines"
for how in -n -s; do
	[ "$how" = -n ] || snap -s -r -o "$tmp/snap" "$pid"
	whose >"$tmp/before"
	for ((i = 0; i < 5; i++)); do
		snap "$how" -r -o "$tmp/snap" "$pid"
	done
	whose >"$tmp/after"
	is "$rc $err" "0 " "$how: taken"
	try "$how: nobody has more memory, or other" \
	    diff "$tmp/before" "$tmp/after"
	check "$tmp/snap" "$pid" "$how: memory"
done

what="those alone are read together"
if ! release_from 6.15; then
	skip "$what" "Linux before 6.15"
elif ! strace -qq -e trace=none true 2>/dev/null; then
	skip "$what" "no strace, or it may not trace"
else
	strace -f -qq -o "$tmp/calls" -e trace=process_vm_readv \
	    "$BUILD/snap" -n -o "$tmp/snap" "$pid" 2>/dev/null
	# a mebibyte of its own, one that is left, half of a mixed one
	awk '{ n += $NF } END { exit n < 2.5 * 2^20 }' \
	    "$tmp/calls"
	ok $? "$what" || tail -n 3 "$tmp/calls" | diag
fi
let_go "$pid" "let go"
unnoticed "$pid" "not noticed"

# Of memory that a clone does not get, a mebibyte that is shared with a child,
# and one that is not.
target python3 -c '
import ctypes, mmap, os, signal, sys
def memory():
    m = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.madvise(mmap.MADV_NOHUGEPAGE)
    m[:] = os.urandom(1 << 20)
    return m
both = memory()
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    signal.pause()
between = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
own = memory()
for m in both, own:
    m.madvise(mmap.MADV_DONTFORK)
print("both %x" % ctypes.addressof(ctypes.c_char.from_buffer(both)))
print("ready", flush=True)
sys.stdin.read()'
both() {
	awk -v at="$(sed -n 's/^both //p' "$lines")" '/^[0-9a-f]+-/ {
		split($1, a, "-"); is = a[1] <= at && at < a[2] }
	    is && /^Shared_Dirty:/ { print $2 }' "/proc/$pid/smaps"
}
is "$(both)" 1024 "not in a clone: shared with a child"
snap -o "$tmp/snap" "$pid"
is "$rc $err $(both)" "0  1024" "not in a clone: it stays shared"
what="not in a clone: those alone are read at once"
if ! release_from 6.15 || ! strace -qq -e trace=none true 2>/dev/null; then
	skip "$what" "Linux before 6.15, or no strace"
else
	strace -f -qq -o "$tmp/calls" -e trace=process_vm_readv \
	    "$BUILD/snap" -o "$tmp/snap" "$pid" 2>/dev/null
	awk '{ n += $NF } END { exit n < 2^20 }' "$tmp/calls"
	ok $? "$what" || tail -n 3 "$tmp/calls" | diag
fi

# How much memory it has, and in huge pages.
huge() {
	awk '/^(Anonymous|AnonHugePages):/ { print $1, $2 }' \
	    "/proc/$pid/smaps_rollup"
}
# It writes to all of its pages while the snapshot is not read: as_written WHAT
as_written() {
	mkfifo "$tmp/fifo"
	exec 3<>"$tmp/fifo"
	"$BUILD/snap" "$pid" 3>&- >"$tmp/fifo" 2>"$tmp/err" &
	taker=$!
	head -c 1 <&3 >"$tmp/first"
	printf w >&"${ask_fd[$pid]}"
	until_true grep -q '^written' "$lines"
	huge >"$tmp/split"
	cat <"$tmp/fifo" >"$tmp/rest" &
	exec 3>&-
	wait "$taker"
	is "$? $(cat "$tmp/err")" "0 " "$1: taken"
}
target "$targets/thp"
if grep -q '^lacks' "$lines" || ! is_root || ! release_from 6.1; then
	skip "huge pages that are written to" \
	    "none are to be had, not root, or Linux before 6.1" 4
else
	as_written "huge pages that are written to"
	# khugepaged may have joined some of them since
	[ "$(awk '/^AnonHuge/ { print $2 }' "$tmp/split")" -lt 65536 ]
	ok $? "huge pages that are written to: the kernel splits them"
	is "$(huge)" "$(sed '/^AnonHuge/s/ .*/ 65536/' "$tmp/split")" \
	    "huge pages that are written to: those are joined that are whole"
	let_go "$pid" "huge pages that are written to: let go"
fi
unnoticed "$pid" "huge pages that are written to: not noticed"
finish 17
