#!/usr/bin/env bash
# From one machine to another: criu dumps a program in one network namespace,
# and its snapshot goes through TCP to another, where criu restores it.
#
# criu does not record the namespaces that it is in itself, and restores into
# those that it is in then: so it runs in the namespace of the program both
# times.  (It would record and create again any other network namespace, with
# all its links.)  "ip netns exec" would also make a new mount namespace each
# time: hence nsenter.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
may_dump || skip_all "$undumped"

two_networks

inside() {
	local net=$1

	shift
	timeout 60 nsenter --net="/run/netns/$net" "$@"
}

# is_in NS: whether process $pid is in a network namespace
is_in() {
	[ "/proc/$pid/ns/net" -ef "/run/netns/$1" ]
}

in=(nsenter --net=/run/netns/here)
start counter 2
try "it is here" is_in here
dump "$pid" "$tmp/dump"
n=$(lines)
set -o pipefail
inside there python3 "$here/tcp.py" listen 192.0.2.2 4006 |
    inside there "$BUILD/snapload" -D "$tmp/there" >"$tmp/out" 2>&1 &
peer=$!
inside here "$BUILD/snapload" -u -D "$tmp/dump" 2>"$tmp/try" |
    inside here python3 "$here/tcp.py" send 192.0.2.2 4006 2>>"$tmp/try"
ok $? "snapshot is sent" || diag <"$tmp/try"
wait "$peer"
ok $? "there, snapload writes images" || diag <"$tmp/out"
try "the same images" same_images "$tmp/dump" "$tmp/there"
in=(nsenter --net=/run/netns/there)
restore "$tmp/there"
try "it is there" is_in there
counts_on "there" "$n"
end
finish 9
