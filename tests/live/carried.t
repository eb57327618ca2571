#!/usr/bin/env bash
# snap embeds each mapped ELF file once and in full, however many processes map
# it, and no other mapped file.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# want.py PID ...: print length and checksum of each file to embed
cat >"$tmp/want.py" <<'EOF'
import os, sys, zlib

seen = {}
for pid in sys.argv[1:]:
    exe = os.stat("/proc/%s/exe" % pid)
    for line in open("/proc/%s/maps" % pid):
        range, _, _, dev, ino, *name = line.split(None, 5)
        if ino == "0" or int(ino) == exe.st_ino:
            continue
        data = open("/proc/%s/map_files/%s" % (pid, range), "rb").read()
        if data[:4] == b"\177ELF":
            seen[dev, ino] = "%d %08x" % (len(data), zlib.crc32(data))
print("\n".join(sorted(seen.values())))
EOF

# got FILE: print length and checksum of each embedded file
got() {
	python3 "$tests/snap6/oracle.py" "$1" | awk '
	    $1 == "process" { carried = $2 > 4194304 }
	    $1 == "text" && carried { print $3, $4 }' | sort
}

if ! is_root; then
	skip "mapped files" "only root may open /proc/PID/map_files"
	finish 1
fi

# print_file FILE: print its length and checksum, like got
print_file() {
	python3 -c 'import sys, zlib; d = open(sys.argv[1], "rb").read()
print("%d %08x" % (len(d), zlib.crc32(d)))' "$1"
}

target "$targets/threads"
one=$pid
cp "$(ldd "$BUILD/snap" | awk '/libbsd/ { print $3 }')" "$tmp/lib.so"
target env LD_PRELOAD="$tmp/lib.so" "$targets/anon"
two=$pid
want=$(python3 "$tmp/want.py" "$one" "$two")
rm "$tmp/lib.so"
snap -o "$tmp/snap" "$one" "$two"
is "$rc $err" "0 " "two processes: taken"
is "$(got "$tmp/snap")" "$want" "a file that both map is embedded once"
"$BUILD/snapls" -l "$tmp/snap" >"$tmp/ls"
grep -q "0-[0-9a-f]* .*K .* $tmp/lib.so (deleted)$" "$tmp/ls"
ok $? "a deleted library is embedded"
is "$(awk '$1 == "with" { print $2 }' "$tmp/ls")" \
    "$(echo "$want" | wc -l)" "snapls counts the files"
is "$(awk '$1 == "total" { print $2 }' "$tmp/ls")" 2 \
    "snapls does not count the files as processes"

# One process executes a file, and another one maps it.
target "$targets/odd"
one=$pid
cat >"$tmp/map.py" <<'EOF'
import mmap, sys, time
f = open(sys.argv[1], "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
print("ready", flush=True)
time.sleep(1000)
EOF
python3 "$tmp/map.py" "$targets/odd" >"$tmp/ready" &
two=$!
until grep -q ready "$tmp/ready"; do sleep 0.05; done
snap -o "$tmp/snap" "$one" "$two"
is "$(got "$tmp/snap")" "$(python3 "$tmp/want.py" "$one" "$two")" \
    "an executable that another process maps is embedded"

# Files of two layers of an overlay: /proc/PID/maps shows the same numbers.
cat >"$tmp/layers" <<EOF
set -e
cd "$tmp"
mkdir l1 l2 both
mount -t tmpfs none l1
mount -t tmpfs none l2
cp "$targets/odd" l1/one
cp "$targets/anon" l2/two
mount -t overlay -o xino=off,lowerdir=l1:l2 none both
[ "\${1-}" != try ] || exit 0
python3 map.py both/one >ready1 &
python3 map.py both/two >ready2 &
until grep -q ready ready1 && grep -q ready ready2; do sleep 0.05; done
echo ready
wait
EOF
if unshare -m sh "$tmp/layers" try >"$tmp/err" 2>&1 && rmdir "$tmp/l1" \
    "$tmp/l2" "$tmp/both"; then
	target unshare -m sh "$tmp/layers"
	read -ra both <"/proc/$pid/task/$pid/children"
	is "$(cat "/proc/${both[0]}/maps" "/proc/${both[1]}/maps" |
	    awk '/both/ { print $4, $5 }' | sort -u | wc -l)" 1 \
	    "an overlay: two files have equal numbers in maps"
	snap -o "$tmp/snap" "${both[@]}"
	is "$(got "$tmp/snap" | grep -cxF -e "$(print_file "$targets/odd")" \
	    -e "$(print_file "$targets/anon")")" 2 \
	    "an overlay: both files are embedded"
	kill "${both[@]}"
else
	skip "an overlay" "$(cat "$tmp/err")" 2
fi
finish 8
