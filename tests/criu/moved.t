#!/usr/bin/env bash
# TCP connections move with a process: to the same place, and to another network
# namespace with the same address.  Blocks are sent both ways all the time; none
# is lost or duplicated.  If the move fails or snap is killed, they go on.
# beside: others unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

command -v ip >/dev/null || skip_all 'no ip'
command -v nft >/dev/null || skip_all 'no nft'
# network: a client that reaches 192.0.2.1 in the namespaces here or there
network() {
	for ns in client here there; do
		ip netns add $ns && ip -n $ns link set lo up || return 1
	done
	for ns in here there; do
		ip -n client link add $ns type veth peer name veth netns $ns ||
		    return 1
		ip -n $ns addr add 192.0.2.1/32 dev lo
		ip -n $ns link set veth up
		ip -n client link set $ns up
	done
	ip -n client addr add 198.51.100.1/32 dev lo
	ip -n client addr add 203.0.113.1/30 dev here
	ip -n here addr add 203.0.113.2/30 dev veth
	ip -n client addr add 203.0.113.5/30 dev there
	ip -n there addr add 203.0.113.6/30 dev veth
	ip -n here route add 198.51.100.1 via 203.0.113.1
	ip -n there route add 198.51.100.1 via 203.0.113.5
	ip -n client route add 192.0.2.1 via 203.0.113.2 src 198.51.100.1
}
network 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
nsenter --net=/run/netns/here nft list tables >"$tmp/err" 2>&1 ||
    skip_all "nft: $(head -n 1 "$tmp/err")"

in=(nsenter --net=/run/netns/here)
start "$here/stream.py" serve 192.0.2.1 8017
server=$log serving=$pid
in=(nsenter --net=/run/netns/client)
start "$here/stream.py" fetch 192.0.2.1 8017
client=$log
peer=$pid pid=$serving log=$server
served "$client" 'before'

timeout 60 "$BUILD/snap" -d "$pid" 2>"$tmp/err"
is "$? $(apart_from_criu)" '0 snap: all processes can be restored' \
    '-d: it can be restored'
timeout 60 "$BUILD/snap" -k -r "$pid" 2>"$tmp/err" >/dev/full
is "$? $(tables here)" '1 ' 'no space: not moved, unlocked'
served "$client" 'no space'

# snap has locked the connections, and waits for a reader
mkfifo "$tmp/fifo"
sleep 1000 <>"$tmp/fifo" &
sleeper=$!
disown "$sleeper"
"$BUILD/snap" -k -r "$pid" >"$tmp/fifo" 2>"$tmp/err" &
snap=$!
disown "$snap"
locked() {
	[ -n "$(tables here)" ]
}
until_true locked
ok $? 'connections are locked'
# now their state has been read; see snap-internals(7), BUGS
head -c 1 <"$tmp/fifo" >"$tmp/first"
kill -KILL "$snap"
unlocked() {
	! locked
}
until_true unlocked
ok $? 'snap is killed: unlocked'
kill "$sleeper"
served "$client" 'snap is killed'

# moved NS: move $pid to images with snap -k and snapload
moved() {
	rm -rf "$tmp/images"
	timeout 60 "$BUILD/snap" -k -r "$pid" 2>"$tmp/err" >"$tmp/snap"
	is "$? $(apart_from_criu | sed 's/CRIU-[0-9a-f]*/NAME/')" "0 snap: \
TCP connections stay locked until they are restored on this machine or \
\"nft delete table inet NAME\" is run" "$1: moved" || cat "$tmp/err" | diag
	until_true reaped "$pid"
	try "$1: snapload" timeout 60 "$BUILD/snapload" -D "$tmp/images" \
	    "$tmp/snap"
	cp "$tmp/try" "$tmp/command"
	cp "$tmp/try" "$tmp/err"
	is "$(apart_from_criu)" \
	    "criu restore -d -D $tmp/images --tcp-established" "$1: the command"
	is "$(tables here | wc -l)" 1 "$1: locked"
}

in=(nsenter --net=/run/netns/here)
moved here
restore "$tmp/images"
is "$(tables here)" '' 'here: unlocked'
served "$client" 'here'

