#!/usr/bin/env bash
# criu restores an init and its tree in a new network namespace, with the links,
# addresses, routes, rules, settings and packet filters, and their sockets.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

command -v ip >/dev/null || skip_all 'no ip'
ip -V 2>&1 | grep -q iproute2 || skip_all 'no ip of iproute2'

# network PID: what ip, nft and /proc/sys print of its network namespace,
# without values that change by themselves
network() {
	nsenter -t "$1" -n sh -c 'ip addr; ip route show table all
	    ip -6 route show table all; ip rule; ip -6 rule
	    nft list ruleset 2>/dev/null; cd /proc/sys/net
	    grep -r . ipv4/conf ipv6/conf unix 2>/dev/null | sort' 2>&1 |
	    sed 's/ *valid_lft.*//; s/NO-CARRIER,//; s/ state [A-Z]*//
		s/ tentative//; /fe80::/d; /ff00::/d; /^ *$/d
		s/@if[0-9]*//; s/ nhid [0-9]*//'
}

cat >"$tmp/make" <<'END'
set -e
ip link set lo up
ip addr add 10.9.8.7/24 dev lo
ip -6 addr add fd00:9::1/64 dev lo nodad || :
ip route add 10.8.0.0/16 dev lo
ip route add blackhole 10.7.0.0/16 table 77
ip rule add from 10.9.8.0/24 table 77 priority 5
ip -6 rule add from fd00:9::/64 table 77 priority 6
ip link add br9 type bridge
ip link add veth8 type veth peer name veth9
ip link set veth9 master br9
ip link set veth8 address 02:00:00:00:00:08 mtu 1400
ip link set veth9 up
ip link set veth8 up
ip link set br9 up
ip addr add 10.6.0.1/24 dev veth8
ip route add default via 10.6.0.2
! ip nexthop add id 7 via 10.6.0.3 dev veth8 2>/dev/null ||
    ip route add 10.5.0.0/16 nhid 7
echo 1 >/proc/sys/net/ipv4/conf/veth8/forwarding
echo 0 >/proc/sys/net/ipv4/conf/default/send_redirects
echo 77 >/proc/sys/net/unix/max_dgram_qlen
if command -v nft >/dev/null; then
	nft 'add table inet mine; add chain inet mine in {
	    type filter hook input priority 0; }
	    add rule inet mine in tcp dport 9 drop'
fi
exec "$@"
END
in=(unshare --fork --pid --net sh "$tmp/make")
start "$here/served.py"
in=(env)
outside=$pid
pid=$(only_child "$outside")
network "$pid" >"$tmp/network"
ok "$(($(grep -c '10.9.8.7\|10.6.0.1\|blackhole\|veth8' "$tmp/network") < 4))" \
    "its network has our addresses and links"
until_true longer 40
take_resting "$tmp/there" -r
end_init "$outside"
restore "$tmp/there" --pidfile "$tmp/pidfile"
pid=$(cat "$tmp/pidfile")
goes_on "a network namespace"
network "$pid" >"$tmp/now"
cmp -s "$tmp/network" "$tmp/now"
ok $? "its network is as it was" ||
    diff "$tmp/network" "$tmp/now" | head -n 20 | diag
is "$(readlink "/proc/$pid/ns/net" | grep -c "$(readlink \
    /proc/self/ns/net)")" "0" "it is in its own network namespace"
kill -KILL "$pid"

# a container: its link leads to a bridge in the network of snap and criu
cat >"$tmp/make" <<'END'
set -e
ip link set lo up
ip link add eth0 type veth peer name cont8 netns outer
nsenter --net=/run/netns/outer ip link set cont8 master "$bridge" up
ip addr add 10.6.0.1/24 dev eth0
ip link set eth0 address 02:00:00:00:00:09 up
exec "$@"
END
ip netns add outer && ip -n outer link add br8 type bridge &&
    ip -n outer link set br8 up
is "$?" 0 "a network outside"
in=(nsenter --net=/run/netns/outer)
in+=(env bridge=br8 unshare --fork --pid --net sh "$tmp/make")
start "$here/served.py" 10.6.0.1
in=(nsenter --net=/run/netns/outer)
outside=$pid
pid=$(only_child "$outside")
network "$pid" >"$tmp/network"
take_resting "$tmp/bridged" -r
is "$(grep -o " --external 'veth.*" "$tmp/command")" \
    " --external 'veth[eth0]:cont8@br8'" \
    "the command names the link and its bridge"
