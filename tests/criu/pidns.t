#!/usr/bin/env bash
# criu restores an init and its tree in new pid and UTS namespaces, with the
# process IDs and the names that the processes see.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# numbers PID: print process ID, group, session and name of PID and its
# descendants, as they are in their namespace
numbers() {
	local p

	for p in $(all_below "$1"); do
		sed -n 's/^NS[ps][a-z]*:.*\t\([0-9]*\)$/\1/p; s/^Name:.//p' \
		    "/proc/$p/status" | tr '\n' ' '
		echo
	done | sort
}

all_below() {
	echo "$1"
	for p in $(cat "/proc/$1/task/$1/children"); do
		all_below "$p"
	done
}

host=$(cat /proc/sys/kernel/hostname)

# names PID: the host and domain names of its UTS namespace
names() {
	nsenter -t "$1" -u cat /proc/sys/kernel/{host,domain}name | tr '\n' ' '
}

# shellcheck disable=SC2016 # the shell's own
in=(unshare --fork --pid --uts sh -c 'cd /proc/sys/kernel &&
    echo inside >hostname && echo example.org >domainname && exec "$@"' sh)
start family
in=(env)
outside=$pid
pid=$(only_child "$outside")
is "$(grep -o '[0-9]*$' <(grep NSpid "/proc/$pid/status")) $(readlink \
    "/proc/$pid/ns/pid" | grep -c "$(readlink /proc/self/ns/pid)")" "1 0" \
    "it is the init of a pid namespace"
until_true longer 40
numbers "$pid" >"$tmp/numbers"
is "$(names "$pid")" "inside example.org " "it has its own names"
ok "$(($(wc -l <"$tmp/numbers") < 3))" "it has descendants"
take "$tmp/there" -r
end_init "$outside"
restore "$tmp/there" --pidfile "$tmp/pidfile"
pid=$(cat "$tmp/pidfile")
goes_on "a pid namespace"
is "$(numbers "$pid")" "$(cat "$tmp/numbers")" "they have their process IDs"
is "$(readlink "/proc/$pid/ns/pid" | grep -c "$(readlink \
    /proc/self/ns/pid)")" "0" "it is in its own pid namespace"

is "$(names "$pid") $(readlink "/proc/$pid/ns/uts" | grep -c "$(readlink \
    /proc/self/ns/uts)")" "inside example.org  0" "it has its names"
is "$(cat /proc/sys/kernel/hostname)" "$host" "the names outside are unchanged"

# a restored process can be taken
"$BUILD/snap" -ro "$tmp/again.snap" "$pid" 2>"$tmp/err"
is "$(sed '/zombie/d' "$tmp/err")" '' "a restored process can be taken"
# all end with the init
below=$(all_below "$pid")
kill -KILL "$pid"
for p in $below; do
	until_true gone "$p"
done
ok $? "all end with the init"

# shellcheck disable=SC2016 # the shell's own
in=(unshare --fork --pid --mount --ipc sh -c 'mount -t ramfs ram /mnt &&
    exec "$@"' sh)
start family
in=(env)
outside=$pid
pid=$(only_child "$outside")
"$BUILD/snap" -k -r "$pid" 2>"$tmp/err" >"$tmp/snap"
is "$? $(sed -n "s/.*process $pid: //p" "$tmp/err" | sort -u | tr '\n' ';')" \
    "1 mount of ram, of type ramfs, on /mnt: it is mounted nowhere else, \
and criu cannot create it: cannot be restored (snapload -f mount leaves it out);" \
    "other mounts of an init: snap -k refuses"
try "snap -k leaves it alive" kill -0 "$pid"
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -f mount,other -D "$tmp/left" "$tmp/snap" >"$tmp/out" 2>&1
is "$? $(grep -c '^criu restore' "$tmp/out")" "1 1" \
    "-f mount,other leaves them out" ||
    diag <"$tmp/out"
kill -KILL "$outside" "$pid"

unshare --fork --pid sleep 1000 &
outside=$!
disown
until_true grep -q . "/proc/$outside/task/$outside/children"
pid=$(only_child "$outside")
until_true grep -qx sleep "/proc/$pid/comm"
"$BUILD/snap" -o "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c "process $pid: the leader of its session is not in its pid \
namespace" "$tmp/err")" "1 1" \
    "a session leader outside its pid namespace: refused"
kill -KILL "$outside" "$pid"
finish 17
