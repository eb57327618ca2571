#!/usr/bin/env bash
# criu restores processes of many kinds that snap took; one of two trees, whose
# images have a parent; and a process in a pid namespace, with the process ID
# that it has there.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

if criu_from 4.0; then
	start kinds
	until_true longer 200
	is "$(awk '$3 != 0' "$log")" '' 'nothing is wrong before'
	moves kinds "$tmp/kinds" -r
	is "$(grep -c '^stopped' "$log")" 0 'the stopped process is stopped'
	for stopped in $(pgrep -s "$pid" -r T); do
		kill -CONT "$stopped"
	done
	until_true grep -q '^stopped 5' "$log"
	is "$(grep -m 4 '^stopped' "$log")" "$(printf 'stopped %d 0\n' 2 3 4 5)" \
	    'it counts on after SIGCONT'
	end
else
	skip kinds 'criu before 4.0 lacks SCHED_RESET_ON_FORK' 7
fi

# one of two trees; its earlier images are the parent
start counter
other=$pid
start counter
until_true longer 20
take "$tmp/before" -r
cp "$log" "$tmp/log.before"
"$BUILD/snap" -r -o "$tmp/both" "$other" "$pid" 2>"$tmp/try"
is "$? $(cat "$tmp/try")" '0 ' 'two trees are taken'
"$BUILD/snapload" -D "$tmp/one" "$tmp/both" 2>"$tmp/try"
is "$? $(grep -c 'several process trees' "$tmp/try")" '1 1' \
    'two trees are refused'
try 'snapload -p --parent' "$BUILD/snapload" -p "$pid" --parent "$tmp/before" \
    -D "$tmp/one" "$tmp/both"
is "$(find "$tmp/one" -name 'core-*' | wc -l)" \
    "$(find "$tmp/before" -name 'core-*' | wc -l)" 'the images of one tree'
[ "$(cat "$tmp"/one/pages-* | wc -c)" -lt \
    $(($(cat "$tmp"/before/pages-* | wc -c) / 2)) ]
ok $? 'most pages are in the parent'
end_taken
restore "$tmp/one"
goes_on 'one tree with a parent'
end
pid=$other
end

# its process ID is 300 in the namespace, and another one outside
log=$tmp/log.inside
cat >"$tmp/inside" <<'EOI'
echo "$1" >/proc/sys/kernel/ns_last_pid
shift
"$@" &
wait
EOI
unshare --pid --fork --mount-proc --kill-child bash "$tmp/inside" 299 \
    "$targets/counter" "$log" </dev/null >/dev/null 2>&1 &
apart=$!
until_true longer 20
pid=$(pgrep -f "^$targets/counter $log" | head -n 1)
is "$(awk '/^NSpid/ { print $3 }' "/proc/$pid/status")" 300 'a process inside'
take "$tmp/inside.d" -r
disown "$apart"
kill -KILL "$apart"
until_true gone "$pid"
cp "$log" "$tmp/log.was"
: >"$log"
unshare --pid --fork --mount-proc --kill-child bash "$tmp/inside" 499 \
    "$criu" restore -D "$tmp/inside.d" -o "$tmp/criu.log" </dev/null \
    >"$tmp/try" 2>&1 &
apart=$!
goes_on 'in another namespace'
disown "$apart"
kill -KILL "$apart"

# keys of its session and process keyrings, which criu does not restore
cat >"$tmp/keys.py" <<'EOC'
import ctypes, os, platform, sys, time
os.closerange(3, 1024)
os.setsid()
add_key, keyctl = (217, 219) if platform.machine() == 'aarch64' else (248, 250)
call = ctypes.CDLL(None).syscall
if call(keyctl, 1, None) == -1:
    sys.exit('no keys')
for name, ring in (b'one', -3), (b'two', -3), (b'three', -2):
    if call(add_key, b'user', name, b'secret', 6, ring) == -1:
        sys.exit('no key')
with open(sys.argv[1], 'w') as log:
    print('ready', file=log)
time.sleep(1000)
EOC
python3 "$tmp/keys.py" "$tmp/keys" </dev/null >/dev/null 2>"$tmp/err" &
pid=$!
disown "$pid"
until_true test -s "$tmp/keys" -o -s "$tmp/err"
if [ -s "$tmp/keys" ]; then
	"$BUILD/snap" -r -o "$tmp/snap" "$pid"
	is "$("$BUILD/snapload" -c "$tmp/snap" 2>&1 >/dev/null |
	    grep keyring)" "snapload: process $pid: the keyring of its \
process, with 1 key, is not restored
snapload: process $pid: the keyring of its session, with 2 keys, is not \
restored" 'lost keys are listed'
else
	skip 'keys' "$(cat "$tmp/err")"
fi
kill -KILL "$pid"
finish 21
