#!/usr/bin/env bash
# The register sets of all threads are those that ptrace(2) gives another, of
# a process that stands still: threads that compute with all of their registers,
# and others that wait.
# beside: apart
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/compute"
kill -STOP "$pid"
until_true is_stopped
for options in "" -n; do
	# shellcheck disable=SC2086 # none, or one
	try "taken: snap $options" "$BUILD/snap" $options -o "$tmp/snap" "$pid"
	try "as ptrace tells: snap $options" \
	    "$tests/live/regsets.py" "$tmp/snap" "$pid"
	diag <"$tmp/try"
done
kill -CONT "$pid"
unnoticed "$pid" "not noticed"
finish 5
