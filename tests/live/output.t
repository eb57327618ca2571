#!/usr/bin/env bash
# Outputs: full disks, closed pipes, terminals, readers that snap would stop.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/anon"

# said: print snap's messages without numbers
said() {
	sed "s,$tmp,TMP,g;s/\<[1-9][0-9]*\>/N/g" "$tmp/err"
}

if is_root && mkdir "$tmp/mnt" &&
    mount -t tmpfs -o size=512k none "$tmp/mnt" 2>/dev/null; then
	snap -o "$tmp/mnt/snap" "$pid"
	is "$rc $err" \
	    "1 snap: TMP/mnt/snap: write: No space left on device" \
	    "a full disk"
	is "$(ls -A "$tmp/mnt")" "" "a full disk: no file"
else
	skip "a full disk" "cannot mount" 2
fi
snap -o /dev/full "$pid"
is "$rc $err" "1 snap: /dev/full: write: No space left on device" \
    "/dev/full"
(
	ulimit -f 100
	snap -o "$tmp/snap" "$pid"
	echo "$rc $err" >"$tmp/out"
)
is "$(cat "$tmp/out")" \
    "1 snap: TMP/snap: write: File too large" "a file too large"
ok "$([ -e "$tmp/snap" ]; echo $((! $?)))" "a file too large: no file"

"$BUILD/snap" "$pid" 2>"$tmp/err" | true
is "${PIPESTATUS[0]} $(said)" \
    "1 snap: standard output: write: Broken pipe" "a closed pipe"
"$BUILD/snap" "$pid" 2>"$tmp/err" | head -c 1000 >/dev/null
is "${PIPESTATUS[0]} $(said)" \
    "1 snap: standard output: write: Broken pipe" \
    "a pipe that is closed in the middle"
"$BUILD/snap" "$pid" 2>"$tmp/err" | cat >"$tmp/piped"
is "${PIPESTATUS[0]}" 0 "a pipe"
check "$tmp/piped" "$pid" "a pipe: whole"

if script --version >/dev/null 2>&1; then
	script -qec "'$BUILD/snap' $pid" /dev/null </dev/null >"$tmp/tty"
	is "$? $(tr -d '\r' <"$tmp/tty")" "1 snap: standard output is a terminal; use -o file, > file or a pipe" \
	    "a terminal"
	script -qec "'$BUILD/snap' -o '$tmp/snap' $pid" /dev/null </dev/null \
	    >"$tmp/tty"
	is "$?" 0 "a file, from a terminal"
else
	skip "a terminal" "no script(1)" 2
fi

# Descriptors that are closed must not become the snapshot.
"$BUILD/snap" -v -o "$tmp/snap" "$pid" 2>&-
check "$tmp/snap" "$pid" "standard error is closed"
"$BUILD/snap" -v -o "$tmp/snap" "$pid" <&- >&- 2>&-
check "$tmp/snap" "$pid" "all descriptors are closed"
"$BUILD/snap" "$pid" >&- 2>"$tmp/err"
is $? 1 "standard output is closed"

# Only its owner may read the file, whatever the umask; a FIFO as output.
(umask 0; "$BUILD/snap" -o "$tmp/new" "$pid")
is "$(stat -c %a "$tmp/new")" 600 "only its owner may read the file"
# Without /proc a file that has no name cannot get one.
if [ -n "${SANITIZED-}" ]; then
	skip "without /proc" "sanitizers need it" 2
elif is_root && unshare -m mount -t tmpfs none /proc 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
	    "$BUILD/snapcat" -o "$tmp/noproc" "$tmp/new" 2>"$tmp/err"
	is "$? $(cat "$tmp/err")" "0 " "without /proc: snapcat writes a file"
	try "without /proc: it is whole" "$BUILD/snapls" -c "$tmp/noproc"
else
	skip "without /proc" "cannot mount" 2
fi
mkfifo "$tmp/fifo"
cat "$tmp/fifo" >"$tmp/piped" &
snap -o "$tmp/fifo" "$pid"
wait $!
check "$tmp/piped" "$pid" "a fifo by name"

let_go "$pid" "released"
unnoticed "$pid" "not noticed"

# Readers that snap would stop are left out, or an error; nothing hangs.
patience=4
cat >"$tmp/pipe.sh" <<'EOF'
"$2" -r $$ 2>"$1/err" | cat | cat >"$1/piped"
EOF
timeout -s KILL 5 bash "$tmp/pipe.sh" "$tmp" "$BUILD/snap"
ok $? "a pipeline that is in the snapshot does not hang"
# reads PID FIFO: cat has opened the FIFO, so that snap can find it
reads() {
	[ "$(readlink "/proc/$1/fd/0")" = "$(readlink -f "$2")" ] &&
	    [ "$(cat "/proc/$1/comm")" = cat ]
}
cat <>"$tmp/fifo" >"$tmp/piped" &
reader=$!
until_true reads "$reader" "$tmp/fifo"
timeout -s KILL 5 "$BUILD/snap" "$reader" >"$tmp/fifo" 2>"$tmp/err"
is $? 1 "the reader of a fifo: an error"
kill "$reader" 2>/dev/null
cat <>"$tmp/fifo" >"$tmp/piped" &
reader=$!
until_true reads "$reader" "$tmp/fifo"
timeout -s KILL 5 "$BUILD/snap" -o "$tmp/fifo" "$reader" 2>"$tmp/err"
is $? 1 "the reader of a fifo of -o: an error"
kill "$reader" 2>/dev/null
cat >"$tmp/sock.py" <<'EOF'
import os, socket, subprocess, sys
a, b = socket.socketpair()
p = subprocess.Popen([sys.argv[1], str(os.getpid())], stdout=b.fileno(),
    stderr=subprocess.DEVNULL)
b.close()
while a.recv(65536):
    pass
sys.exit(p.wait() != 1)
EOF
try "the reader of a socket: an error" timeout -s KILL 5 \
    python3 "$tmp/sock.py" "$BUILD/snap"
cat >"$tmp/pipe.py" <<'EOF'
import os, subprocess, sys
p = subprocess.run([sys.argv[1], str(os.getpid())], capture_output=True)
sys.exit(p.returncode != 1)
EOF
try "the reader of a pipe: an error" timeout -s KILL 5 \
    python3 "$tmp/pipe.py" "$BUILD/snap"

# The disk starts to write a file before it is complete; a pipe has no disk.
what="the disk starts to write a file early"
if strace -qq -e trace=none true 2>/dev/null; then
	target python3 -c 'import os
data = os.urandom(32 << 20)
print("ready", flush=True)
input()
print("report none 0")'
	calls=(strace -f -qq -o "$tmp/calls" -e "trace=sync_file_range,fsync")
	"${calls[@]}" "$BUILD/snap" -o "$tmp/snap" "$pid"
	is "$(grep -oE '(sync_file_range|fsync)\(' "$tmp/calls" | head -n 3 |
	    tr -d '\n')" "sync_file_range(sync_file_range(sync_file_range(" \
	    "$what"
	"${calls[@]}" "$BUILD/snap" "$pid" | cat >/dev/null
	is "$(grep -c '(' "$tmp/calls")" 0 "$what: not for a pipe"
	"${calls[@]}" "$BUILD/snapcat" -o "$tmp/cat" "$tmp/snap"
	grep -q 'sync_file_range.* = 0' "$tmp/calls"
	ok $? "$what: in a confined program"
	rm -f "$tmp/snap" "$tmp/cat"
	unnoticed "$pid" "$what: not noticed"
else
	skip "$what" "no strace, or it may not trace" 4
fi
finish 29
