#!/usr/bin/env bash
# Standard input, output and error that lead out of the snapshot, to pipes and
# UNIX sockets, as those of a container and of a service do, are those of criu
# when they are restored.
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
2: becomes the standard error of criu when it is restored" 'it is said'
is "$(sed 's/:\[[0-9]*\]/:[INODE]/g' "$tmp/command")" "criu restore -d -D \
$tmp/there --inherit-fd 'fd[0]:pipe:[INODE]' --inherit-fd \
'fd[1]:pipe:[INODE]' --inherit-fd 'fd[2]:socket:[INODE]'" \
    'the command that restores them'
end_taken
is "$(tail -n 1 "$tmp/before.1")" "$(tail -n 1 "$tmp/before.2")" \
    'both had all there was'

sed "s,^criu,exec $criu," "$tmp/command" >"$tmp/run"
around "$tmp/after" found /bin/sh "$tmp/run"
goes_on standard
: >"$log.read"
until_true test -s "$log.got"
is "$(cat "$log.got")" found 'it reads what criu could'
heard() {
	grep -qsx "$(tail -n 5 "$log" | awk 'NR == 1 { print $2 }')" "$1"
}
until_true heard "$tmp/after.1"
ok $? 'what it writes comes out of what criu had for its output'
until_true heard "$tmp/after.2"
ok $? 'and for its errors'
end
finish 8
