#!/usr/bin/env bash
# Packet sockets are restored with their memberships, and with their rings,
# which are empty.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# a network namespace, without other packets
command -v ip >/dev/null || skip_all 'no ip'
ip netns add own 2>"$tmp/err" && ip -n own link set lo up 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
in=(nsenter --net=/run/netns/own)

# print what loopback receives for the sockets
wanted() {
	ip -n own maddr show dev lo | grep 'link.*0e:01'
	ip -n own -d link show dev lo | grep -o 'promiscuity [0-9]*'
}

start "$here/packet.py"
until_true longer 20
before=$(wanted)
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
take "$tmp/there" -r
end_taken
: >"$log.diff"
restore "$tmp/there"
goes_on packet
is "$(wanted)" "$before" 'loopback has its memberships'
diag <"$log.diff"
end

start "$here/packet.py" ring
until_true longer 20
cp "$log" "$tmp/log.before"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/ring" "$tmp/snap" >"$tmp/command" 2>"$tmp/err"
is "$? $(apart_from_criu | sed 's/.*descriptor [0-9]*: //' | sort -u)" '0 the rings of a packet socket are empty when it is restored' \
    'snapload says that rings are empty'
end_taken
: >"$log.diff"
restore "$tmp/ring"
goes_on rings
diag <"$log.diff"
end

start "$here/packet.py" twice
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(sed -n 's/.*, descriptor [0-9]*: //p' "$tmp/err")" "1 a packet socket \
with a repeated membership, or one that criu does not support: cannot be \
restored (-f packet leaves it out)" 'twice: refused'
end
finish 11
