#!/usr/bin/env bash
# TCP connections move with processes of several network namespaces; and if
# there is no nft(8), iptables(8) locks them.  snap is run with SIGCHLD ignored.
# Blocks are sent both ways all the time; none is lost or duplicated.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

command -v ip >/dev/null || skip_all 'no ip'
command -v nft >/dev/null || skip_all 'no nft'
for ns in one two; do
	{ ip netns add $ns 2>"$tmp/err" && ip -n $ns link set lo up; } ||
	    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
done
nsenter --net=/run/netns/one nft list tables >"$tmp/err" 2>&1 ||
    skip_all "nft: $(head -n 1 "$tmp/err")"

# by namespace: server, its log, the log of its client, client
declare -A server said client peer

begin() {
	in=(nsenter --net="/run/netns/$1")
	start "$here/stream.py" serve 127.0.0.1 8017
	server[$1]=$pid said[$1]=$log
	start "$here/stream.py" fetch 127.0.0.1 8017
	peer[$1]=$pid client[$1]=$log
	in=(env)
}

# restored NS: restore the server of this namespace
restored() {
	rm -rf "$tmp/images"
	try "$1: snapload" timeout 60 "$BUILD/snapload" -p "${server[$1]}" \
	    -D "$tmp/images" "$tmp/snap"
	cp "$tmp/try" "$tmp/command"
	in=(nsenter --net="/run/netns/$1")
	restore "$tmp/images"
	in=(env)
}

begin one
begin two
served "${client[one]}" 'before'
timeout 60 env --ignore-signal=SIGCHLD "$BUILD/snap" -k "${server[one]}" \
    "${server[two]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'locked until.*nft delete table inet CRIU' "$tmp/err")" \
    "0 2" 'moved, from two namespaces' || diag <"$tmp/err"
until_true reaped "${server[one]}"
until_true reaped "${server[two]}"
is "$(tables one | wc -l) $(tables two | wc -l)" "1 1" 'both are locked'
for ns in one two; do
	restored $ns
	is "$(tables $ns)" '' "$ns: unlocked"
	served "${client[$ns]}" "$ns"
done

# the unlocker is killed, and the processes resume
"$BUILD/snap" -k "${server[one]}" 2>"$tmp/err" | {
	head -c 100000
	pkill -KILL -x snap-proxy
} >"$tmp/snap"
rc=${PIPESTATUS[0]}
table=$(tables one)
is "$rc $(grep -c "locked until.*nft delete $table\"" "$tmp/err")" "1 1" \
    'the unlocker is killed: a message' || diag <"$tmp/err"
# shellcheck disable=SC2086 # several words
nsenter --net=/run/netns/one nft delete $table
served "${client[one]}" 'after the unlocker was killed'

# the far side is lost after it was allowed to resume the processes
timeout 60 "$BUILD/snap" \
    --to 'echo ready; echo restored; timeout 2 cat >/dev/null' \
    "${server[one]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'locked until.*nft delete table inet CRIU' "$tmp/err") $(
    grep -c 'only when "ss -tn" no longer shows them' "$tmp/err")" "1 1 1" \
    'a lost answer: when to unlock' || diag <"$tmp/err"
# shellcheck disable=SC2046 # several words
nsenter --net=/run/netns/one nft delete $(tables one)
kill -CONT "${server[one]}"
served "${client[one]}" 'a lost answer: resumed'

# a program that does not end delays snap by -t at most
nft=(/usr/sbin/nft /sbin/nft /usr/bin/nft /usr/local/sbin/nft)
printf '#!/bin/sh\nexec /bin/sleep 1000\n' >"$tmp/sleeps"
chmod 755 "$tmp/sleeps"
nsenter --net=/run/netns/one nft add table inet other
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || mount --bind "$tmp/sleeps" "$f"
done
timeout 60 "$BUILD/snap" -t 1 "${server[one]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c ': its network: no answer in 1 seconds' "$tmp/err")" "1 1" \
    'nft does not end: its rules are missing' || diag <"$tmp/err"
timeout 60 "$BUILD/snap" -k -t 1 "${server[one]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'connections of TCP: no answer in 1 seconds' "$tmp/err") $(
    grep -c 'nothing written, no process killed' "$tmp/err")" "1 1 1" \
    'nft does not end: no process killed' || diag <"$tmp/err"
