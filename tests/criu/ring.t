#!/usr/bin/env bash
# A ring of io_setup(2) is restored with the events in it.  snap maps no page in
# the process when it reads the ring.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

"$here/ring.py" "$tmp/tried" try || skip_all 'no io_setup(2)'

resident() {
	awk '/^[0-9a-f]+-/ { ring = / \/\[aio\]/ }
	    ring && /^Rss:/ { print $2 }' "/proc/$pid/smaps"
}

for how in -r -sr; do
	start "$here/ring.py"
	until_true longer 30
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	before=$(resident)
	take "$tmp/there" "$how"
	# snap -s reads memory in the process itself
	[ "$how" = -sr ] || is "$(resident)" "$before" 'no page is added'
	end_taken
	restore "$tmp/there"
	goes_on "snap $how"
	end
	rm -rf "$tmp/there"
done
finish 11
