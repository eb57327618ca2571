#!/usr/bin/env bash
# Datagram sockets that are connected to a socket outside the snapshot, such as
# that of syslog(3), are connected to its name again; snapload lists them.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

log=$tmp/log.1
hear() {
	"$here/outside.py" hear "$log" &
	hearer=$!
	disown "$hearer"
	until_true test -S "$log.there"
}

hear
start "$here/outside.py"
until_true longer 20
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
cp "$log" "$tmp/log.before"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/there" "$tmp/snap" >"$tmp/command" 2>"$tmp/err"
is "$? $(sed 's/.*descriptor [0-9]*: //' "$tmp/err")" "0 is connected to \
$log.there when it is restored
is connected to $log.there when it is restored
is connected to @$log when it is restored" 'the names are listed'
is "$(cat "$tmp/command")" "criu restore -d -D $tmp/there --ext-unix-sk" \
    'the command that restores them'
end_taken
# another process binds the names
kill "$hearer"
until_true gone "$hearer"
rm -f "$log.there" "$log.heard"
hear
restore "$tmp/there"
goes_on outside
until_true eval '[ "$(cut -d" " -f1 "$log.heard" | sort -u | wc -l)" -eq 3 ]'
ok $? 'datagrams of all sockets arrive'
end
kill "$hearer"
finish 7
