#!/usr/bin/env bash
# Descriptors queued in UNIX sockets, most of them closed by their sender, are
# received after a restore with the bytes that they were sent with.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

want='heard stream plain 0
heard stream two piped  deleted
heard stream end []
heard nested outside inside eep
heard packets none []
heard packets kept late True'

start "$here/passed.py"
until_true longer 20
moves passed "$tmp/there" -r
: >"$log.talk"
until_true grep -q '^over' "$log"
is "$(grep '^heard' "$log")" "$want" 'all are received'
end

start "$here/passed.py" credentials
until_true longer 10
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/sent" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(sed 's/^.*descriptor [0-9]*: //' "$tmp/err")" "1 the sender's \
credentials of data queued in a socket: cannot be restored (-f credentials \
leaves it out)
snapload: nothing is written (-f credentials writes the rest)" \
    'credentials: refused'
"$BUILD/snapload" -f credentials -D "$tmp/sent" "$tmp/snap" >/dev/null 2>&1
end_taken
restore "$tmp/sent"
until_true longer 10
: >"$log.talk"
until_true grep -q '^over' "$log"
is "$(grep -E '^(heard|sent)' "$log")" "sent sent by 0 65534 65534
$want" '-f credentials: the sender is nobody'
end

for how in pidfd deserted; do
	start "$here/passed.py" "$how"
	until_true longer 10
	"$BUILD/snap" -ro "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
	rc=$?
	case $how in
	pidfd) want='a pidfd of a process outside the snapshot' ;;
	deserted) want='a queued socket without another end' ;;
	esac
	is "$rc $(grep -c "$want" "$tmp/err")" '1 1' \
	    "$how: refused"
	end
done
finish 10
