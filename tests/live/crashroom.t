#!/usr/bin/env bash
# If there is no room for all of a crash, snapcrash omits the least useful
# memory and the other processes, and reports how much is missing.
# beside: crash
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
# falls ROOM KIND: crash a target with keep-bytes ROOM: $pid, $file; $own and
# $shared are addresses of its memory
falls() {
	config "keep-bytes $1"
	rm -f "$store"/*
	target "$targets/fall" "$2" 2
	own=$(awk '$2 == "private" { print $3 }' "${lines_of[$pid]}")
	shared=$(awk '$2 == "shared" { print $3 }' "${lines_of[$pid]}")
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true ended
	file=$(find "$store" -name "fall.$pid.*.snap.gz")
}
ended() {
	! pgrep -f "snapcrash -c$conf take $pid " >/dev/null
}
# has ADDRESS: print "no" if ADDRESS was excluded, else "yes"
has() {
	"$BUILD/snapls" -l "$file" | python3 -c 'import re, sys
at = int(sys.argv[1], 0)
print("no" if any(int(a, 16) <= at < int(b, 16) for a, b in
    re.findall(r"([0-9a-f]{8,})-([0-9a-f]{8,}).*excluded", sys.stdin.read()))
    else "yes")' "$1"
}
handle

falls 1G near
is "$(has "$own") $(has "$shared")" "yes yes" "with room, all memory is there"
falls 10M near
is "$(has "$own") $(has "$shared")" "yes no" "shared memory is left out first"
falls 4M near
mid=$((own + 4 * 1024 * 1024))
is "$(has $((own + 1048576))) $(has "$shared")" "no no" "then private memory"
is "$(has "$mid") $(has $((mid + 65536))) $(has $((mid + 1048576)))" \
    "yes yes no" "memory near a register is kept"
"$BUILD/snapls" -c "$file" >"$tmp/out" 2>&1
is "$? $(find "$store" -type f ! -name '.*' | wc -l)" "0 1" "the file is whole"
"$BUILD/snapcrash" -c "$conf" info >"$tmp/out" 2>&1
try "info shows how much is missing" grep -q "lacks  1[012] MiB" "$tmp/out"
if [ -x "$BUILD/snapstack" ]; then
	try "info shows the stack" grep -q ' main+' "$tmp/out"
else
	skip "info shows the stack" "no snapstack"
fi

# its parent takes more than there is room for
config "keep-bytes 32M
with parent"
rm -f "$store"/*
python3 -c 'import os, signal
child = os.fork()
if child == 0:
    signal.pause()
big = os.urandom(200 << 20)
os.kill(child, signal.SIGSEGV)
os.waitpid(child, 0)'
alone() {
	file=$(find "$store" -name 'python3*.snap.gz')
	[ -n "$file" ]
}
until_true alone
is "$("$BUILD/snapls" -c "$file" >/dev/null; echo $?) $(
    "$BUILD/snapls" "$file" | grep -c python3)" "0 1" \
    "a parent that does not fit is left out"
rm -rf "$store"
finish 8
