#!/usr/bin/env bash
# The register sets of all threads are those that ptrace(2) returns in a stop.
# Some threads compute with all their registers, others wait.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/compute"
# stopped_there: stop it while a thread computes
stopped_there() {
	kill -STOP "$pid"
	until_true is_stopped
	grep -q '^-1 ' "/proc/$pid/task"/*/syscall || {
		kill -CONT "$pid"
		return 1
	}
}
until_true stopped_there
for options in "" -n; do
	# shellcheck disable=SC2086 # none, or one
	try "snap $options: taken" "$BUILD/snap" $options -o "$tmp/snap" "$pid"
	try "snap $options: as in ptrace(2)" \
	    "$tests/live/regsets.py" "$tmp/snap" "$pid"
	diag <"$tmp/try"
done
kill -CONT "$pid"
unnoticed "$pid" "not noticed"
finish 5
