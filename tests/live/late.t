#!/usr/bin/env bash
# If snap does not run for half a second at the worst time, as on a busy
# machine, a process under a seccomp(2) filter is not killed, and changes of a
# process between its seizure and its stop are noticed.
# beside: live unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

is_root || skip_all 'needs root'
"$BUILD/snap" -r -o "$tmp/snap" $$ 2>&1 | grep -q 'not supported on this arch' &&
    skip_all 'no system call is injected here'
for how in -l -lr; do
	for at in 1 2 3 4; do
		target "$targets/sandboxed"
		LATE_AT=$at LD_PRELOAD=$BUILD/tests/live/late.so \
		    "$BUILD/snap" $how -o "$tmp/snap" "$pid" 2>"$tmp/err"
		is "$? $(<"$tmp/err")" '0 ' "$how, late at $at: taken"
		unnoticed "$pid" "$how, late at $at: runs on"
	done
done

# snap, delayed after the first PTRACE_INTERRUPT
late=(env LATE_AT=1 LATE_REQUEST=0x4207
    LD_PRELOAD="$BUILD/tests/live/late.so" "$BUILD/snap")

# The other thread is interrupted first.  As long as snap traced the first one,
# the parent could not reap the process.
target "$targets/leader" traced
"${late[@]}" -nv -i 1000 -o "$tmp/series" "$pid" 2>"$tmp/err" &
series=$!
until_true grep -q 'moment 1' "$tmp/err"
unnoticed "$pid" "the first thread ends before its stop: its parent reaps it"
kill "$series"
wait "$series" 2>/dev/null

# While snap is delayed, a running thread begins to sleep uninterruptibly: it
# waits in vfork(2).  snap does not wait for it as for a thread that is awake.
target "$targets/anon"
first=$pid
target "$targets/vforker" traced
snap="env" snap LATE_AT=1 LATE_REQUEST=0x4207 \
    LD_PRELOAD="$BUILD/tests/live/late.so" "$BUILD/snap" -o "$tmp/snap" \
    "$first" "$pid"
is "$rc $err" "1 snap: thread N of process N does not stop (it was in state D): captured without its registers
snap: process N cannot be cloned: thread N does not stop: all processes stay stopped until everything is written" \
    "a thread that has just called vfork(2): its present state counts"
unnoticed "$pid" "a thread that has just called vfork(2): not noticed"
finish 19
