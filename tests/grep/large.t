#!/usr/bin/env bash
# snapgrep finds all matches in a large memory, of which each thread searches
# several megabytes at once.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

needs snapgrep
target python3 -c '
import ctypes, os, sys
data = bytearray(os.urandom(96 << 20))
first = ctypes.addressof(ctypes.c_char.from_buffer(data))
# each third one crosses a border of a kilobyte
for i in range(3000):
    at = i * 33331
    if i % 3 == 2:
        at += 1019 - (first + at) % 1024
    data[at:at + 7] = b"needle-"
    data[at + 7:at + 12] = b"%05d" % i
print("ready", flush=True)
sys.stdin.read()'
snap -o "$tmp/snap" "$pid"
"$BUILD/snapgrep" -o 'needle-[0-9]{5}' "$tmp/snap" >"$tmp/out"
is "$(grep -o 'needle-[0-9]*' "$tmp/out" | sort | uniq -c |
    awk '$1 == 1' | wc -l)" 3000 "each is found once"
is "$(awk '{ print $2 }' "$tmp/out" | sort -c 2>&1)" "" "in order of address"
is "$("$BUILD/snapgrep" -c 'needle-[0-9]{5}' "$tmp/snap")" "$pid: 3000" \
    "-c counts them"
finish 3
