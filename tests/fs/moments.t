#!/usr/bin/env bash
# snapfs shows each moment of a series as a directory, also while the series
# grows; -@ shows one moment alone.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/fs/fs.sh
. "$tests/fs/fs.sh"

moments() {
	"$BUILD/snapls" -n "$tmp/series" 2>/dev/null | wc -l
}

# shellcheck disable=SC2317
two_moments() {
	[ "$(moments)" -ge 2 ]
}

# same_core MOMENT: the core of the target is the one that snapcore writes
# shellcheck disable=SC2317
same_core() {
	"$BUILD/snapcore" -@ "$1" -p "$pid" -o "$tmp/core" "$tmp/series" &&
	    cmp "$tmp/core" "$mnt/$1/$pid/core"
}

# shellcheck disable=SC2317
other_ended() {
	! "$BUILD/snapls" -n -o pid -@ last "$tmp/series" 2>/dev/null |
	    grep -qw "$other"
}

# shown DIRECTORY: print which of the two processes are in it
shown() {
	[ ! -d "$1/$pid" ] || printf target
	[ ! -d "$1/$other" ] || printf ' other'
}

target "$targets/sweep" 4
sleep 1000 &
other=$!
"$BUILD/snap" -i 0.1 -o "$tmp/series" "$pid" "$other" 2>/dev/null &
taker=$!
until_true two_moments
serve "$tmp/series"
n=$(find "$mnt" -mindepth 1 -maxdepth 1 | wc -l)
[ "$n" -ge 2 ]
ok $? "a growing series is mounted" || diag <"$tmp/err"
kill "$other"
until_true other_ended
is "$(find "$mnt" -mindepth 1 -maxdepth 1 | wc -l)" "$n" \
    "moments added later are not shown"
is "$(shown "$mnt/$n")" "target other" \
    "a process that has ended since is still in the last moment"
for i in 1 "$n"; do
	try "moment $i is read after the file has grown" same_core "$i"
done
unserve
# it ends within a moment or after one
kill -KILL "$taker"
wait "$taker" 2>/dev/null
kill -STOP "$pid"	# it is busy

serve "$tmp/series"
n=$(moments)
is "$(find "$mnt" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n)" \
    "$(seq "$n")" "each moment is a directory"
is "$(shown "$mnt/$n")" target "a process that has ended is absent"
for i in 1 2 "$n"; do
	try "moment $i: the core is that of snapcore" same_core "$i"
done
! cmp -s "$mnt/1/$pid/mem" "$mnt/2/$pid/mem" 2>/dev/null
ok $? "memory differs between moments"
is "$(date -d "@$(stat -c %Y "$mnt/2")" '+%F %T')" \
    "$("$BUILD/snapls" -n "$tmp/series" 2>/dev/null |
    awk '$1 == 2 { print $2, $3 }')" "the directory has the time of the moment"
is "$(cat "$mnt/$n/$pid/linux/comm")" sweep "a file of a process is read"
is "$(stat -c %i "$mnt/2" "$mnt/2/$pid/..")" "$(stat -c '%i
%i' "$mnt/2")" "the parent of a process is its moment"
is "$(stat -c %i "$mnt/2/..")" "$(stat -c %i "$mnt")" "its parent is the root"
wrong=
for i in 0 01 $((n + 1)) "$pid" x; do
	[ ! -e "$mnt/$i" ] || wrong+=" $i"
done
is "$wrong" "" "other names do not exist"
if command -v readelf >/dev/null; then
	try "readelf reads a core" readelf -lW "$mnt/2/$pid/core"
else
	skip "readelf reads a core" "no readelf"
fi
if command -v gdb >/dev/null; then
	(cd "$mnt/2/$pid" && gdb -nx -batch -iex 'set sysroot root' \
	    -iex 'set auto-load off' -ex bt text core) >"$tmp/out" 2>&1
	grep -q 'main (' "$tmp/out"
	ok $? "gdb reads a core" || diag <"$tmp/out"
else
	skip "gdb reads a core" "no gdb"
fi
env --default-signal=INT "$BUILD/snapfs" -f -s "$tmp/9p" "$tmp/series" \
    2>/dev/null &
ninep=$!
until_true [ -S "$tmp/9p" ]
is "$(timeout 250 python3 "$tests/fs/ninep.py" "$tmp/9p" same "$mnt" 2>&1 |
    head)" "" "9P serves the same tree"
kill -INT "$ninep"
wait "$ninep"
unserve

serve -@ 1 "$tmp/series"
is "$(shown "$mnt")" "target other" "-@ shows one moment alone"
unserve
serve -p "$other" "$tmp/series"
is "$(ls "$mnt/1") $(ls "$mnt/$n")" "$other " "-p shows it where it exists"
unserve
mkdir "$tmp/mnt"
snapfs -p 1 "$tmp/series" "$tmp/mnt"
is "$rc $(tail -n 1 <<<"$err")" "1 snapfs: -p: no process 1" "-p: none such"
kill -CONT "$pid"
"$BUILD/snap" -o "$tmp/snap" "$pid" 2>/dev/null
serve "$tmp/series" "$tmp/snap"
is "$(shown "$mnt") $(ls -d "$mnt/$pid.2")" "target $mnt/$pid.2" \
    "with two files, the last moment of the series is shown"
unserve

# a series that ends within its second moment
"$BUILD/snap" -i 0.001 -N 2 -o "$tmp/series" "$pid" 2>/dev/null
head -c $(($(stat -c %s "$tmp/series") * 9 / 10)) "$tmp/series" >"$tmp/cut"
mkdir "$tmp/mnt.cut"
snapfs "$tmp/cut" "$tmp/mnt.cut"
is "$rc $(ls "$tmp/mnt.cut")" "1 1" \
    "a truncated series exits 1 and shows its first moment"
fusermount3 -u "$tmp/mnt.cut"
is "$(grep -o "process $pid (moment 2" <<<"$err" | head -n 1)" \
    "process $pid (moment 2" "the message names the process and the moment"
finish 25
