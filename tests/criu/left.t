#!/usr/bin/env bash
# snapload -f leaves out only the kinds of things that it names, with a line for
# each; the rest is restored, and goes on.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# load_leaving OPTION ...: set $rc, and $err to the messages without numbers
load_leaving() {
	timeout 60 "$BUILD/snapload" "$@" -D "$tmp/images" "$tmp/snap" \
	    >"$tmp/command" 2>"$tmp/err"
	rc=$?
	err=$(sed -E "s/process $pid, descriptor [0-9]+/it/
	    s,$tmp/,," "$tmp/err")
}

start "$here/keeper.py"
until_true longer 30
grep -q '^eventfd-semaphore' "/proc/$pid/fdinfo"/* ||
    skip_all 'Linux before 6.5 does not show semaphore eventfds'
"$BUILD/snap" -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" '0 ' 'snap'
netlink='it: a netlink socket that is connected to another'
pidfd='it: a pidfd of a process outside the snapshot'
eventfd='it: an eventfd with EFD_SEMAPHORE, which criu does not support'
load_leaving
is "$rc $err" "1 snapload: $netlink: cannot be restored (-f netlink leaves it out)
snapload: $pidfd: cannot be restored (-f pidfd leaves it out)
snapload: $eventfd: cannot be restored (-f eventfd leaves it out)
snapload: nothing is written (-f eventfd,netlink,pidfd writes the rest)" \
    'without -f nothing is left out'
load_leaving -f netlink,tty,pidfd
is "$rc $err" "1 snapload: $eventfd: cannot be restored (-f eventfd leaves it out)
snapload: nothing is written (-f eventfd,netlink,pidfd writes the rest)" \
    '-f: a kind that is not named is not left out'
[ ! -e "$tmp/images" ]
ok $? 'nothing is written'
load_leaving -f netlink -f eventfd,events
is "$rc $(cut -d ' ' -f -8 <<<"$err")" \
    '2 snapload: -f events: not one of aio, credentials,' \
    '-f: an unknown word is refused'
load_leaving -f
is "$rc $(cut -d ' ' -f -6 <<<"$err")" '2 snapload: -f -D: not one of' \
    '-f: a missing word is refused'
load_leaving -u -f netlink
is "$rc" 2 '-f with -u is refused'
load_leaving -f netlink,pidfd -f eventfd
is "$rc $err" "1 snapload: $netlink: left out
snapload: $pidfd: left out
snapload: $eventfd: left out" '-f: named kinds are left out, with a line each'
end_taken
restore "$tmp/images"
until_true longer 20
is "$(cut -d ' ' -f 1 "$log" | sort -u)" keeper 'it goes on without them'
end
finish 10
