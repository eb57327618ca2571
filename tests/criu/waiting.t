#!/usr/bin/env bash
# Connections that wait to be accepted by a UNIX socket still do after a
# restore.  Connections that criu cannot restore are refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/waiting.py"
until_true longer 20
take "$tmp/there" -r
end_taken
rm -f "$log.stream"
restore "$tmp/there"
goes_on waiting
: >"$log.talk"
until_true eval '[ "$(grep -c ^heard "$log")" -eq 2 ]'
is "$(grep '^heard' "$log")" 'heard call 0 call 1 answer answer
heard call 0 call 1 answer answer' 'they are accepted and used'
end

start "$here/waiting.py" bytes
until_true longer 10
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$(grep -c 'a connection not yet accepted that has unread bytes' \
    "$tmp/err")" 1 'bytes: refused'
end
rm -f "$log.stream"

# A connection whose client is closed, or not in the snapshot, is lost.  The
# listening socket accepts the next one.
for how in closed outside; do
	start "$here/waiting.py" "$how"
	until_true longer 10
	connect=
	if [ $how = outside ]; then
		"$here/waiting.py" "$log" connect &
		connect=$!
		disown $connect
		until_true test -e "$log.connected"
	fi
	"$BUILD/snap" -k -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(apart_from_criu | sed 's/.*descriptor [0-9]*: //')" \
	    '0 1 connection not yet accepted: not restored' "$how: noted"
	"$BUILD/snapload" -D "$tmp/$how" "$tmp/snap" >"$tmp/command" 2>"$tmp/err"
	until_true reaped "$pid"
	rm -f "$log.stream"
	restore "$tmp/$how"
	: >"$log.talk"
	until_true eval '[ "$(grep -c ^heard "$log")" -eq 2 ]'
	is "$(grep -c '^heard call 0' "$log")" 2 "$how: the others are accepted"
	end
	rm -f "$log.stream"
	[ -z "$connect" ] || kill -KILL "$connect"
done
finish 12
