#!/usr/bin/env bash
# snapcore: the cores that it writes, their names, and messages.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# Run snapcore in $tmp/dir: the status is in $rc, messages in $err.
core() {
	rc=0
	(cd "$tmp/dir" && exec timeout 60 "$BUILD/snapcore" "$@") \
	    >"$tmp/out" 2>"$tmp/err" || rc=$?
	err=$(sed 's/^snapcore: //' "$tmp/err")
}

# files: list and remove the files in $tmp/dir
mkdir "$tmp/dir"
files() {
	(cd "$tmp/dir" && ls) | tr '\n' ' '
	rm -f "$tmp"/dir/*
}

# assemble TYPE: make a snapshot of a machine type from standard input
snap=$tmp/snap
assemble() {
	{
		echo '"process snapshot 1735689600 ann@gnot '"$1"' 1 \"x\"\n"'
		cat
	} | python3 "$tests/snap6/snapasm.py" >"$snap"
}

linux='data {
"linux amd64 1\nregset/prstatus\n"
data regs 216
"maps\n"
data "00001000-00003000 rw-p 00000000 00:00 0 \n"'
memory='mem
number 1
segment 0x1000 4096
z 3
r page'
assemble amd64 <<EOF
record 7 proc
$linux
}
record 7 $memory
record 8 proc
$linux
"thread\n"
data "7\n"
}
record 9 proc
$linux
}
record 9 $memory
record 10 proc
data {
"linux amd64 1\nstat\n"
data "10 (z) Z 1"
}
record 11 proc
$linux
}
record 12 proc
data {
"linux amd64 1\nstat\n"
data "12 (s) S 1"
"thread\n"
data "11\n"
}
EOF

core "$snap"
is "$rc $err" "1 core.7: process 7
core.9: process 9
process 10: no registers: it is a zombie
process 11: left out 1 thread without registers
core.11: process 11" "several: a core each"
is "$(files)" "core.11 core.7 core.9 " "several: their names"
core -o a/b "$snap"
is "$rc $(grep -c 'a/b.*: No such file or directory' "$tmp/err")" "1 3" \
    "several: a missing directory"
core -o x "$snap"
is "$(files)" "x.11 x.7 x.9 " "several: names from -o"
core -o - "$snap"
is "$rc $err $(files)" \
    "1 cannot write 4 cores to standard output; use -p pid " \
    "several: not to standard output"
core -p 8 "$snap"
is "$rc $err $(head -c 4 "$tmp/out" | tail -c 3)" "0  ELF" \
    "a thread ID: its process, to standard output"
cp "$tmp/out" "$tmp/core.8"
core -p 7 - <"$snap"
try "from standard input" cmp "$tmp/out" "$tmp/core.8"
# shellcheck disable=SC2002 # a pipe is what we want
cat "$snap" | (cd "$tmp/dir" && "$BUILD/snapcore" -v -p 7 -o core) 2>"$tmp/err"
is "$(cat "$tmp/err")" \
    "snapcore: core: process 7: 8.0 KiB, including 0 bytes of holes" "-v"
try "from a pipe" cmp "$tmp/dir/core" "$tmp/core.8"
is "$(stat -c %a "$tmp/dir/core") $(files)" "600 core " "for its owner only"
core -p 77 "$snap"
is "$rc $err" "1 no process 77 in the snapshot, which contains 7, 9, 10, 11" \
    "a missing process"
core -p 10 -o core "$snap"
is "$rc $err $(files)" "1 process 10: no registers: it is a zombie " \
    "a zombie"
core -p x "$snap"
is "$rc $err" "1 no process x in the snapshot, which contains 7, 9, 10, 11" \
    "a name that no process has"
core -e x "$snap"
is "$rc" 2 "-e without -r"
core -z
is "$rc" 2 "-z without -r"
core a b
is "$rc" 1 "two missing snapshots"
core -r -p 77 "$snap"
is "$rc $err" "1 -p 77: no such process in the snapshot" "-r -p: no such process"
core "$tmp/core.8"
is "$rc $(head -c 4 "$tmp/out" | tail -c 3)" "1 ELF" \
    "a core without its executable: exit status 1"
core -p 7 -o "$tmp/rest" "$tmp/none" "$snap"
is "$rc $err $(head -c 4 "$tmp/rest" | tail -c 3)" \
    "1 $tmp/none: No such file or directory ELF" \
    "a snapshot is missing: a core from the other one"
head -c 5000 "$tmp/core.8" >"$tmp/cut"
core "$tmp/cut"
is "$rc" 1 "a truncated core: exit status 1"
grep -q "$tmp/cut: truncated: 1 segments are incomplete" "$tmp/err"
ok $? "a truncated core: a message"
if command -v script >/dev/null; then
	is "$(script -qec "$BUILD/snapcore -p 7 $snap" /dev/null </dev/null |
	    tr -d '\r')" "snapcore: standard output is a terminal; use -o file, \
> file or a pipe" "a terminal"
else
	skip "a terminal" "no script(1)"
fi
"$BUILD/snapcore" -p 7 "$snap" 2>/dev/null >/dev/full
is $? 1 "a full disk: exit status 1"
mkdir "$tmp/mnt"
if mount -t tmpfs -o size=4k none "$tmp/mnt" 2>/dev/null; then
	head -c 1M /dev/zero >"$tmp/mnt/full" 2>/dev/null
	core -p 7 -o "$tmp/mnt/core" "$snap"
	is "$rc $(ls -A "$tmp/mnt")" "1 full" \
	    "a full file system: nothing is left"
else
	skip "a full file system" "may not mount"
fi

# 64 MiB of zeros are a hole in a file, and bytes in a pipe.
assemble amd64 <<EOF
record 7 proc
data {
"linux amd64 1\nregset/prstatus\n"
data regs 216
"maps\n"
data "00001000-04001000 rw-p 00000000 00:00 0 \n"
}
record 7 mem
number 1
segment 0x1000 0x4000000
r first
z 65535
EOF

core -o core "$snap"
is "$rc $err $(stat -c %s "$tmp/dir/core")" "0  67112960" "a hole: its size"
ok "$(($(stat -c %b "$tmp/dir/core") > 64))" "a hole: its blocks"
core "$snap"
is "$(stat -c %s "$tmp/out")" 67112960 "a hole: > file"
ok "$(($(stat -c %b "$tmp/out") > 64))" "a hole: > file, its blocks"
try "a hole: > file, the same" cmp "$tmp/out" "$tmp/dir/core"
is "$("$BUILD/snapcore" "$snap" | cmp - "$tmp/dir/core" 2>&1)" "" \
    "a hole: through a pipe"
rm -f "$tmp/out"
files >/dev/null

# Plan 9, as debuggers see it.
plan9='record 7 status
data "init                        glenda                      Wakeme "
record 7 segment
data "Text   R  1000 2000    1\nStack     7000 8000    1\n"
record 7 mem
number 1
segment 0x1000 4096
r page
r page
r page
r page'
for m in amd64:184:X86-64 386:76:80386 arm64:280:AArch64 arm:72:ARM; do
	IFS=: read -r type size name <<<"$m"
	assemble "$type" <<EOF
record 7 regs
data pc $size
$plan9
EOF
	core -o core "$snap"
	is "$rc $err" "0 " "Plan 9 $type: a core"
	is "$(readelf -hlW "$tmp/dir/core" 2>"$tmp/e" |
	    sed -n "s/.*Machine:.*$name/machine/p;s/^  LOAD.*/LOAD/p" |
	    tr '\n' ' ')$(cat "$tmp/e")" "machine LOAD LOAD " \
	    "Plan 9 $type: readelf"
	core -m -o dump "$snap"
	if [ "$type" = amd64 ]; then
		is "$rc $err $(head -c4 "$tmp/dir/dump")" "0  MDMP" \
		    "Plan 9 $type: a minidump"
	else
		is "$rc $err" "1 process 7: minidumps of $type processes are not supported" \
		    "Plan 9 $type: no minidump"
	fi
	case $type in
	*64 | 386)
		n=$(gdb -nx -batch -ex 'x/s 0x1000' -c "$tmp/dir/core" 2>&1 |
		    grep -c '^0x1000:.*"page')
		# gdb 16 reads no core of a machine that it is not built for
		if [ "$type.$n" = arm64.0 ] && ! gdb -nx -batch \
		    -ex 'set architecture aarch64' >/dev/null 2>&1; then
			skip "Plan 9 $type: gdb" "this gdb does not know it"
		else
			is "$n" 1 "Plan 9 $type: gdb"
		fi
		;;
	esac
	files >/dev/null
