#!/usr/bin/env bash
# An inotify set has its watches, with their numbers, after a restore, even if
# the name of a file is deleted.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for what in '' linked open gone; do
	# shellcheck disable=SC2086 # no word if there is none
	start "$here/inotify.py" $what
	until_true longer 20
	moves "inotify $what" "$tmp/there" -r
	: >"$log.talk"
	until_true eval '[ "$(grep -c ^event "$log")" -eq 2 ]'
	is "$(grep '^event' "$log")" 'event 1 100 new
event 3 2 ' "$what: it reports events"
	end
	rm -rf "$log".* "$tmp/there"
done

# unread events, and a file that criu cannot create at its path
while read -r what why; do
	start "$here/inotify.py" "$what"
	until_true longer 10
	"$BUILD/snap" -ro "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
	is "$? $(grep -c "an inotify set $why" "$tmp/err")" '1 1' \
	    "$what: refused"
	end
done <<'EOL'
events with unread events
lost that watches a file whose path is not known
EOL

# flags of a watch, which criu clears; Linux before 5.19 does not report them
while read -r what status why; do
	start "$here/inotify.py" "$what"
	if grep -q 'mask:[84]0*2 ' "/proc/$pid/fdinfo/"*; then
		"$BUILD/snap" -ro "$tmp/snap" "$pid"
		"$BUILD/snapload" -c "$tmp/snap" >"$tmp/err" 2>&1
		is "$? $(grep -Foc "$why" "$tmp/err")" "$status 1" \
		    "$what: $why"
	else
		skip "$what: $why" 'the kernel does not report the flags'
	fi
	end
done <<'EOL'
once 1 an inotify set with a watch for one event (IN_ONESHOT): cannot
unlinked 0 its watches are restored without IN_EXCL_UNLINK
EOL
finish 24
