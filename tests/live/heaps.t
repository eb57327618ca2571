#!/usr/bin/env bash
# snapdiff of a process with known leaks reports the growth, to the chunk, and
# the sizes of its heaps as the C library reports them.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# step N: have the target leak once more, and take a snapshot
step() {
	printf s >&"${ask_fd[$pid]}"
	until_true grep -q "^told $1\$" "${lines_of[$pid]}"
	snap -o "$tmp/$1.snap" "$pid"
}

# compare FILE N [BYTES]: compare snapdiff's numbers for FILE with those that
# the target printed at step N; BYTES of its heap belong to others
compare() {
	"$BUILD/snapdiff" -aj "$tmp/$1" >"$tmp/json" 2>"$tmp/err" ||
	    cat "$tmp/err"
	python3 - "$tmp/json" "${lines_of[$pid]}" "$2" "${3-0}" <<'END'
import json, re, sys

measures = {}
for line in open(sys.argv[1]):
    o = json.loads(line)
    if o['type'] == 'growth':
        measures = {m['what']: m['values'][0] for m in o['measures']}
text = open(sys.argv[2]).read()
told = re.split(r'^told \d+$', text, flags=re.M)[int(sys.argv[3]) - 1]
arena, used, free, fast, chunks = map(int, re.findall(
    r'^mallinfo (.*)$', told, re.M)[-1].split())
heap = {k: measures['heap' + k] for k in (
    '', ', in use', ', free', ', free in caches of threads', ', not used yet')}
cached = heap[', free in caches of threads']
arenas = measures['heap arenas']
print('arenas', arenas - told.count('<heap nr='))
print('system', heap[''] - arena)
print('free', heap[', free'] - cached + heap[', not used yet'] - free)
# what begins a heap that is not the main one is in use
head = used - heap[', in use'] - cached - int(sys.argv[4])
print('used', head if arenas == 1 else 0 < head < 4096 * (arenas - 1) or head)
# those of malloc_info may have flags
sizes = {}
for a, b, total, count in re.findall(
        r'<(?:size|unsorted) from="(\d+)" to="(\d+)" total="(\d+)" count="(\d+)"/>', told):
    size = int(total) // int(count) & ~15
    sizes[size] = sizes.get(size, 0) + int(count)
mine = {}
for what, n in measures.items():
    m = re.match(r'chunks of (\d+) bytes, free', what)
    if m:
        mine[int(m.group(1))] = n
# but for what caches have
print('sizes', sum(mine.values()) >= sum(sizes.values()) and
      sum(s * (mine.get(s, 0) - sizes.get(s, 0))
          for s in set(mine) | set(sizes)) == cached or (mine, sizes, cached))
print('caches', 'on' if cached > 0 else 'off')
END
}

right='arenas 0
system 0
free 0
used True
sizes True
caches '
# From glibc 2.42 on, chunks in caches of threads count as in use.
known=on
if printf '%s\n' 'glibc 2.42' "$(getconf GNU_LIBC_VERSION)" | sort -C -V; then
	known=off
fi
target "$targets/leaking"
step 1
if ! grep -q ^mallinfo "${lines_of[$pid]}"; then
	skip "heaps" "no mallinfo2 in this C library" 27
	finish 27
fi
echo q >&"${ask_fd[$pid]}"

for caches in on off; do
	[ "$caches" = on ] || export GLIBC_TUNABLES=glibc.malloc.tcache_count=0
	target "$targets/leaking"
	for i in 1 2 3 4; do
		step "$i"
		is "$(compare "$i.snap" "$i")" \
		    "$right$([ $caches = off ] && echo off || echo $known)" \
		    "caches $caches: as in mallinfo2 and malloc_info, $i"
	done
	"$BUILD/snapdiff" -b "$tmp/2.snap" "$tmp/3.snap" "$tmp/4.snap" \
	    >"$tmp/out" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "1 " "caches $caches: it grew"
	is "$(awk '/chunks of .* in use/ { print $2 - $1, $3 - $2, $6 }' \
	    "$tmp/out")" "50 50 528
