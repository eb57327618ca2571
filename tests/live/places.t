#!/usr/bin/env bash
# Who may have few processes can fork while a snapshot is written: clones take no
# more than a quarter of what its cgroup, and its user, may still have; else all
# stay stopped.
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
# the target ran on for a while, or it will not, for it stays stopped
went_on() {
	grep -q 'cannot be cloned' "$tmp/err" ||
	    [ "$(switches)" -gt $((begun + 100)) ]
}

# taken WHAT STOPPED: a snapshot that is read late; whether it says that the
# target stays stopped
taken() {
	begun=$(switches)
	: >"$tmp/err"
	"${as[@]}" "$BUILD/snap" "$pid" 2>"$tmp/err" | {
		until_true went_on
		cat
	} >"$tmp/snap"
	is "${PIPESTATUS[0]} $(grep -c 'may have [0-9]* processes and threads' \
	    "$tmp/err")" "0 $2" "$1: taken" || diag <"$tmp/err"
	try "$1: it is whole" "$BUILD/snapls" -c "$tmp/snap"
	let_go "$pid" "$1: let go"
	unnoticed "$pid" "$1: not noticed"
}

# it has one or two below it
if [ -n "$group" ]; then
	for max in 3:1 100:0; do
		what="pids.max ${max%:*}"
		target "$targets/forks"
		echo "$pid" >"$group/cgroup.procs"
		until_true eval '[ "$(wc -l <"$group/cgroup.procs")" -le 3 ]'
		echo "${max%:*}" >"$group/pids.max"
		taken "$what" "${max#*:}"
		is "$(sed -n 's/^max //p' "$group/pids.events")" 0 \
		    "$what: nobody was denied a process"
	done
else
	skip "pids.max" "no cgroup of this kind may be made" 10
fi

if is_root; then
	# nobody else's processes count
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
finish 18
