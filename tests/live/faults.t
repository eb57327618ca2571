#!/usr/bin/env bash
# A system call of snap or its guard fails, or kills it: its process goes on as
# it was, with no clone left, and there is a sentence or a whole snapshot.
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
for flags in -l -n -z; do
	target "$targets/pair"
	first=$pid
	target "$targets/pair"
	mkdir "$tmp/faults$flags"
	# a second for each hundred, on a quiet machine
	n=${FAULTS:-$([ "$flags" = -l ] && echo 100 || echo 20)}
	python3 "$tests/live/faults.py" "$BUILD/snap" "$BUILD/snapls" \
	    "$targets/fault" "$tmp/faults$flags" "$n" "$first" "$pid" -- \
	    "$flags" >"$tmp/said" 2>&1
	ok $? "snap $flags: a call fails" || diag <"$tmp/said"
	tail -1 "$tmp/said" | diag
	for p in "$first" "$pid"; do
		let_go "$p" "snap $flags: let go"
		unnoticed "$p" "snap $flags: not noticed"
	done
done
finish 15
