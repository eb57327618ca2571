#!/usr/bin/env bash
# snapfs shows the images that snapload would write, and makes them when they
# are read: criu restores processes from there, from a compressed snapshot.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
# shellcheck source=tests/fs/fs.sh
. "$here/../fs/fs.sh"

# shown: take and mount a compressed snapshot of $pid; $dir has its images
shown() {
	cp "$log" "$tmp/log.before"
	timeout 60 "$BUILD/snap" -r -z -o "$tmp/snap.gz" "$pid" \
	    2>"$tmp/snap.err"
	serve "$tmp/snap.gz"
	dir=$mnt/$pid/criu
}

# alike WRITTEN SHOWN NAME: both directories are the same, but for the file
# with the command
alike() {
	diff -r -x command "$1" "$2" >"$tmp/diff" 2>&1
	ok $? "$3" || head -n 5 "$tmp/diff" | diag
}

# restore_shown [OPTION ...]: restore with the command in $dir
restore_shown() {
	sed "s,-D \.,-D $dir," "$dir/command" >"$tmp/command"
	restore "$dir" "$@"
}

for what in carryon ghosts; do
	start "$what"
	until_true longer 100
	shown
	"$BUILD/snapload" -D "$tmp/written.$what" "$tmp/snap.gz" \
	    >"$tmp/command" 2>"$tmp/try"
	is "$? $(grep -v ': needs criu ' "$tmp/try")" "0 " \
	    "$what: snapload writes images"
	alike "$tmp/written.$what" "$dir" "$what: the same images"
	is "$(sed "/^# needs criu /d; s,-D \.,-D $tmp/written.$what," \
	    "$dir/command")" \
	    "$(cat "$tmp/command")" "$what: the same command"
	is "$(find "$mnt" -maxdepth 2 -name criu)" "$dir" \
	    "$what: only the process has the directory criu"
	end_taken
	restore_shown
	unserve
	goes_on "$what"
	end
	rm -f "$log".*
done

# holes, as du counts them
[ "$(du -s "$tmp/written.ghosts" | cut -f1)" -lt 20000 ]
ok $? 'holes take no space'

# lazy-pages: criu reads pages when they are touched
if why=$("$criu" check --feature uffd-noncoop 2>&1); then
	start carryon
	until_true longer 150
	shown
	end_taken
	mkdir -p "$tmp/work"
	timeout 120 "$criu" lazy-pages -v4 -D "$dir" -W "$tmp/work" \
	    -o "$tmp/pages.log" >/dev/null 2>&1 3>&- &
	pages=$!
	until_true test -S "$tmp/work/lazy-pages.socket"
	restore_shown --lazy-pages
	goes_on 'lazy pages'
	try 'lazy pages: all pages are read in the end' wait "$pages"
	grep -q 'Found [1-9][0-9]* pages to be handled' "$tmp/pages.log"
	ok $? 'lazy pages: some were not restored at first'
	unserve
	end
else
	skip 'lazy pages' "$(tail -n 1 <<<"$why")" 5
fi

# images of a tree that criu dumped
if may_dump; then
	start family
	until_true longer 150
	mkdir "$tmp/its"
	dump "$pid" "$tmp/its"
	images "$tmp/its" "$tmp/snap"
	serve "$tmp/snap"
	is "$(find "$mnt" -maxdepth 2 -name criu)" "$mnt/$pid/criu" \
	    'a checkpoint: in the directory of its first process'
	load "$tmp/snap" "$tmp/back"
	alike "$tmp/back" "$mnt/$pid/criu" 'a checkpoint: the same images'
	unserve
else
	skip 'a checkpoint' "$undumped" 5
fi

# a session whose leader is not in the snapshot
cat >"$tmp/child.py" <<'EOP'
#!/usr/bin/env python3
import os, sys, time
os.closerange(3, 1024)
os.setsid()
child = os.fork()
log = open(sys.argv[1], 'w', buffering=1)
while True:
    if child:
        print('child', child, file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/child.py"
start "$tmp/child.py"
leader=$pid
pid=$(sed -n '1s/child //p' "$log")
shown
is "$(tail -n 2 "$dir/command")" "# process $pid: joins the session of criu \
when it is restored: the leader of its own, $leader, is not in the snapshot
criu restore -d -D . --shell-job" "the command joins the session of criu"
unserve
pid=$leader
end

# a process that cannot be restored
cat >"$tmp/waits.py" <<'EOP'
#!/usr/bin/env python3
import os, pty, sys, time
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
master, slave = pty.openpty()
other = os.open('/dev/fuse', os.O_RDWR)
while True:
    print('waits', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/waits.py"
start "$tmp/waits.py"
shown
"$BUILD/snapload" -c "$tmp/snap.gz" 2>&1 | sed 's/^snapload: //' >"$tmp/told"
is "$(ls "$dir")" refused 'refused: no images'
is "$(cat "$dir/refused")" "$(cat "$tmp/told")" \
    'refused: the messages of snapload'
grep -q "process $pid, descriptor .*device leaves it out" "$dir/refused"
ok $? 'refused: process and descriptor are named' || diag <"$dir/refused"
unserve
end
finish 29
