#!/usr/bin/env bash
# The example for one job on many hosts in snap(7), on two hosts, each with its
# own network, processes, name and sshd.
# beside: live long
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, trap
. "$(dirname "$0")/../tap.sh"

is_root || skip_all 'network namespaces need root'
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || skip_all 'no sshd'
for p in ip clush ssh-keygen unshare; do
	command -v "$p" >/dev/null || skip_all "no $p"
done

near=near.$$
leave() {
	if [ "$BASHPID" -eq $$ ]; then
		ip netns del "$near"
		ip netns del "node1.$$"
		ip netns del "node2.$$"
		[ -z "$made" ] || rmdir "$made"
	fi 2>/dev/null
	cleanup
}
made=
trap leave EXIT
ip netns add "$near" 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
ip -n "$near" link add bridge type bridge 2>"$tmp/err" ||
    skip_all "no bridge: $(tail -n 1 "$tmp/err")"
ip -n "$near" addr add 192.0.2.1/24 dev bridge
ip -n "$near" link set bridge up
ip -n "$near" link set lo up
# the directory that sshd changes its root to
[ -d /run/sshd ] || { mkdir /run/sshd && made=/run/sshd; }

mkdir "$tmp/bin" "$tmp/here" "$tmp/job"
cp "$targets/anon" "$tmp/bin/solver"
for p in snap snapcat snapls; do
	ln -s "$BUILD/$p" "$tmp/bin"
done
ssh-keygen -q -t ed25519 -N '' -f "$tmp/key"
for p in ssh scp; do
	printf '#!/bin/sh\nexec %s -F "%s" "$@"\n' "$(command -v $p)" \
	    "$tmp/config" >"$tmp/bin/$p"
	chmod +x "$tmp/bin/$p"
done
cat >"$tmp/sshd" <<END
Port 4022
HostKey $tmp/key
AuthorizedKeysFile $tmp/key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
Subsystem sftp internal-sftp
SetEnv PATH=$tmp/bin:/usr/bin:/bin
END
cat >"$tmp/config" <<END
Host *
Port 4022
User root
IdentityFile $tmp/key
UserKnownHostsFile $tmp/known
StrictHostKeyChecking no
BatchMode yes
LogLevel ERROR
END

# Start a host, which has our files, except for one directory.
cat >"$tmp/host" <<END
mount -t proc proc /proc
mount --bind "$tmp/\$1" "$tmp/job"
hostname "\$1"
mkfifo "$tmp/\$1.ask"
"$tmp/bin/solver" <"$tmp/\$1.ask" >"$tmp/\$1.lines" &
sleep 1000 >"$tmp/\$1.ask" &
exec "$sshd" -De -f "$tmp/sshd"
END
for i in 1 2; do
	node=node$i
	ip netns add "$node.$$"
	ip -n "$near" link add "veth$i" type veth peer name veth \
	    netns "$node.$$"
	ip -n "$near" link set "veth$i" master bridge up
	ip -n "$node.$$" addr add "192.0.2.1$i/24" dev veth
	ip -n "$node.$$" link set lo up
	ip -n "$node.$$" link set veth up
	mkdir "$tmp/$node"
	printf 'Host %s\nHostName 192.0.2.1%d\n' "$node" "$i" >>"$tmp/config"
	nsenter --net="/run/netns/$node.$$" unshare -mupf --kill-child \
	    --propagation private sh "$tmp/host" "$node" >"$tmp/$node.log" \
	    2>&1 </dev/null &
done

# here COMMAND: run a command on the near host, in an empty directory
here() {
	(cd "$tmp/here" && PATH=$tmp/bin:$PATH timeout 60 nsenter \
	    --net="/run/netns/$near" bash -c "$1")
}
listens() {
	here "ssh node$1 true" && grep -q '^ready$' "$tmp/node$1.lines"
}
for i in 1 2; do
	until_true listens "$i" || {
		here "ssh node$i true" 2>&1 | diag
		diag <"$tmp/node$i.log"
	}
done

page_commands "$tests/../cmd/snap/snap.7" | grep -m 1 -B 1 -A 2 '^clush' \
    >"$tmp/recipe"
is "$(wc -l <"$tmp/recipe")" 4 "snap(7) has the example"
sed -e 's/node\[1-8\]/node[1-2]/' -e "s,/tmp/job,$tmp/job/job," \
    -e "s/+ 5/+ $((5 * TIMEFACTOR * $(busy)))/" \
    -e '$s/$/; echo $at/' "$tmp/recipe" >"$tmp/here.sh"
here "set -e; . '$tmp/here.sh'" >"$tmp/out" 2>"$tmp/err"
# clush(1) prints its progress if it takes long
is "$? $(tr '\r' '\n' <"$tmp/err" | grep -vE '^(clush: [0-9]+/2)? *$')" "0 " \
    "the example runs" || diag <"$tmp/out"
at=$(sed -n 's/^@//p' "$tmp/out")
is "$(cd "$tmp/here" && echo *)" "job.snap job.snap.node1 job.snap.node2" \
    "the example writes these files"
is "$(ls "$tmp/job")" "" "hosts have files of their own"
python3 - "$BUILD/snapls" "$tmp/here" "$at" >"$tmp/out" 2>&1 <<'END'
import json, subprocess, sys

snapls, directory, at = sys.argv[1:]


def objects(name, kind):
    text = subprocess.run([snapls, '-j', directory + '/' + name], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    return [o for o in map(json.loads, text.splitlines())
            if o['type'] == kind]


heads = [objects('job.snap.node%d' % i, 'snapshot')[0] for i in (1, 2)]
print('not before', all(t >= int(at) for h in heads
                        for t in (h['time'], h['taken'][0]['time'])))
print('hosts', *sorted(h['header'].split()[3].split('@')[1] for h in heads))
both = objects('job.snap', 'process')
print('processes', *sorted(p['name'] for p in both))
one, two, all = [o['raw'] for o in heads + objects('job.snap', 'snapshot')]
print('once', one > 1000000 and all < one + two / 4)
END
is "$(cat "$tmp/out")" "not before True
hosts node1 node2
processes solver solver
once True" "both hosts, from that time on; shared memory once"

if command -v pdsh >/dev/null; then
	PDSH_RCMD_TYPE=ssh here 'pdsh -w node[1-2] "snap -n solver | wc -c"' \
	    >"$tmp/out" 2>"$tmp/err"
	is "$? $(sed 's/[0-9]\{5,\}/N/' "$tmp/out" | sort)" "0 node1: N
node2: N" "the same with pdsh" || diag <"$tmp/err"
else
	skip "the same with pdsh" "no pdsh"
fi
finish 6
