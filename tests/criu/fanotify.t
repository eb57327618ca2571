#!/usr/bin/env bash
# A fanotify group has its marks after a restore.  A group with permission
# events, or one that watches a whole file system, is refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# mount the directory that the next target watches
mounted() {
	mkdir -p "$tmp/log.$((serial + 1)).dir"
	mount -t tmpfs none "$tmp/log.$((serial + 1)).dir"
}

mounted
"$here/fanotify.py" "$tmp/log.1" all </dev/null >/dev/null 2>&1 &
tried=$!
disown "$tried"
until_true eval 'gone $tried || [ -s "$tmp/log.1" ]'
[ -s "$tmp/log.1" ] || skip_all 'no fanotify'
kill -KILL "$tried"
rm -f "$tmp/log.1"

umount "$tmp/log.1.dir"
for what in '' gone; do
	mounted
	# shellcheck disable=SC2086 # no word if there is none
	start "$here/fanotify.py" $what
	until_true longer 20
	moves "fanotify $what" "$tmp/there" -r
	: >"$log.talk"
	until_true eval '[ "$(grep -c ^event "$log")" -eq 2 ]'
	name=${log##*/}.file${what:+.cr.1.ghost (deleted)}
	is "$(grep '^event' "$log" | sort)" "event 2 $name
event 8 new" "$what: it reports events"
	end
	umount "$log.dir"
	rm -rf "$tmp/there"
done

while read -r what why; do
	mounted
	start "$here/fanotify.py" "$what"
	"$BUILD/snap" -ro "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
	is "$? $(grep -c "$why" "$tmp/err")" '1 1' "$what: refused"
	end
	umount "$log.dir"
done <<'EOL'
ask a fanotify group with permission events
all it watches a whole file system
EOL
finish 12
