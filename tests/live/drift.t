#!/usr/bin/env bash
# Many snapshots in a row, of several processes at once, leave nothing: no
# memory, mapping, descriptor, timer or child in the processes, and no process
# or file of snap.  REPEAT=20 takes 1,000.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, trap
. "$(dirname "$0")/../tap.sh"

# has PID: print a process's state, except for what changes although the process
# does nothing, such as the number of signals queued for its user
has() {
	local t=/proc/$1

	ls -l --time-style=+ "$t/fd"
	cat "$t"/fdinfo/*
	cat "$t/maps" "$t/timers" "$t/limits" "$t/oom_score_adj" \
	    "$t/coredump_filter"
	cat "$t"/task/*/children
	# page tables change, the kernel sums up pages late, and 20 KB are
	# mapped for a moment when a thread has run since it was examined
	cat "$t"/task/*/status |
	    grep -vE 'ctxt_switches|SigQ|VmPTE|VmHWM|VmPeak|VmRSS|Rss|VmSwap'
	resident "$1" | grep -vE 'VmPTE|Dirty'
}

same() {
	diff "$1" "$2" | head -n 20
	cmp "$1" "$2"
}

# A cgroup of its own shows which processes are left.  It can be removed only
# when all its processes have ended.
leave() {
	if [ "$BASHPID" -eq $$ ] && [ -n "$group" ]; then
		end_jobs
		until_true rmdir "$group" 2>/dev/null
	fi
	cleanup
}
group=
trap leave EXIT
for dir in /sys/fs/cgroup/pids /sys/fs/cgroup; do
	if is_root && [ -z "$group" ] && mkdir "$dir/snap-drift.$$" \
	    2>/dev/null; then
		group=$dir/snap-drift.$$
		[ -e "$group/pids.current" ] || { rmdir "$group"; group=; }
	fi
done
alone() {
	[ "$(cat "$group/pids.current")" -eq "$tasks" ]
}
none_left() {
	[ "$(executing "$tmp/ours")" -eq 0 ]
}

many=$(often 50)
what=(shared fds state manymaps)
all=()
for one in "${what[@]}"; do
	target "$targets/$one"
	all+=("$pid")
	[ -z "$group" ] || echo "$pid" >"$group/cgroup.procs"
done
[ -z "$group" ] || tasks=$(cat "$group/pids.current")
# under a name of its own, to find its processes
cp "$BUILD/snap" "$tmp/ours"
mkdir "$tmp/room"
export TMPDIR=$tmp/room

for how in -l -s; do
	said="$many snapshots, snap $how"
	snap=$tmp/ours snap $how -o "$tmp/snap" "${all[@]}"
	is "$rc $err" '0 ' "snap $how: taken"
	for i in "${!what[@]}"; do
		has "${all[i]}" >"$tmp/before.$i"
	done
	bad=0
	for ((i = 0; i < many; i++)); do
		"$tmp/ours" $how -o /dev/null "${all[@]}" 2>"$tmp/err" ||
		    bad=$((bad + 1))
	done
	is "$bad" 0 "$said: taken" || diag <"$tmp/err"
	for i in "${!what[@]}"; do
		has "${all[i]}" >"$tmp/after.$i"
		try "$said: nothing is left in ${what[i]}" \
		    same "$tmp/before.$i" "$tmp/after.$i"
	done
	try "$said: no process of snap is left" until_true none_left
	if [ -n "$group" ]; then
		try "$said: no other process" until_true alone
	else
		skip "$said: no other process" "no cgroup counts processes"
	fi
	is "$(ls -A "$TMPDIR")" '' "$said: no file is left"
	many=$((many / 4))
done
for i in "${!what[@]}"; do
	unnoticed "${all[i]}" "${what[i]}: not noticed"
done
finish 22
