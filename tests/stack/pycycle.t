#!/usr/bin/env bash
# The Python data of a stopped process may form cycles: snapstack ends
# nevertheless, and the process runs on.
own_mounts=1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
hide_debug
needs snapstack

if [ "$(uname -m)" != x86_64 ] ||
    ! cc -O1 -rdynamic -o "$tmp/python3.12" "$tests/stack/pycycle.c" \
    2>"$tmp/cc"; then
	skip "circles" "no compiler, or not supported on this machine"
	finish 1
fi
strip "$tmp/python3.12"
for kind in owned code threads; do
	target "$tmp/python3.12" "$kind"
	timeout 60 "$BUILD/snapstack" -l "$pid" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c '^process' "$tmp/out")" "0 1" "$kind: snapstack ends"
	n=$(grep -c 'endless (endless:0), Python$' "$tmp/out")
	case $kind in
	code) [ "$n" -ge 1 ] && [ "$n" -le 4 ] ;;
	*) [ "$n" -eq 0 ] ;;
	esac
	ok $? "$kind: a frame in a cycle is not repeated forever" ||
	    diag <<<"$n"
	let_go "$pid" "$kind: the process runs on"
	"$BUILD/snap" -o "$tmp/snap" "$pid"
	is "$(timeout 60 "$BUILD/snapstack" "$tmp/snap" |
	    grep -c 'endless (endless:0), Python$')" "$n" \
	    "$kind: the same for a snapshot"
	if [ "$kind" = code ]; then
		"$BUILD/snap" -x "$(head -n 1 "$lines")" -o "$tmp/snap" "$pid"
		is "$("$BUILD/snapstack" "$tmp/snap" | grep -c outdated)" 0 \
		    "excluded memory is not read from the file"
	fi
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
done

# a module for Python, and not Python itself
so=x.cpython-312-x86_64-linux-gnu.so
cp "$tmp/python3.12" "$tmp/$so"
target "$tmp/$so" code
is "$("$BUILD/snapstack" "$pid" | grep -c endless)" 0 \
    "a module for Python is not taken for Python"
kill -KILL "$pid"
finish 14
