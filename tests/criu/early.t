#!/usr/bin/env bash
# snap --to copies memory while the processes run: all of it is as it was in the
# stop, what changed after the copy, what is zero since, what has another address
# and what is shared.  Little is left for the stop.
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
# copy N: how many kilobytes of it were new
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
	ok "$(($(copy 2) > 8192))" "$round: and then what changed"
	raw=$(sed -n 's/.*memory raw: \([0-9]*\).* MiB, zero.*/\1/p' "$tmp/err")
	ok "$((raw > 12))" "$round: $raw MiB are left for the stop"
done

# most references are sent as runs
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
    'and leaves out the early copies'
try 'the rest is whole' "$BUILD/snapls" -c "$tmp/last.snap"
is "$("$BUILD/snapdiff" "$tmp/early.snap" "$tmp/last.snap" |
    grep -Ev '^(---|\+\+\+|- process [0-9]{8} *$)')" '' 'and the same'

begin
timeout 60 "$BUILD/snap" -v -s --to "${over[*]} $BUILD/snapload --receive" \
    "$pid" 2>"$tmp/err"
is "$? $(grep -c copy "$tmp/err")" '0 0' '-s: nothing is copied early'
until_true reaped "$pid"
counts_on '-s' "$(lines)"

# no room for clones: they run on until the stop
begin
timeout 60 "$BUILD/snap" -v --memory 1K --to \
    "${over[*]} $BUILD/snapload --receive" "$pid" 2>"$tmp/err"
is "$? $(grep -c copy "$tmp/err")" '0 0' '--memory: nothing is copied early'
until_true reaped "$pid"
counts_on '--memory' "$(lines)"

# the far side fails within the copy
begin
timeout 60 "$BUILD/snap" --to "$here/cut.py 9000000 ${over[*]} \
    $BUILD/snapload --receive" "$pid" 2>"$tmp/err"
is "$? $(ls "$TMPDIR") $(grep ^snap: "$tmp/err")" \
    '1  snap: --to: the command has ended' 'cut within the copy'
gone_clones() {
	[ "$(pgrep -c -f "$here/pages.py")" -eq 2 ]
}
until_true gone_clones
ok $? 'no clone is left'
counts_on 'cut within the copy' "$(lines)"

# a clone is killed, as for lack of memory, while it is read
begin
child=$(pgrep -P "$pid")
timeout 60 "$BUILD/snap" --to "$here/cut.py -1000 ${over[*]} \
    $BUILD/snapload --receive" "$pid" 2>"$tmp/err" &
snap=$!
clone() {
	for p in $(pgrep -P "$pid"); do
		# snap traces the child as well, for a moment
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
is "$? $(apart_from_criu)" '0 ' 'a clone is killed'
until_true reaped "$pid"
counts_on 'a clone is killed' "$(lines)"
pkill -KILL -f "$here/pages.py"

# a copy refers to a page of the copy before that may have been replaced
stale() {
	"$here/stale.py" "$@" | timeout 60 "$BUILD/snapload" --receive 2>&1 |
	    sed -n 's/^snapload: //p'
}
is "$(stale | sed 's/ nor the .*//')" \
    'the snapshot has neither CRIU images' 'the same address of the copy before'
is "$(stale 65536)" 'standard input: byte 8423: process 77 (moment 3, or '\
'early copy 2): mem: segment 0: page 4: refers to memory 65536 of process '\
'16777293, which a later copy replaces' 'another address of the copy before'

# another program has the name on the far side
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
    'without a build ID, the size is compared'
kill "$pid"
finish 42
