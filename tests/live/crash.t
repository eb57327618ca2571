#!/usr/bin/env bash
# snap --core, which the kernel runs (core(5)), captures a process that dumps
# core. gdb prints the same for the snapshot as for the kernel's core of the
# same crash.  Other processes are captured live in the same snapshot.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin

# The handler: it saves the kernel's core of a target, and captures the target,
# which exists until the pipe has no reader.
cat >"$tmp/handler" <<END
#!/bin/bash
PATH=$PATH
[ "\$(readlink "/proc/\$1/exe")" = "$targets/fall" ] || exit 0
exec >"$tmp/said" 2>&1
cat >"$tmp/kernel.core"
ASAN_OPTIONS=detect_leaks=0 "$BUILD/snap" --core -o "$tmp/snap" \
    \$(cat "$tmp/args") "\$1" \$(cat "$tmp/others") <"$tmp/kernel.core"
echo "\$?" >"$tmp/rc"
END
chmod 755 "$tmp/handler"
: >"$tmp/args"
: >"$tmp/others"
echo 4 >"$proc/core_pipe_limit"		# the kernel waits for the handler
echo "|$tmp/handler %P" >"$proc/core_pattern"

gdb_says() {
	SAY_FRAMES=20 timeout $((60 * TIMEFACTOR)) "${gdb[@]}" \
	    -x "$tests/live/say.py" "$targets/fall" "$1" 2>&1 |
	    grep -vE '^(\[New LWP|Core was generated|warning: core file may|$)' |
	    grep -vE '^warning: (Unexpected size of s|S)ection .\.reg-xstate'
}

# falls WHAT COMMAND ...: crash a target: its snapshot, and the kernel's core
falls() {
	rm -f "$tmp/rc" "$tmp/snap" "$tmp/kernel.core"
	target "${@:2}"
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true test -s "$tmp/rc"
	is "$(cat "$tmp/rc" "$tmp/said")" 0 "$1: taken"
	pid=$("$BUILD/snapls" -no PID -p fall "$tmp/snap" | tr -d ' ')
}

# compared KIND SIGNAL: compare the snapshot with the kernel's core
compared() {
	"$BUILD/snapcore" -p "$pid" -o "$tmp/core" "$tmp/snap"
	try "$1: the memory is that of the kernel's core" \
	    python3 "$tests/live/core.py" "$tmp/snap" "$pid" "$tmp/kernel.core"
	if ! command -v gdb >/dev/null; then
		skip "$1: gdb" "no gdb" 2
		return
	fi
	gdb_says "$tmp/kernel.core" >"$tmp/kernel.says"
	gdb_says "$tmp/core" >"$tmp/snap.says"
	try "$1: gdb prints the same as for the kernel's core" \
	    diff "$tmp/kernel.says" "$tmp/snap.says"
	grep -q "si_signo = $2," "$tmp/snap.says"
	ok $? "$1: gdb prints signal $2"
}

for kind in segv:11 abort:6 overflow:11 seccomp:31; do
	falls "${kind%:*}" "$targets/fall" "${kind%:*}" 3
	compared "${kind%:*}" "${kind#*:}"
done
falls "100 threads" "$targets/fall" segv 100
compared "100 threads" 11
is "$("$BUILD/snapls" -no THREADS "$tmp/snap" | tr -d ' ')" 101 \
    "100 threads: all are in the snapshot"

# its thread IDs in the namespace are those in its core
falls "PID namespace" unshare -pf "$targets/fall" segv 3
compared "PID namespace" 11

# a live process is stopped for a moment, and notices nothing
target "$targets/compute"
other=$pid
echo "$other" >"$tmp/others"
falls "with a live process" "$targets/fall" segv 3
fell=$pid
compared "with a live process" 11
try "with a live process: it is in the snapshot" \
    "$BUILD/snapcore" -p "$other" -o "$tmp/core" \
    "$tmp/snap"
unnoticed "$other" "with a live process: not noticed"
pid=$fell
: >"$tmp/others"

# it cannot be restored; a process that does not crash is refused
"$BUILD/snapload" -p "$pid" -D "$tmp/images" "$tmp/snap" >"$tmp/out" 2>&1
grep -q "it dumps core" "$tmp/out"
ok $? "restoring it is refused" || diag <"$tmp/out"
target "$targets/fall" segv 0
snap --core -o "$tmp/snap" "$pid" <"$tmp/kernel.core"
is "$rc $err" "1 snap: process N is not dumping core" \
    "one that does not crash is refused"
snap --core -d "$pid" </dev/null
is "$rc" 2 "--core with -d is refused"
is "$(states "$pid" | tr -d ' ')" 0S "one that does not crash goes on"
finish 35
