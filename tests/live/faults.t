#!/usr/bin/env bash
# A system call of snap or its guard fails, kills it, or is followed by a delay
# of more than half a second, as on a busy machine.  The target runs on as
# before, with no clone left, and there is a message or a full snapshot.
# FAULTS=0 tries all faults of each call of each thread; that takes half an
# hour.
# beside: live long

# snap looks at all processes: in a PID namespace of its own they are few.
if [ -z "${FEW-}" ] && unshare -pf --mount-proc true 2>/dev/null; then
	FEW=yes exec unshare -pf --mount-proc --kill-child "$0"
fi
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # skip: the program that injects faults is for x86-64"
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
	FAULT_FACTOR=$((TIMEFACTOR * $(busy))) \
	    python3 "$tests/live/faults.py" "$BUILD/snap" "$BUILD/snapls" \
	    "$targets/fault" "$tmp/faults$flags" "$n" "$first" "$pid" -- \
	    "$flags" >"$tmp/said" 2>&1
	ok $? "snap $flags: a call fails or is late" || diag <"$tmp/said"
	tail -1 "$tmp/said" | diag
	for p in "$first" "$pid"; do
		let_go "$p" "snap $flags: released"
		unnoticed "$p" "snap $flags: not noticed"
	done
done
finish 20
