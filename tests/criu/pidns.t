#!/usr/bin/env bash
# A tree in a pid namespace of its own, whose init is the first of it, and in an
# UTS namespace: criu restores it in new ones, with the numbers and the names
# that the processes know.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# numbers PID: of it and those below it, as they see themselves: number, parent,
# group and session
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

# names PID: those of the machine, as it knows them
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
    "an init of a pid namespace"
until_true longer 40
numbers "$pid" >"$tmp/numbers"
is "$(names "$pid")" "inside example.org " "names of its own"
ok "$(($(wc -l <"$tmp/numbers") < 3))" "with others below it"
take "$tmp/there" -r
end_init "$outside"
restore "$tmp/there" --pidfile "$tmp/pidfile"
pid=$(cat "$tmp/pidfile")
goes_on "a pid namespace"
is "$(numbers "$pid")" "$(cat "$tmp/numbers")" "with the numbers it had"
is "$(readlink "/proc/$pid/ns/pid" | grep -c "$(readlink \
    /proc/self/ns/pid)")" "0" "in one of its own"

is "$(names "$pid") $(readlink "/proc/$pid/ns/uts" | grep -c "$(readlink \
    /proc/self/ns/uts)")" "inside example.org  0" "with its names"
is "$(cat /proc/sys/kernel/hostname)" "$host" "which are no others'"

# what was restored can be taken again
"$BUILD/snap" -ro "$tmp/again.snap" "$pid" 2>"$tmp/err"
is "$(sed '/zombie/d' "$tmp/err")" '' "taken again"
# its end is that of all
below=$(all_below "$pid")
kill -KILL "$pid"
for p in $below; do
	until_true gone "$p"
done
ok $? "when it ends, all end"

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
try "and leaves it alive" kill -0 "$pid"
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -f mount,other -D "$tmp/left" "$tmp/snap" >"$tmp/out" 2>&1
is "$? $(grep -c '^criu restore' "$tmp/out")" "1 1" "but they can be left out" ||
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
namespace" "$tmp/err")" "1 1" "with a session from outside: refused"
kill -KILL "$outside" "$pid"
finish 17
