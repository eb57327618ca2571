#!/usr/bin/env bash
# Small files that describe much data are refused, with little memory.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if nm -D "$BUILD/snapls" 2>/dev/null | grep -q __asan_init; then
	skip_all "the address sanitizer takes all memory there is"
fi

# bomb HEAD UNIT N: print a compressed snapshot with UNIT N times after HEAD.
# Each 1000 units compress to the same bytes, and need no checksum: it is refused
# before its end.
bomb() {
	python3 - "$@" <<-'END'
	import sys, zlib
	out = zlib.compressobj(6, zlib.DEFLATED, 31)
	def put(b):
	    sys.stdout.buffer.write(out.compress(b))
	head, unit, n = (a.encode().decode('unicode_escape').encode('latin-1')
	                 for a in sys.argv[1:])
	put(b'process snapshot 1 root@x amd64 1 "Linux 6"\n' + head)
	sys.stdout.buffer.write(out.flush(zlib.Z_FULL_FLUSH))
	more = zlib.compressobj(6, zlib.DEFLATED, -15)
	sys.stdout.buffer.write((more.compress(unit * 1000) +
	                         more.flush(zlib.Z_FULL_FLUSH)) * (int(n) // 1000))
	END
}

# refused PATTERN NAME PROGRAM ...: each program, and snapcat from a pipe, fails
# with a message that matches, within 700 megabytes.
refused() {
	local c want=$1 what=$2

	shift 2
	for c in "$@"; do
		(
			ulimit -d 700000
			# shellcheck disable=SC2086
			timeout 60 "$BUILD"/$c "$tmp/bomb"
		) >/dev/null 2>"$tmp/err"
		is "$? $(grep -c "$want" "$tmp/err")" "1 1" "$what: $c"
	done
	(
		ulimit -d 700000
		timeout 60 "$BUILD/snapcat" - <"$tmp/fifo"
	) >/dev/null 2>"$tmp/err" &
	cat "$tmp/bomb" >"$tmp/fifo" 2>/dev/null
	wait $!
	is "$? $(grep -c "$want" "$tmp/err")" "1 1" "$what: from a pipe"
}

mkfifo "$tmp/fifo"
memory='it would take [0-9]* megabytes of memory'
bomb '          1 mem\n   20000000 ' '       4096        1024 z' 2000000 \
    >"$tmp/bomb"
refused "$memory" "segments" "snapls -l" "procmap -p 1 -M"
bomb '          1 x\n  400000000 ' '\0\0\0\0\0\0\0\0' 50000000 >"$tmp/bomb"
refused "$memory" "a record" "snapls -l"
bomb '          1 mem\n          1        4096 30000000000 rrrrr'"$(
    printf '%1019s' '')z" 'm          1        4096 z' 6000000 >"$tmp/bomb"
refused "$memory" "references" "snapls -l"
bomb '          1 x\n 2000000000 ' '\0' 1000 >"$tmp/bomb"
refused "2000000000 bytes, expected at most 1073741824" \
    "a record of two gigabytes" "snapls -l"

# A file with a first line, the header of memory, a hole and a trailer.  Its
# index describes pages alternating with zeros, and runs of references to all of
# them, which snapcat needs and refuses.
python3 - "$tmp/bomb" "$(dirname "$0")" <<'END'
import struct
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[2])
from trailer import MAGIC, MB, RAW, SAME, ZERO, difference, number
from xxh3 import xxh3

pages, times = 500000, 60
base = 1 << 30
kb = 2 * pages + times * pages
head = (b'process snapshot 1 root@x amd64 1 "Linux 6"\n'
        b'          1 mem\n          1 %11d %11d ' % (base, kb << 10))
runs = (number(4 | RAW) + number(4 | ZERO)) * pages
last = 0
for _ in range(times):
    runs += number(pages << 2 | SAME) + number(0) + difference(0, last)
    last = pages
end = len(head) + pages * 1026 + times * pages * 25
length = end - head.index(b'          1 mem')
index = (difference(1, 0) + number(10) + number(1) + difference(base, 0) +
         number(kb << 10) + runs + number(length))
before = b'1 %d\n' % end
sums = struct.pack('<Q', xxh3(head.ljust(MB, b'\0')))
sums = sums.ljust(-(-end // MB) * 8, b'\0')
body = b'linux index 1\n'
for name, data in (b'before', before), (b'sums', sums), (b'index', index):
    body += name + b'\n%11d ' % len(data) + data
body += b'end\n%11d ' % 24
out = b'          0 proc\n%11d ' % (len(body) + 24) + body
out += struct.pack('<Q', len(out) + 24)
out += struct.pack('<Q', xxh3(out)) + MAGIC
with open(sys.argv[1], 'wb') as file:
    file.write(head)
    file.seek(end)
    file.write(out)
END
(
	ulimit -d 700000
	timeout 60 "$BUILD/snapcat" -o "$tmp/out" "$tmp/bomb"
) >/dev/null 2>"$tmp/err"
is "$? $(grep -c 'would take [0-9]* megabytes of memory' "$tmp/err")" "1 1" \
    "extents of an index"
finish 10
