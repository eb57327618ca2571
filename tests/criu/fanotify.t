#!/usr/bin/env bash
# A fanotify group has its marks after a restore.  A group with permission
# events, or one that watches a whole file system, is refused.  While a process
# that decides whether files may be opened is stopped, snap opens none.
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

# shared memory, which changes all the time, is of the instant of the stop
mounted
start "$here/fanotify.py" answer
until_true longer 10
read -ra at < <(tail -n 1 "$log")
number() {
	"$BUILD/snapgrep" -o -r "0x$1-0x$(printf %x $((0x$1 + 4096)))" \
	    -e '=[0-9]{12}=' "$tmp/snap" | sed -n 's/.*=0*\([0-9]*\)=.*/\1/p'
}
export TMPDIR=$log.dir
for how in -s -r -l; do
	rm -f "$tmp/snap"
	timeout -s KILL 60 "$BUILD/snap" $how -o "$tmp/snap" "$pid" \
	    2>"$tmp/err"
	is "$? $(sed 's/process [0-9]*/process N/' "$tmp/err" | head -n 1)" \
	    "1 snap: process N decides which files may be opened \
(fanotify(7)): snap opens none, and saves only resident pages of mapped files" \
	    "snap $how: a process that decides on files" || diag <"$tmp/err"
	shared=$(number "${at[1]}") private=$(number "${at[2]}")
	[[ -n $private && $((shared - private)) =~ ^[01]$ ]]
	ok $? "snap $how: shared memory: $shared, private memory: $private"
	until_true longer $(($(lines) + 5))
done
end
umount "$log.dir"
finish 18
