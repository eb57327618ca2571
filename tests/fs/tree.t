#!/usr/bin/env bash
# The files of a mounted snapshot agree with the processes.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

# a program with threads; it is stopped, and the snapshot is compared with /proc
as=(env GLIBC_TUNABLES=glibc.pthread.rseq=0)	# rseq has the processor
target "$targets/threads" busy
as=(env)
kill -STOP "$pid"
until_true grep -q '^State:.*T' "/proc/$pid/status"
snap -o "$tmp/snap" "$pid"
serve "$tmp/snap"
is "$(ls "$mnt" | sort)" "$(ls "/proc/$pid/task" | sort)" \
    "the process and each thread have a directory"
for f in ctl fd mem noteid ns proc segment status text core map linux root; do
	[ -e "$mnt/$pid/$f" ] || echo "$f"
done >"$tmp/lacks"
is "$(cat "$tmp/lacks")" "" "the directory of a process has its files"
tid=$(find "$mnt" -mindepth 1 -maxdepth 1 ! -name "$pid" -printf "%f\n" | head -1)
is "$(cd "$mnt/$tid" && for f in mem text status core map root; do
	[ -e $f ] && echo $f; done | tr '\n' ' ')" "mem text status " \
    "the directory of a thread has its files"
try "mem of the process has its memory" python3 "$tests/fs/compare.py" \
    "/proc/$pid" "$mnt/$pid"
try "mem of a thread has the same memory" python3 "$tests/fs/compare.py" \
    "/proc/$pid" "$mnt/$tid"
try "text has the executable" cmp "$mnt/$pid/text" "/proc/$pid/exe"
for f in cmdline environ maps limits; do
	cmp "/proc/$pid/$f" "$mnt/$pid/linux/$f"
done >"$tmp/try" 2>&1
is "$(cat "$tmp/try")" "" "linux/ has the files of /proc"
is "$(ls "$mnt/$pid/linux/fd" | sort)" "$(ls "/proc/$pid/fd" | sort)" \
    "linux/fd names the open descriptors"
is "$(cat "$mnt/$pid/linux/exe")" "$(readlink "/proc/$pid/exe")" \
    "linux/exe has the path of the executable"
is "$(cd "$mnt/$pid/map" && ls | sed 's/\..*//')" \
    "$(python3 - "$mnt/$pid/linux" <<'EOF'
import sys


def ranges(name):
    for line in open(sys.argv[1] + "/" + name):
        yield [int(x, 16) for x in line.split()[0].split("-")]


lost = []
for start, end in ranges("missing"):
    if lost and lost[-1][1] >= start:
        lost[-1][1] = end
    else:
        lost.append([start, end])
for start, end in ranges("maps"):
    if not any(a <= start and end <= b for a, b in lost):
        print("%08x-%08x" % (start, end))
EOF
)" "map/ has all mappings except those that are missing"
grep -l nothing-of-the-kind "$mnt/$pid"/map/* >"$tmp/grep" 2>&1
is "$(cat "$tmp/grep")" "" "grep reads map/ without errors"
cmp "$mnt/$pid/root$(readlink "/proc/$pid/exe")" "/proc/$pid/exe"
ok $? "root/ has the executable"
is "$(readelf -h "$mnt/$pid/core" 2>&1 | grep -c 'CORE (Core file)')" 1 \
    "core is an ELF core file"

# Modes, owner and times.
time=$(sed -n '1s/^process snapshot \([0-9]*\).*/\1/p' "$tmp/snap" | head -1)
is "$(stat -c '%a %u %Y %X %Z' "$mnt" "$mnt/$pid" "$mnt/$pid/mem" \
    "$mnt/$pid/text" "$mnt/$pid/linux/fd/0")" "$(for m in 500 500 400 500 400
do echo "$m $(id -u) $time $time $time"; done)" \
    "a private snapshot has the right modes, owner and times"
is "$(stat -f -c %l "$mnt")" 255 "statfs returns the length of names"
grep -q " $mnt fuse.snapfs ro,nosuid,nodev,noexec,.*default_permissions" \
    /proc/mounts
ok $? "it is mounted read-only, nosuid, nodev and noexec"
touch "$mnt/$pid/x" 2>/dev/null
is $? 1 "no file can be created"
(echo stop >"$mnt/$pid/ctl") 2>/dev/null
is $? 1 "no file can be written"

# Programs can walk the whole tree.
find "$mnt" -type f ! -name mem ! -path '*/map/*' -print0 |
    xargs -0 cat >"$tmp/out" 2>"$tmp/try"
is "$(cat "$tmp/try")" "" "all files but memory can be read"
try "ls -lR succeeds" ls -lR "$mnt"
try "find -ls succeeds" find "$mnt" -ls
ok $(($(du -sk "$mnt" | cut -f1) > 200000)) "du does not count holes"
is "$(find "$mnt" -printf '%i\n' | sort | uniq -d)" "" \
    "inode numbers are unique"
unserve
kill -CONT "$pid"

# an interpreter
cat >"$tmp/py" <<'EOF'
import sys
word = "-".join(["needle", "in", "the", "hay"])
held = [word + str(i) for i in range(1000)]
print("ready", flush=True)
sys.stdin.readline()
EOF
target python3 "$tmp/py"
snap -o "$tmp/snap" "$pid"
chmod 644 "$tmp/snap"
serve "$tmp/snap"
grep -q "needle-in-the-hay999" "$mnt/$pid"/map/*'[heap]' \
    "$mnt/$pid"/map/*.rw-p 2>/dev/null
ok $? "grep finds a string of the program in map/"
grep -q "needle-in-the-hay997" "$mnt/$pid/core"
ok $? "grep finds a string of the program in core"
is "$(stat -c %a "$mnt" "$mnt/$pid" "$mnt/$pid/mem" "$mnt/$pid/text" |
    tr '\n' ' ')" "555 555 444 555 " "a public snapshot has these modes"
unserve

# A user may read the snapshot by a supplementary group.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
    mknod -m 666 "$tmp/fuse" c 10 229 2>"$tmp/err"; then
	chmod 640 "$tmp/snap"
	chgrp 7 "$tmp/snap"
	chmod 755 "$tmp"
	mkdir "$tmp/theirs"
	chown nobody "$tmp/theirs"
	# shellcheck disable=SC2016 # the inner shell expands them
	is "$(cd "$tmp" && unshare -m bash -c 'mount --bind fuse /dev/fuse
as=(setpriv --reuid=65534 --regid=65534 --groups=7)
"${as[@]}" "$0" snap theirs; "${as[@]}" stat -c "%a %u %g" theirs
umount theirs' "$(realpath "$BUILD/snapfs")" 2>"$tmp/err")" "550 0 7" \
	    "a snapshot for a group has the right modes" || diag <"$tmp/err"
else
	skip "a snapshot for a group has the right modes" "not root"
fi
finish 27
