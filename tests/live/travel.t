#!/usr/bin/env bash
# Snapshots of ten processes are compressed, merged, mounted and compared with
# the processes; disks are full, files may not grow, readers end or are slow,
# and damaged files are saved.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# Ten processes, and two of them once more; on one processor, as the kernel
# writes its number to a program's memory (rseq(2)).
as=(taskset -c "$(first_cpu)")
target "$targets/cow"
cow=$pid
mapfile -t procs < <(pgrep -P "$cow"; echo "$cow")
for t in anon odd manymaps; do
	target "$targets/$t"
	procs+=("$pid")
done
anon=${procs[5]}
target "$targets/filemap" "$tmp/pub/mapped"
procs+=("$pid")
target "$targets/odd"
procs+=("$pid")
as=(env)
is "${#procs[@]}" 10 "ten processes"
kill -STOP "${procs[@]}"
snap -sz -o "$tmp/ten.gz" "${procs[@]}"
is "$rc $err" "0 " "taken, compressed"
snap -sz -a -o "$tmp/more.gz" "${procs[5]}" "$cow"
is "$rc $err" "0 " "two of them again"
"$BUILD/snapcat" -z -o "$tmp/both.gz" "$tmp/ten.gz" "$tmp/more.gz" \
    2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "merged"
gunzip <"$tmp/both.gz" >"$tmp/both"
try "the rules are kept" python3 "$tests/snap6/oracle.py" -c "$tmp/both"
try "snapls -c" "$BUILD/snapls" -c "$tmp/both.gz"
is "$("$BUILD/snapls" "$tmp/both.gz" | tail -n 1 | awk '{ print $2 }')" 12 \
    "twelve processes are in it"

if [ -w /dev/fuse ]; then
	mkdir "$tmp/mnt"
	"$BUILD/snapfs" "$tmp/both.gz" "$tmp/mnt"
	for p in "${procs[@]}"; do
		try "process $(cat "/proc/$p/comm"): page for page" \
		    python3 "$tests/fs/compare.py" "/proc/$p" "$tmp/mnt/$p"
	done
	# the Linux record has the original process ID
	n=0
	for d in "$tmp"/mnt/[0-9]*[0-9]; do
		[ -e "$d/linux/origin" ] || continue
		read -r p _ <"$d/linux/origin" || continue
		[ -e "/proc/$p" ] && [ "$d" != "$tmp/mnt/$p" ] || continue
		n=$((n + 1))
		try "again: $(cat "/proc/$p/comm"): page for page" \
		    python3 "$tests/fs/compare.py" "/proc/$p" "$d"
	done
	is "$n" 2 "two of them have new IDs"
	umount "$tmp/mnt"
else
	skip "mounted" "no /dev/fuse" 13
fi

kill -CONT "${procs[@]}"

# snapcore of several files: the second core of an ID ends in .2
(cd "$tmp" && "$BUILD/snapcore" ten.gz more.gz) 2>"$tmp/err"
is "$? $(find "$tmp" -name 'core.*' | wc -l) $(find "$tmp" -name \
    'core.*.2' | wc -l)" "0 12 2" "snapcore of two snapshots"
"$BUILD/snapcore" -o "$tmp/one" -p "${procs[6]}" "$tmp/more.gz" \
    "$tmp/ten.gz" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "-p of a process that is in one of them"
try "-p writes the same core" cmp "$tmp/one" "$tmp/core.${procs[6]}"
"$BUILD/snapcore" -o "$tmp/chosen" -p "$anon" "$tmp/ten.gz" "$tmp/more.gz" \
    2>"$tmp/err"
is "$? $(sed "s,$tmp/,,;s/$anon/N/g" "$tmp/err")" "0 snapcore: chosen.N: process N
snapcore: chosen.N.2: process N" "-p of a process that is in both"
"$BUILD/snapcore" -p "$anon" -o - "$tmp/ten.gz" "$tmp/more.gz" \
    >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" \
    "1 snapcore: cannot write 2 cores to standard output; use -p pid and one file" \
    "-p of a process that is in both, to one output"

# Cores and images are merged as snapshots are.
"$BUILD/snapcat" -o "$tmp/mixed" "$tmp/one" "$tmp/ten.gz" 2>"$tmp/err"
is "$("$BUILD/snapls" -c "$tmp/mixed" | tail -n 1 | awk '{ print $2 }')" 11 \
    "a core and a snapshot as one"
python3 "$tests/criu/criuasm.py" make large "$tmp/images"
"$BUILD/snapcat" -o "$tmp/mixed" "$tmp/images" "$tmp/one" 2>"$tmp/err"
is "$("$BUILD/snapls" -c "$tmp/mixed" | tail -n 1 | awk '{ print $2 }')" \
    $(($("$BUILD/snapls" "$tmp/images" | tail -n 1 | awk '{ print $2 }') + 1)) \
    "images of CRIU and a core as one"

try "the images of a merged snapshot are refused" \
    grep -q 'CRIU images in a merged snapshot' <(
	"$BUILD/snapload" -D "$tmp/none" "$tmp/mixed" 2>&1)

# The images of one of two moments are those of that moment alone.
"$BUILD/snapcat" -o "$tmp/twice" "$tmp/ten.gz" "$tmp/ten.gz" 2>"$tmp/err"
again=$("$BUILD/snapls" "$tmp/twice" | sed -n 16p | awk '{ print $1 }')
"$BUILD/snapload" -f pipe -p "$cow" -D "$tmp/once" "$tmp/ten.gz" 2>/dev/null
for p in "$cow" "$again"; do
	"$BUILD/snapload" -f pipe -p "$p" -D "$tmp/images.$p" "$tmp/twice" \
	    2>/dev/null
	try "images of a process of a merged snapshot" \
	    diff -r "$tmp/once" "$tmp/images.$p"
