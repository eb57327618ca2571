#!/usr/bin/env bash
# snapcrash selects crashes by number, name, program and time.
# beside: crash
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config
# files: print the names that list printed, without the suffix
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

# keep only copies of this crash, at other times and under other names
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
    "list sorts by the time of the crash"
crash -r list
is "$rc $(files)" "0 fall.$pid.$now fall.11.$hours other.12.$days " \
    "list -r: the newest first"
crash -1 list
is "$rc $(files)" "0 fall.$pid.$now " "list -1: the last one"
crash -n 2 list
is "$rc $(files)" "0 fall.11.$hours fall.$pid.$now " "list -n 2: the last two"
crash list fall 12
is "$rc $(files)" "0 other.12.$days fall.11.$hours fall.$pid.$now " \
    "list by name and number"
crash list fall
is "$rc $(files)" "0 fall.11.$hours fall.$pid.$now " "list by name"
crash list "$targets/fall"
is "$rc $(files)" "0 other.12.$days fall.11.$hours fall.$pid.$now " \
    "list by program"
crash list "$targets/fail"
is "$rc $err" "1 snapcrash: $targets/fail: no such crash; see snapcrash list" \
    "an unknown program is an error"
crash -1 list nosuch 12 11 nobody
is "$rc $(files) $err" "1 fall.11.$hours  snapcrash: nosuch: no such crash; \
see snapcrash list
snapcrash: nobody: no such crash; see snapcrash list" \
    "each word without a crash is reported"
got=
for t in "--since -2h" "--since @$hours" "-U -1d" "-S 2001-01-01 -U $day"; do
	# shellcheck disable=SC2086 # words
	crash $t list
	got="$got$rc $(files)| "
done
is "$got" "0 fall.$pid.$now | 0 fall.11.$hours fall.$pid.$now | \
0 other.12.$days | 0 | " "list by time"
crash -S '3h ago' -U '1h ago' list
is "$rc $(files)" "0 fall.11.$hours " "list between two times"
crash -U "$(date -d "@$hours" '+%F %T')" -j info
is "$rc $(python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])' <"$tmp/out")" "0 fall.11.$hours.snap.gz" \
    "info -U: the last one until then"
crash -S tomorrow list
is "$rc $err" "2 snapcrash: -S tomorrow: not a valid time" "a bad time fails"
crash --columns size,x list
is "$rc ${err%%;*}" '2 snapcrash: --columns: unknown column "x"' \
    "an unknown column is refused"
echo nonsense >"$store/bad.16.$hours.snap.gz"
crash --columns x list
is "$rc ${err%%;*}" '2 snapcrash: --columns: unknown column "x"' \
    "columns are checked before crashes are read"
rm "$store/bad.16.$hours.snap.gz"
crash -o "$tmp/file" list
is "$rc $(find "$tmp" -name file) $(grep -c usage <<<"$err")" "2  1" \
    "-o is refused without dump"
crash -n 0 list
is "$rc $err" "2 snapcrash: -n 0: the number is too small" "-n 0 is refused"
crash -j info "$targets/fall"
is "$rc $(python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])' <"$tmp/out")" \
    "0 fall.$pid.$now.snap.gz" "info: the last one of a program"

crash dump 11
is "$rc $err" "0 " "dump writes a crash"
cp "$tmp/out" "$tmp/dumped"
try "the dump is whole" "$BUILD/snapls" -c "$tmp/dumped"
crash -o "$tmp/file" dump 11
is "$rc $err $(stat -c %a "$tmp/file")" "0  600" "dump -o writes a private file"
try "dump -o writes the same" cmp "$tmp/file" "$tmp/dumped"
"$BUILD/snapls" "$tmp/one" >"$tmp/want"
is "$("$BUILD/snapls" "$tmp/file")" "$(cat "$tmp/want")" \
    "the dump contains what the crash contains"
crash -U -1d rm fall
is "$rc $err" "1 snapcrash: fall: no such crash; see snapcrash list" \
    "rm: no crash of that time"
crash -U -1h rm fall
is "$rc $(find "$store" -name 'fall.*')" "0 $store/fall.$pid.$now.snap.gz" \
    "rm removes a crash of that time"

# the file name has underscores, and 15 bytes of the program's name
cp "$tmp/one" "$store/a_out.13.$now.snap.gz"
cp "$tmp/one" "$store/very-long-progr.14.$now.snap.gz"
cp "$tmp/one" "$store/very-long-progr.15.$now.snap.gz"
crash list a.out very-long-program
is "$rc $(files)" "0 a_out.13.$now very-long-progr.14.$now \
very-long-progr.15.$now " "list by a name that no file name can have"
crash -j info a.out
is "$rc $(python3 -c 'import json, sys
print(json.load(sys.stdin)["id"])' <"$tmp/out")" "0 a_out.13.$now.snap.gz" \
    "info: the same"
crash list very-long-progr.14
is "$rc $(files)" "0 very-long-progr.14.$now " "list by the beginning of a name"

got=
for what in list '-j list' info status; do
	# shellcheck disable=SC2086 # words
	said=$("$BUILD/snapcrash" -c "$conf" $what 2>&1 >/dev/full)
	got="$got$? ${said##*: }, "
done
full="1 No space left on device, "
is "$got" "$full$full$full$full" "output that cannot be written is an error"
mkdir "$tmp/own"
cp "$BUILD/snapcrash" "$tmp/own"
printf '#!/bin/sh\nexit 3\n' >"$tmp/own/snapstack"
chmod 755 "$tmp/own/snapstack"
"$tmp/own/snapcrash" -c "$conf" info >"$tmp/out" 2>&1
is $? 1 "info: an error of snapstack is an error"
rm -rf "$store"
finish 30
