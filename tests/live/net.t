#!/usr/bin/env bash
# The examples for networks in snap(7), between two network namespaces, near and
# far, that a pair of veth devices joins.  A TCP connection stands in for ssh,
# and for nc if there is none.
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

# Programs that the examples run: ours, and stand-ins for ssh and nc.
mkdir "$tmp/bin" "$tmp/near" "$tmp/far"
for p in snap snapcat snapcore snapload snapls; do
	ln -s "$BUILD/$p" "$tmp/bin"
done
cat >"$tmp/bin/ssh" <<EOF
#!/bin/sh
exec python3 "$tests/live/ssh.py" "/run/netns/$far" "$tmp/far" "\$@"
EOF
# nc -l PORT on far, or nc -N far PORT
cat >"$tmp/bin/nc" <<EOF
#!/bin/sh
for port; do :; done
nc='$(command -v nc)'
[ -z "\$nc" ] || exec "\$nc" "\$1" 192.0.2.2 "\$port"
[ "\$1" = -l ] && how=listen || how=send
exec python3 "$tests/criu/tcp.py" \$how 192.0.2.2 "\$port"
EOF
chmod +x "$tmp/bin/ssh" "$tmp/bin/nc"

# at WHERE COMMAND: run a command of snap(7) on near or far, for our process
at() {
	local where=$1 ns=$1

	ns=$near
	[ "$where" = near ] || ns=$far
	(cd "$tmp/$where" && PATH=$tmp/bin:$PATH timeout 30 nsenter \
	    --net="/run/netns/$ns" bash -o pipefail -c "${2//4711/$pid}")
}

# recipe WORDS: print the commands of snap(7) that contain WORDS
recipe() {
	page_commands "$tests/../cmd/snap/snap.7" | grep -F -- "$1"
}

target "$targets/anon"
line=$(recipe '| ssh far '\''cat')
try "$line" at near "$line"
check "$tmp/far/web.snap" "$pid" "the snapshot is on far"
line=$(recipe 'ssh root@far snap ')
# our process has another name than nginx
line=${line/nginx >/$pid >}
try "$line" at near "$line"
check "$tmp/near/nginx.snap" "$pid" "the snapshot is on near"

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

# CRIU images, made by criuasm.py
python3 "$tests/criu/criuasm.py" make large "$tmp/near/images"
line=$(recipe 'snapload -u -D images |')
try "$line" at near "$line"
try "the images are on far" python3 "$tests/criu/criuasm.py" same \
    "$tmp/near/images" "$tmp/far/images"

# The network breaks: one line, and the target runs on.
ip -n "$far" link set veth mtu 1280
at near 'snap 4711 | ssh far "head -c 100000 >/dev/null; exit 1"' \
    >"$tmp/out" 2>&1
ok $(($? == 0)) "the reader on far ends: an error"
is "$(grep -c 'snap: standard output: write: Broken pipe' "$tmp/out")" 1 \
    "snap reports the broken pipe"
let_go "$pid" "the target runs on"
unnoticed "$pid" "the target noticed nothing"
finish 12
