#!/usr/bin/env bash
# A core of a process in a container has the IDs that the process sees, like the
# kernel's core: debuggers find them in its memory.  File names have our IDs.
# beside: crash
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

is_root || skip_all "only root may begin a container"
command -v gdb >/dev/null || skip_all "no gdb"
gdb -nx -batch -ex 'python pass' >/dev/null 2>&1 || skip_all \
    "this gdb has no Python"

# a root directory of its own, over that of the machine
mkdir "$tmp/root"
cat >"$tmp/inside" <<EOF
set -e
r=$tmp/root
mount -t tmpfs none "\$r"
mkdir "\$r/up" "\$r/work" "\$r/root"
mount -t overlay -o "lowerdir=/,upperdir=\$r/up,workdir=\$r/work" overlay \\
    "\$r/root"
mount -t proc proc "\$r/root/proc"
cp "$targets/nested" "\$r/root/nested"
mkdir "\$r/root/old"
cd "\$r/root"
pivot_root . old
umount -l old
[ "\${1-}" = try ] || exec /nested
EOF
unshare -pmf sh "$tmp/inside" try >"$tmp/err" 2>&1 ||
    skip_all "no namespaces, or no overlayfs: $(tail -n 1 "$tmp/err")"

# The threads of a core, by ID, with their stacks.
cat >"$tmp/say.py" <<'END'
import gdb

for thread in sorted(gdb.selected_inferior().threads(),
                     key=lambda thread: thread.ptid):
    thread.switch()
    print('thread', thread.ptid[1])
    gdb.execute('backtrace')
END
gdb_says() {
	timeout 60 "${gdb[@]}" -x "$tmp/say.py" "$targets/nested" "$1" 2>&1 |
	    sed -n '/^thread/,$p' | grep -E '^thread|^#|unavail|find'
}

child() {
	local c

	read -r c _ <"/proc/$1/task/$1/children"
	echo "$c"
}

# without rseq(2): the kernel writes the processor into its area
target env GLIBC_TUNABLES=glibc.pthread.rseq=0 prlimit --core=unlimited \
    unshare -pmf --kill-child sh "$tmp/inside"
init=$(child "$pid")
inner=$(child "$(child "$init")")
as_seen=$(sed -n 's/^NSpid:.*\t//p' "/proc/$inner/status")
ok $((inner == as_seen)) "the process sees another ID than we do"
snap -o "$tmp/snap" "$inner"
is "$rc $err" "0 " "taken"
try "a core by our ID" "$BUILD/snapcore" -p "$inner" -o "$tmp/core" \
    "$tmp/snap"
gdb_says "$tmp/core" >"$tmp/says"
is "$(sed -n 's/^thread //p' "$tmp/says" | tr '\n' ' ')" \
    "$(sed -n 's/^NSpid:.*\t//p' "/proc/$inner"/task/*/status |
	sort -n | tr '\n' ' ')" "gdb finds each thread once, by its ID"
is "$(grep -c '^#0 ' "$tmp/says") $(
    grep -cE 'unavail|find' "$tmp/says")" "4 0" "gdb finds each stack"

if [ -e /dev/fuse ] && [ -x "$BUILD/snapfs" ]; then
	mkdir "$tmp/mnt"
	"$BUILD/snapfs" "$tmp/snap" "$tmp/mnt"
	try "snapfs: the same core, by our ID" cmp "$tmp/core" \
	    "$tmp/mnt/$inner/core"
	umount "$tmp/mnt"
else
	skip "snapfs: the same core, by our ID" "no /dev/fuse"
fi

# its parents, of which the first has a parent outside
snap -o "$tmp/all" "$init" "$(child "$init")"
"$BUILD/snapcore" -p "$init" -o "$tmp/init" "$tmp/all"
cat >"$tmp/numbers.py" <<'END'
import struct
import sys

with open(sys.argv[1], 'rb') as file:
    core = file.read()
at, = struct.unpack_from('<Q', core, 64 + 8)
print(*struct.unpack_from('<4i', core, at + 20 + 32))
END
is "$(python3 "$tmp/numbers.py" "$tmp/init")" "1 0 0 0" \
    "pid, ppid, pgrp, sid of the first process"

# Two snapshots with the same process: in the second it gets another ID.
"$BUILD/snapcat" -o "$tmp/both" "$tmp/snap" "$tmp/snap"
other=$("$BUILD/snapls" -no PID -p nested "$tmp/both" | tr -d ' ' |
    grep -vx "$inner")
"$BUILD/snapcore" -p "$other" -o "$tmp/other" "$tmp/both"
try "the same core under another ID" cmp "$tmp/core" "$tmp/other"

pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
"" | *[!a-z]*)
	skip "kernel" "core_pattern is not a plain name" 6
	finish 14
	;;
esac
kill -SEGV "$inner"
until_true gone "$inner"
cat "/proc/$init/root/$pattern"* >"$tmp/kernel" 2>/dev/null
if ! [ -s "$tmp/kernel" ]; then
	skip "kernel" "it wrote no core" 6
	finish 14
fi
try "the kernel's core: the same" python3 "$tests/core/compare.py" kernel \
    "$tmp/snap" "$inner" "$tmp/core" "$tmp/kernel"
gdb_says "$tmp/kernel" >"$tmp/said"
try "gdb prints the same for it" diff "$tmp/said" "$tmp/says"
"$BUILD/snapcore" -r -e "$targets/nested" -o "$tmp/back" "$tmp/kernel" \
    "$tmp/kernel" 2>/dev/null
read -rd '' first second < <("$BUILD/snapls" "$tmp/back" |
    awk '/nested/ { print $1 }')
is "$first" "$as_seen" "read back: its ID"
ok $((second == first)) "read back again: another ID"
for p in "$first" "$second"; do
	"$BUILD/snapcore" -p "$p" -o "$tmp/again" "$tmp/back" 2>/dev/null
	gdb_says "$tmp/again" >"$tmp/says"
	try "read back, $p: gdb prints the same" diff "$tmp/said" "$tmp/says"
done
finish 14
