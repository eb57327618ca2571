#!/usr/bin/env bash
# ELF cores of the kernel and of gcore(1) become snapshots, and cores again: the
# memory is the same, and gdb prints the same for both cores.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! [ -x "$BUILD/snapcore" ]; then
	skip_all "no snapcore"
fi
if ! command -v gcore >/dev/null; then
	skip_all "no gdb"
fi

if ! gdb -nx -batch -ex 'python pass' >/dev/null 2>&1; then
	skip_all "this gdb has no Python"
fi

gdb_says() {
	timeout 60 "${gdb[@]}" -x "$tests/live/say.py" "$1" "$2" 2>&1 |
	    grep -vE '^(\[New LWP|Core was generated|warning: core file may|$)' |
	    grep -v '^warning: Unexpected size of section .\.reg-xstate'
}

# round WHAT PROGRAM CORE PID: make a snapshot of CORE, and a core of that
round() {
	local rc=0

	timeout 60 "$BUILD/snapcore" -r "$3" >"$tmp/snap" 2>"$tmp/err" || rc=$?
	is "$rc $(cat "$tmp/err")" '0 ' "$1: becomes a snapshot"
	is "$("$BUILD/snapls" -l "$3")" "$("$BUILD/snapls" -l "$tmp/snap")" \
	    "$1: snapls -l prints the same for the snapshot"
	try "$1: the memory is equal" python3 "$tests/live/core.py" \
	    "$tmp/snap" "$4" "$3"
	try "$1: becomes a core again" timeout 60 "$BUILD/snapcore" -p "$4" \
	    -o "$tmp/again" "$tmp/snap"
	gdb_says "$2" "$3" >"$tmp/said"
	gdb_says "$2" "$tmp/again" >"$tmp/says"
	# gdb 16 reads its own core with the target description in it
	# (NT_GDB_TDESC).  On AMD's processors the AVX-512 state has another
	# offset than gdb expects, and gdb finds the section too small
	if grep -q 'reg-xstate.*too small' "$tmp/said"; then
		sed -i -E '/^ *([xyz]mm|k)[0-9]/d;/reg-xstate/d' "$tmp/said" \
		    "$tmp/says"
	fi
	try "$1: gdb prints the same for both" diff "$tmp/said" "$tmp/says"
	try "$1: gdb prints a backtrace" grep -q '^#0 ' "$tmp/says"
	rm -f "$tmp/again"
}

# small stacks: the time grows with the size of the core
as=(prlimit --stack=262144:)
target "$targets/threads" busy
as=(env)
gcore -o "$tmp/core" "$pid" >/dev/null 2>&1
kill "$pid"	# its threads are busy
round gcore "$targets/threads" "$tmp/core.$pid" "$pid"
is "$(timeout 60 "$BUILD/snapcore" -r - <"$tmp/core.$pid" | cmp - "$tmp/snap")" \
    '' 'gcore: the same from standard input'
rm -f "$tmp/core.$pid"

pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
'' | *[/%\|]*)
	skip 'a core of the kernel' "core_pattern is \"$pattern\"" 6
	;;
*)
	mkdir "$tmp/crash"
	cat >"$tmp/crash.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *
run(void *arg)
{
	if (arg != NULL) {
		usleep(100000);
		*(volatile int *)arg = 1;
	}
	for (;;)
		pause();
}

int
main(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t, NULL, run, i == 2 ? (void *)8 : NULL);
	run(NULL);
}
END
	${CC:-cc} -g -pthread -o "$tmp/crash/crash" "$tmp/crash.c"
	(
		cd "$tmp/crash" || exit 1
		ulimit -c unlimited
		./crash &
		echo $! >pid
		wait $!
	) 2>/dev/null
	core=$(find "$tmp/crash" -name "$pattern*" | head -1)
	if [ -z "$core" ]; then
		skip 'a core of the kernel' 'the kernel wrote none' 6
	else
		round kernel "$tmp/crash/crash" "$core" "$(cat "$tmp/crash/pid")"
	fi
	;;
esac
finish 13
