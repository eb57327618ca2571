#!/usr/bin/env bash
# snapdiff reports exactly what a process changed between two snapshots.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# Run snapdiff; the status is in $rc, what it printed in $tmp/out.
differ() {
	rc=0
	timeout 60 "$BUILD/snapdiff" "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
}

# Print snapdiff's rows of the mappings that the target names: HOW START SIZE
# CHANGED NEW GONE, in kilobytes
rows() {
	awk 'NR == FNR { if ($1 == "row") known[$3] = 1; next }
	    $2 ~ /^[0-9a-f]+-[0-9a-f]+$/ && NF >= 7 {
		sub("-.*", "", $2)
		if (!($2 in known)) next
		print $1, $2, $3 / 1024, $4 / 1024, $5 / 1024, $6 / 1024 }' \
	    "${lines_of[$pid]}" "$tmp/out" | sort
}

wanted() {
	sed -n 's/^row //p' "${lines_of[$pid]}" | sort
}

# Print the changes, except for mappings, threads and the output position.
facts() {
	sed -nE '/^  [-+!] [a-z]+( [^:]*)?: /{/ thread | position 1: /!s/^  //p}' \
	    "$tmp/out"
}

# thread_of PID: print the target's second thread
thread_of() {
	local t

	for t in /proc/"$1"/task/*; do
		[ "${t##*/}" = "$1" ] || echo "${t##*/}"
	done
}

sleep 1000 &
old=$!
until_true grep -qx sleep "/proc/$old/comm"
target "$targets/changing"
thread=$(thread_of "$pid")
snap -o "$tmp/old.snap" "$pid" "$old"
is "$rc $err" "0 " "the first snapshot is taken"
differ "$tmp/old.snap" "$tmp/old.snap"
is "$rc $(cat "$tmp/out" "$tmp/err")" "0 " "a file and itself: empty, status 0"
printf s >&"${ask_fd[$pid]}"
until_true grep -q '^stepped$' "${lines_of[$pid]}"
now=$(thread_of "$pid")
sleep 1000 &
new=$!
until_true grep -qx sleep "/proc/$new/comm"
kill "$old"
wait "$old" 2>/dev/null
snap -o "$tmp/new.snap" "$pid" "$new"
is "$rc $err" "0 " "the second snapshot is taken"

differ -b "$tmp/old.snap" "$tmp/new.snap"
is "$rc $(cat "$tmp/err")" "1 " "they differ: status 1"
is "$(rows)" "$(wanted)" "each kilobyte that changed, in each mapping"
is "$(facts)" "$(sed -n 's/^tell //p' "${lines_of[$pid]}" |
    sort -s -t' ' -k2,2 | awk '
    { line[NR] = $0; word[NR] = $2 }
    END {
	n = split("name directory descriptor position limit credential signal",
	    order, " ")
	for (i = 1; i <= n; i++)
		for (k = 1; k <= NR; k++)
			if (word[k] == order[i] || word[k] == order[i] ":")
				print line[k]
    }')" "descriptors, signals, limits and so on, and no environment"
is "$(grep ' thread ' "$tmp/out" | sed 's/^ *//' | sort)" \
    "$(printf '%s\n' "- thread $thread: first" "+ thread $now: second" |
    sort)" "threads"
is "$(grep -E '^[-+!] process' "$tmp/out" | LC_ALL=C sort)" \
    "$(printf '%s\n' "! process $pid changed" "+ process $new sleep" \
    "- process $old sleep" | LC_ALL=C sort)" "processes that came and went"
quiet=$(sed -n 's/^quiet //p' "${lines_of[$pid]}")
is "$(grep -c "$quiet-" "$tmp/out")" 0 "unchanged memory is not printed"
grown=$(awk '/^row/ && $4 == 128 && $2 == "!" { print $3 }' \
    "${lines_of[$pid]}")
is "$(grep "$grown-" "$tmp/out" | grep -o '(was.*')" "(was 64K)" \
    "the old size of a mapping"
is "$(grep -c ' (was rw-p)$' "$tmp/out")" 1 "the old permissions of a mapping"
# three bytes changed in two pages of the program's data: two kilobytes
data=$(sed -n 's/^data //p' "${lines_of[$pid]}")
is "$("$BUILD/snapdiff" -l "$tmp/old.snap" "$tmp/new.snap" |
    python3 -c '
import sys
start = int(sys.argv[1], 16)
end = start + int(sys.argv[2]) * 1024
for line in sys.stdin:
    w = line.split()
    if len(w) != 3 or w[2] not in ("changed", "new", "gone"):
        continue
    a, b = (int(x, 16) for x in w[0].split("-"))
    if start <= a < end:
        print(a - start, b - a, w[2])
