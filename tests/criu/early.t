#!/usr/bin/env bash
# snap --to copies memory while the processes run.  All memory is restored as it
# was at the stop: pages that changed or became zero after the copy, mappings
# that moved, shared memory.  Little is left for the stop.
# beside: others unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

printf '6.5\n%s\n' "$(uname -r)" | sort -C -V ||
    skip_all 'early copies need Linux 6.5'
PATH=${criu%/*}:$PATH
unshare -pf --mount-proc --kill-child sh -c 'trap : TERM
while :; do sleep 0.1; done' &
disown $!
until_true pgrep -P $! >/dev/null
over=(nsenter -t "$(pgrep -P $!)" -p -m)
export TMPDIR=$tmp/there
mkdir "$TMPDIR"

begin() {
	! pkill -KILL -f "$here/pages.py" || until_true nobody
	start "$here/pages.py"
	until_true grep -q '^child 20 ' "$log"
}
nobody() {
	! pgrep -f "$here/pages.py" >/dev/null
}
# copy N: the kilobytes that copy N sent
copy() {
	sed -n "s/.*copy $1, while the processes run: //p" "$tmp/err" |
	    cut -d' ' -f1
}

for round in 1 2 3; do
	begin
	timeout 60 "$BUILD/snap" -v --to "${over[*]} $BUILD/snapload --receive" \
	    "$pid" 2>"$tmp/err"
	is "$? $(ls "$TMPDIR")" '0 ' "$round: moved" || diag <"$tmp/err"
	until_true reaped "$pid"
	counts_on "$round" "$(lines)"
	ok "$(($(copy 1) < 24576))" "$round: memory is copied early"
	ok "$(($(copy 2) > 8192))" "$round: then changed pages are copied"
	raw=$(sed -n 's/.*memory raw: \([0-9]*\).* MiB, zero.*/\1/p' "$tmp/err")
	ok "$((raw > 12))" "$round: $raw MiB are left for the stop"
done

# unchanged pages are mostly sent as runs
begin
timeout 60 "$BUILD/snap" --to "tee $tmp/stream |
    ${over[*]} $BUILD/snapload --receive" "$pid" 2>"$tmp/err"
is $? 0 'runs: moved'
until_true reaped "$pid"
counts_on 'runs' "$(lines)"
is "$(python3 - "$tmp/stream" <<'END'
import struct, sys
data = open(sys.argv[1], 'rb').read()
at = runs = 0
while at < len(data):
    kind, n = data[at:at + 1], struct.unpack('>I', data[at + 1:at + 5])[0]
    body = data[at + 5:at + 5 + n].split()
    at += 5 + n
    runs += int(body[3]) if kind == b'r' else 0
print(runs > 8192)
END
)" True 'unchanged pages are sent as runs'
python3 - "$tmp/stream" >"$tmp/early.snap" <<'END'
import struct, subprocess, sys
data = open(sys.argv[1], 'rb').read()
at = 0
while at < len(data):
    kind, n = data[at:at + 1], struct.unpack('>I', data[at + 1:at + 5])[0]
    body = data[at + 5:at + 5 + n]
    at += 5 + n
    if kind == b'r':
        letter, pid, addr, n = body.split()
        body = b''.join(letter + b'%11d %11d ' % (int(pid), int(addr) + i)
            for i in range(0, int(n) * 1024, 1024))
    if kind == b'p':
        body = subprocess.run(['zstd', '-dcq'], input=body, check=True,
            stdout=subprocess.PIPE).stdout
    if kind in b'rdp':
        sys.stdout.buffer.write(body)
END
try 'snapcat reads the stream' "$BUILD/snapcat" -o "$tmp/last.snap" \
    "$tmp/early.snap"
is "$("$BUILD/snapls" "$tmp/last.snap" | awk '$1 + 0 >= 16777216')" '' \
    'snapcat leaves out the early copies'
try 'the rest is complete' "$BUILD/snapls" -c "$tmp/last.snap"
is "$("$BUILD/snapdiff" "$tmp/early.snap" "$tmp/last.snap" |
    grep -Ev '^(---|\+\+\+|- process [0-9]{8} *$)')" '' 'the rest is the same'

begin
timeout 60 "$BUILD/snap" -v -s --to "${over[*]} $BUILD/snapload --receive" \
    "$pid" 2>"$tmp/err"
is "$? $(grep -c copy "$tmp/err")" '0 0' '-s: nothing is copied early'
until_true reaped "$pid"
counts_on '-s' "$(lines)"

# excluded memory is not sent
begin
timeout 60 "$BUILD/snap" -v -f -x secrets \
    --to "echo ready; timeout 3 cat >$tmp/stream" "$pid" 2>"$tmp/err"
is "$(grep -c 'copy [0-9]*, while' "$tmp/err") $([ -s "$tmp/stream" ] &&
    echo sent)" '0 sent' '-x: nothing is copied early'

# no room for clones: no early copies
begin
timeout 60 "$BUILD/snap" -v --memory 1K --to \
    "${over[*]} $BUILD/snapload --receive" "$pid" 2>"$tmp/err"
is "$? $(grep -c copy "$tmp/err")" '0 0' '--memory: nothing is copied early'
until_true reaped "$pid"
counts_on '--memory' "$(lines)"

