#!/usr/bin/env bash
# From one machine to another: snap takes a program in a network namespace and
# sends the snapshot through TCP to other network and pid namespaces.  There it
# is restored with the same process IDs, while the original runs on.  (net.t
# says why nsenter is used.)
#
# The directory of the log is another one there, mounted at the same path, with
# copies of the files and an empty log.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

two_networks

# runs there; $tmp/loaded and $tmp/restored have the results
cat >"$tmp/there.sh" <<'EOT'
mount --bind "$tmp/copy" "$tmp/work" &&
    python3 "$here/tcp.py" listen 192.0.2.2 4007 |
    "$BUILD/snapload" -D "$tmp/there" 2>"$tmp/there.out" >"$tmp/said"
echo "${PIPESTATUS[*]} $(grep -v ': needs criu ' "$tmp/there.out")" >"$tmp/loaded"
until [ -e "$tmp/go" ]; do sleep 0.05; done
timeout 60 "$criu" restore -d -D "$tmp/there" -o "$tmp/there.log" \
    >>"$tmp/there.out" 2>&1
echo $? >"$tmp/restored"
# it ends with its pid namespace, whose init is this
readlink "/proc/$pid/ns/net" "/proc/$pid/ns/pid" >"$tmp/there.ns"
exec sleep 1000
EOT

mkdir "$tmp/work" "$tmp/copy"
# process IDs that are unused there
echo 5000 >/proc/sys/kernel/ns_last_pid
in=(nsenter --net=/run/netns/here)
# the log is in the directory that is replaced there
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
is "${PIPESTATUS[*]} $(cat "$tmp/try")" "0 0 " "snap sends the snapshot"
# copy shared files now: they are not in the snapshot, and may be newer
cp -a "$tmp/work/." "$tmp/copy"
: >"$tmp/copy/${log##*/}"
touch "$tmp/go"
until_true test -s "$tmp/restored"
is "$(cat "$tmp/loaded")" "0 0 " "there, snapload writes images"
ok "$(cat "$tmp/restored")" "there, criu restores it" || {
	cat "$tmp/there.out"
	grep Error "$tmp/there.log"
} | diag
until_true test -s "$tmp/there.ns"
ok $(($(readlink "/proc/$pid/ns/net" "/proc/$pid/ns/pid" |
    grep -cxFf - "$tmp/there.ns"))) "there, it is in other namespaces" ||
    diag <"$tmp/there.ns"
# the original goes on here, the copy there
n=$(lines)
counts_on "here" "$n"
cp "$log" "$tmp/log.was"
log=$tmp/copy/${log##*/}
goes_on "there"
kill "$peer"
end
finish 8
