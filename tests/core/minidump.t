#!/usr/bin/env bash
# lldb finds in a minidump what it finds in the core: threads and their stacks,
# build IDs, and the signal that ended a process.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

command -v lldb >/dev/null || skip_all 'no lldb'
[ "$(uname -m)" = x86_64 ] || skip_all 'minidumps are of amd64'

# see FILE COMMAND ...: run commands of lldb on a file
see() {
	local c args=()

	for c in "${@:2}"; do
		args+=(-o "$c")
	done
	timeout 100 lldb -b -c "$1" "${args[@]}" 2>/dev/null
}

# The threads and the addresses of their frames.
frames() {
	see "$1" 'bt all' | grep -oE '(thread|frame) #[0-9]+(: 0x[0-9a-f]+)?'
}

target "$targets/threads" busy
snap -o "$tmp/snap" "$pid"
kill -STOP "$pid"	# its threads are busy
"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
try "a minidump is written" "$BUILD/snapcore" -m -o "$tmp/dump" "$tmp/snap"
is "$(file -b "$tmp/dump" 2>/dev/null | cut -d, -f1)" \
    "$(command -v file >/dev/null && echo 'Mini DuMP crash report')" \
    "file(1) knows it"
frames "$tmp/dump" >"$tmp/dumped"
is "$(grep -c thread "$tmp/dumped")" 65 "all threads are there"
try "the frames are those of the core" diff <(frames "$tmp/core") "$tmp/dumped"
see "$tmp/dump" 'image list' |
    sed -n 's,^\[ *0\] \([0-9A-F-]*\) .*,\1,p' >"$tmp/id"
is "$(tr -d - <"$tmp/id" | tr A-F a-f)" \
    "$(readelf -n "$targets/threads" | sed -n 's/.*Build ID: //p')" \
    "the program, and its build ID"
registers() {
	see "$1" 'thread select 3' 'register read' |
	    grep -oE '^ +r[0-9a-z]+ = 0x[0-9a-f]+'
}
is "$(registers "$tmp/dump" | wc -l)" 18 "registers of a thread"
is "$(registers "$tmp/dump")" "$(registers "$tmp/core")" \
    "the registers are those of the core"
"$BUILD/snapcore" -m "$tmp/snap" | cmp - "$tmp/dump"
ok $? "the same through a pipe"
# With all memory.
"$BUILD/snapcore" -m -a -o "$tmp/full" "$tmp/snap"
is "$?" 0 "a full minidump is written"
try "the frames are those of the core" diff <(frames "$tmp/full") "$tmp/dumped"
# lldb reads other memory from the mapped files
at=0x$(sed -n '/heap/s/-.*//p' "/proc/$pid/maps")
bytes() {
	see "$1" "memory read -s1 -c64 $at" | grep '^0x'
}
is "$(bytes "$tmp/full")" "$(bytes "$tmp/core")" "memory is that of the core"
is "$(bytes "$tmp/dump" | wc -l)" 0 "a small minidump lacks that memory"
"$BUILD/snapcore" -a -o "$tmp/none" "$tmp/snap" 2>/dev/null
is "$?" 2 "-a without -m is refused"
"$BUILD/snapcore" -m -r -o "$tmp/none" "$tmp/core" 2>/dev/null
is "$?" 2 "-m with -r is refused"

# A process that died.
cat >"$tmp/py" <<'END'
import ctypes
ctypes.string_at(0x1234)
END
if command -v gdb >/dev/null; then
	gdb -nx -batch -ex run -ex "generate-core-file $tmp/dead" --args \
	    python3 "$tmp/py" >/dev/null 2>&1
	"$BUILD/snapcore" -m -o "$tmp/dump" "$tmp/dead"
	is "$(see "$tmp/dump" 'thread list' | grep -o 'signal SIG.*')" \
	    "signal SIGSEGV" "the signal that ended it"
else
	skip "the signal that ended it" "no gdb"
fi
finish 15