' ${data})" "0 1024 changed
8192 1024 new" "-l: the ranges that changed in data of a file"
at=$(awk '/^row/ && $4 == 1024 { print $3 }' "${lines_of[$pid]}")
"$BUILD/snapdiff" -x "$tmp/old.snap" "$tmp/new.snap" >"$tmp/out"
is "$(python3 -c '
import sys
start = int(sys.argv[1], 16)
for line in sys.stdin:
    w = line.split()
    if len(w) < 17 or len(w[1]) != 2:
        continue
    a = int(w[0], 16)
    if start <= a < start + (1 << 20):
        b = [int(x, 16) for x in line[12:36].split()]
        after = [int(x, 16) for x in line[47:71].split()]
        print(a - start, [y - x & 255 for x, y in zip(b, after)])
' "$at" <"$tmp/out")" "3072 [1, 0, 0, 0, 0, 0, 0, 0]
4112 [0, 1, 0, 0, 0, 0, 0, 0]
103416 [0, 0, 0, 0, 0, 0, 0, 1]" "-x: the bytes that changed, side by side"

differ -sb "$tmp/old.snap" "$tmp/new.snap"
is "$rc $(awk '$1 == "anonymous" { print ($6 >= 3 * 1024 &&
    $7 >= 71 * 1024 && $8 >= 208 * 1024) }' "$tmp/out")" "1 1" "-s: sums"
differ -p "$pid" "$tmp/old.snap" "$tmp/new.snap"
is "$rc $(grep -c process "$tmp/out")" "1 1" "-p: one process"
differ -p "$old:$new" "$tmp/old.snap" "$tmp/new.snap"
is "$(grep process "$tmp/out")" "! process $new sleep" \
    "-p: processes with different IDs"
differ -p 1 "$tmp/old.snap" "$tmp/new.snap"
is "$rc $(sed "s,$tmp,TMP," "$tmp/err")" \
    "2 snapdiff: TMP/old.snap: no process 1" "-p: an unknown process"

differ -jl "$tmp/old.snap" "$tmp/new.snap"
is "$rc" 1 "-j: status 1"
is "$(python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] != "process" or o["how"] != "changed":
        continue
    for m in o["mappings"]:
        at = m["is"] or m["was"]
        n = {"changed": 0, "new": 0, "gone": 0}
        for r in m["runs"]:
            n[r["how"]] += (int(r["end"], 16) - int(r["start"], 16)) // 1024
        assert [n[k] for k in n] == [m[k] // 1024 for k in n], m
        print({"changed": "!", "new": "+", "gone": "-"}[m["how"]],
              at["start"], at["size"] // 1024, *n.values())
' <"$tmp/out" | grep -F "$(wanted)" | sort)" "$(wanted)" "-j: the same numbers"

# one file with both snapshots gives the same; shared data is not read
differ "$tmp/old.snap" "$tmp/new.snap"
sed 1,2d "$tmp/out" >"$tmp/two"
"$BUILD/snapcat" -o "$tmp/both.snap" "$tmp/old.snap" "$tmp/new.snap"
differ "$tmp/both.snap"
is "$rc $(sed 1,2d "$tmp/out")" "1 $(cat "$tmp/two")" \
    "two moments of one snapshot: the same"
# bytes_read PROGRAM ...: print how many bytes it reads
bytes_read() {
	python3 -c '
import subprocess, sys
def read():
    with open("/proc/self/io") as f:
        return int(f.read().split()[1])
before = read()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(read() - before)
' "$@"
}
if [ -r /proc/self/io ]; then
	one=$(bytes_read "$BUILD/snapdiff" "$tmp/both.snap")
	two=$(bytes_read "$BUILD/snapdiff" "$tmp/old.snap" "$tmp/new.snap")
	ok $((one * 2 > two)) "shared data is not read: $one, not $two bytes"
else
	skip "shared data is not read" "no /proc/self/io"
fi
differ "$tmp/old.snap" - <"$tmp/new.snap"
is "$rc $(sed 1,2d "$tmp/out")" "1 $(cat "$tmp/two")" "from a pipe: the same"

differ "$tmp/old.snap"
is "$rc $(cat "$tmp/err")" \
    "2 snapdiff: only one moment to compare (name another file)" \
    "one moment only: status 2"
differ "$tmp/old.snap" "$tmp/none"
is "$rc $(wc -c <"$tmp/out")" "2 0" "no such file: status 2"
head -c 300000 "$tmp/new.snap" >"$tmp/cut.snap"
differ "$tmp/old.snap" "$tmp/cut.snap"
is "$rc" 2 "a cut file: status 2"
"$BUILD/snapcat" -z -o "$tmp/damaged" "$tmp/new.snap"
printf 'damaged!' | dd of="$tmp/damaged" bs=1 conv=notrunc \
    seek=$(($(stat -c %s "$tmp/damaged") / 2)) 2>"$tmp/dd"
differ "$tmp/old.snap" "$tmp/damaged"
is "$rc $(grep -c UNKNOWN "$tmp/out") $(sed 's/.*: \(gzip member\).*/\1/' \
    "$tmp/err")" "2 1 gzip member" "a damaged megabyte is unknown: status 2"
"$BUILD/snapdiff" "$tmp/old.snap" "$tmp/new.snap" >/dev/full 2>/dev/null
is $? 2 "a full disk: status 2"
finish 27