done
assemble mips <<EOF
record 7 regs
data r 160
EOF
core "$snap"
is "$rc $err" "1 process 7: cannot convert 160 bytes of registers from mips: \
expected those of amd64, 386, arm64, or arm" "Plan 9 mips"

# More segments than fit into e_phnum.
python3 - >"$snap" <<'EOF'
import sys
maps = b''.join(b'%08x-%08x rw-p 00000000 00:00 0 \n' % (
    i * 8192, i * 8192 + 4096) for i in range(1, 70001))
regs = bytes(216)
rec = b'linux amd64 1\nregset/prstatus\n%11d ' % len(regs) + regs + \
    b'maps\n%11d ' % len(maps) + maps
sys.stdout.buffer.write(
    b'process snapshot 1 a@b amd64 1 "x"\n%11d proc\n%11d ' % (7, len(rec)) +
    rec + b'%11d mem\n%11d %11d %11d ' % (7, 1, 70000 * 8192, 4096) +
    (b'r' + b'70000th!' * 128) * 4)
EOF
core -o core "$snap"
is "$rc $err" "0 " "70000 mappings: a core"
is "$(readelf -lW "$tmp/dir/core" 2>"$tmp/e" | grep -c LOAD) $(cat "$tmp/e")" \
    "70000 " "70000 mappings: readelf"
if command -v eu-readelf >/dev/null; then
	is "$(eu-readelf -l "$tmp/dir/core" 2>&1 | grep -c LOAD)" 70000 \
	    "70000 mappings: eu-readelf"
else
	skip "70000 mappings: eu-readelf" "no eu-readelf"
fi
is "$(timeout 100 gdb -nx -batch -ex 'x/s 0x222e0000' -c "$tmp/dir/core" \
    2>/dev/null | grep -c 70000th)" 1 "70000 mappings: gdb"
"$BUILD/snapcore" "$snap" >"$tmp/one"
"$BUILD/snapcore" -r "$tmp/one" >"$tmp/reversed"
try "-r writes what snapcat writes" \
    cmp <("$BUILD/snapcat" "$tmp/one") "$tmp/reversed"
is "$("$BUILD/snapcore" -rv "$tmp/one" 2>&1 >/dev/null | sed 's/^snapcore//')" \
    "$("$BUILD/snapcat" -v "$tmp/one" 2>&1 >/dev/null | sed 's/^snapcat//')" \
    "-r prints what snapcat prints"
finish 52
