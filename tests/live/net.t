#!/usr/bin/env bash
# The recipes of snap(7) for networks, word for word, between two network
# namespaces that a pair of veth devices joins: near, and far.  There, ssh is
# a TCP connection, and so is nc where there is none.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

is_root || skip_all 'network namespaces need root'
command -v ip >/dev/null || skip_all 'no ip'
near=near.$$
far=far.$$
{
	ip netns add "$near" && ip netns add "$far" &&
	    ip -n "$near" link add veth type veth peer name veth netns "$far"
} 2>"$tmp/err" || {
	ip netns del "$near"
	ip netns del "$far"
	skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
} 2>/dev/null
trap 'ip netns del "$near"; ip netns del "$far"; cleanup' EXIT
for n in "$near 192.0.2.1" "$far 192.0.2.2"; do
	ip -n "${n% *}" addr add "${n#* }/24" dev veth
	ip -n "${n% *}" link set lo up
	ip -n "${n% *}" link set veth up
done

# What the recipes run: our programs, and these.
mkdir "$tmp/bin" "$tmp/near" "$tmp/far"
for p in snap snapcat snapcore snapload snapls; do
	ln -s "$BUILD/$p" "$tmp/bin"
done
cat >"$tmp/bin/ssh" <<EOF
#!/bin/sh
exec python3 "$tests/live/ssh.py" "/run/netns/$far" "$tmp/far" "\$@"
EOF
# nc -l PORT, there, or nc -N far PORT
cat >"$tmp/bin/nc" <<EOF
#!/bin/sh
for port; do :; done
nc='$(command -v nc)'
[ -z "\$nc" ] || exec "\$nc" "\$1" 192.0.2.2 "\$port"
[ "\$1" = -l ] && how=listen || how=send
exec python3 "$tests/criu/tcp.py" \$how 192.0.2.2 "\$port"
EOF
chmod +x "$tmp/bin/ssh" "$tmp/bin/nc"

# at WHERE COMMAND: a command of snap(7), near or far, with our process in it
at() {
	local where=$1 ns=$1

	ns=$near
	[ "$where" = near ] || ns=$far
	(cd "$tmp/$where" && PATH=$tmp/bin:$PATH timeout 30 nsenter \
	    --net="/run/netns/$ns" bash -o pipefail -c "${2//4711/$pid}")
}

# The commands of snap(7) that have some words in them.
recipe() {
	page_commands "$tests/../cmd/snap/snap.7" | grep -F -- "$1"
}

target "$targets/anon"
line=$(recipe '| ssh far '\''cat')
try "$line" at near "$line"
check "$tmp/far/web.snap" "$pid" "it is there"
line=$(recipe 'ssh root@far snap ')
# the process that is there has another name than nginx
line=${line/nginx >/$pid >}
try "$line" at near "$line"
check "$tmp/near/nginx.snap" "$pid" "it is here"

line=$(recipe 'nc -l')
listens() {
	nsenter --net="/run/netns/$far" cat /proc/net/tcp /proc/net/tcp6 |
	    grep -q "^[^:]*: [0-9A-F]*:$(printf %04X "$1") .* 0A "
}
at far "${line#far\$ }" >"$tmp/list" 2>&1 &
job=$!
until_true listens "$(tr -dc 0-9 <<<"${line%|*}")"
line2=$(recipe '| nc ')
try "$line2" at near "${line2#near\$ }"
wait "$job"
is "$? $(awk 'NR == 2 { print $1 }' "$tmp/list")" "0 $pid" "$line"

# images of CRIU are made of those that a test has
python3 "$tests/criu/criuasm.py" make large "$tmp/near/images"
line=$(recipe 'snapload -u -D images |')
try "$line" at near "$line"
try "the images are there" python3 "$tests/criu/criuasm.py" same \
    "$tmp/near/images" "$tmp/far/images"

# The network breaks: one line, and the target runs on.
ip -n "$far" link set veth mtu 1280
at near 'snap 4711 | ssh far "head -c 100000 >/dev/null; exit 1"' \
    >"$tmp/out" 2>&1
ok $(($? == 0)) "who reads there ends"
is "$(grep -c 'snap: standard output: write: Broken pipe' "$tmp/out")" 1 \
    "snap says so, and why"
let_go "$pid" "the target runs on"
unnoticed "$pid" "and noticed nothing"
finish 12
