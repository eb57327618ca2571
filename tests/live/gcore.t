#!/usr/bin/env bash
# What gcore(1) has of a process, the snapshot has too.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! command -v gcore >/dev/null; then
	echo "1..0 # SKIP no gcore"
	exit 0
fi

compare() {
	local what=$1

	shift
	target "$@"
	kill -STOP "$pid"	# so that both see the same
	snap -o "$tmp/snap" "$pid"
	gcore -o "$tmp/core" "$pid" >/dev/null 2>&1
	try "$what: the same memory as in a core" python3 \
	    "$tests/live/core.py" "$tmp/snap" "$pid" "$tmp/core.$pid"
	rm -f "$tmp/core.$pid"
	kill -CONT "$pid"
}

compare python python3 -c '
import sys, threading
kept = {i: str(i) * 50 for i in range(5000)}
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()'
as=(prlimit --stack=262144:)	# as small as the test needs
compare 'C threads' "$targets/threads"
compare 'shared memory' "$targets/shared"
finish 3
