#!/usr/bin/env bash
# A snapshot has the program's memory, byte for byte, for all kinds of mappings.
# Memory that cannot be read is missing, never zeros.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# one WHAT TARGET ...: test it as by default, and stopped until all is written
modes=(-l -s)
one() {
	local what=$1 mode

	shift
	target "$@"
	for mode in "${modes[@]}"; do
		snap "$mode" -o "$tmp/snap" "$pid"
		is "$rc $err" "0 " "$what, $mode: taken"
		check "$tmp/snap" "$pid" "$what, $mode: memory matches"
	done
	unnoticed "$pid" "$what: not noticed"
}

# veils: only the tracing thread itself can read memory that a process cannot
# read (CONFIG_PROC_MEM_FORCE_PTRACE): snap-internals(7), BUGS
veils() {
	python3 - <<'END'
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
p = libc.mmap(None, ctypes.c_size_t(4096), 3, 0x22, -1, ctypes.c_long(0))
ctypes.memset(p, 1, 1)
libc.mprotect(ctypes.c_void_p(p), ctypes.c_size_t(4096), 0)
mem = open('/proc/self/mem', 'rb', buffering=0)
mem.seek(p)
try:
    mem.read(1)
except OSError:
    sys.exit(0)
sys.exit(1)
END
}
if veils; then
	modes=(-l)
	skip "private memory of all protections, -s" \
	    "this kernel lets only the tracing thread read it" 2
fi
one "private memory of all protections" "$targets/anon"
modes=(-l -s)
one "500 mappings" "$targets/manymaps"
one "static variables, in a process with an odd name" "$targets/odd" \
    $'a) R \xc3\xa9\n('

# The snapshot of sparse terabytes is about as large as their pages.
one "sparse terabyte" "$targets/sparse"
size=$(stat -c %s "$tmp/snap")
ok $((size > 4000000)) "sparse terabyte: the snapshot is small" ||
    echo "# $size bytes"

# Shared memory: pages that only others have touched need privilege.
flag=
is_root || flag=-o
for dir in "" /dev/shm; do
	target "$targets/shared" ${dir:+"$dir/snaptest.$$"}
	for mode in "${modes[@]}"; do
		snap "$mode" -o "$tmp/snap" "$pid"
		check "$tmp/snap" "$pid" \
		    "shared memory ${dir:-without name}, $mode" $flag
	done
	rm -f "/dev/shm/snaptest.$$"
done
if is_root; then
	target unshare -i "$targets/shared"
	for mode in "${modes[@]}"; do
		snap "$mode" -o "$tmp/snap" "$pid"
		check "$tmp/snap" "$pid" \
		    "System V shared memory of number 0, $mode"
	done
else
	skip "System V shared memory of number 0" "needs root" 2
fi

# A data file: unmodified pages only with -a, and never as zeros.
on_disk
target "$targets/filemap" "$disk/data"
snap -o "$tmp/snap" "$pid"
check "$tmp/snap" "$pid" "modified pages of a data file"
plain=$(stat -c %s "$tmp/snap")
for mode in "${modes[@]}"; do
	snap -a "$mode" -o "$tmp/snap" "$pid"
	check "$tmp/snap" "$pid" "all pages of a data file with -a $mode" -a
done
all=$(stat -c %s "$tmp/snap")
ok $((all - plain < 24 * 4096)) "-a takes the pages of the data file" ||
    echo "# $plain, $all"
rm "$disk/data"
for mode in "${modes[@]}"; do
	snap "$mode" -o "$tmp/snap" "$pid"
	check "$tmp/snap" "$pid" "all pages of a deleted data file, $mode" \
	    "$(is_root && echo -a)"
done

# snap captures what a process has in its cores (core(5)), but not what may
# change after the release.
lacks() {
	awk -v list="$("$BUILD/snapls" -l "$tmp/snap" | grep 'missing: file')" \
	    '/^file/ && list ~ "(^|[ \n])" substr($3, 3) "-" { print $2 }' "$lines" |
	    tr '\n' ' '
}
target "$targets/dumped" "$disk/data"
while read -r flag filter want; do
	echo "$filter" >"/proc/$pid/coredump_filter"
	# shellcheck disable=SC2086 # one word or none
	snap $flag -o "$tmp/snap" "$pid"
	check "$tmp/snap" "$pid" "coredump_filter $filter, $flag: memory"
	is "$(lacks)" "${want:+$want }" "coredump_filter $filter, $flag: missing"
done <<'END'
-s 0x33 private shared readonly dontdump
-s 0x37 shared readonly dontdump
-s 0x3b private dontdump
-s 0x3f dontdump
-l 0x3f shared dontdump
-a 0x33
END
unnoticed "$pid" "coredump_filter: not noticed"

