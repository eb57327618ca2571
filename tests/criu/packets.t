#!/usr/bin/env bash
# criu restores a process with SOCK_SEQPACKET sockets: one listens, one is not
# connected, some have unread packets.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/packets.py"
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
take "$tmp/packets" -r
end_taken
restore "$tmp/packets"
touch "$log.visit"
until_true grep -q '^visits 9' "$log"
ok $? 'packets: connects to itself'
goes_on packets
finish 6
