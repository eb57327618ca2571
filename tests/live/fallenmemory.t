#!/usr/bin/env bash
# Crashes in a cgroup whose memory is at its limit or runs out (cgroups(7),
# memory.max), and many crashes at once.  The handler is not in that cgroup, and
# ends even if the crashing process is killed.
# beside: crash
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

[ -n "${VM-}" ] || skip_all "not in a virtual machine (tests/vm/run)"
handler_begin
snapcrash_begin
config
crash install
is "$rc $err" "0 " "installed"

# a container that has almost no memory left
group=/sys/fs/cgroup/fallen
mkdir "$group"
echo $((24 << 20)) >"$group/memory.max"
in_group() {
	# shellcheck disable=SC2016 # of the shell that becomes the command
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
events() {
	sed -n "s/^$1 //p" "$group/memory.events"
}
# falls_inside: start a target in the cgroup: $pid
falls_inside() {
	# shellcheck disable=SC2016
	as=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
	target "$targets/fall" segv 20
	as=(env)
}
falls_inside
echo $(($(cat "$group/memory.current") + 65536)) >"$group/memory.max"
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken "fall.$pid" 1
until_true none_runs
try "a container without memory: taken" \
    whole "$(cd "$store" && echo "fall.$pid".*)"
is "$(awk -v p="$pid" '$1 == p { print $2, $5 }' "$tmp/out")" "fall 21" \
    "a container without memory: all threads are there"
is "$(events oom_kill)" 0 "a container without memory: no process was killed"

# a process crashes while its container runs out of memory
echo $((24 << 20)) >"$group/memory.max"
echo 1 >"$group/memory.oom.group"
cat >"$tmp/eats" <<'END'
import os
os.fork()
x = []
while True:
    x.append(bytearray(1 << 20))
END
for ((i = 0; i < 3; i++)); do
	falls_inside
	in_group python3 "$tmp/eats" >"$tmp/out" 2>&1 3>&- &
	eats=$!
	printf f >&"${ask_fd[$pid]}"
	wait "$pid" 2>/dev/null
	wait "$eats" 2>/dev/null
done
until_true none_runs
ok $? "out of memory: no handler waits for a killed process"
ok $(($(events oom_kill) == 0)) "out of memory: some processes were killed"
bad=0
for f in "$store"/*.snap.gz; do
	whole "${f##*/}" || bad=$((bad + 1))
done
is "$bad" 0 "out of memory: the snapshots are whole"
find "$store" -name '.spool*' >"$tmp/out"
is "$(cat "$tmp/out")" "" "out of memory: nothing else is left"
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken "fall.$pid" 1
ok $? "a later crash is captured"

# many at once: as many as an emulated machine captures in minutes
until_true none_runs
rm "$store"/*.snap.gz
config "at-once 1" "waiting 100" "keep-count 1000"
crash install
pids=()
for ((i = 0; i < 24; i++)); do
	echo f | "$targets/fall" segv 0 >"$tmp/said" 2>&1 3>&- &
	pids+=($!)
done
wait "${pids[@]}" 2>/dev/null
TIMEFACTOR=$((6 * TIMEFACTOR)) until_true none_runs
crash status
is "$(wc -l <"$tmp/out") $(find "$store" -name '*.snap.gz' | wc -l)" "2 24" \
    "many at once: all are captured" || diag <"$tmp/out"
crash remove
is "$rc $err" "0 " "removed"
finish 11
