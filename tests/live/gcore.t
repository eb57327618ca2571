#!/usr/bin/env bash
# A snapshot has all the memory that gcore(1) saves.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! command -v gcore >/dev/null; then
	skip_all "no gcore"
fi

compare() {
	local what=$1

	shift
	target "$@"
	kill -STOP "$pid"	# so that both see the same
	gcore -o "$tmp/core" "$pid" >/dev/null 2>&1
	for mode in -l -s; do
		snap "$mode" -o "$tmp/snap" "$pid"
		try "$what, $mode: the memory of the core" python3 \
		    "$tests/live/core.py" "$tmp/snap" "$pid" "$tmp/core.$pid"
	done
	rm -f "$tmp/core.$pid"
	kill -CONT "$pid"
}

# without rseq(2): the kernel writes the processor into its area
norseq=(env GLIBC_TUNABLES=glibc.pthread.rseq=0)
as=("${norseq[@]}")
compare python python3 -c '
import sys, threading
kept = {i: str(i) * 50 for i in range(5000)}
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()'
as=("${norseq[@]}" prlimit --stack=262144:)	# as small as the test needs
compare 'C threads' "$targets/threads"
compare 'shared memory' "$targets/shared"
finish 6
