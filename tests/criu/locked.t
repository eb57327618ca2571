#!/usr/bin/env bash
# Connections of TCP go along with processes that are moved at once from several
# network namespaces, and where iptables(8) has to lock them because nft(8) is
# not there.  Who runs snap ignores SIGCHLD.  Blocks are sent both ways all the
# while, and none is lost or comes twice.
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

# by namespace: the server, what it says, and what its client says
declare -A server said client peer

begin() {
	in=(nsenter --net="/run/netns/$1")
	start "$here/stream.py" serve 127.0.0.1 8017
	server[$1]=$pid said[$1]=$log
	start "$here/stream.py" fetch 127.0.0.1 8017
	peer[$1]=$pid client[$1]=$log
	in=(env)
}

# restored NS: its server goes on there
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
    "0 2" 'moved, of two namespaces' || diag <"$tmp/err"
until_true reaped "${server[one]}"
until_true reaped "${server[two]}"
is "$(tables one | wc -l) $(tables two | wc -l)" "1 1" 'both are locked'
for ns in one two; do
	restored $ns
	is "$(tables $ns)" '' "$ns: not locked any more"
	served "${client[$ns]}" "$ns"
done

# nobody waits longer than -t for a program that does not end
nft=(/usr/sbin/nft /sbin/nft /usr/bin/nft /usr/local/sbin/nft)
printf '#!/bin/sh\nexec /bin/sleep 1000\n' >"$tmp/sleeps"
chmod 755 "$tmp/sleeps"
nsenter --net=/run/netns/one nft add table inet other
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || mount --bind "$tmp/sleeps" "$f"
done
timeout 60 "$BUILD/snap" -t 1 "${server[one]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c ': its network: no answer in 1 seconds' "$tmp/err")" "1 1" \
    'nft does not end: what it would list is missing' || diag <"$tmp/err"
timeout 60 "$BUILD/snap" -k -t 1 "${server[one]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'connections of TCP: no answer in 1 seconds' "$tmp/err") $(
    grep -c 'nothing written, no process killed' "$tmp/err")" "1 1 1" \
    'nft does not end: no process killed' || diag <"$tmp/err"
served "${client[one]}" 'as before'
# it locks them, and then does not end: they are unlocked
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || umount "$f"
done
cp "$(command -v nft)" "$tmp/nft"
printf '#!/bin/sh\n%s "$@" && echo >>%s\nexec /bin/sleep 1000\n' "$tmp/nft" \
    "$tmp/ran" >"$tmp/sleeps"
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || mount --bind "$tmp/sleeps" "$f"
done
timeout 60 "$BUILD/snap" -k -t 1 "${server[one]}" 2>"$tmp/err" >"$tmp/snap"
is "$? $(grep -c 'nothing written, no process killed' "$tmp/err")" "1 1" \
    'nft locks and does not end: no process killed' || diag <"$tmp/err"
unlocked() {
	[ "$(wc -l <"$tmp/ran")" -ge 2 ]
}
until_true unlocked
for f in "${nft[@]}"; do
	[ ! -e "$f" ] || umount "$f"
done
is "$(tables one)" 'table inet other' \
    'nft locks and does not end: unlocked'
nsenter --net=/run/netns/one nft delete table inet other

# without nft
if ! command -v iptables-save >/dev/null ||
    ! nsenter --net=/run/netns/one iptables-save >"$tmp/err" 2>&1; then
	skip 'by iptables' 'no iptables' 10
	finish 30
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
is "$(rules)" 0 'not locked any more'
served "${client[one]}" 'by iptables'
# the lock that iptables-restore -w waits for is of a process that is stopped
held() {
	! flock -n /run/xtables.lock true
}
legacy=$(command -v xtables-legacy-multi)
if [ -z "$legacy" ] || ! printf '*mangle\nCOMMIT\n' |
    nsenter --net=/run/netns/one iptables-legacy-restore -w 2>"$tmp/err"; then
	skip 'a stopped process has xtables.lock' 'no iptables-legacy' 3
else
	restore=$(readlink -f "$(command -v iptables-restore)")
	mount --bind "$legacy" "$restore"
	flock /run/xtables.lock sleep 1000 &
	holder=$!
	until_true held
	timeout 60 "$BUILD/snap" -k -r -t 1 "${server[one]}" $holder \
	    2>"$tmp/err" >"$tmp/snap"
	is "$? $(grep -c 'connections of TCP: no answer in 1 seconds' "$tmp/err")" \
	    "1 1" 'a stopped process has xtables.lock: no process killed' ||
	    diag <"$tmp/err"
	umount "$restore"
	pkill -P $holder
	served "${client[one]}" 'as before'
fi
for ns in one two; do
	pid=${peer[$ns]}
	end
	pid=${server[$ns]}
	end
done
finish 30
