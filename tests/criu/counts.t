#!/usr/bin/env bash
# criu dumps a program; its images become a snapshot, and images in another
# directory, from which criu restores it.  gdb reads the snapshot's core.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
may_dump || skip_all "$undumped"

# print gdb's output for the core of process $pid
gdb_says() {
	local a=() e

	for e in "$@"; do
		a+=(-ex "$e")
	done
	timeout 60 "${gdb[@]}" "${a[@]}" "$program" "$tmp/core" \
	    2>"$tmp/gdb.err"
}

# gdb_value EXPRESSION: the value that gdb prints
gdb_value() {
	gdb_says "$1" | tail -n 1 | sed 's/.*\t//;s/.* = //'
}

# pattern SEED INDEX: a word of the pattern of tests/targets/target.h
pattern() {
	python3 -c 'import sys
seed, i = map(int, sys.argv[1:])
m = (1 << 64) - 1
z = (seed << 32) + (i + 1) * 0x9e3779b97f4a7c15 & m
z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & m
z = (z ^ z >> 27) * 0x94d049bb133111eb & m
print(hex(z ^ z >> 31))' "$1" "$2"
}

# lists WHAT: snapls lists the process
lists() {
	"$BUILD/snapls" -lv "$tmp/snap" >"$tmp/list" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "$1: snapls"
	ok "$((! $(grep -cw "$pid" "$tmp/list")))" "$1: snapls lists it"
}

# debuggers WHAT THREADS: gdb shows the process
debuggers() {
	local what=$1 seed last

	try "$what: snapcore" \
	    "$BUILD/snapcore" -p "$pid" -o "$tmp/core" "$tmp/snap"
	command -v gdb >/dev/null || {
		skip "$what: gdb" 'no gdb' 4
		return
	}
	gdb_says 'info threads' 'thread apply all p count' >"$tmp/out"
	is "$(grep -cE '^[* ] +[0-9]+ +(Thread|LWP|process)' "$tmp/out")" "$2" \
	    "$what: gdb finds its threads"
	if grep -q 'optimized out' "$tmp/out" && [ "$(uname -m)" = aarch64 ]; then
		skip "$what: gdb knows how far each had counted" \
		    'gcc does not describe thread variables to gdb'
	else
		# the last number in the log, or one more
		last=$(awk '{ n[$1] = $2 }
		    END { for (i in n) print n[i], n[i] + 1 }' "$log" | tr '\n' ' ')
		is "$(sed -n 's/^\$[0-9]* = //p' "$tmp/out" | near "$last")" "$2" \
		    "$what: gdb knows how far each had counted"
	fi
	is "$(gdb_value 'x/s motto')" "\"$2 and counting\"" \
	    "$what: gdb prints a variable"
	seed=$(gdb_value 'p seeds[1023]')
	is "$(gdb_value 'p/x *(long *)(memory + 1023 * 65536 + 8000)')" \
	    "$(pattern "${seed:-0}" 1000)" "$what: gdb prints a word of 64 MiB"
}

# near NUMBERS: how many of the numbers read are one of NUMBERS
near() {
	awk -v all="$1" 'BEGIN { n = split(all, a) }
	    { for (i = 1; i <= n; i++) if (a[i] == $1) { found++; break } }
	    END { print found + 0 }'
}

# there_and_back WHAT THREADS PROGRAM ARG ...
there_and_back() {
	local what=$1 threads=$2 n

	shift 2
	start "$@"
	dump "$pid" "$tmp/dump"
	n=$(lines)
	images "$tmp/dump" "$tmp/snap"
	lists "$what"
	[ "$1" != counter ] || debuggers "$what" "$threads"
	load "$tmp/snap" "$tmp/there"
	try "$what: the same images" same_images "$tmp/dump" "$tmp/there"
	is "$(lines)" "$n" "$what: it has ended"
	restore "$tmp/there"
	counts_on "$what" "$n"
	is "$(find /proc/"$pid"/task -mindepth 1 -maxdepth 1 | wc -l)" \
	    "$threads" "$what: it has its threads"
	end
	rm -rf "$tmp/dump" "$tmp/there" "$tmp/snap" "$tmp/core"
}

there_and_back 'one thread' 1 counter
there_and_back 'four threads' 4 counter 4
there_and_back 'python' 1 "$here/counter.py"
finish 43
