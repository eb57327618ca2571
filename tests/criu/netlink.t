#!/usr/bin/env bash
# Netlink sockets are restored with their addresses, groups and options.  Those
# that criu would not restore are refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/netlink.py"
until_true longer 20
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
take_resting "$tmp/there" -r
end_taken
: >"$log.diff"
restore "$tmp/there"
goes_on netlink
diag <"$log.diff"
end

refused() {
	start "$here/netlink.py" "$1"
	rest
	"$BUILD/snap" -ro "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
	is "$? $(sed -n 's/.*, descriptor [0-9]*: //p' "$tmp/err")" \
	    "1 $2" "$1: refused"
	end
}

refused waiting "a netlink socket with unread data: cannot \
be restored (-f netlink leaves it out)"
refused connected "a netlink socket that is connected to another: cannot be \
restored (-f netlink leaves it out)"
refused many "a netlink socket in a group above 32: cannot be restored (-f \
netlink leaves it out)"
refused strict "the option NETLINK_GET_STRICT_CHK of a socket: cannot be \
restored (-f sockopt leaves it out)"
finish 9
