#!/usr/bin/env bash
# A system call of snap or its guard fails, kills it, or is the last for more
# than half a second, as on a busy machine: its process goes on as it was, with
# no clone left, and there is a sentence or a whole snapshot.
# FAULTS=0 tries each call of each thread in all ways; that takes half an hour.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # skip: the program that has calls fail is for x86-64"
	exit 0
fi
if nm -D "$BUILD/snap" 2>/dev/null | grep -q __asan_init; then
	echo "1..0 # skip: the sanitizers' runtime gives up when a call fails"
	exit 0
fi
for flags in -l -n -z -lr; do
	kind=
	program=pair
	n=20		# a second for each hundred, on a quiet machine
	case $flags in
	-l)	n=100 ;;
	-lr)	# a late request may let a filter kill the process
		n=10 kind=late:
		program=sandboxed ;;
	esac
	n=$kind${FAULTS:-$n}
	target "$targets/$program"
	first=$pid
	target "$targets/$program"
	mkdir "$tmp/faults$flags"
	python3 "$tests/live/faults.py" "$BUILD/snap" "$BUILD/snapls" \
	    "$targets/fault" "$tmp/faults$flags" "$n" "$first" "$pid" -- \
	    "$flags" >"$tmp/said" 2>&1
	ok $? "snap $flags: a call fails or is late" || diag <"$tmp/said"
	tail -1 "$tmp/said" | diag
	for p in "$first" "$pid"; do
		let_go "$p" "snap $flags: let go"
		unnoticed "$p" "snap $flags: not noticed"
	done
done
finish 20
