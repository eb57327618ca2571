#!/usr/bin/env bash
# Compressed snapshots: gzip(1) reads what -z writes, and every reader of
# snapshots reads compressed ones, from files and pipes.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# members FILE OUT: check each member without zlib's code for gzip
members() {
	python3 "$tests/live/members.py" "$@"
}

listing() {
	"$BUILD/snapls" -l "$@"
}

target "$targets/anon"
snap -z "$pid" >"$tmp/z"
is "$rc $err" "0 " "snap -z to a pipe or a file of the shell"
check <(gunzip <"$tmp/z") "$pid" "gunzip gives the snapshot"
try "gunzip -t accepts it" gunzip -t <"$tmp/z"
try "its members are as in snap(6)" members "$tmp/z" "$tmp/plain"
snap -z -o "$tmp/file.gz" "$pid"
is "$rc $(stat -c %a "$tmp/file.gz")" "0 600" "snap -z -o file"
try "members of -o are as in snap(6)" members "$tmp/file.gz" "$tmp/other"
unnoticed "$pid" "the target noticed nothing"

# Read plain files, snap's gzip, and gzip(1)'s with one or several members.
gzip -9 <"$tmp/plain" >"$tmp/gz9"
{
	head -c 100000 "$tmp/plain" | gzip -1
	tail -c +100001 "$tmp/plain" | gzip -9
} >"$tmp/two.gz"
want=$(listing "$tmp/plain")
core() {
	"$BUILD/snapcore" "$@" 2>&1 | sha256sum
}
core=$(core "$tmp/plain")
for f in z gz9 two.gz; do
	is "$(listing "$tmp/$f")" "$want" "snapls of a file: $f"
	is "$(listing <"$tmp/$f")" "$want" "snapls of standard input: $f"
	# shellcheck disable=SC2002 # a pipe is what is tested
	is "$(cat "$tmp/$f" | listing)" "$want" "snapls of a pipe: $f"
	is "$(core "$tmp/$f")" "$core" "snapcore of a file: $f"
	# shellcheck disable=SC2002
	is "$(cat "$tmp/$f" | core)" "$core" "snapcore of a pipe: $f"
done

# Compressed cores, and snapshots made from them.
"$BUILD/snapcore" -o "$tmp/core" "$tmp/plain"
gzip -1 <"$tmp/core" >"$tmp/core.gz"
"$BUILD/snapcore" -r "$tmp/core" >"$tmp/r" 2>"$tmp/r.err"
touch -r "$tmp/core" "$tmp/core.gz"
"$BUILD/snapcore" -r -z "$tmp/core.gz" >"$tmp/r.gz" 2>"$tmp/err"
is "$?" "$("$BUILD/snapcore" -r "$tmp/core" >"$tmp/r" 2>/dev/null
    echo $?)" "snapcore -r -z of a compressed core"
try "its members are as in snap(6)" members "$tmp/r.gz" "$tmp/r.plain"
is "$(tail -n +2 "$tmp/r.plain" | sha256sum)" \
    "$(tail -n +2 "$tmp/r" | sha256sum)" "it contains what the core contains"
is "$("$BUILD/snapls" "$tmp/core.gz" 2>&1 | tail -n 1)" \
    "$("$BUILD/snapls" "$tmp/core" 2>&1 | tail -n 1)" \
    "snapls of a compressed core"
"$BUILD/snapcore" -z "$tmp/plain" 2>/dev/null
is $? 2 "-z is refused for cores"

# CRIU images.
python3 "$tests/criu/criuasm.py" make large "$tmp/images"
"$BUILD/snapload" -u -D "$tmp/images" >"$tmp/u"
"$BUILD/snapload" -u -z -D "$tmp/images" -o "$tmp/u.gz"
is $? 0 "snapload -u -z"
try "its members are as in snap(6)" members "$tmp/u.gz" "$tmp/u.plain"
is "$(tail -n +2 "$tmp/u.plain" | sha256sum)" \
    "$(tail -n +2 "$tmp/u" | sha256sum)" "it contains what the images contain"
"$BUILD/snapload" -D "$tmp/back" "$tmp/u.gz"
try "snapload reads it" \
    python3 "$tests/criu/criuasm.py" same "$tmp/images" "$tmp/back"
gzip -9 <"$tmp/u" | "$BUILD/snapload" -D "$tmp/again"
try "snapload reads gzip(1)'s from a pipe" \
    python3 "$tests/criu/criuasm.py" same "$tmp/images" "$tmp/again"

# Damage is reported.
size=$(stat -c %s "$tmp/z")
for n in 1 2 30 1000 $((size / 2)) $((size - 34)) $((size - 1)); do
	head -c "$n" "$tmp/z" >"$tmp/cut"
	"$BUILD/snapls" "$tmp/cut" >/dev/null 2>"$tmp/err"
	file=$?
	"$BUILD/snapls" <"$tmp/cut" >/dev/null 2>"$tmp/err2"
	is "$file $? $(wc -l <"$tmp/err") $(wc -l <"$tmp/err2")" "1 1 1 1" \
	    "cut after $n bytes"
done
is "$(head -c $((size - 34)) "$tmp/z" | "$BUILD/snapls" 2>&1 >/dev/null |
    grep -c 'gzip member [0-9]*, at byte [0-9]*: .*was cut off')" 1 \
    "cut between members: the message"
(cat "$tmp/z"; echo) >"$tmp/junk"
is "$("$BUILD/snapls" "$tmp/junk" 2>&1 >/dev/null |
    grep -c "at byte $size: trailing garbage after the last member")" 1 \
    "trailing garbage"

# A disk that is full, and a reader that goes away.
target "$targets/anon"
snap -z "$pid" >/dev/full
is "$rc $(grep -c 'No space left' "$tmp/err") $(wc -l <"$tmp/err")" \
    "1 1 1" "a full disk: one line"
mkfifo "$tmp/fifo"
head -c 10 <"$tmp/fifo" >/dev/null &
snap -z "$pid" >"$tmp/fifo"
if [ "$rc" -eq 0 ]; then
	skip "a reader that goes away" "all went into the pipe"
else
	is "$rc $(grep -c 'Broken pipe' "$tmp/err") $(wc -l <"$tmp/err")" \
	    "1 1 1" "a reader that goes away: one line"
fi
let_go "$pid" "the target runs on"
unnoticed "$pid" "the target noticed nothing"
finish 45
