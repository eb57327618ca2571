#!/usr/bin/env bash
# A series: several moments of the same processes in one file.  Each is of one
# instant, unchanged memory is stored once, the file is whole after each moment,
# and the complete moments of a cut file can be read.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

RANDOM=${TEST_SEED:-$$}

# moments FILE: print the numbers of its moments
moments() {
	"$BUILD/snapls" -n "$1" 2>/dev/null | awk '{ print $1 }' | tr '\n' ' '
}
has() {
	[ "$("$BUILD/snapls" -n "$1" 2>/dev/null | wc -l)" -ge "$2" ]
}
# one FILE MOMENT: make a snapshot of one moment
one() {
	"$BUILD/snapcat" -@ "$2" -o "$tmp/snap" "$1"
}
# zombie: succeed if process $child is a zombie in the last moment
zombie() {
	"$BUILD/snapls" -n -o pid,state -@ last "$tmp/series" 2>/dev/null |
	    grep -q "^ *$child *zombie"
}
# found FILE: print what a second reader finds
found() {
	python3 "$tests/snap6/oracle.py" "$1"
}
# process PID: print what found prints of a process
process() {
	awk -v want="$1" '$1 == "process" { is = $2 == want; next } is'
}

for mode in -z -v -s; do
	target "$targets/sweep" 1
	snap "$mode" -i 0.1 -N 3 -o "$tmp/series" "$pid"
	is "$rc" 0 "$mode: taken"
	kill -STOP "$pid"	# it is busy
	is "$(moments "$tmp/series")" '1 2 3 ' "$mode: three moments"
	gzip -cdf <"$tmp/series" >"$tmp/flat"
	python3 "$tests/snap6/oracle.py" -c "$tmp/flat" >"$tmp/all" 2>"$tmp/err"
	ok $? "$mode: keeps the rules" || diag <"$tmp/err"
	was=0
	for i in 1 2 3; do
		one "$tmp/series" $i
		one_instant "$mode: moment $i is of one instant"
		# "pass 7, boundary at 3 of 2048"
		read -r pass at < <(sed 's/[^0-9]*//;s/, boundary at/ /;
		    s/none/0/;s/ of.*//' "$tmp/try")
		now=$((pass * 100000 + at))
		[ "$now" -gt "$was" ]
		ok $? "$mode: moment $i is later than the one before"
		was=$now
		# the zeros of a compressed file take long
		[ $mode = -z ] || is "$(process <"$tmp/all" \
		    $((pid + (i - 1) * (1 << 24))))" \
		    "$(found "$tmp/snap" | process "$pid")" \
		    "$mode: another reader finds the same in moment $i"
	done
	try "$mode: snapls -c finds no error" "$BUILD/snapls" -c "$tmp/series"
	try "$mode: Plan 9 reads it" python3 "$tests/snap6/oracle.py" -m bell \
	    "$tmp/flat"
	kill -CONT "$pid"
	unnoticed "$pid" "$mode: not noticed"
	mv "$tmp/series" "$tmp/whole$mode"
done
mv "$tmp/whole-s" "$tmp/whole"

# Shared memory, and processes that share pages.
target "$targets/token" 4
snap -r -i 0.2 -N 3 -o "$tmp/series" "$pid"
is "$rc $err" '0 ' 'a token: taken'
mapfile -t spinners < <(echo "$pid"; pgrep -P "$pid")
kill -STOP "${spinners[@]}"
for i in 1 2 3; do
	one "$tmp/series" $i
	one_instant "a token: moment $i is of one instant"
done
kill -CONT "${spinners[@]}"
unnoticed "$pid" 'a token: not noticed'

# Each later moment needs only references to unchanged memory.
target "$targets/anon"
snap -i 0.1 -N 5 -o "$tmp/series" "$pid"
size=$(stat -c %s "$tmp/series")
"$BUILD/snapcat" -@ first -o "$tmp/snap" "$tmp/series"
[ "$size" -lt $(($(stat -c %s "$tmp/snap") * 3 / 2)) ]
ok $? "unchanged memory is stored once: $size bytes"
for i in 1 5; do
	one "$tmp/series" $i
	check "$tmp/snap" "$pid" "the memory of moment $i matches"
done
unnoticed "$pid" 'not noticed'

# Long runs that do not change are runs of references to the first moment.
perl -e '$| = 1;
open(my $file, "<", "/dev/urandom") && read($file, my $block, 1 << 20);
print("ready\n");
sleep(1000)' >"$tmp/ready" &
until_true grep -q ready "$tmp/ready"
snap -i 0.1 -N 4 -o "$tmp/long" $!
try 'long runs: keeps the rules' python3 "$tests/snap6/oracle.py" -c "$tmp/long"
kill $!

# All programs can select a moment.
cp "$tmp/series" "$tmp/five"
is "$("$BUILD/snapls" -n "$tmp/five" | wc -l)" 5 'five moments'
is "$("$BUILD/snapls" -j "$tmp/five" 2>&1 | head -1 | cut -d , -f 1-2)" \
    '{"type":"moment","moment":1' 'snapls -j begins with the first moment'
is "$("$BUILD/snapls" -n -@ 2 "$tmp/five" | awk '{ print $1 }')" "$pid" \
    'snapls -@: a process with its own number'
is "$("$BUILD/snapls" -p "$pid" "$tmp/five" 2>&1 | sed "s,$tmp,TMP,g")" \
    "snapls: TMP/five: a series: -l, -o and -p require -@ moment" \
    'snapls -p: not for all moments'
time=$("$BUILD/snapls" -n "$tmp/five" | awk '$1 == 1 { print $3 }')
for at in 1 "$time" first last 5; do
	try "snapls -@ $at" "$BUILD/snapls" -@ "$at" "$tmp/five"
done
for at in 6 24:00; do
	"$BUILD/snapls" -@ "$at" "$tmp/five" >"$tmp/out" 2>&1
	is "$? $(sed "s,$tmp,TMP,g" "$tmp/out")" "1 snapls: TMP/five: \
no moment \"$at\": the moments are 1 to 5" "no such moment: $at"
done
try 'snapcore -@' "$BUILD/snapcore" -@ 2 -o "$tmp/core" "$tmp/five"
"$BUILD/snapload" -c -@ 2 "$tmp/five" 2>&1 | grep -q "^snapload: process $pid:"
ok $? 'snapload -@'
try 'procmap -@' "$BUILD/procmap" -@ 2 -M "$tmp/five" "$pid"
is "$("$BUILD/pagestat" -@ 6 "$tmp/five" 2>&1 | sed "s,$tmp,TMP,g")" \
    "pagestat: TMP/five: no moment \"6\": the moments are 1 to 5" 'pagestat -@'
"$BUILD/snapdiff" "$tmp/series" >"$tmp/out" 2>&1
[ $? -le 1 ]
ok $? 'snapdiff: the first and the last' || diag <"$tmp/out"
# while the series in a compressed file is read, another one replaces it
was=$pid
target "$targets/sparse"
for n in 2 3; do
	"$BUILD/snap" -z -i 0.1 -N $n -o "$tmp/$n.gz" "$pid" 2>&1 | diag
done
if command -v gdb >/dev/null; then
	cp "$tmp/2.gz" "$tmp/adding"
	timeout 60 gdb -nx -batch -ex 'break read_index' -ex run \
	    -ex "shell cat '$tmp/3.gz' >'$tmp/adding'" -ex delete \
	    -ex continue --args "$BUILD/snapls" -n "$tmp/adding" >"$tmp/out" 2>&1
	is "$(grep -cE '^ *[0-9]+ +20[0-9]{2}-' "$tmp/out") $(grep \
	    '^snapls' "$tmp/out")" '3 ' \
	    'a file that changes while it is opened is opened again' ||
	    diag <"$tmp/out"
else
	skip 'a file that changes while it is opened is opened again' 'no gdb'
fi
target python3 -c 'import time
all = []
print("ready", flush=True)
while True:
    all.append(bytearray(1 << 20))
    time.sleep(0.01)'
"$BUILD/snap" -i 0.5 -N 3 -o "$tmp/grows" "$pid" 2>&1 | diag
disown "$pid"
kill "$pid"	# it would take gigabytes until the end
"$BUILD/snapdiff" "$tmp/grows" >"$tmp/out" 2>&1
is "$(sed -n 's/^+++ .*/last/p; s/^!.*\[heap\].*/heap/p
    s/^ *\([0-9.]*[KMG]\) *\([0-9.]*[KMG]\) *\([0-9.]*[KMG]\) anonymous$/grew/p' \
    "$tmp/out" | uniq | tr '\n' ' ')" 'last heap last grew ' \
    'snapdiff: what changed, then what grew' || diag <"$tmp/out"
"$BUILD/snapdiff" -l "$tmp/grows" >"$tmp/out" 2>&1
is "$? $(grep -c '^+++' "$tmp/out")" '1 1' 'snapdiff -l: two moments'
pid=$was
is "$("$BUILD/snapdiff" -@ 2 "$tmp/five" 2>&1)" \
    'snapdiff: only one moment to compare (name another file)' 'snapdiff -@'
if [ -e "$BUILD/snapgrep" ]; then
	"$BUILD/snapgrep" -c -@ 2 -P 0 "$tmp/five" >"$tmp/out" 2>&1
	is "$(wc -l <"$tmp/out")" 1 'snapgrep -@'
fi
if [ -e "$BUILD/snapstack" ]; then
	try 'snapstack -@' "$BUILD/snapstack" -@ 2 "$tmp/five"
fi
if [ -e "$BUILD/snapfs" ] && [ -e /dev/fuse ]; then
	mkdir "$tmp/mnt"
	try 'snapfs -@' "$BUILD/snapfs" -@ 2 "$tmp/five" "$tmp/mnt"
	is "$(ls "$tmp/mnt")" "$pid" 'snapfs -@: the process'
	umount "$tmp/mnt"
fi
if command -v gdb >/dev/null; then
	gdb -nx -batch -ex bt "$targets/anon" "$tmp/core" >"$tmp/out" 2>&1
	grep -q 'main ()' "$tmp/out"
	ok $? 'gdb reads a core of moment 2' || diag <"$tmp/out"
fi
snap -o "$tmp/snap" $$
try 'an ordinary snapshot is its last moment' \
    "$BUILD/snapls" -@ last "$tmp/snap"
try 'the nearest is the only moment' "$BUILD/snapls" -@ 12:00 "$tmp/snap"
is "$("$BUILD/snapls" -@ 2 "$tmp/snap" 2>&1 | sed "s,$tmp,TMP,g")" \
    'snapls: TMP/snap: no moment "2": the moments are 1 to 1' \
    'it has one moment only'

# If a file is cut after any byte, the moments before that are whole.
"$BUILD/snapls" -v "$tmp/whole" >"$tmp/records"
mapfile -t ends < <(awk '$3 % 16777216 == 16777215 { print $1 + $2 }' \
    "$tmp/records")
is "${#ends[@]}" 3 'each moment ends with a mark'
# the end of the first record of moment 2
within=$(awk -v end="${ends[0]}" '$1 + $2 > end { print $1 + $2; exit }' \
    "$tmp/records")
# cuts FILE N: cut FILE at the ends of its three moments, ${ends[@]}, at five
# places near these, and at N random places.  $wrong lists cuts where snapcore
# does not find the moments before, or does not say how many are whole; $silent
# lists ends of moments that are not reported as cuts.
cuts() {
	local file=$1 size cut i n
	size=$(stat -c %s "$file")
	wrong='' silent=''
	for i in 1 2 3; do
		"$BUILD/snapcore" -@ $i -o "$tmp/core.$i" "$file"
	done
	for cut in "${ends[@]}" $((ends[0] + 1)) $((ends[1] - 1)) \
	    $within $((ends[2] + 20)) $((size - 1)) $(for ((i = 0; i < $2; i++)); do
		echo $((ends[0] + (RANDOM << 15 | RANDOM) % (size - ends[0])))
	    done); do
		head -c "$cut" "$file" >"$tmp/cut"
		n=0
		for i in "${ends[@]}"; do
			n=$((n + (cut >= i)))
		done
		"$BUILD/snapcore" -o "$tmp/core" "$tmp/cut" 2>"$tmp/out" &&
		    cmp -s "$tmp/core" "$tmp/core.$n" ||
		    wrong+=" $cut: $(<"$tmp/out")"
		grep -q "the $n moments\? before that \(is\|are\) whole" \
		    "$tmp/out" && continue
		if [ "$cut" -eq "${ends[$((n - 1))]}" ]; then
			silent+=" $cut"
		else
			wrong+=" $cut: no remark: $(<"$tmp/out")"
		fi
	done
	head -c $((ends[0] - 1)) "$file" >"$tmp/cut"
	"$BUILD/snapcore" -o "$tmp/core" "$tmp/cut" 2>/dev/null
	early=$?
}
cuts "$tmp/whole" 20
is "$wrong" '' "cut at ${#ends[@]} marks and 25 other bytes"
is $early 1 'an error if no moment is whole'

# The same with a compressed file, in which a member ends with each moment.
mapfile -t ends < <("$BUILD/snapls" -v "$tmp/whole-z" | awk '
$3 % 16777216 == 16777215 { end = $1 + $2; if ($4 == "mem") print end }')
mapfile -t members < <(python3 - "$tmp/whole-z" <<'END'
import struct, sys
data = open(sys.argv[1], 'rb').read()
at = 0
while at < len(data):
    print(at)
    at += struct.unpack_from('<I', data, at + 16)[0]
END
)
is "${#ends[@]} $(((ends[0] | ends[1] | ends[2]) % 1048576))" '3 0' \
    '-z: each moment ends with a member'
for i in 0 1 2; do
	ends[i]=${members[ends[i] / 1048576]}
done
within=
cuts "$tmp/whole-z" 8
is "$wrong$silent" '' "-z: cut at ${#ends[@]} marks and 12 other bytes"
is $early 1 '-z: an error if no moment is whole'

# If snap is killed, finished moments remain, and the target runs on.
# snap, which is nice when the target runs, would get little of a processor
target nice "$targets/sweep" 4
for with in -v -v -v -z -z; do
	rm -f "$tmp/series"
	kill -CONT "$pid"
	"$BUILD/snap" $with -i 0.02 -o "$tmp/series" "$pid" 2>/dev/null &
	killed=$!
	until_true has "$tmp/series" 2
	sleep "0.$((RANDOM % 150 + 100))"
	kill -KILL $killed
	wait $killed 2>/dev/null
	kill -STOP "$pid"	# it is busy
	n=$("$BUILD/snapls" -n "$tmp/series" 2>/dev/null | wc -l)
	one "$tmp/series" last 2>"$tmp/out"
	one_instant "$with: killed after $n moments: the last is of one instant"
	one "$tmp/series" first 2>"$tmp/out"
	one_instant "$with: killed after $n moments: the first is of one instant"
done
kill -CONT "$pid"
unnoticed "$pid" 'killed: not noticed'

# Processes begin, execute another program, and end, while the file is read.
mkfifo "$tmp/go.1" "$tmp/go.2" "$tmp/go.3"
bash -c 'sleep 1001 & old=$!
(read -r line <"$1.1"; exec sleep 1002) &
read -r line <"$1.2"; kill $old; wait $old; sleep 1003 &
read -r line <"$1.3"' tree "$tmp/go" >/dev/null 2>&1 &
pid=$!
until_true pgrep -P "$pid" -x sleep
"$BUILD/snap" -r -i 0.1 -o "$tmp/series" "$pid" 2>"$tmp/err" &
taken=$!
names() {
	"$BUILD/snapls" -n -o command -@ "$1" "$tmp/series" 2>/dev/null |
	    sed -n 's/^sleep //p' | sort | tr '\n' ' '
}
last() {
	[ "$(names last)" = "$1" ]
}
until_true last '1001 '
is "$(names 1)" '1001 ' 'before: a child'
echo >"$tmp/go.1"
echo >"$tmp/go.2"
until_true last '1002 1003 '
is "$(names last)" '1002 1003 ' 'then: one ended, one began, one executed'
is "$(names 1)" '1001 ' 'the first moment is as it was'
# if one cannot be captured whole because it ends, the status is 1
mapfile -t children < <(pgrep -P "$pid")
kill -KILL "$pid" "${children[@]}"
wait "$pid" $taken 2>/dev/null
[ $? -le 1 ]
ok $? 'the processes are killed: snap ends' || diag <"$tmp/err"
is "$(tail -1 "$tmp/err" | sed 's/[0-9][0-9]*/N/')" \
    'snap: the series ends after N moments: nothing to take a snapshot of' \
    'the series ends with the processes' || diag <"$tmp/err"
try 'snapls -c finds no error' "$BUILD/snapls" -c "$tmp/series"

# Another process gets the ID of one that ended: it is not captured.
cat >"$tmp/reused" <<'END'
sleep 1000 & other=$!
sleep 1001 & old=$!
"$1" -i 0.1 -o "$2/series" $old $other 2>"$2/err" &
snap=$!
until [ "$("$1ls" -n "$2/series" 2>/dev/null | wc -l)" -ge 2 ]; do
	sleep 0.1
done
kill $old
wait $old
new=
until [ "$new" = $old ]; do
	[ -z "$new" ] || kill $new
	echo $((old - 1)) >/proc/sys/kernel/ns_last_pid
	sleep 1002 &
	new=$!
done
until grep -q "another process" "$2/err"; do
	sleep 0.1
done
n=$("$1ls" -n "$2/series" | wc -l)
until [ "$("$1ls" -n "$2/series" | wc -l)" -gt $n ]; do
	sleep 0.1
done
kill $other
wait $snap
echo $old $other $?
kill $new
END
rm -f "$tmp/series"
if unshare -fp --mount-proc true 2>/dev/null; then
	read -r old other rc < <(timeout 200 unshare -fp --kill-child \
	    --mount-proc bash "$tmp/reused" \
	    "$BUILD/snap" "$tmp" 2>/dev/null)
	is "$rc $(sed 's/after [0-9]*/after N/
	    /exited: left out$/d' "$tmp/err")" "0 snap: process \
$old ended, and another process has its ID: left out
snap: the series ends after N moments: nothing to take a snapshot of" \
	    'another process with the ID: one message'
	is "$("$BUILD/snapls" -n -@ first "$tmp/series" | wc -l)" 2 \
	    'another process with the ID: the first moment has two'
	is "$("$BUILD/snapls" -n -o pid,command -@ last "$tmp/series" |
	    sed 's/  */ /g; s/^ //')" "$other sleep 1000" 'then one is left'
else
	skip 'another process with the ID' 'unshare(1) is not permitted' 3
fi

# A child that its parent does not wait for has ended, if it is captured alone;
# with its parent, it is a zombie in later moments.
for with in '' -r; do
	target python3 -c 'import subprocess, time
child = subprocess.Popen(["sleep", "1004"])
print("ready", flush=True)
time.sleep(1000)'
	child=$(pgrep -P "$pid")
	rm -f "$tmp/series"
	"$BUILD/snap" $with -i 0.1 -o "$tmp/series" \
	    "$([ "$with" ] && echo "$pid" || echo "$child")" 2>"$tmp/err" &
	taken=$!
	until_true has "$tmp/series" 2
	kill "$child"
	if [ "$with" ]; then
		until_true zombie
		ok $? "$with: a zombie"
		kill "$pid"
	fi
	wait $taken
	is "$? $(sed 's/after [0-9]*/after N/
	    /exited: left out$/d' "$tmp/err")" "0 snap: the series \
ends after N moments: nothing to take a snapshot of" "ended${with:+, with $with}"
done

# A thread that stops only after a moment does not wait for the next one.
target "$targets/vforker"
rm -f "$tmp/series"
"$BUILD/snap" -i 600 -o "$tmp/series" "$pid" 2>"$tmp/err" &
taken=$!
until_true has "$tmp/series" 1
unnoticed "$pid" 'a thread that stops late goes on'
kill $taken
wait $taken 2>/dev/null

# The disk is full in the middle of a moment: the file ends with the one before.
target nice "$targets/sweep" 4
mkdir "$tmp/small"
for with in -s -z; do
	size=1300k
	[ $with = -z ] || size=7m
	if ! mount -t tmpfs -o size=$size none "$tmp/small" 2>/dev/null; then
		skip "$with: a full disk" 'mount(8) is not permitted' \
		    "$([ $with = -z ] && echo 4 || echo 5)"
		continue
	fi
	kill -CONT "$pid"
	snap $with -i 0.02 -o "$tmp/small/series" "$pid"
	kill -STOP "$pid"
	n=$("$BUILD/snapls" -n "$tmp/small/series" | wc -l)
	[ "$n" -gt 1 ]
	ok $? "$with: a full disk: $n moments"
	is "$rc ${err//$tmp/TMP}" "1 snap: the file ends with moment N: \
TMP/small/series: write: No space left on device" \
	    "$with: a full disk: the message"
	try "$with: a full disk: snapls -c finds no error" \
	    "$BUILD/snapls" -c "$tmp/small/series"
	[ $with = -z ] || try "$with: a full disk: keeps the rules" \
	    python3 "$tests/snap6/oracle.py" -c "$tmp/small/series"
	one "$tmp/small/series" last
	one_instant "$with: a full disk: the last moment is of one instant"
	umount "$tmp/small"
done
kill -CONT "$pid"
unnoticed "$pid" 'a full disk: not noticed'

# The file reaches its limit in the trailer of a moment, after its mark.
target "$targets/pair"
for with in -s -z; do
	rm -f "$tmp/series"
	snap $with -i 0.1 -N 3 -o "$tmp/series" "$pid"
	# one may be smaller than the one before it, and fit
	for _ in 1 2 3 4 5; do
		size=$(stat -c %s "$tmp/series")
		rm -f "$tmp/series"
		(trap '' XFSZ
		    ulimit -f $(((size - 2048) / 1024))
		    snap $with -i 0.1 -N 3 -o "$tmp/series" "$pid"
		    echo "$rc $err") >"$tmp/out"
		[ "$(<"$tmp/out")" = '0 ' ] || break
	done
	is "$(<"$tmp/out")" "1 snap: the file ends with moment N: \
TMP/series: write: File too large" "$with: a limit in the trailer: the message"
	is "$("$BUILD/snapls" -n "$tmp/series" | wc -l) $("$BUILD/snapls" -c \
	    "$tmp/series" 2>&1 | grep -c damaged)" "2 0" \
	    "$with: a limit in the trailer: two moments"
done

# Options that cannot be combined.
for with in '-N 3' '-i 1' '-i 1 -k -o x' '-i 0 -o x' \
    '-i 1 -N 0 -o x'; do
	# shellcheck disable=SC2086
	"$BUILD/snap" $with $$ >/dev/null 2>&1
	is $? 2 "$with"
done
"$BUILD/snap" -i 1 -N 1 -o /dev/null $$ >/dev/null 2>"$tmp/err"
is "$? $(<"$tmp/err")" "1 snap: -i requires a regular file: /dev/null is not \
one" '-i requires a regular file'

# Only a series has moments.
"$BUILD/snapstack" -@ 1 -p $$ >/dev/null 2>"$tmp/err"
is "$? $(<"$tmp/err")" "2 snapstack: -@ chooses a moment of a series, not of a \
live process" '-@ with a live process is refused'
python3 "$tests/criu/criuasm.py" make large "$tmp/images"
"$BUILD/snapls" -@ 2 "$tmp/images" >/dev/null 2>"$tmp/err"
is "$? $(<"$tmp/err")" "1 snapls: $tmp/images: no moment \"2\": the moments \
are 1 to 1" 'images of criu have one moment'
"$BUILD/procmap" -@ 2 "$pid" >"$tmp/out" 2>"$tmp/err"
is "$? $(<"$tmp/err")$(<"$tmp/out")" "2 procmap: -@ requires a snapshot (-M)" \
    'procmap -@ without a snapshot is refused'
"$BUILD/pagestat" -@ 2 "$pid" >"$tmp/out" 2>"$tmp/err"
is "$? $(head -n 1 "$tmp/err" | cut -d [ -f 1)$(<"$tmp/out")" \
    "2 usage: pagestat " 'pagestat -@ without a snapshot is refused'
finish 134
