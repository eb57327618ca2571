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

# more packets than criu may send to a socket, unless its sender is connected
command -v ip >/dev/null && ip netns add own 2>"$tmp/err" &&
    ip -n own link set lo up 2>"$tmp/err" || {
	skip 'many packets' "no network namespaces: $(tail -n 1 "$tmp/err")" 4
	finish 12
}
in=(nsenter --net=/run/netns/own)
start "$here/dgram.py" many
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -D "$tmp/many" \
    >"$tmp/command" 2>"$tmp/err"
is "$(grep -c 'its 100 unread datagrams need net.unix.max_dgram_qlen of 99 or ' \
    "$tmp/err")" 1 'many packets: a message names the limit'
end_taken
for limit in 98 99; do
	"${in[@]}" sysctl -qw net.unix.max_dgram_qlen=$limit
	"${in[@]}" "$criu" restore -d -D "$tmp/many" -o "$tmp/criu.log" \
	    >"$tmp/criu.out" 2>&1
	is $? $((limit < 99)) "many packets: restored with the limit $limit"
done
until_true longer 20
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'many packets: they are there'
end
finish 12
