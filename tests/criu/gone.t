#!/usr/bin/env bash
# Deleted files are the same after a restore: directories, FIFOs, devices,
# symbolic links, and files with holes.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -sr; do
	start "$here/gone.py"
	until_true longer 50
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	moves "snap $how" "$tmp/there" "$how"
	: >"$log.talk"
	until_true grep -q '^read' "$log"
	is "$(grep '^read' "$log")" 'read wait' "snap $how: the bytes in a FIFO"
	end
	rm -rf "$tmp/there" "$log.talk"
	is "$(echo "$log".*)" "$log.kept" "snap $how: no other name is left"
	rm "$log.kept"
done

# criu would create another FIFO than the one with the other name; a record has
# no lines for a link to a name of two lines
cat >"$tmp/other.py" <<'EOP'
#!/usr/bin/env python3
import os, sys, time
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
os.mkfifo(sys.argv[1] + '.a')
os.link(sys.argv[1] + '.a', sys.argv[1] + '.b')
fd = os.open(sys.argv[1] + '.a', os.O_RDWR)
os.unlink(sys.argv[1] + '.a')
os.symlink('a\nb', sys.argv[1] + '.c')
link = os.open(sys.argv[1] + '.c', os.O_PATH | os.O_NOFOLLOW)
os.unlink(sys.argv[1] + '.c')
while True:
    print('other', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/other.py"
start "$tmp/other.py"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$? $(sed -n 's/.*descriptor [0-9]*: \(it.*\): \/.*/\1/p' "$tmp/err")" \
    '1 it is deleted, and its other name was not found
it is deleted, and its target is unknown' \
    'a FIFO with another name, and a link to a name of two lines: refused'
end

# what criu could not open again, or not remove
cat >"$tmp/ended.py" <<'EOP'
#!/usr/bin/env python3
import os, sys, time
os.closerange(3, 1024)
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
child = os.fork()
if child == 0:
    time.sleep(1000)
below = '/proc/%d' % child
fds = [os.open(below + name, 0) for name in ('/stat', '', '/task/%d' % child)]
fds += [os.open('/proc/%d/stat' % pid, 0) for pid in (os.getpid(), 1)]
os.kill(child, 9)
os.waitpid(child, 0)
while True:
    print('ended', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/ended.py"
start "$tmp/ended.py"
is "$("$BUILD/snap" -d -r "$pid" 2>&1 | sed -n 's/.*, descriptor /descriptor /p' |
    sed 's,/proc/[0-9]*,/proc/N,;s,task/[0-9]*,task/N,')" \
    'descriptor 4: a file of /proc that no longer exists: /proc/N/stat: cannot '\
'be restored (snapload -f other leaves it out)
descriptor 5: a file of /proc that no longer exists: /proc/N: cannot '\
'be restored (snapload -f deleted leaves it out)
descriptor 6: a file of /proc that no longer exists: /proc/N/task/N: cannot '\
'be restored (snapload -f deleted leaves it out)' \
    'files of an ended process: refused'
end
finish 16
