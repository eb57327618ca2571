#!/usr/bin/env bash
# A core made from a snapshot equals the cores that the kernel and gcore write.
# beside: crash
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# Without rseq(2): the kernel writes the processor into its area.
sleeper() {
	target env GLIBC_TUNABLES=glibc.pthread.rseq=0 python3 -c '
import sys, threading
kept = {i: str(i) * 50 for i in range(5000)}
for i in range(3):
	threading.Thread(target=lambda: threading.Event().wait(),
	    daemon=True).start()
print("ready", flush=True)
sys.stdin.read()'
	until_true settled
}

if command -v gcore >/dev/null; then
	sleeper
	gcore -o "$tmp/gcore" "$pid" >/dev/null 2>&1
	snap -o "$tmp/snap" "$pid"
	try "gcore: a core" "$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
	try "gcore: the same" python3 "$tests/core/compare.py" gcore \
	    "$tmp/snap" "$pid" "$tmp/core" "$tmp/gcore.$pid"
else
	skip "gcore" "no gcore" 2
fi

# The kernel writes a core into the directory of the process, if it may.
pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
"" | *[!a-z]*)
	skip "kernel" "core_pattern is not a plain name" 2
	;;
*)
	mkdir "$tmp/dir"
	cd "$tmp/dir" || exit 1
	ulimit -c unlimited 2>/dev/null
	sleeper
	snap -o "$tmp/snap" "$pid"
	try "kernel: a core" "$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
	kill -SEGV "$pid"
	wait "$pid" 2>/dev/null
	theirs=$(ls "$tmp/dir")
	if [ -n "$theirs" ]; then
		try "kernel: the same" python3 "$tests/core/compare.py" \
		    kernel "$tmp/snap" "$pid" "$tmp/core" \
		    "$tmp/dir/$theirs"
	else
		skip "kernel" "it wrote no core"
	fi
	;;
esac
finish 4
