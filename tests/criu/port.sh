# Functions for tests of servers with a port, for bash: tests/criu/port.t and
# runtimes.t source this after criu.sh.
#
#	serves WHAT COMMAND ...	start this server, take it under load, end and
#				restore it: seven tests
#
# The server listens at $port; it is sent $request, and its answer contains
# $expected.  $tmp/log contains that sentence.
# shellcheck shell=bash disable=SC2154

command -v ip >/dev/null || skip_all 'no ip'
{ ip netns add own && ip -n own link set lo up; } 2>"$tmp/err" ||
    skip_all "no network namespaces: $(tail -n 1 "$tmp/err")"
in=(nsenter --net=/run/netns/own)
port=8017
log=$tmp/log
times=200
echo 'here is a file' >"$log"

load() {
	timeout 120 "${in[@]}" python3 "$here/load.py" $port "$@"
}

asked() {
	[ "$(load "$request" "$expected" 1)" = 1 ]
}

serves() {
	local what=$1 before peers

	shift
	# close all descriptors, and lead a session
	(for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		[ "$fd" -lt 3 ] || eval "exec $fd<&-"
	done
	cd "$tmp" && exec "${in[@]}" setsid "$@" </dev/null >/dev/null 2>&1) &
	pid=$!
	disown "$pid"
	until_true asked
	is "$(load "$request" "$expected" $times)" $times "$what: serves"
	load "$request" "$expected" &
	peers=$!
	disown "$peers"
	before=$(load "$request" "$expected" $times)
	rm -rf "$tmp/there"
	timeout 60 "$BUILD/snap" -r -o "$tmp/snap" "$pid" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" '0 ' "$what: snap"
	is "$before $(load "$request" "$expected" $times)" "$times $times" \
	    "$what: serves during the snapshot"
	kill -KILL "$peers"
	timeout 60 "$BUILD/snapload" -D "$tmp/there" "$tmp/snap" \
	    >"$tmp/command" 2>"$tmp/err"
	ok $? "$what: snapload" || diag <"$tmp/err"
	end
	until_true reaped "$pid"
	is "$(load "$request" "$expected" 1)" 0 "$what: has ended"
	restore "$tmp/there"
	is "$(load "$request" "$expected" $times)" $times \
	    "$what: serves as before"
	end
	until_true reaped "$pid"
}

