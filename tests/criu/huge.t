#!/usr/bin/env bash
# Huge pages of hugetlbfs, private, shared and of memfds, are what they were
# after a restore.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

free=$(awk '/^HugePages_Free:/ { print $2 }' /proc/meminfo)
[ "${free:-0}" -ge 16 ] && [ -d /sys/kernel/mm/hugepages/hugepages-2048kB ] ||
    skip_all 'fewer than 16 huge pages of 2 MB are free'
for how in -r -sr; do
	start "$here/huge.py"
	until_true longer 30
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	moves "snap $how" "$tmp/there" "$how"
	end
	rm -rf "$tmp/there"
done
finish 10