# A small copy follows a large one, and a large one follows it: the clones of
# both older copies end.  The process changes its memory when it has more clones
# than before, and the relay waits for that.
pkill -KILL -f "$here/pages.py"
cat >"$tmp/clones.py" <<'END'
#!/usr/bin/env python3
import mmap, os, sys, time
from counter import apart
log, most, n = apart(sys.argv[1]), 0, 0
m = mmap.mmap(-1, 72 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m[:] = os.urandom(len(m))
while True:
    with open('/proc/self/task/%d/children' % os.getpid()) as f:
        now = len(f.read().split())
    if now > most:
        most, n = now, 0
        size = 12 << 20 if now == 1 else len(m)
        m[:size] = os.urandom(size)
    n += 1
    os.write(log, b'%d %d 0\n' % (most, n))
    time.sleep(0.01)
END
chmod +x "$tmp/clones.py"
cat >"$tmp/relay.py" <<'END'
import os, sys, time
def waits(pid, log):
    with open('/proc/%s/task/%s/children' % (pid, pid)) as now:
        with open(log) as lines:
            return len(now.read().split()) > int(list(lines)[-1].split()[0])
while data := os.read(0, 1 << 18):
    while waits(*sys.argv[1:]):
        time.sleep(0.01)
    while data:
        data = data[os.write(1, data):]
END
PYTHONPATH=$here start "$tmp/clones.py"
timeout 60 "$BUILD/snap" -v --to "python3 $tmp/relay.py $pid $log |
    ${over[*]} $BUILD/snapload --receive" "$pid" 2>"$tmp/err"
is $? 0 'large copies after a small one: moved' || diag <"$tmp/err"
ok "$(($(copy 1) <= 65536 || $(copy 2) >= 65536 || $(copy 3) <= 65536))" \
    'large copies after a small one: the second is small' || diag <"$tmp/err"
until_true reaped "$pid"
counts_on 'large copies after a small one' "$(lines)"
pkill -KILL -f "$tmp/clones.py"

# the far side fails during an early copy
begin
timeout 60 "$BUILD/snap" --to "$here/cut.py 9000000 ${over[*]} \
    $BUILD/snapload --receive" "$pid" 2>"$tmp/err"
rc=$?
until_true eval '[ -z "$(ls "$TMPDIR")" ]'
is "$rc $(cat "$tmp/err")" '1 snap: --to: the command has ended' \
    'cut during a copy: --to fails'
gone_clones() {
	[ "$(pgrep -c -f "$here/pages.py")" -eq 2 ]
}
until_true gone_clones
ok $? 'no clone is left'
counts_on 'cut during a copy' "$(lines)"

# a clone is killed, as by the out-of-memory killer, while it is read
begin
child=$(pgrep -P "$pid")
timeout 60 "$BUILD/snap" --to "$here/cut.py -1000 ${over[*]} \
    $BUILD/snapload --receive" "$pid" 2>"$tmp/err" &
snap=$!
clone() {
	for p in $(pgrep -P "$pid"); do
		# snap also traces the child for a moment
		[ "$p" = "$child" ] ||
		    ! grep -q '^TracerPid:[[:space:]]*[1-9]' \
			"/proc/$p/status" 2>/dev/null || echo "$p"
	done
}
has_clone() {
	[ -n "$(clone)" ]
}
until_true has_clone
pkill -STOP -f "$here/cut.py"
# shellcheck disable=SC2046 # one or two
kill -KILL $(clone)
sleep 0.1
pkill -CONT -f "$here/cut.py"
wait "$snap"
is "$? $(apart_from_criu)" '0 ' 'a clone is killed: moved'
until_true reaped "$pid"
counts_on 'a clone is killed' "$(lines)"
pkill -KILL -f "$here/pages.py"

# a copy refers to a page of the previous copy that may have been replaced
stale() {
	"$here/stale.py" "$@" | timeout 60 "$BUILD/snapload" --receive 2>&1 |
	    sed -n 's/^snapload: //p'
}
is "$(stale | sed 's/ nor the .*//')" \
    'the snapshot has neither CRIU images' \
    'a reference to the same address is accepted'
is "$(stale 65536)" 'standard input: byte 8423: process 77 (moment 3, or '\
'early copy 2): mem: segment 0: page 4: refers to memory 65536 of process '\
'16777293, which a later copy replaces' \
    'a reference to another address is refused'

# the file of the program is another one on the far side
cp /bin/sleep "$tmp/program"
objcopy --remove-section .note.gnu.build-id "$tmp/program"
cp "$tmp/program" "$tmp/other"
printf more >>"$tmp/other"
"${over[@]}" mount --bind "$tmp/other" "$tmp/program"
setsid python3 -c 'import os, sys
os.closerange(3, 1024)
os.execv(sys.argv[1], sys.argv[1:])' "$tmp/program" 1000 \
    </dev/null >/dev/null 2>&1 &
disown $!
pid=$!
runs() {
	[ "/proc/$pid/exe" -ef "$tmp/program" ]
}
until_true runs
timeout 60 "$BUILD/snap" --to "${over[*]} $BUILD/snapload --receive" "$pid" \
    2>"$tmp/err"
is "$? $(sed 's,.*File ,File /,' "$tmp/err")" "1 File $tmp/program has bad size \
$(stat -c %s "$tmp/other") (expect $(stat -c %s "$tmp/program"))" \
    'without a build ID, criu compares the size'
kill "$pid"
finish 47
