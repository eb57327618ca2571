#!/usr/bin/env bash
# Files without a name, and memory, with gigabytes of holes: taken by snap and
# restored by criu, they are what they were, and cost nowhere what they would
# without the holes.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -lr; do
	start ghosts
	until_true longer 100
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	rm -rf "$tmp/there"
	take "$tmp/there" "$how"
	[ "$(du -s "$tmp/there" | cut -f1)" -lt 20000 ]
	ok $? "snap $how: small images"
	[ "$(du -sb "$tmp/there" | cut -f1)" -lt 20000000 ]
	ok $? "snap $how: small images, however they are copied"
	end_taken
	restore "$tmp/there"
	goes_on "snap $how"
	end
	is "$(cat "$log.anew" "$log.over")" newnew "snap $how: new files stay"
	rm -f "$log".*
done
finish