moved there
in=(nsenter --net=/run/netns/there)
restore "$tmp/images"
# only now: without the socket, the answer to a packet would be a reset
ip -n client route replace 192.0.2.1 via 203.0.113.6 src 198.51.100.1
served "$client" 'there'
is "$(awk '$3 != 0' "$server")" '' 'there: the server has no gap'
[ "/proc/$pid/ns/net" -ef /run/netns/there ]
ok $? 'there: it is in the other namespace'

# back with snap --to; the address moves when all is restored
nsenter --net=/run/netns/here nft flush ruleset
unshare -pf --mount-proc --kill-child sh -c 'trap : TERM
while :; do sleep 0.1; done' &
disown $!
init=$!
until_true pgrep -P $init >/dev/null
receive="nsenter -t $(pgrep -P $init) -p -m --net=/run/netns/here env \
    PATH=${criu%/*}:$PATH $BUILD/snapload --receive"
timeout 60 "$BUILD/snap" --to "$receive | while read -r line; do
	[ \"\$line\" != restored ] || ip -n client route replace 192.0.2.1 \
	    via 203.0.113.2 src 198.51.100.1
	echo \"\$line\"
done" "$pid" 2>"$tmp/err" >/dev/null
is "$? $(apart_from_criu | sed 's/CRIU-[0-9a-f]*/NAME/')" "0 snap: \
TCP connections stay locked until they are restored on this machine or \
\"nft delete table inet NAME\" is run" 'snap --to'
until_true reaped "$pid"
served "$client" 'snap --to'
is "$(awk '$3 != 0' "$server")" '' 'snap --to: the server has no gap'
pkill -KILL -f "$here/stream.py serve"
pid=$peer
end

# a move with --tcp-close
cat >"$tmp/waits" <<'END'
#!/usr/bin/env python3
import os, socket, sys, time
sys.path.insert(0, sys.argv[2])
from counter import apart
log = apart(sys.argv[1])
server = socket.create_server(('192.0.2.1', 8018))
for i in range(20):
    os.write(log, b'listens\n')
peer = server.accept()[0]
os.write(log, b'accepted\n')
os.write(log, b'received %r\n' % peer.recv(1))
time.sleep(1000)
END
chmod +x "$tmp/waits"
in=(nsenter --net=/run/netns/here)
start "$tmp/waits" "$here"
nsenter --net=/run/netns/client python3 -c 'import socket, time
peer = socket.create_connection(("192.0.2.1", 8018))
time.sleep(1000)' &
client=$!
disown $client
until_true grep -q '^accepted' "$log"
timeout 60 "$BUILD/snap" --to "${receive/netns\/here/netns/there} --tcp-close" \
    "$pid" 2>"$tmp/err" >/dev/null
is "$? $(grep -c 'is closed when it is restored' "$tmp/err")" '0 1' \
    '--tcp-close: moved, and the closed connection is named'
until_true grep -q '^received' "$log"
is "$(tail -n 1 "$log")" "received b''" '--tcp-close: it reads end of file'
kill -KILL "$init" "$client"
end

# urgent data: criu restores the bytes before it alone.  The end of the stream
# is none
cat >"$tmp/urgent" <<'END'
#!/usr/bin/env python3
import os, socket, sys, time
sys.path.insert(0, sys.argv[2])
from counter import apart
log = apart(sys.argv[1])
server = socket.create_server(('192.0.2.1', 8019))
near = socket.create_connection(('192.0.2.1', 8019))
far = server.accept()[0]
server.close()
if sys.argv[3] == 'end':
    near.send(b'hello')
    near.shutdown(socket.SHUT_WR)
else:
    near.send(b'hello')
    near.send(b'U', socket.MSG_OOB)
    near.send(b'after')
time.sleep(0.1)
if sys.argv[3] == 'taken':
    far.recv(1, socket.MSG_OOB)
for i in range(20):
    os.write(log, b'sent\n')
time.sleep(1000)
END
chmod +x "$tmp/urgent"
in=(nsenter --net=/run/netns/here)
refused="1 an IP socket: it has unread urgent data: cannot be restored \
(snapload -f tcp leaves it out)"
for case in "taken $refused" "unread $refused" 'end 0 '; do
	start "$tmp/urgent" "$here" "${case%% *}"
	timeout 60 "$BUILD/snap" -k -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(sed -n 's/.*, descriptor [0-9]*: //p' "$tmp/err")" \
	    "${case#* }" "urgent data: ${case%% *}"
	end
done
finish 36
