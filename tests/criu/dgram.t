#!/usr/bin/env bash
# Datagram sockets that are connected, in all orders: criu knows the peer of
# one only if its entry comes before.  Those that nobody could connect again
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
