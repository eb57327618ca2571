#!/usr/bin/env bash
# Connected datagram sockets, created in any order, are restored: criu finds a
# peer only if its entry comes first.  Sockets that criu cannot connect again
# are refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/dgram.py" ahead behind named itself deleted mutual stands waits \
    waitsfirst forked left
until_true longer 200
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
moves 'connected sockets' "$tmp/images" -r
end

for kind in third thirdback pair; do
	start "$here/dgram.py" $kind
	"$BUILD/snap" -r -o "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/none" "$tmp/snap" 2>"$tmp/err"
	is "$? $(grep -c 'whose other end is connected to a third socket:' \
	    "$tmp/err") $(tail -n 1 "$tmp/err")" \
	    '1 1 snapload: nothing is written (-f unix writes the rest)' \
	    "$kind: refused"
	end
done
finish 8
