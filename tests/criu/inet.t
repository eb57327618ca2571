#!/usr/bin/env bash
# Sockets of the internet of every kind are taken by snap and restored by criu:
# their options and names are what they were, and they do what they did.
# Connections are closed, and it is said which.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# a network of its own: no port is in use, and loopback can be reached
command -v ip >/dev/null || skip_all 'no ip'
ip netns add own 2>"$tmp/err" && ip -n own link set lo up 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
in=(nsenter --net=/run/netns/own)

start "$here/inet.py"
until_true longer 200
is "$(awk '$3 != 0' "$log" | head -n 3)" '' 'nothing is wrong before'
take_resting "$tmp/images" -r
is "$(grep -c 'is closed when it is restored' "$tmp/try")" 2 \
    'it is said which connections are closed'
is "$(cat "$tmp/command")" "criu restore -d -D $tmp/images --tcp-close" \
    'the command that restores them'
"$BUILD/snap" -r -o "$tmp/snap" "$pid"
is "$("$BUILD/snapload" -c -D "it's" "$tmp/snap" 2>/dev/null)" \
    "criu restore -d -D 'it'\\''s' --tcp-close" '-c says it, too'
end_taken
: >"$log.diff"
restore "$tmp/images"
sed -i '/^ended/d' "$tmp/log.before"
goes_on 'sockets of the internet'
until_true grep -q '^ended 2' "$log"
ok $? 'connections have ended'
end

# an option that criu does not restore: refused, or left out by name
start "$here/inet.py" errors
"$BUILD/snap" -r -o "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/errors" "$tmp/snap" 2>"$tmp/err"
is "$? $(sed -E 's/descriptor [0-9]+/it/' "$tmp/err")" "1 snapload: process \
$pid, it: the option IP_RECVERR of a socket: cannot be restored (-f sockopt \
leaves it out)
snapload: nothing is written (-f sockopt writes the rest)" 'IP_RECVERR'
"$BUILD/snapload" -f sockopt -D "$tmp/errors" "$tmp/snap" >"$tmp/command" \
    2>"$tmp/err"
is "$? $(grep -c 'IP_RECVERR.*: left out$' "$tmp/err")" '1 1' 'left out'
end_taken
restore "$tmp/errors"
until_true grep -q '^errors' "$log"
is "$(head -n 1 "$log.diff" | grep -c '(0, 11)')" 1 'goes on without it'
end

# a connection that was reset, before all that came was read
start "$here/inet.py" reset
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -c 2>&1 >/dev/null |
    sed -E 's/.*descriptor [0-9]+/it/;s/:[0-9]+//' >"$tmp/told"
is "$(cat "$tmp/told")" "it: 3 bytes of the ended connection with 127.0.0.1, \
not yet read: not restored
it: the error that ended the connection with 127.0.0.1 is not restored: it just \
appears closed" 'a connection that was reset'
end

# multicast groups, which criu does not join
start "$here/inet.py" groups
"$BUILD/snap" -r -o "$tmp/snap" "$pid"
"$BUILD/snapload" -c "$tmp/snap" 2>"$tmp/err"
is "$? $(sed -E 's/.*(a member)/\1/' "$tmp/err")" "1 a member of the \
multicast group 239.1.2.3 of lo: cannot be restored (snapload -f multicast \
leaves it out)
a member of the multicast group ff15::77 of lo: cannot be restored (snapload \
-f multicast leaves it out)
snapload: not all can be restored (snapload -f multicast restores the rest)" \
    'multicast groups'
end
finish 15
