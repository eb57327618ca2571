#!/usr/bin/env bash
# What a mounted snapshot shows is what the processes are.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

# A program with threads, of which memory and tree are compared with /proc
# while it is stopped.
as=(env GLIBC_TUNABLES=glibc.pthread.rseq=0)	# which tells the processor
target "$targets/threads"
as=(env)
kill -STOP "$pid"
until_true grep -q '^State:.*T' "/proc/$pid/status"
snap -o "$tmp/snap" "$pid"
serve "$tmp/snap"
is "$(ls "$mnt" | sort)" "$(ls "/proc/$pid/task" | sort)" \
    "a directory for the process and for each thread"
for f in ctl fd mem noteid ns proc segment status text core map linux root; do
	[ -e "$mnt/$pid/$f" ] || echo "$f"
done >"$tmp/lacks"
is "$(cat "$tmp/lacks")" "" "what a process has"
tid=$(find "$mnt" -mindepth 1 -maxdepth 1 ! -name "$pid" -printf "%f\n" | head -1)
is "$(cd "$mnt/$tid" && for f in mem text status core map root; do
	[ -e $f ] && echo $f; done | tr '\n' ' ')" "mem text status " \
    "what a thread has"
try "memory is that of the process" python3 "$tests/fs/compare.py" \
    "/proc/$pid" "$mnt/$pid"
try "and that of a thread" python3 "$tests/fs/compare.py" \
    "/proc/$pid" "$mnt/$tid"
try "text is the executable" cmp "$mnt/$pid/text" "/proc/$pid/exe"
for f in cmdline environ maps limits; do
	cmp "/proc/$pid/$f" "$mnt/$pid/linux/$f"
done >"$tmp/try" 2>&1
is "$(cat "$tmp/try")" "" "linux/ has the files of /proc"
is "$(ls "$mnt/$pid/linux/fd" | sort)" "$(ls "/proc/$pid/fd" | sort)" \
    "linux/fd is a directory"
is "$(cat "$mnt/$pid/linux/exe")" "$(readlink "/proc/$pid/exe")" \
    "linux/exe is where the link leads"
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
)" "map/ has all mappings but those of which all is missing"
grep -l nothing-of-the-kind "$mnt/$pid"/map/* >"$tmp/grep" 2>&1
is "$(cat "$tmp/grep")" "" "grep has nothing to complain of"
cmp "$mnt/$pid/root$(readlink "/proc/$pid/exe")" "/proc/$pid/exe"
ok $? "root/ has the executable"
is "$(readelf -h "$mnt/$pid/core" 2>&1 | grep -c 'CORE (Core file)')" 1 \
    "core is an ELF core"

# Modes, owner and times.
time=$(sed -n '1s/^process snapshot \([0-9]*\).*/\1/p' "$tmp/snap" | head -1)
is "$(stat -c '%a %u %Y %X %Z' "$mnt" "$mnt/$pid" "$mnt/$pid/mem" \
    "$mnt/$pid/text" "$mnt/$pid/linux/fd/0")" "$(for m in 500 500 400 500 400
do echo "$m $(id -u) $time $time $time"; done)" \
    "modes, owner and times of a private snapshot"
is "$(stat -f -c %l "$mnt")" 255 "statfs tells how long names are"
grep -q " $mnt fuse.snapfs ro,nosuid,nodev,noexec,.*default_permissions" \
    /proc/mounts
ok $? "read-only, and nothing in it is run"
touch "$mnt/$pid/x" 2>/dev/null
is $? 1 "nothing can be made there"
(echo stop >"$mnt/$pid/ctl") 2>/dev/null
is $? 1 "nothing can be written"

# Everything can be walked over.
find "$mnt" -type f ! -name mem ! -path '*/map/*' -print0 |
    xargs -0 cat >"$tmp/out" 2>"$tmp/try"
is "$(cat "$tmp/try")" "" "all files but memory can be read"
try "ls -lR" ls -lR "$mnt"
try "find -ls" find "$mnt" -ls
ok $(($(du -sk "$mnt" | cut -f1) > 200000)) "du does not count holes"
is "$(find "$mnt" -printf '%i\n' | sort | uniq -d)" "" \
    "no inode number twice"
unserve
kill -CONT "$pid"

# An interpreter.
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
ok $? "grep finds a string that a program holds"
grep -q "needle-in-the-hay997" "$mnt/$pid/core"
ok $? "in its core, too"
is "$(stat -c %a "$mnt" "$mnt/$pid" "$mnt/$pid/mem" "$mnt/$pid/text" |
    tr '\n' ' ')" "555 555 444 555 " "modes of a snapshot that all may read"
unserve

# A snapshot that its reader may read as a member of a group, as which the
# reader does not run.
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
	    "modes of a snapshot that a group may read" || diag <"$tmp/err"
else
	skip "modes of a snapshot that a group may read" "not root"
fi
finish 27
