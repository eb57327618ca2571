#!/usr/bin/env bash
# snapcrash with "merge yes": crashes of a program become one file, and each
# goes on being a crash of its own.
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config "merge yes"
# falls COMMAND ...: a target that crashes, and is taken and merged: $pid
falls() {
	target "$@"
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	until_true none_runs
}
name() {
	find "$store" -name "fall.$1.*" -printf '%f\n'
}
inodes() {
	find "$store" -name '*.snap.gz' -printf '%i %n\n' | sort -u
}
# listed: the numbers and signals in the list that was printed, by number: what
# fell within one second is in no order that is known here
listed() {
	awk 'NR > 1 { print $3, $5 }' "$tmp/out" | sort -n | tr '\n' ' '
}
# each PID SIGNAL ...: so the list has these
each() {
	printf '%s %s\n' "$@" | sort -n | tr '\n' ' '
}
handle

falls "$targets/fall" segv 3
one=$pid
alone=$(stat -c %s "$store/$(name "$one")")
falls "$targets/fall" abort 3
two=$pid
falls "$targets/fall" segv 1
three=$pid
is "$(inodes | wc -l) $(inodes | cut -d' ' -f2)" "1 3" "three are one file"
bytes=$(stat -c %s "$store/$(name "$one")")
ok $((bytes >= alone * 2)) "which has what is the same once"
find "$store" -name '.merg*g' -o -name .link >"$tmp/out"
is "$(cat "$tmp/out")" "" "nothing else is left"
crash list
is "$rc $(listed)" "0 $(each $one SEGV $two ABRT $three SEGV)" \
    "each is in the list"
crash info "$one"
is "$(grep -c 'shares  its file with 2 other crashes' "$tmp/out")" 1 \
    "it is told that they share a file"
crash -j info "$two"
is "$(python3 -c 'import json, sys
c = json.load(sys.stdin)
print(c["pid"], c["signal"], c["threads"], c["others"], c["links"])' \
    <"$tmp/out")" "$two 6 4 0 3" "one knows nothing of the others"
if [ -x "$BUILD/snapstack" ]; then
	crash stack "$three"
	is "$(grep -c "^process" "$tmp/out") $(grep -c "^process $three" \
	    "$tmp/out")" "1 1" "the stacks of one"
else
	skip "the stacks of one" "no snapstack"
fi
if command -v gdb >/dev/null && [ -c /dev/fuse ]; then
	crash debug "$two" -- -nx -batch -iex 'set debuginfod enabled off' \
	    -ex bt
	try "gdb shows one" grep -q 'abort' "$tmp/out"
else
	skip "gdb shows one" "no gdb, or no FUSE"
fi

# what is removed is in no file any more, and the others are whole
crash rm "$one"
is "$rc $err $(inodes | wc -l)" "0  1" "one is removed"
file=$store/$(name "$two")
"$BUILD/snapls" -c "$file" >"$tmp/out" 2>&1
is "$? $(grep -c "^ *$one " "$tmp/out")" "0 0" "its memory, too"
crash list
is "$rc $(listed)" "0 $(each $two ABRT $three SEGV)" \
    "the others are there"

# who is killed meanwhile leaves what was, and what it left goes
cp "$file" "$store/.merging"
falls "$targets/fall" segv 0
four=$pid
is "$(inodes | cut -d' ' -f2) $(find "$store" -name .merging | wc -l)" "3 0" \
    "what somebody left who was killed goes"
ln "$store/$(name "$four")" "$store/.link"
cp "$store/$(name "$four")" "$tmp/copy"
mv "$tmp/copy" "$store/$(name "$three")"
crash list
is "$rc $(listed)" "0 $(each $two ABRT $three SEGV $four SEGV)" \
    "names that moved, and some that did not"

# the oldest go: by number a name, by bytes a file
echo "keep-count 2" >>"$conf"
falls "$targets/fall" segv 0
is "$(find "$store" -name '*.snap.gz' | wc -l)" 2 "only so many are kept"
crash info "$pid"
is "$rc $(grep -c 'lacks' "$tmp/out")" "0 0" "and the last is whole"
printf '%s\n' "directory $store" "keep-free 0" "keep-bytes 1K" >"$conf"
falls "$targets/fall" segv 0
is "$(find "$store" -name '*.snap.gz')" "" "a file goes with all its names"

# not where others may still write what the disk has
config "merge yes" "hook $tmp/hook"
cat >"$tmp/hook" <<END
#!/bin/sh
echo "0 $((1 << 50))" >"$store/.place.1"
END
chmod 755 "$tmp/hook"
(
	exec 8>"$store/.place.1"
	flock 8 && exec sleep 1000 3>&-
) &
worker=$!
until_true is_held "$store/.place.1"
falls "$targets/fall" segv 0
: >"$store/.place.1"
falls "$targets/fall" segv 0
is "$(inodes | cut -d' ' -f2 | tr '\n' ' ')" "1 1 " \
    "another may fill the disk: nothing is merged"
kill "$worker"
wait "$worker" 2>/dev/null
falls "$targets/fall" segv 0
is "$(inodes | cut -d' ' -f2 | sort | tr '\n' ' ')" "1 2 " \
    "it does not any more: what comes is merged"
rm -rf "$store"
finish 18
