#!/usr/bin/env bash
# A PostgreSQL server, which has System V shared memory, is moved by snap -k
# during transactions: its sessions go on, and new ones are served.
# beside: others unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | tail -n 1)
[ -x "$postgres" ] || skip_all 'no postgres'
command -v nft >/dev/null || skip_all 'no nft'
command -v ip >/dev/null || skip_all 'no ip'
{ ip netns add own && ip -n own link set lo up; } 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
in=(nsenter --net=/run/netns/own)
"${in[@]}" nft list tables >"$tmp/err" 2>&1 ||
    skip_all "nft: $(head -n 1 "$tmp/err")"
# files that killed processes leave there
mount -t tmpfs none /dev/shm
port=8018
chmod 711 "$tmp"
mkdir "$tmp/data"
chown 65534:65534 "$tmp/data"
# the server does not run as root
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
why=$("${nobody[@]}" "${postgres%/*}/initdb" -U x -A trust --no-sync \
    -D "$tmp/data" 2>&1) || skip_all "initdb: ${why##*$'\n'}"

# a new session, whose query returns a sentence
request='\0\0\0\42\0\3\0\0user\0x\0database\0postgres\0\0'
request+="Q\0\0\0 select 'here is'||' a file'\0"
load() {
	timeout 60 "${in[@]}" python3 "$here/load.py" $port "$request" \
	    'here is a file' "$1"
}
answers() {
	[ "$(load 1)" = 1 ]
}
counted() {
	[ "$(grep -c "^session$1 " "$client")" -gt "$2" ]
}
# sessions WHAT: each of the four counts on, without a gap
sessions() {
	local i n

	for i in 1 2 3 4; do
		n=$(grep -c "^session$i " "$client")
		until_true counted $i $((n + 20)) || break
	done
	ok $? "$1: the sessions go on"
	is "$(awk '$3 != 0 || $2 != ++n[$1]' "$client" | head -n 3)" '' \
	    "$1: without a gap"
}
# segments: shared memory, without the creator, which criu does not restore
segments() {
	nsenter --ipc="/proc/$pid/ns/ipc" cat /proc/sysvipc/shm |
	    awk 'NR > 1 { print $1, $2, $3, $4, $8, $9 }'
}
family() {
	echo "$pid"
	pgrep -P "$pid"
}
all_gone() {
	local p

	for p in $were; do
		gone "$p" || return 1
	done
}

(for fd in /proc/self/fd/*; do
	fd=${fd##*/}
	[ "$fd" -lt 3 ] || eval "exec $fd<&-"
done
cd "$tmp" && exec "${in[@]}" setsid "${nobody[@]}" "$postgres" -p $port \
    -h 127.0.0.1 -F -k '' -D "$tmp/data" </dev/null >/dev/null 2>&1) &
pid=$!
disown "$pid"
until_true answers
ok $? 'it answers'
client=$tmp/client
"${in[@]}" python3 "$here/sessions.py" $port "$client" &
peer=$!
disown "$peer"
until_true test -s "$client"
sessions 'before'
before=$(segments)
is "$(wc -l <<<"$before")" 1 'it has a shared memory segment'
were=$(family)
timeout 60 "$BUILD/snap" -k -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
is "$? $(apart_from_criu | sed 's/CRIU-[0-9a-f]*/NAME/')" "0 snap: TCP connections \
stay locked until they are restored on this machine or \"nft delete table inet \
NAME\" is run" 'moved'
until_true all_gone
try 'snapload' timeout 60 "$BUILD/snapload" -D "$tmp/there" "$tmp/snap"
cp "$tmp/try" "$tmp/command"
restore "$tmp/there"
sessions 'after'
is "$(load 50)" 50 'new sessions are served'
is "$(segments)" "$before" 'the segment is the same'
kill -KILL "$peer"
kill -STOP "$pid"
for p in $(family); do
	kill -KILL "$p"
done
finish 11
