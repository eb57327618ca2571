#!/usr/bin/env bash
# A process that listens for packets, has a socket that is not connected, and
# packets that wait, is taken by snap and restored by criu.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

start "$here/packets.py"
is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
take "$tmp/packets" -r
end_taken
restore "$tmp/packets"
touch "$log.visit"
until_true grep -q '^visits 9' "$log"
ok $? 'packets: visits itself'
goes_on packets
finish 6
