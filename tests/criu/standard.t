#!/usr/bin/env bash
# If standard input, output and error are pipes or UNIX sockets that lead out of
# the snapshot, as in containers and services, they become those of criu.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

around() {
	"$here/standard.py" around "$@" &
	copier=$!
	disown "$copier"
}

log=$tmp/log.1
around "$tmp/before" lost "$here/standard.py" "$log"
until_true test -s "$log"
until_true longer 20
pid=$(pgrep -P "$copier")
cp "$log" "$tmp/log.before"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/there" "$tmp/snap" >"$tmp/command" 2>"$tmp/err"
is "$? $(sed 's/.*descriptor //' "$tmp/err")" "0 0: 5 unread bytes in it \
are lost when it is restored
0: becomes the standard input of criu when it is restored
1: becomes the standard output of criu when it is restored
2: becomes the standard error of criu when it is restored" \
    'a note for each of them'
is "$(sed 's/:\[[0-9]*\]/:[INODE]/g' "$tmp/command")" "criu restore -d -D \
$tmp/there --inherit-fd 'fd[0]:pipe:[INODE]' --inherit-fd \
'fd[1]:pipe:[INODE]' --inherit-fd 'fd[2]:socket:[INODE]'" \
    'the command that restores them'
end_taken
until_true gone "$copier"
n=$(($(tail -n 1 "$tmp/before.1") - $(tail -n 1 "$tmp/before.2")))
ok $((n != 0 && n != 1)) 'both had the last number'

sed "s,^criu,exec $criu," "$tmp/command" >"$tmp/run"
around "$tmp/after" found /bin/sh "$tmp/run"
goes_on standard
: >"$log.read"
until_true test -s "$log.got"
is "$(cat "$log.got")" found 'it reads the standard input of criu'
heard() {
	grep -qsx "$(tail -n 5 "$log" | awk 'NR == 1 { print $2 }')" "$1"
}
until_true heard "$tmp/after.1"
ok $? 'it writes to the standard output of criu'
until_true heard "$tmp/after.2"
ok $? 'it writes to the standard error of criu'
end
finish 8