done
is "$(find "$tmp/once" -name 'core-*' | wc -l)" 5 \
    "there are images of its children"

# If output cannot be written, there is one message, and no file is left.
# fails WHAT MESSAGE COMMAND ...
fails() {
	local what=$1 text=$2

	shift 2
	"$@" 2>"$tmp/err"
	is "$? $(sed "s,$tmp,TMP,g
	    s,standard input: .*: \(temporary file in .*\),\1," "$tmp/err")" "1 $text" "$what"
	is "$(ls -A "${disk:-$tmp/disk}" 2>/dev/null)" "" "$what: no file"
}
mkdir "$tmp/mnt2" "$tmp/disk"
zip="$BUILD/snapcat -z"
if is_root && mount -t tmpfs -o size=256k none "$tmp/mnt2" 2>/dev/null; then
	disk=$tmp/mnt2
	full='TMP/mnt2/x: write: No space left on device'
	fails "snap -z, a full disk" "snap: $full" \
	    "$BUILD/snap" -z -o "$disk/x" "$anon"
	fails "snapcat, a full disk" "snapcat: $full" \
	    "$BUILD/snapcat" -o "$disk/x" "$tmp/both.gz"
	# shellcheck disable=SC2086
	fails "snapcat -z, a full disk" "snapcat: $full" \
	    $zip -o "$disk/x" "$tmp/both.gz"
	fails "snapload -u, a full disk" "snapload: $full" \
	    "$BUILD/snapload" -u -D "$tmp/images" -o "$disk/x"
	fails "snapcore, a full disk" "snapcore: process $anon: $full" \
	    "$BUILD/snapcore" -o "$disk/x" -p "$anon" "$tmp/ten.gz"
	# shellcheck disable=SC2317 # called by fails
	through() {
		TMPDIR=$disk "$BUILD/snapcat" - <"$tmp/fifo" >/dev/null
	}
	mkfifo "$tmp/fifo"
	cat "$tmp/both" >"$tmp/fifo" &
	fails "snapcat, no room for the spool" \
	    "snapcat: temporary file in TMP/mnt2: No space left on device" \
	    through
	disk=
	rm "$tmp/fifo"
else
	skip "a full disk" "cannot mount" 12
fi
(
	ulimit -f 200
	large='TMP/disk/x: write: File too large'
	count=0
	fails "snap -z, a file too large" "snap: $large" \
	    "$BUILD/snap" -z -o "$tmp/disk/x" "$anon"
	# shellcheck disable=SC2086
	fails "snapcat -z, a file too large" "snapcat: $large" \
	    $zip -o "$tmp/disk/x" "$tmp/both.gz"
) >"$tmp/limited"
is "$(grep -c '^ok' "$tmp/limited")" 4 "a file too large" ||
    diag <"$tmp/limited"

# Readers that end: the writer prints one message, and the target runs on.
for z in '' -z; do
	for n in 0 100000; do
		# shellcheck disable=SC2086
		"$BUILD/snap" $z "${procs[@]}" 2>"$tmp/err" |
		    head -c "$n" >/dev/null
		is "${PIPESTATUS[0]} $(cat "$tmp/err")" \
		    "1 snap: standard output: write: Broken pipe" \
		    "snap $z, a reader that ends after $n bytes"
	done
	# shellcheck disable=SC2086
	"$BUILD/snapcat" $z "$tmp/both" 2>"$tmp/err" | head -c 100 >/dev/null
	is "${PIPESTATUS[0]} $(cat "$tmp/err")" \
	    "1 snapcat: standard output: write: Broken pipe" \
	    "snapcat $z, a reader that ends"
done
# a reader that is killed while the target is stopped
mkfifo "$tmp/fifo"
# shellcheck disable=SC2217 # it is to have it open, not to read it
sleep 100 <"$tmp/fifo" &
reader=$!
disown "$reader"
"$BUILD/snap" -s "$anon" >"$tmp/fifo" 2>"$tmp/err" &
writer=$!
until_true is_traced "$anon"
kill -KILL "$reader"
wait "$writer"
is "$? $(cat "$tmp/err")" "1 snap: standard output: write: Broken pipe" \
    "a reader that dies"

# A slow reader does not make a program use more memory.
most=40
case $BUILD in *-asan) most=400 ;; esac
cat >"$tmp/slow.py" <<'EOF'
import os, resource, subprocess, sys, time
p = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
n = 0
for i in range(20):
    time.sleep(0.02)
    n += len(os.read(p.stdout.fileno(), 10000))
while True:
    data = os.read(p.stdout.fileno(), 1 << 20)
    if not data:
        break
    n += len(data)
rc = p.wait()
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(rc, n, peak, file=sys.stderr)
sys.exit(rc != 0 or n < 1000000 or peak > int(sys.argv[1]) * 1000)
EOF
try "snap, a slow reader: no more than $most MB" \
    python3 "$tmp/slow.py" "$most" "$BUILD/snap" "${procs[@]}"
try "snap -z, a slow reader: no more than $most MB" \
    python3 "$tmp/slow.py" "$most" "$BUILD/snap" -z "${procs[@]}"
try "snapcat, a slow reader: no more than $most MB" \
    python3 "$tmp/slow.py" "$most" "$BUILD/snapcat" "$tmp/both.gz"

# Damaged members cost only their own contents.
try "snapcat -s of damaged files" python3 "$tests/live/saved.py" \
    "$BUILD/snapcat" "$tmp/both.gz" "$tmp/both"

for p in "${!lines_of[@]}"; do
	let_go "$p" "released"
	unnoticed "$p" "not noticed"
done
finish 67