100 100 1008
10 10 3008" "caches $caches: only leaked chunks grow"
	is "$(grep -c ', free' "$tmp/out")" 0 \
	    "caches $caches: free chunks do not grow"
	is "$(awk '/ descriptors/ { print $2 - $1, $3 - $2 }' "$tmp/out" |
	    tr '\n' ' ')" "1 1 1 1 " "caches $caches: descriptors grow by one"
	is "$(awk '/ anonymous$/ && NF == 4 { print ($2 - $1) / 1024, ($3 - $2) / 1024 }' \
	    "$tmp/out")" "64 64" "caches $caches: anonymous memory grows"
	echo q >&"${ask_fd[$pid]}"
done
unset GLIBC_TUNABLES

"$BUILD/snapdiff" "$tmp/4.snap" "$tmp/3.snap" "$tmp/2.snap" >"$tmp/out"
is "$? $(cat "$tmp/out")" "0 " "no output if all shrinks"
"$BUILD/snapdiff" "$tmp/2.snap" "$tmp/4.snap" "$tmp/3.snap" >"$tmp/out"
is "$? $(cat "$tmp/out")" "0 " "no output for what grew and shrank"
"$BUILD/snapdiff" "$tmp/2.snap" "$tmp/3.snap" "$tmp/4.snap" >"$tmp/three"
"$BUILD/snapcat" -o "$tmp/all.snap" "$tmp/2.snap" "$tmp/3.snap" "$tmp/4.snap"
"$BUILD/snapdiff" "$tmp/all.snap" >"$tmp/out"
is "$? $(sed 1,3d "$tmp/out")" "1 $(sed 1,3d "$tmp/three")" \
    "three parts of one snapshot: the same"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/4.snap" 2>/dev/null
is "$("$BUILD/snapdiff" -a "$tmp/core" 2>/dev/null | grep -c ' chunks ')" \
    "$("$BUILD/snapdiff" -a "$tmp/4.snap" | grep -c ' chunks ')" \
    "a core: the same"

"$BUILD/snapdiff" -a "$tmp/1.snap" "$tmp/2.snap" >"$tmp/out"
is "$? $(grep -c '[0-9] threads$' "$tmp/out")" "1 1" \
    "-a: growth from one to the other"
"$BUILD/snapdiff" -ax "$tmp/4.snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" \
    "2 snapdiff: -l, -o, -s, -x and -p pid:pid require exactly two moments" \
    "-a with -x is refused"

target "$targets/leaking" brk
step 1
is "$(compare 1.snap 1 100000)" "$right$known" "others have a piece of the heap"

target "$targets/leaking" damaged
step 1
timeout 60 "$BUILD/snapdiff" -a "$tmp/1.snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(sed 's/[0-9a-f]*; not all/X; not all/; s/[0-9][0-9]*/N/' "$tmp/err")" \
    "2 snapdiff: process N: invalid heap data at X; not all of the heap is counted" \
    "a damaged heap: a warning, and status 2"

# this program calls brk(2) itself, and never malloc(3)
cat >"$tmp/own.c" <<'END'
#include <unistd.h>

int
main(void)
{
	if (sbrk(1 << 20) == (void *)-1 || write(1, "ready\n", 6) != 6)
		return 1;
	pause();
}
END
if ! ${CC:-cc} -o "$tmp/own" "$tmp/own.c" 2>"$tmp/cc"; then
	skip "a heap that is not of glibc's malloc" "no compiler"
	finish 27
fi
target "$tmp/own"
snap -o "$tmp/own.snap" "$pid"
"$BUILD/snapdiff" -a "$tmp/own.snap" >"$tmp/out" 2>"$tmp/err"
rc=$?
if grep -q 'heap arenas' "$tmp/out"; then
	skip "a heap that is not of glibc's malloc" "glibc has made its own"
else
	is "$rc $(sed 's/[0-9][0-9]*/N/' "$tmp/err")" \
	    "0 snapdiff: process N: heap not counted: its layout is not that of a known glibc" \
	    "a heap that is not of glibc's malloc: a message"
fi
finish 27
