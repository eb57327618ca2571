#!/usr/bin/env bash
# snapcrash: which crashes are meant, by number, name, program and time.
# beside: nothing
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config
# files: what list shows, without the suffix
files() {
	awk 'NR > 1 { sub(/.snap.gz$/, "", $9); printf "%s ", $9 }' "$tmp/out"
}
taken() {
	[ -n "$(find "$store" -name "fall.$pid.*.snap.gz")" ]
}
handle
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken
put_back

# it once more, at other times, under other names; nothing else
now=$(date +%s)
hours=$((now - 2 * 3600 - 60))
days=$((now - 3 * 86400))
mv "$store/fall.$pid."*.snap.gz "$tmp/one"
rm -f "$store"/*
cp "$tmp/one" "$store/fall.$pid.$now.snap.gz"
cp "$tmp/one" "$store/fall.11.$hours.snap.gz"
cp "$tmp/one" "$store/other.12.$days.snap.gz"
day=$(date -d "@$days" +%F)

crash list
is "$rc $(files)" "0 other.12.$days fall.11.$hours fall.$pid.$now " \
    "by the time of the crash"
crash -r list
is "$rc $(files)" "0 fall.$pid.$now fall.11.$hours other.12.$days " \
    "the newest first"
crash -1 list
is "$rc $(files)" "0 fall.$pid.$now " "the last one"
crash -n 2 list
is "$rc $(files)" "0 fall.11.$hours fall.$pid.$now " "two of them"
crash list fall 12
is "$rc $(files)" "0 other.12.$days fall.11.$hours fall.$pid.$now " \
    "by name and number"
crash list fall
is "$rc $(files)" "0 fall.11.$hours fall.$pid.$now " "all of a name"
crash list "$targets/fall"
is "$rc $(files)" "0 other.12.$days fall.11.$hours fall.$pid.$now " \
    "all of a program"
crash list "$targets/fail"
is "$rc $err" "1 snapcrash: $targets/fail: no such crash; see snapcrash list" \
    "none"
got=
for t in "--since -2h" "--since @$hours" "-U -1d" "-S 2001-01-01 -U $day"; do
	# shellcheck disable=SC2086 # words
	crash $t list
	got="$got$rc $(files)| "
done
is "$got" "0 fall.$pid.$now | 0 fall.11.$hours fall.$pid.$now | \
0 other.12.$days | 0 | " "of a time"
crash -S '3h ago' -U '1h ago' list
is "$rc $(files)" "0 fall.11.$hours " "between two times"
crash -U "$(date -d "@$hours" '+%F %T')" -j info
is "$rc $(python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])' <"$tmp/out")" "0 fall.11.$hours.snap.gz" \
    "the last one until then"
crash -S tomorrow list
is "$rc $err" "2 snapcrash: -S tomorrow: not a valid time" "no time"
crash -n 0 list
is "$rc $err" "2 snapcrash: -n 0: the number is too small" "no number"
crash -j info "$targets/fall"
is "$rc $(python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])' <"$tmp/out")" \
    "0 fall.$pid.$now.snap.gz" "the last one of a program"

crash dump 11
is "$rc $err" "0 " "one is written"
cp "$tmp/out" "$tmp/dumped"
try "it is whole" "$BUILD/snapls" -c "$tmp/dumped"
crash -o "$tmp/file" dump 11
is "$rc $err $(stat -c %a "$tmp/file")" "0  600" "to a file"
try "it is the same" cmp "$tmp/file" "$tmp/dumped"
"$BUILD/snapls" "$tmp/one" >"$tmp/want"
is "$("$BUILD/snapls" "$tmp/file")" "$(cat "$tmp/want")" \
    "and has what the crash has"
crash -U -1d rm fall
is "$rc $err" "1 snapcrash: fall: no such crash; see snapcrash list" \
    "none of that time is removed"
crash -U -1h rm fall
is "$rc $(find "$store" -name 'fall.*')" "0 $store/fall.$pid.$now.snap.gz" \
    "one of that time is"
rm -rf "$store"
finish 21
