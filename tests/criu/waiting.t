#!/usr/bin/env bash
# Connections that wait to be accepted by a UNIX socket still wait for that
# after a restore.  What of them criu cannot restore is refused.
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
heard call 0 call 1 answer answer' 'they are accepted, and connected'
end

for how in closed bytes; do
	start "$here/waiting.py" "$how"
	until_true longer 10
	"$BUILD/snap" -ro "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
	case $how in
	closed) want='a pending connection that was already closed' ;;
	bytes) want='a connection not yet accepted that has unread bytes' ;;
	esac
	is "$(grep -c "$want" "$tmp/err")" 1 \
	    "$how: refused"
	end
	rm -f "$log.stream"
done
finish 7
