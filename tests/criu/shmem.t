#!/usr/bin/env bash
# Shared memory without a name that is open, and mapped privately, is one after
# a restore, and what is a process's own in it stays that.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -sr; do
	start "$here/shmem.py"
	until_true longer 30
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	moves "snap $how" "$tmp/there" "$how"
	end
	rm -rf "$tmp/there"
done
finish 10
