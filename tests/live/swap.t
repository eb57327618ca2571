#!/usr/bin/env bash
# Memory in swap is captured and stays there; soft-dirty bits stay set.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# A machine of our own gets swap; others have some or none.
has_swap() {
	[ "$(wc -l </proc/swaps)" -gt 1 ]
}
area=
leave() {
	if [ "$BASHPID" -eq $$ ] && [ -n "$area" ]; then
		swapoff "$area"
	fi
	cleanup
}
trap leave EXIT
if [ -n "${VM-}" ] && is_root && ! has_swap; then
	on_disk
	dd if=/dev/zero of="$disk/swap" bs=1M count=64 2>/dev/null
	chmod 600 "$disk/swap"
	mkswap "$disk/swap" >/dev/null && swapon "$disk/swap" &&
	    area=$disk/swap
fi

lacks() {
	grep -q "^lacks $1" "$lines"
}
swapped() {
	awk '/^Swap:/ { print $2 }' "/proc/$pid/smaps_rollup"
}

target "$targets/paged"
sed -n 's/^lacks/# lacks/p' "$lines"
if lacks swap; then
	has_swap && why="nothing can be written to it" || why="there is none"
	skip "swap" "$why" 5
else
	before=$(swapped)
	resident "$pid" | grep -vE 'VmPTE|Dirty' >"$tmp/before"
	snap -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "swap: taken"
	check "$tmp/snap" "$pid" "swap: memory matches"
	is "$(swapped)" "$before" "swap: as much is swapped as before"
	for ((i = 0; i < 10; i++)); do
		snap -o "$tmp/snap" "$pid"
	done
	resident "$pid" | grep -vE 'VmPTE|Dirty' >"$tmp/after"
	try "swap: no more memory after 10 snapshots" \
	    diff "$tmp/before" "$tmp/after"
	"$BUILD/pagestat" -nbo swap "$pid" 2>/dev/null >"$tmp/out"
	is "$(awk '{ print $1 / 1024 }' "$tmp/out")" "$before" "swap: pagestat"
fi
lacks softdirty && skip "soft-dirty pages" "not in this kernel" 2
lacks softdirty || {
	snap -o "$tmp/snap" "$pid"
	check "$tmp/snap" "$pid" "soft-dirty pages: memory matches"
	"$BUILD/procmap" "$pid" >/dev/null
	"$BUILD/pagestat" -f "$pid" >"$tmp/out"
	grep -q soft_dirty "$tmp/out"
	ok $? "soft-dirty pages: pagestat shows them"
}
unnoticed "$pid" "no page was swapped in, and soft-dirty bits are set"

# snap -s reads swapped pages through the process: snap-internals(7), BUGS.
target "$targets/paged"
if lacks swap; then
	skip "swap, -s" "there is none" 1
else
	snap -s -o "$tmp/snap" "$pid"
	check "$tmp/snap" "$pid" "swap, -s: memory matches"
fi
finish 9