# A deleted executable is the text nevertheless.
cp "$targets/odd" "$tmp/deleted"
target "$tmp/deleted"
rm "$tmp/deleted"
snap -o "$tmp/snap" "$pid"
check "$tmp/snap" "$pid" "memory of a deleted executable"
crc=$(python3 -c 'import sys, zlib; d = open(sys.argv[1], "rb").read()
print(len(d), "%08x" % zlib.crc32(d))' "$targets/odd")
is "$(python3 "$tests/snap6/oracle.py" "$tmp/snap" | sed -n "/^text/{p;q}")" \
    "text 0 $crc" "text of a deleted executable"

# Memory that exists but cannot be read.
for what in guard secret poison; do
	target "$targets/hidden" "$what"
	if grep -q lacks "$lines"; then
		n=4
		[ "$what" != guard ] || n=2
		skip "$what" "not in this kernel" "$n"
		rm -f "$tmp/snap"
		continue
	fi
	# a process with pages under userfaultfd(2) cannot be cloned
	mode=-l
	[ "$what" != poison ] || mode=-s
	snap "$mode" -o "$tmp/snap" "$pid"
	check "$tmp/snap" "$pid" "$what: listed as missing"
	if [ "$what" != guard ]; then
		is "$rc" 1 "$what: exit status 1"
		ok $(($(wc -l <"$tmp/err") != 1)) "$what: one message" ||
		    diag <"$tmp/err"
	fi
	unnoticed "$pid" "$what: not noticed"
done
if [ -e "$tmp/snap" ]; then
	"$BUILD/snapls" -l "$tmp/snap" | grep -q 'missing: unreadable'
	ok $? "snapls shows what is missing"
else
	skip "snapls shows what is missing" "no poison in this kernel"
fi

# A process of 32 bits.
if [ -x "$targets/bits32" ]; then
	modes=(-n)
	one "a process of 32 bits" "$targets/bits32"
else
	skip "a process of 32 bits" "no compiler for it" 3
fi

# Without random addresses, [vvar] has neighbors.  It is not memory.
target setarch -R "$targets/odd"
snap -o "$tmp/snap" "$pid"
at=$(sed -n 's/-.*\[vvar.*//p' "/proc/$pid/maps" | head -1)
if [ -n "$at" ]; then
	python3 "$tests/snap6/oracle.py" -x "$pid" "0x$at" 1 "$tmp/snap" \
	    >/dev/null 2>&1
	is $? 1 "[vvar] is not in the snapshot"
else
	skip "[vvar] is not in the snapshot" "not there"
fi

# A file of an overlay that changed after it was mapped: the process has the old
# one, but the kernel opens the new one.  The overlay is mounted here, because
# snap does not trust one that only the process can see.
cat >"$tmp/map.py" <<'END'
import mmap, sys, time
with open(sys.argv[1], 'rb') as f:
    m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
bytes(m)
with open(sys.argv[1], 'wb') as f, open(sys.argv[2], 'rb') as new:
    f.write(new.read().ljust(len(m), b'\1'))
print('ready', flush=True)
time.sleep(1000)
END
cat >"$tmp/over" <<EOF
set -e
mkdir -p "$tmp/mnt"
mount -t tmpfs none "$tmp/mnt"
cd "$tmp/mnt"
mkdir lower upper work both
cp "$targets/odd" lower/file
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none both
EOF
if is_root && sh "$tmp/over" >"$tmp/err" 2>&1; then
	target python3 "$tmp/map.py" "$tmp/mnt/both/file" "$targets/anon"
	at=$(sed -n '/mnt.both.file/s/-.*//p' "/proc/$pid/maps" | head -1)
	for mode in -l -s; do
		snap "$mode" -o "$tmp/snap" "$pid"
		python3 "$tests/snap6/oracle.py" -x "$pid" "0x$at" \
		    "$(stat -c %s "$targets/odd")" "$tmp/snap" >"$tmp/got"
		cmp "$tmp/got" "$targets/odd"
		ok $? "a changed file of an overlay, $mode: its old pages"
	done
else
	skip "a changed file of an overlay" "no overlayfs, or not root" 2
fi

# Few descriptors: snap reports what it cannot open.
target "$targets/filemap" "$disk/data"
snap -o "$tmp/whole" "$pid"
as=(prlimit --nofile=8)
snap -o "$tmp/snap" "$pid"
as=(env)
ok $((rc == 0 && $(stat -c %s "$tmp/snap") < $(stat -c %s "$tmp/whole"))) \
    "with few descriptors: whole, or an error" || diag <"$tmp/err"
finish 66
