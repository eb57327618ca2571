#!/usr/bin/env bash
# A ring of io_setup(2) is one after a restore, with the events that waited in
# it; the process gets no page by being looked at.
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
	# without a clone, memory is read where it is
	[ "$how" = -sr ] || is "$(resident)" "$before" 'no page more is mapped'
	end_taken
	restore "$tmp/there"
	goes_on "snap $how"
	end
	rm -rf "$tmp/there"
done
finish 11
