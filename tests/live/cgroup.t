#!/usr/bin/env bash
# snap -l of processes in a cgroup with a memory limit, and of processes whose
# clone is killed: none is killed or left out, and the snapshot is of one
# instant.
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

# make_group: create the memory cgroup $group; its files $limit and $usage have
# the limit and the usage.  cleanup() unmounts the hierarchy.
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

# confined MEGABYTES COMMAND ...: start a target in the cgroup, and set the
# limit MEGABYTES above the usage
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
	skip "room for a clone" "cannot create a memory cgroup" 6
fi

# kill_clone SNAP: kill the clone of $pid, as the kernel might, once $pid runs
# again.  Fails if SNAP ends before that, or if it keeps no clone and says so in
# $tmp/err, as on a slow machine.
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

# If the output is a file, snap can capture all processes again.
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

# Output to a pipe cannot be undone: the clone's memory is missing.
target "$targets/sweep" 32
mkfifo "$tmp/fifo"
for ((i = 0; i < 10; i++)); do
	exec 4<>"$tmp/fifo"
	: >"$tmp/err"
	"$BUILD/snap" -l "$pid" 4>&- >"$tmp/fifo" 2>"$tmp/err" &
	taker=$!
	kill_clone "$taker"
	killed=$?
	# wait until the clone is a zombie or gone
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
killed" "$tmp/err")" "1 1" "a clone is killed, into a pipe: a message"
diag <"$tmp/err"
try "a clone is killed, into a pipe: the snapshot is readable" \
    "$BUILD/snapls" -c "$tmp/snap"
"$BUILD/snapls" -l "$tmp/snap" >"$tmp/ls"
grep -q unreadable "$tmp/ls"
ok $? "a clone is killed, into a pipe: missing memory is listed"
unnoticed "$pid" "a clone is killed, into a pipe: not noticed"
finish 13
