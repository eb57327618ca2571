#!/usr/bin/env bash
# snap reads pages that only the stopped process maps with process_vm_readv(2),
# and others in another way.  Reading copies no page and splits no huge page.
# Huge pages that writes of a released process split are collapsed again.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

# whose: print how much memory $pid and $child have of each kind
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
	try "$how: the memory of both processes is unchanged" \
	    diff "$tmp/before" "$tmp/after"
	check "$tmp/snap" "$pid" "$how: memory matches"
done

what="unshared pages are read with process_vm_readv"
if ! release_from 6.15; then
	skip "$what" "Linux before 6.15"
elif ! strace -qq -e trace=none true 2>/dev/null; then
	skip "$what" "no strace, or it may not trace"
else
	strace -f -qq -o "$tmp/calls" -e trace=process_vm_readv \
	    "$BUILD/snap" -n -o "$tmp/snap" "$pid" 2>/dev/null
	# 1 MiB written after fork, 1 MiB of an ended sharer, half of a mixed
	# MiB
	awk '{ n += $NF } END { exit n < 2.5 * 2^20 }' \
	    "$tmp/calls"
	ok $? "$what" || tail -n 3 "$tmp/calls" | diag
fi
let_go "$pid" "released"
unnoticed "$pid" "not noticed"

# Memory with MADV_DONTFORK: one MiB is shared with a child, one is not.
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
is "$(both)" 1024 "MADV_DONTFORK: shared with a child before"
snap -o "$tmp/snap" "$pid"
is "$rc $err $(both)" "0  1024" "MADV_DONTFORK: still shared after"
what="MADV_DONTFORK: unshared pages are read with process_vm_readv"
if ! release_from 6.15 || ! strace -qq -e trace=none true 2>/dev/null; then
	skip "$what" "Linux before 6.15, or no strace"
else
	strace -f -qq -o "$tmp/calls" -e trace=process_vm_readv \
	    "$BUILD/snap" -o "$tmp/snap" "$pid" 2>/dev/null
	awk '{ n += $NF } END { exit n < 2^20 }' "$tmp/calls"
	ok $? "$what" || tail -n 3 "$tmp/calls" | diag
fi

# huge: print the anonymous memory of $pid, and how much is in huge pages
huge() {
	awk '/^(Anonymous|AnonHugePages):/ { print $1, $2 }' \
	    "/proc/$pid/smaps_rollup"
}
# as_written WHAT: $pid writes to all its pages before the snapshot is read
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
	    "no huge pages, not root, or Linux before 6.1" 4
else
	as_written "huge pages that are written to"
	# khugepaged may have collapsed some of them again
	[ "$(awk '/^AnonHuge/ { print $2 }' "$tmp/split")" -lt 65536 ]
	ok $? "huge pages that are written to: the kernel splits them"
	is "$(huge)" "$(sed '/^AnonHuge/s/ .*/ 65536/' "$tmp/split")" \
	    "huge pages that are written to: snap collapses them again"
	let_go "$pid" "huge pages that are written to: released"
fi
unnoticed "$pid" "huge pages that are written to: not noticed"
finish 17