end_init "$outside"
gone_link() {
	! ip -n outer link show cont8 >/dev/null 2>&1
}
until_true gone_link
rm -f "$tmp/pidfile"
restore "$tmp/bridged" --pidfile "$tmp/pidfile"
pid=$(cat "$tmp/pidfile")
goes_on "a container"
network "$pid" >"$tmp/now"
cmp -s "$tmp/network" "$tmp/now"
ok $? "its network is as it was" ||
    diff "$tmp/network" "$tmp/now" | head -n 20 | diag
is "$(ip -n outer -o link show master br8 | grep -c 'cont8@.*[<,]UP')" 1 \
    "its link is in the bridge"
kill -KILL "$pid"

# settings that criu does not restore are listed
cat >"$tmp/make" <<'END'
set -e
ip link set lo up
ip link add br7 type bridge stp_state 1
ip link add veth6 type veth peer name veth7
ip link set veth6 up
ip addr add 10.4.0.1/24 dev veth6
ip neigh add 10.4.0.2 lladdr 02:00:00:00:00:07 nud permanent dev veth6
tc qdisc add dev veth6 root pfifo limit 7 2>/dev/null || :
echo 80 >/proc/sys/net/ipv4/ip_unprivileged_port_start
exec "$@"
END
in=(unshare --fork --pid --net sh "$tmp/make")
start "$here/served.py"
in=(env)
outside=$pid
pid=$(only_child "$outside")
nsenter -t "$pid" -n tc qdisc show dev veth6 2>/dev/null | sed -n \
    's/^qdisc \(pfifo\) [1-9].*/the queueing discipline \1 of link veth6/p' \
    >"$tmp/queueing"
rest
"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -c 2>&1 >/dev/null |
    sed "s/snapload: process $pid: //; s/ of its net .*//" \
    >"$tmp/told"
is "$(cat "$tmp/told")" "the option stp_state of link br7
1 permanent neighbour$(sed '1s/^/\n/' "$tmp/queueing")
the setting net/ipv4/ip_unprivileged_port_start, 80," \
    'lost settings of a network are listed'
kill -KILL "$outside" "$pid"
until_true gone "$pid"

cat >"$tmp/make" <<'END'
ip link set lo up
ip link add odd0 type dummy || ip link add odd0 type ifb
exec "$@"
END
in=(unshare --fork --pid --net sh "$tmp/make")
start "$here/served.py"
in=(env)
outside=$pid
pid=$(only_child "$outside")
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
if nsenter -t "$pid" -n ip link show odd0 >/dev/null 2>&1; then
	"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c "process $pid: its net namespace: link odd0 \
is of kind [a-z]*: cannot be restored (-f namespaces leaves it out)" \
	    "$tmp/err")" "1 1" "a link that criu cannot create: refused" ||
	    diag <"$tmp/err"
	"$BUILD/snapload" -f namespaces -D "$tmp/left" "$tmp/snap" \
	    >"$tmp/out" 2>&1
	is "$? $(grep -c '^criu restore' "$tmp/out") $(find "$tmp/left" \
	    -name 'netns-*')" "1 1 " "-f namespaces leaves out the namespace"
else
	skip "a link that criu cannot create" "no such link" 2
fi
kill -KILL "$outside" "$pid"

# a closing connection, and a packet filter that may drop packets
cat >"$tmp/closing" <<'END'
#!/usr/bin/env python3
import os, socket, sys, time
os.setsid()
s = socket.create_server(('127.0.0.1', 7))
c = socket.create_connection(('127.0.0.1', 7))
a = s.accept()[0]
c.close()
with open(sys.argv[1], 'a', buffering=1) as log:
    for n in range(100000):
        print('closing', n + 1, a.recv(1) != b'', file=log)
        time.sleep(.01)
END
chmod +x "$tmp/closing"
cat >"$tmp/make" <<'END'
set -e
ip link set lo up
nft 'add table inet mine; add chain inet mine in {
    type filter hook input priority 0; }
    add rule inet mine in tcp dport 9 drop'
exec "$@"
END
if command -v nft >/dev/null; then
	in=(unshare --fork --pid --net sh "$tmp/make")
	start "$tmp/closing"
	in=(env)
	outside=$pid
	pid=$(only_child "$outside")
	"$BUILD/snap" -kr "$pid" >"$tmp/snap" 2>"$tmp/err"
	is "$? $(grep -c 'closing, and a packet filter of its net namespace' \
	    "$tmp/err") $(kill -0 "$pid" && echo runs)" '1 1 runs' \
	    'a closing connection with a packet filter: refused'
	kill -KILL "$outside" "$pid"
else
	skip 'a closing connection with a packet filter' 'no nft'
fi
finish 19
