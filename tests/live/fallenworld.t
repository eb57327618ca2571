#!/usr/bin/env bash
# A machine runs out of memory while snap captures a crash, and while it
# captures a live process.  The kernel kills other processes, but not that one,
# and the snapshots that are left are whole.
# beside: crash
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

if [ -z "${VM-}" ]; then
	skip "out of memory" "not in a virtual machine (tests/vm/run)"
	finish 1
	exit 0
fi
handler_begin
snapcrash_begin
config
crash install
is "$rc $err" "0 " "installed"

kills() {
	sed -n 's/^oom_kill //p' /proc/vmstat
}
# without swap, the kernel reads mapped files again and again before it reports
# that there is no memory: lock the files that are needed
cat >"$tmp/keeps" <<'END'
import ctypes, mmap, os, sys, time
kept = []
libc = ctypes.CDLL(None)
for name in sys.argv[1:]:
    try:
        with open(name, 'rb') as f:
            m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE)
    except (OSError, ValueError):
        continue
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    libc.mlock(ctypes.c_void_p(at), ctypes.c_size_t(len(m)))
    kept.append(m)
libc.mlockall(1)
print('ready', flush=True)
time.sleep(100000)
END
files() {
	local p

	for p in bash python3 sleep grep sed cat pgrep find; do
		readlink -f "$(command -v "$p")"
	done
	echo "$BUILD/snap"
	echo "$BUILD/snapcrash"
	ldd "$BUILD/snap" /bin/bash "$(readlink -f "$(command -v python3)")" \
	    "$(command -v pgrep)" | sed -n 's/.* => \([^ ]*\).*/\1/p' | sort -u
	echo /lib64/ld-linux-x86-64.so.2
}
mapfile -t kept < <(files)
python3 "$tmp/keeps" "${kept[@]}" >"$tmp/kept" 3>&- &
echo -1000 >"/proc/$!/oom_score_adj"
until_true grep -q ready "$tmp/kept"

# two processes use up the memory until one is killed; then the other ends
cat >"$tmp/eats" <<'END'
import os
pid = os.fork()
x = []
try:
    while pid or os.getppid() != 1:
        x.append(bytearray(4 << 20))
        if pid and os.waitpid(pid, os.WNOHANG)[0]:
            break
except MemoryError:
    pass
END
# eat: use up memory until the kernel has killed one more process
eat() {
	before=$(kills)
	python3 "$tmp/eats" >"$tmp/eaten" 2>&1 3>&- &
	eats=$!
}
eaten() {
	wait "$eats" 2>/dev/null
	ok $(($(kills) == before)) "$1: the kernel killed a process"
}

# a process that writes to its memory all the time
target "$targets/sweep" 32
# shellcheck disable=SC2317
is_over() {
	! kill -0 "$eats" 2>/dev/null
}
eat
"$BUILD/snap" "$pid" 2>"$tmp/err" | {
	until_true is_over
	cat >"$tmp/snap"
}
eaten "a live process"
let_go "$pid" "a live process: released"
unnoticed "$pid" "a live process: not noticed"

for ((i = 0; i < 2; i++)); do
	target "$targets/fall" segv 20
	echo -1000 >"/proc/$pid/oom_score_adj"
	eat
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	eaten "crash $i"
done
TIMEFACTOR=$((6 * TIMEFACTOR)) until_true none_runs
none_runs
ok $? "no handler is left"
bad=0
for f in "$store"/*.snap.gz; do
	[ ! -e "$f" ] || "$BUILD/snapls" -c "$f" >"$tmp/try" 2>&1 ||
	    bad=$((bad + 1))
done
is "$bad" 0 "the snapshots are whole"
is "$(find "$store" -name '.spool*')" "" "nothing else is left"
falls "$targets/fall" segv 0
try "a later crash is captured" \
    "$BUILD/snapls" -c "$store/$id"
crash remove
is "$rc $err" "0 " "removed"
finish 11
