#!/usr/bin/env bash
# Anonymous shared memory that is open and also mapped privately is restored as
# one memory; private changes stay private.
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
