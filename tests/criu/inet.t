#!/usr/bin/env bash
# criu restores sockets of the internet of every kind: their options and names
# are the same, and they work.  Connections are closed, and snapload lists them.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# a network namespace, for free ports and a loopback interface
command -v ip >/dev/null || skip_all 'no ip'
ip netns add own 2>"$tmp/err" && ip -n own link set lo up 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
in=(nsenter --net=/run/netns/own)

start "$here/inet.py"
until_true longer 200
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
take_resting "$tmp/images" -r
is "$(grep -c 'is closed when it is restored' "$tmp/try")" 2 \
    'the closed connections are listed'
is "$(cat "$tmp/command")" "criu restore -d -D $tmp/images --tcp-close" \
    'the command that restores them'
"$BUILD/snap" -r -o "$tmp/snap" "$pid"
is "$("$BUILD/snapload" -c -D "it's" "$tmp/snap" 2>/dev/null)" \
    "criu restore -d -D 'it'\\''s' --tcp-close" '-c prints the command'
end_taken
: >"$log.diff"
restore "$tmp/images"
sed -i '/^ended/d' "$tmp/log.before"
goes_on 'sockets of the internet'
until_true grep -q '^ended 2' "$log"
ok $? 'the connection is closed'
end

# an option that criu does not restore: refused, or left out by name
start "$here/inet.py" errors
"$BUILD/snap" -r -o "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/errors" "$tmp/snap" 2>"$tmp/err"
is "$? $(sed -E 's/descriptor [0-9]+/it/' "$tmp/err")" "1 snapload: process \
$pid, it: the option IP_RECVERR of a socket: cannot be restored (-f sockopt \
leaves it out)
snapload: nothing is written (-f sockopt writes the rest)" \
    'IP_RECVERR is refused'
"$BUILD/snapload" -f sockopt -D "$tmp/errors" "$tmp/snap" >"$tmp/command" \
    2>"$tmp/err"
is "$? $(grep -c 'IP_RECVERR.*: left out$' "$tmp/err")" '1 1' \
    '-f sockopt leaves it out'
end_taken
: >"$log.diff"
restore "$tmp/errors"
until_true grep -q '^errors' "$log"
is "$(head -n 1 "$log.diff" | grep -c '(0, 11)')" 1 \
    'it goes on without the option' || head -n 3 "$log.diff" | diag
end

# a connection that was reset, with data unread
start "$here/inet.py" reset
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -c 2>"$tmp/err" >/dev/null
apart_from_criu | sed -E 's/.*descriptor [0-9]+/it/;s/:[0-9]+//' >"$tmp/told"
is "$(cat "$tmp/told")" "it: 3 bytes of the ended connection with 127.0.0.1, \
not yet read: not restored
it: the error that ended the connection with 127.0.0.1 is not restored: it just \
appears closed" 'a reset connection is reported'
end

# multicast groups: criu does not join them
start "$here/inet.py" groups
"$BUILD/snap" -r -o "$tmp/snap" "$pid"
"$BUILD/snapload" -c "$tmp/snap" 2>"$tmp/err"
is "$? $(sed -E 's/.*(a member)/\1/' "$tmp/err")" "1 a member of the \
multicast group 239.1.2.3 of lo: cannot be restored (snapload -f multicast \
leaves it out)
a member of the multicast group ff15::77 of lo: cannot be restored (snapload \
-f multicast leaves it out)
snapload: not all can be restored (snapload -f multicast restores the rest)" \
    'multicast groups are refused'
end
finish 15
