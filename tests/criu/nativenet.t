#!/usr/bin/env bash
# From one machine to another: a program in a network and a PID namespace is
# taken by snap, and its snapshot goes through TCP to others, where it is
# restored, with the process ids that it has, while here it still runs.  (That
# nsenter is what restores in another network namespace is told in net.t.)
#
# There the directory of its log is another one, by the same name, with copies
# of its files and an empty log.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

two_networks

# What happens there; $1 tells how it went.
cat >"$tmp/there.sh" <<'EOT'
mount --bind "$tmp/copy" "$tmp/work" &&
    python3 "$here/tcp.py" listen 192.0.2.2 4007 |
    "$BUILD/snapload" -D "$tmp/there" 2>"$tmp/there.out" >"$tmp/said"
echo "${PIPESTATUS[*]} $(grep -v ': needs criu ' "$tmp/there.out")" >"$tmp/loaded"
until [ -e "$tmp/go" ]; do sleep 0.05; done
timeout 60 "$criu" restore -d -D "$tmp/there" -o "$tmp/there.log" \
    >>"$tmp/there.out" 2>&1
echo $? >"$tmp/restored"
# it ends with its namespace, which ends with this
readlink "/proc/$pid/ns/net" "/proc/$pid/ns/pid" >"$tmp/there.ns"
exec sleep 1000
EOT

mkdir "$tmp/work" "$tmp/copy"
# process ids that nobody has there
echo 5000 >/proc/sys/kernel/ns_last_pid
in=(nsenter --net=/run/netns/here)
# the log is in the directory that is another one there
lesser=()
# as in native.t
{ criu_from 4.1 && may_dump; } || lesser=(lesser)
tmp=$tmp/work start carryon "${lesser[@]}"
until_true longer 150
cp "$log" "$tmp/log.before"
export tmp here BUILD criu pid
nsenter --net=/run/netns/there unshare --fork --pid --mount --mount-proc \
    --kill-child bash "$tmp/there.sh" &
peer=$!
nsenter --net=/run/netns/here timeout 60 "$BUILD/snap" -r "$pid" \
    2>"$tmp/try" | nsenter --net=/run/netns/here timeout 60 \
    python3 "$here/tcp.py" send 192.0.2.2 4007 2>>"$tmp/try"
is "${PIPESTATUS[*]} $(cat "$tmp/try")" "0 0 " "snap to there"
# shared files are not in a snapshot, and may be newer than it
cp -a "$tmp/work/." "$tmp/copy"
: >"$tmp/copy/${log##*/}"
touch "$tmp/go"
until_true test -s "$tmp/restored"
is "$(cat "$tmp/loaded")" "0 0 " "there, snapshot to images"
ok "$(cat "$tmp/restored")" "there, restored" || {
	cat "$tmp/there.out"
	grep Error "$tmp/there.log"
} | diag
until_true test -s "$tmp/there.ns"
ok $(($(readlink "/proc/$pid/ns/net" "/proc/$pid/ns/pid" |
    grep -cxFf - "$tmp/there.ns"))) "in other namespaces" ||
    diag <"$tmp/there.ns"
# here it goes on, and there a copy of it
n=$(lines)
counts_on "here" "$n"
cp "$log" "$tmp/log.was"
log=$tmp/copy/${log##*/}
goes_on "there"
kill "$peer"
end
finish 8
