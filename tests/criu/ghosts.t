#!/usr/bin/env bash
# Deleted files, and memory, with gigabytes of holes are the same after criu
# restored them.  The images are small.
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
	ok $? "snap $how: small images, by apparent size"
	end_taken
	restore "$tmp/there"
	goes_on "snap $how"
	end
	is "$(cat "$log.anew" "$log.over")" newnew \
	    "snap $how: new files are unchanged"
	rm -f "$log".*
done

# criu does not restore extended attributes
cat >"$tmp/attr.py" <<'EOP'
#!/usr/bin/env python3
import os, sys, time
os.setsid()
log = open(sys.argv[1], 'w', buffering=1)
f = os.open(sys.argv[1] + '.attr', os.O_RDWR | os.O_CREAT)
try:
    os.setxattr(f, 'user.snap', b'1')
except OSError:
    print('none', file=log)
os.unlink(sys.argv[1] + '.attr')
while True:
    print('attr', file=log)
    time.sleep(.01)
EOP
chmod +x "$tmp/attr.py"
start "$tmp/attr.py"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
if grep -q none "$log"; then
	skip 'attributes: refused' 'no extended attributes here'
else
	is "$(sed -n 's/.*descriptor [0-9]*: \(it is\)/\1/p' "$tmp/err")" "it is deleted \
and has extended attributes: $log.attr: cannot be restored (-f deleted leaves it out)" \
	    'attributes: refused'
fi
end
finish 17
