#!/usr/bin/env bash
# Compressed images of real processes keep each rule and have the same memory
# (packed.py).  A criu that does not support them refuses them.  Once they are
# decompressed, criu restores the processes.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

ldd "$BUILD/snapload" | grep -q liblz4 || skip_all 'snapload has no LZ4'

# same_memory: the decompressed images are those that were never compressed; if
# pages are in another order, packed.py compares the memory
same_memory() {
	diff -r "$tmp/plain" "$tmp/again" >/dev/null || timeout 120 \
	    python3 "$here/packed.py" check "$tmp/packed" "$tmp/again"
}

# goes_through WHAT: move $pid through compressed images
goes_through() {
	local packed=$tmp/packed plain=$tmp/plain

	rm -rf "$packed" "$plain" "$tmp/again" "$tmp/work"
	cp "$log" "$tmp/log.before"
	timeout 60 "$BUILD/snap" -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
	end_taken
	load "$tmp/snap" "$plain"
	timeout 60 "$BUILD/snapload" -z -D "$packed" <"$tmp/snap" \
	    >"$tmp/command" 2>"$tmp/err"
	is "$? $(grep -v ': needs criu ' "$tmp/err")" "0 " \
	    "$1: compressed images are written"
	try "$1: images keep each rule, memory is the same" \
	    timeout 120 python3 "$here/packed.py" check "$packed" "$plain"
	ok "$(($(du -s "$packed" | cut -f1) >= $(
	    du -s "$plain" | cut -f1)))" "$1: images are smaller"
	images "$packed" "$tmp/snap2"
	load "$tmp/snap2" "$tmp/again"
	try "$1: decompressed, memory is the same" same_memory
	mkdir -p "$tmp/work"
	if "$criu" dump --help | grep -q -- --compress; then
		skip "$1: criu refuses them" "criu may know compressed images"
	else
		timeout 60 "$criu" restore -d -D "$packed" -W "$tmp/work" \
		    -o "$tmp/criu.log" >"$tmp/criu.out" 2>&1
		is "$? $(grep -ci 'images version' "$tmp/criu.log") $(
		    pgrep -s "$pid")" "1 1 " "$1: criu refuses them"
	fi
	sed -i "s,-D $packed,-D $tmp/again," "$tmp/command"
	restore "$tmp/again"
	goes_on "$1"
	end
}

start "$here/counter.py" 10000 20
until_true longer 30
goes_through python
start "$here/shmem.py"
until_true longer 30
goes_through 'shared memory'
start carryon lesser
until_true longer 150
goes_through threads
free=$(awk '/^HugePages_Free:/ { print $2 }' /proc/meminfo)
if [ "${free:-0}" -lt 16 ] || [ ! -d /sys/kernel/mm/hugepages/hugepages-2048kB ]
then
	skip 'huge pages' 'fewer than 16 of 2 MB are free' 11
else
	start "$here/huge.py"
	until_true longer 30
	goes_through 'huge pages'
fi
if command -v node >/dev/null; then
	cat >"$tmp/counter.js" <<'EOC'
const fs = require('fs')
const log = process.argv[2]
const kept = 'kept '.repeat(1000000)
let n = 0
setInterval(() => {
	fs.appendFileSync(log, `node ${++n} ${kept.length - 5000000}\n`)
}, 20)
EOC
	cat >"$tmp/node" <<EOC
#!/bin/sh
exec setsid -w node "$tmp/counter.js" "\$1"
EOC
	chmod +x "$tmp/node"
	start "$tmp/node"
	goes_through node
else
	skip node 'no node' 11
fi
finish 55
