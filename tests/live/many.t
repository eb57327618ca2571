#!/usr/bin/env bash
# Processes with thousands of files, mappings or packets are captured, and snap
# reports what it leaves out.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# Unlinked files with one byte each, and few descriptors for snap.
cat >"$tmp/memfds.py" <<'EOF'
import os, sys
for i in range(900):
    os.write(os.memfd_create('m%d' % i), b'x')
print('ready', flush=True)
sys.stdin.read(1)
print('report bad 0')
EOF
target python3 "$tmp/memfds.py"
for how in "" -l; do
	prlimit --nofile=1024:1024 "$BUILD/snap" ${how:+"$how"} \
	    -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(sed 's/[0-9][0-9]*/N/g' "$tmp/err")" \
	    "1 snap: process N has too many unlinked files open: the contents of N are saved; the rest are missing" \
	    "unlinked files${how:+ ($how)}: a message"
	"$BUILD/snapls" -c "$tmp/snap" >"$tmp/out" 2>&1
	ok $? "unlinked files${how:+ ($how)}: the snapshot is whole" ||
	    diag <"$tmp/out"
done
unnoticed "$pid" "unlinked files: not noticed"

# Separate shared mappings with different numbers in them, and few descriptors
# for snap, which needs two for each copy.
cat >"$tmp/shared.py" <<'EOF'
import ctypes, mmap, sys
maps = [mmap.mmap(-1, mmap.PAGESIZE) for i in range(250)]
for i, m in enumerate(maps):
    m[:4] = (12345 + i).to_bytes(4, 'little')
    print('number', ctypes.addressof(ctypes.c_char.from_buffer(m)), 12345 + i)
print('ready', flush=True)
sys.stdin.read(1)
print('report bad 0')
EOF
cat >"$tmp/numbers.py" <<'EOF'
import sys
import check
snap = check.load(sys.argv[1])
want = [line.split()[1:] for line in open(sys.argv[3])
    if line.startswith('number ')]
bad = [at for at, number in want if int(number) != int.from_bytes(
    snap.memory(int(sys.argv[2]), int(at), 4), 'little')]
print(len(want), 'numbers,', len(bad), 'of them wrong')
EOF
target python3 "$tmp/shared.py"
prlimit --nofile=512:512 "$BUILD/snap" -o "$tmp/snap" "$pid" 2>"$tmp/err"
is "$? $(sed 's/\<[0-9][0-9a-f]*\>/N/g' "$tmp/err")" \
    "0 snap: process N cannot be cloned: N-N /dev/zero (deleted): cannot copy more shared files than a third of RLIMIT_NOFILE (N): all processes stay stopped until everything is written" \
    "shared mappings: stopped, which needs fewer descriptors"
is "$(PYTHONPATH="$tests/live" python3 "$tmp/numbers.py" "$tmp/snap" "$pid" \
    "$lines")" "250 numbers, 0 of them wrong" "shared mappings: all are taken"
unnoticed "$pid" "shared mappings: not noticed"

# Sockets with a packet: one process of snap examines all of them.
cat >"$tmp/packets.py" <<'EOF'
import socket, sys
pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for i in range(200)]
for a, b in pairs:
    a.send(b'packet')
print('ready', flush=True)
sys.stdin.read(1)
print('report lost', sum(b.recv(9) != b'packet' for a, b in pairs))
EOF
target python3 "$tmp/packets.py"
if strace -qq -e trace=none true 2>/dev/null; then
	# LeakSanitizer does not work while it is traced
	ASAN_OPTIONS=detect_leaks=0 strace -qq -f -o "$tmp/calls" \
	    -e trace=clone,clone3,fork,vfork "$BUILD/snap" -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "packets: taken"
	n=$(grep -cE 'clone|fork' "$tmp/calls")
	ok $((n > 9)) "packets: no process for each" || echo "# $n"
else
	skip "packets" "strace does not run" 2
fi
unnoticed "$pid" "packets: they are still there"
# snap searches only the first of several processes with the same files for
# instructions that make calls; the others have them at the same place.
searched() {
	ASAN_OPTIONS=detect_leaks=0 strace -qq -f -o "$tmp/calls" \
	    -e trace=pread64 "$BUILD/snap" -o "$tmp/snap" "$@" 2>"$tmp/err"
	grep -c ', 4096, .*= 4096$' "$tmp/calls"
}
if strace -qq -e trace=none true 2>/dev/null; then
	target "$targets/state"
	one=$pid
	target "$targets/state"
	n=$(searched "$one")
	m=$(searched "$one" "$pid")
	ok $((m >= n + n / 2)) "only one of two is searched" ||
	    echo "# $n, $m"
	unnoticed "$one" "searched: not noticed"
else
	skip "only one of two is searched" "strace does not run" 2
fi
# A directory may be renamed after the release, while snap still reads.
cat >"$tmp/cats" <<'EOF'
rm -f "$1" && mkfifo "$1" && exec 3<>"$1"
for i in 1 2 3 4 5 6 7 8 9; do
	for j in 1 2 3 4 5 6 7 8 9 10; do
		cat 3>&- <"$1" &
	done
done
echo ready
read -rN 1
echo report bad 0
EOF
mkdir "$tmp/was"
as=(env -C "$tmp/was")
target bash "$tmp/cats" "$tmp/cats.in"
as=(env)
mkfifo "$tmp/fifo"
exec 3<>"$tmp/fifo"
exec 4<"$tmp/fifo"
"$BUILD/snap" -r "$pid" 3>&- 4>&- >"$tmp/fifo" 2>"$tmp/err" &
taker=$!
dd bs=1 count=1 status=none <&4 >"$tmp/snap"
mv "$tmp/was" "$tmp/now"
cat <&4 3>&- >>"$tmp/snap" &
exec 3>&- 4>&-
wait "$taker"
is "$? $(cat "$tmp/err")" "0 " "a directory is moved: all are taken"
wait $!
python3 - "$tmp/snap" <<END | uniq -c >"$tmp/out"
import sys
sys.path.insert(0, "$tests/live")
import check
snap = check.load(sys.argv[1])
for p in snap.procs:
    record = check.record(snap, p)
    if "thread" not in record and "cwd" in record:
        print(record["cwd"].decode())
END
is "$(cat "$tmp/out")" "     91 $tmp/was" \
    "a directory is moved: its old path is recorded"
unnoticed "$pid" "a directory is moved: not noticed"
finish 16
