#!/usr/bin/env bash
# snap -l of processes in a cgroup whose memory is limited, and of processes
# whose clone is killed: none is killed or left out for it, and the snapshot
# is of one instant.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, trap
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "cgroups" "only root may make them"
	finish 1
fi

leave() {
	if [ "$BASHPID" -eq $$ ]; then
		end_jobs
		[ -z "$group" ] || rmdir "$group"
	fi
	cleanup
}
group=
trap leave EXIT

# make_group: a cgroup of memory in $group, its limit in $limit, what it uses
# in $usage; a mount of ours goes with $tmp
make_group() {
	local top=$tmp/mnt.cgroup

	mkdir "$top"
	if mount -t cgroup -o memory none "$top" 2>/dev/null; then
		limit=memory.limit_in_bytes usage=memory.usage_in_bytes
	else
		mount -t cgroup2 none "$top" 2>/dev/null || return 1
		grep -qw memory "$top/cgroup.controllers" || return 1
		limit=memory.max usage=memory.current
		echo +memory 2>/dev/null >"$top/cgroup.subtree_control" ||
		    return 1
	fi
	mkdir "$top/snap-test.$$" || return 1
	group=$top/snap-test.$$
	[ -w "$group/$limit" ]
}

# confined MEGABYTES COMMAND ...: a target in the cgroup, which has room for
# so much
confined() {
	echo -1 >"$group/$limit" 2>/dev/null || echo max >"$group/$limit"
	target bash -c 'echo $$ >"$0/cgroup.procs" && exec "${@:2}"' \
	    "$group" "$@"
	echo $(($(cat "$group/$usage") + ($1 << 20))) >"$group/$limit"
}

killed() {
	cat "$group/memory.oom_control" "$group/memory.events" 2>/dev/null |
	    awk '$1 == "oom_kill" { n += $2 } END { print n + 0 }'
}

if make_group; then
	confined 80 "$targets/sweep" 32
	snap -l -o "$tmp/snap" "$pid"
	is "$rc $err $(killed)" "0  0" "room for a clone: taken"
	one_instant "room for a clone: one instant"
	unnoticed "$pid" "room for a clone: not noticed"

	confined 20 "$targets/sweep" 32
	snap -l -o "$tmp/snap" "$pid"
	is "$rc ${err/ [T\/]*.N/ GROUP} $(killed)" "0 snap: process N cannot be \
cloned: its clone may need N kilobytes, but GROUP has only N left of its limit \
of N: all processes stay stopped until everything is written 0" "no room for a clone: taken"
	one_instant "no room for a clone: one instant"
	unnoticed "$pid" "no room for a clone: not noticed"
else
	skip "room for a clone" "no cgroup of memory can be made" 6
fi

# Kill the clone of $pid, as the kernel would, once it is there and $pid runs
# again: false if snap, process $1, ends before, or has made none that stays, as
# on a machine that is slow, and says so in $tmp/err.
kill_clone() {
	local clone

	while kill -0 "$1" 2>/dev/null &&
	    ! grep -q 'all processes stay stopped' "$tmp/err"; do
		read -r clone _ <"/proc/$pid/task/$pid/children"
		if [ -n "$clone" ] && free_again "$pid"; then
			kill -KILL "$clone" 2>/dev/null
			return
		fi
	done
	return 1
}

# Into a file all can be taken again.
target "$targets/sweep" 64
for ((i = 0; i < 50; i++)); do
	: >"$tmp/err"
	"$BUILD/snap" -l -o "$tmp/snap" "$pid" 2>"$tmp/err" &
	taker=$!
	kill_clone "$taker"
	wait "$taker"
	rc=$?
	if [ "$rc" -ne 0 ] || grep -q killed "$tmp/err"; then
		break
	fi
done
is "$rc $(sed "s/\<$pid\>/N/g" "$tmp/err")" \
    "0 snap: memory of N: its clone was killed: taking all processes \
again, stopped until everything is written" "a clone is killed: all are taken again"
one_instant "a clone is killed: one instant"
unnoticed "$pid" "a clone is killed: not noticed"

# From a pipe nothing can be taken back: what the clone had is missing.
target "$targets/sweep" 32
mkfifo "$tmp/fifo"
for ((i = 0; i < 10; i++)); do
	exec 4<>"$tmp/fifo"
	: >"$tmp/err"
	"$BUILD/snap" -l "$pid" 4>&- >"$tmp/fifo" 2>"$tmp/err" &
	taker=$!
	kill_clone "$taker"
	killed=$?
	# it ends as a zombie, or nothing is left of it
	[ "$killed" -ne 0 ] ||
	    until_true sh -c "! ps -o stat= --ppid $pid | grep -qv Z"
	cat "$tmp/fifo" 4>&- >"$tmp/snap" &
	reader=$!
	until_true test "/proc/$reader/fd/3" -ef "$tmp/fifo"
	exec 4>&-
	wait "$taker"
	rc=$?
	wait "$reader"
	[ "$killed" -ne 0 ] || break
	diag <"$tmp/err"
done
is "$rc $(grep -c "^snap: process $pid: .* could not be .*: its clone was \
killed" "$tmp/err")" "1 1" "a clone is killed, into a pipe: that is told"
diag <"$tmp/err"
try "a clone is killed, into a pipe: it can be read" \
    "$BUILD/snapls" -c "$tmp/snap"
"$BUILD/snapls" -l "$tmp/snap" >"$tmp/ls"
grep -q unreadable "$tmp/ls"
ok $? "a clone is killed, into a pipe: what is missing is listed"
unnoticed "$pid" "a clone is killed, into a pipe: not noticed"
finish 13