served "${client[one]}" 'after no answer of nft'
# nft locks the connections, and does not end: snap unlocks them
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || umount -l "$f"
done
cp "$(command -v nft)" "$tmp/nft"
cat >"$tmp/sleeps" <<EOF
#!/bin/sh
script=\$(cat)
echo "\$script" | $tmp/nft "\$@"
case \$script in
delete*)
	: >$tmp/deleted
	;;
esac
exec /bin/sleep 1000
EOF
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || mount --bind "$tmp/sleeps" "$f"
done
timeout 60 "$BUILD/snap" -k -t $((3 * TIMEFACTOR * $(busy))) "${server[one]}" \
    2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'nothing written, no process killed' "$tmp/err")" "1 1" \
    'nft locks and does not end: no process killed' || diag <"$tmp/err"
until_true test -e "$tmp/deleted"
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || umount -l "$f"
done
is "$(tables one)" 'table inet other' \
    'nft locks and does not end: unlocked'
nsenter --net=/run/netns/one nft delete table inet other

# without both
both=("${nft[@]}" "${nft[@]/%nft/iptables-restore}")
for f in "${both[@]}"; do
	[ ! -e "$f" ] || mount --bind /dev/null "$f"
done
timeout 60 "$BUILD/snap" --to 'echo ready; cat >/dev/null' "${server[one]}" \
    2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/err")" '1 snap: nothing written, no process killed: '\
'TCP connections would be closed' '--to: nothing can lock' || diag <"$tmp/err"
for f in "${both[@]}"; do
	[ ! -e "$f" ] || umount -l "$f"
done
served "${client[one]}" 'nothing can lock'

# without nft, iptables locks
if ! command -v iptables-save >/dev/null ||
    ! nsenter --net=/run/netns/one iptables-save >"$tmp/err" 2>&1; then
	skip 'by iptables' 'no iptables' 11
	finish 40
fi
rules() {
	nsenter --net=/run/netns/one iptables-save | grep -c 'mark.*DROP'
}
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || mount --bind /dev/null "$f"
done
timeout 60 env --ignore-signal=SIGCHLD "$BUILD/snap" -k "${server[one]}" \
    2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'locked until.*iptables(8) rules' "$tmp/err")" \
    "0 1" 'moved, without nft' || diag <"$tmp/err"
until_true reaped "${server[one]}"
is "$(rules)" 2 'locked by iptables'
restored one
is "$(rules)" 0 'iptables: unlocked'
served "${client[one]}" 'by iptables'
# two processes share both ends of a connection
cat >"$tmp/shares.py" <<'END'
import os
import signal
import socket

s = socket.create_server(('127.0.0.1', 0))
far = socket.create_connection(s.getsockname())
near = s.accept()[0]
s.close()
if os.fork() > 0:
    print('ready', flush=True)
signal.pause()
END
target nsenter --net=/run/netns/one python3 "$tmp/shares.py"
timeout 60 "$BUILD/snap" -kr "$pid" 2>"$tmp/err" >"$tmp/snap"
is "$? $(rules)" '0 4' 'iptables: two rules for each shared socket' ||
    diag <"$tmp/err"
in_one=(nsenter --net=/run/netns/one)
"${in_one[@]}" iptables-save | grep -v 'mark.*DROP' |
    "${in_one[@]}" iptables-restore
# iptables-restore -w waits for a lock that a stopped process holds
held() {
	! flock -n /run/xtables.lock true
}
legacy=$(command -v xtables-legacy-multi)
if [ -z "$legacy" ] || ! printf '*mangle\nCOMMIT\n' |
    nsenter --net=/run/netns/one iptables-legacy-restore -w 2>"$tmp/err"; then
	skip 'a stopped process holds xtables.lock' 'no iptables-legacy' 3
else
	restore=$(readlink -f "$(command -v iptables-restore)")
	mount --bind "$legacy" "$restore"
	flock /run/xtables.lock sleep 1000 &
	holder=$!
	until_true held
	timeout 60 "$BUILD/snap" -k -r -t 1 "${server[one]}" $holder \
	    2>"$tmp/err" >"$tmp/snap"
	is "$? $(grep -c 'connections of TCP: no answer in 1 seconds' "$tmp/err")" \
	    "1 1" 'a stopped process holds xtables.lock: no process killed' ||
	    diag <"$tmp/err"
	umount -l "$restore"
	pkill -P $holder
	served "${client[one]}" 'after the lock was held'
fi
for ns in one two; do
	pid=${peer[$ns]}
	end
	pid=${server[$ns]}
	end
done
finish 40
