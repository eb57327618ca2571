#!/usr/bin/env bash
# A container with processes in several mount namespaces: each process is
# restored in its own mount namespace with its files.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# spaces PID: print the number of mount namespaces of PID and its children, and
# the mounts on /mnt and /opt of each
spaces() {
	local p

	for p in "$1" $(cat "/proc/$1/task/$1/children"); do
		readlink "/proc/$p/ns/mnt"
	done | sort -u | wc -l
	for p in "$1" $(cat "/proc/$1/task/$1/children"); do
		cut -d' ' -f4,5 "/proc/$p/mountinfo" | grep ' /mnt$\| /opt$' |
		    sort | tr '\n' ' '
		echo
	done | sort
}

# begin [WORD ...]: start spaces.py with these arguments; $pid is the init,
# $outside its parent
begin() {
	in=(unshare --fork --pid --net --mount --uts --ipc --mount-proc)
	start "$here/spaces.py" "$@"
	in=(env)
	outside=$pid
	pid=$(only_child "$pid")
	until_true longer 80
}

all_count() {
	[ "$(cut -d' ' -f1 "$log" | sort -u | wc -l)" -eq 4 ]
}
begin
until_true all_count
is "$(cut -d' ' -f1 "$log" | sort -u | tr '\n' ' ')" 'init left one other ' \
    'four processes count'
spaces "$pid" >"$tmp/spaces"
is "$(head -n 1 "$tmp/spaces")" 4 'in four mount namespaces'
# snap records the mounts of the init even if another process comes first
read -r beside _ <"/proc/$pid/task/$pid/children"
take "$tmp/there" -r "$beside"
end_init "$outside"
restore "$tmp/there" --pidfile "$tmp/pidfile"
pid=$(cat "$tmp/pidfile")
goes_on 'several mount namespaces'
is "$(spaces "$pid")" "$(cat "$tmp/spaces")" \
    'as many namespaces, with the same mounts'
kill -KILL "$pid"

begin covered
"$BUILD/snap" -ro "$tmp/snap" "$pid" 2>"$tmp/err"
"$BUILD/snapload" -D "$tmp/none" "$tmp/snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c 'on /opt: part of a file system that is mounted nowhere' \
    "$tmp/err")" '1 3' 'a tmpfs that a directory of its own covers is refused'
end_init "$outside"
finish 8
