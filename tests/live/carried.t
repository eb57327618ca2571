#!/usr/bin/env bash
# Mapped ELF files are carried along, each once and whole, whoever has them
# mapped, and nothing else is.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# want PID ...: length and checksum of what is to be carried, a line each
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

# got FILE: the same of what is carried
got() {
	python3 "$tests/snap6/oracle.py" "$1" | awk '
	    $1 == "process" { carried = $2 > 4194304 }
	    $1 == "text" && carried { print $3, $4 }' | sort
}

if ! is_root; then
	skip "mapped files" "only root may open /proc/PID/map_files"
	finish 1
fi

target "$targets/threads"
one=$pid
cp "$(ldd "$BUILD/snap" | awk '/libbsd/ { print $3 }')" "$tmp/lib.so"
target env LD_PRELOAD="$tmp/lib.so" "$targets/anon"
two=$pid
want=$(python3 "$tmp/want.py" "$one" "$two")
rm "$tmp/lib.so"
snap -o "$tmp/snap" "$one" "$two"
is "$rc $err" "0 " "two processes: taken"
is "$(got "$tmp/snap")" "$want" "what both have mapped is carried, once"
"$BUILD/snapls" -l "$tmp/snap" >"$tmp/ls"
grep -q "0-[0-9a-f]* .*K .* $tmp/lib.so (deleted)$" "$tmp/ls"
ok $? "a deleted library, too"
is "$(awk '$1 == "with" { print $2 }' "$tmp/ls")" \
    "$(echo "$want" | wc -l)" "snapls counts them"
is "$(awk '$1 == "total" { print $2 }' "$tmp/ls")" 2 \
    "and not as processes"

# A file that is the executable of one and mapped by another.
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
    "an executable that another process has mapped"
finish 6
