#!/usr/bin/env bash
# If a cgroup or a user may have few processes, the target can fork during a
# snapshot: clones take at most a quarter of the processes that are still
# allowed, or else all stay stopped.  All stay stopped as well if clones and
# copies may need more memory than --memory allows.
# beside: apart
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"

group=
leave() {
	[ -z "$group" ] || echo $$ >"${group%/*}/cgroup.procs"
	cleanup
	[ -z "$group" ] || until_true rmdir "$group"
}
trap leave EXIT
for dir in /sys/fs/cgroup/pids /sys/fs/cgroup; do
	if is_root && [ -z "$group" ] && mkdir "$dir/snap-places.$$" \
	    2>/dev/null; then
		group=$dir/snap-places.$$
		[ -e "$group/pids.max" ] || { rmdir "$group"; group=; }
	fi
done

switches() {
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$pid/status"
}
# the target ran on for a while, or snap says that it stays stopped
went_on() {
	grep -q 'processes stay stopped' "$tmp/err" ||
	    [ "$(switches)" -gt $((begun + 100)) ]
}

# taken WHAT STOPPED: read a snapshot late; STOPPED is 1 if snap must say that
# the target stays stopped
taken() {
	begun=$(switches)
	: >"$tmp/err"
	"${as[@]}" "$BUILD/snap" "$pid" 2>"$tmp/err" | {
		until_true went_on
		cat
	} >"$tmp/snap"
	is "${PIPESTATUS[0]} $(grep -c 'is limited to [0-9]* processes and threads' \
	    "$tmp/err")" "0 $2" "$1: taken" || diag <"$tmp/err"
	try "$1: the snapshot is whole" "$BUILD/snapls" -c "$tmp/snap"
	let_go "$pid" "$1: released"
	unnoticed "$pid" "$1: not noticed"
}

# the target has one or two children
if [ -n "$group" ]; then
	for max in 3:1 100:0; do
		what="pids.max ${max%:*}"
		target "$targets/forks"
		echo "$pid" >"$group/cgroup.procs"
		until_true eval '[ "$(wc -l <"$group/cgroup.procs")" -le 3 ]'
		echo "${max%:*}" >"$group/pids.max"
		taken "$what" "${max#*:}"
		is "$(sed -n 's/^max //p' "$group/pids.events")" 0 \
		    "$what: no fork failed"
	done
else
	skip "pids.max" "cannot create such a cgroup" 10
fi

if is_root; then
	# a user without other processes, which would count
	alone=$((100000 + $$))
	for max in 3:1 1000:0; do
		as=(prlimit --nproc="${max%:*}" setpriv --reuid="$alone"
		    --regid=65534 --clear-groups)
		target "$targets/forks"
		as=(env)
		taken "RLIMIT_NPROC ${max%:*}" "${max#*:}"
	done
else
	skip "RLIMIT_NPROC" "needs root" 8
fi

# limited WHAT STAYS SIZE ARG ...: a snapshot with --memory SIZE; STAYS is 1 if
# snap must say that the target stays stopped
limited() {
	local what=$1 stays=$2

	snap -o "$tmp/snap" --memory "${@:3}" "$pid"
	is "$rc $(grep -c 'but the snapshot has only [0-9]* left of its limit of' \
	    "$tmp/err")" "0 $stays" "--memory, $what" || diag <"$tmp/err"
}
# cost: print how many KB a clone of the target may need
cost() {
	"$BUILD/snap" -o "$tmp/snap" --memory 1K "$pid" 2>&1 |
	    sed -n 's/.*: its clone may need \([0-9]*\) kilobytes, .*/\1/p'
}
target "$targets/token" 4
kb=$(cost)
limited "a process: too little" 1 $((kb / 2))K
limited "a process: enough" 0 $((kb * 2))K
limited "five processes: too little" 1 $((kb * 2))K -r
one_instant "--memory, five processes: one instant"
limited "five processes: enough" 0 1G -r
unnoticed "$pid" "--memory, five processes: not noticed"
python3 -c 'import mmap, time
m = mmap.mmap(-1, 32 << 20)
m[:] = b"x" * len(m)
print("ready", flush=True)
time.sleep(1000)' >"$tmp/out" &
pid=$!
until_true grep -q ready "$tmp/out"
kb=$(cost)
limited "shared memory: too little" 1 $((kb + 16384))K
limited "shared memory: enough" 0 $((kb + 40960))K
for size in 0 -1 2X x 99999999999T; do
	snap --memory "$size" "$pid"
	is "$rc $(cat "$tmp/err")" "2 snap: --memory $size: not a size (such as 2G)" \
	    "--memory $size"
done
finish 31
