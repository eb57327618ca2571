#!/usr/bin/env bash
# Cores that the kernel sends to a socket (Linux 6.16), which snapcrash serves.
# beside: nothing unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
socket=$tmp/s
config "socket $socket" "readable-by user"
if ! grep -qx socket "$proc/core_modes" 2>/dev/null; then
	crash -s install
	is "$rc $err" "1 snapcrash: -s requires Linux 6.16 or newer \
(without -s, the kernel runs snapcrash for each crash)" "this kernel cannot"
	finish 1
	exit 0
fi

crash -s install
is "$rc $err" "1 snapcrash: no process is listening on $socket yet: start snapcrash serve now and at each boot
snapcrash: $proc/core_pattern: the kernel accepts a socket only from the initial mount namespace (run this there)" \
    "not from another mount namespace"
cp "$proc/core_pattern" "$tmp/pattern"
crash -s install
is "$rc $err" "0 snapcrash: no process is listening on $socket yet: start snapcrash serve \
now and at each boot" "installed, and nobody serves"
pattern=$(cat "$tmp/pattern")
is "$pattern" "@@$socket" "the kernel is to send cores there"
try "after the next boot, too" grep -qxF "kernel.core_pattern=$pattern" \
    "$tmp/sysctl/50-snapcrash.conf"
crash status
is "$rc $(head -1 "$tmp/out")" "1 cores are sent to the socket $socket, but \
no process is listening: start snapcrash serve" "it says so"
if [ -d /etc/systemd/system ] && command -v systemd-analyze >/dev/null; then
	# it looks for what the machine lacks, too: only what is said of these
	systemd-analyze verify "$tmp/units/snapcrash.socket" 2>&1 |
	    grep -F "$tmp/units" >"$tmp/out"
	is "$(cd "$tmp/units" && echo ./*) $(cat "$tmp/out")" \
	    "./snapcrash.service ./snapcrash.socket " "units of systemd"
else
	skip "units of systemd" "no systemd"
fi

echo "$pattern" >"$proc/core_pattern" 2>/dev/null || {
	echo "@$socket" >"$tmp/pattern"
	cat "$tmp/pattern" >"$proc/core_pattern"
}

# serves COMMAND ...: it serves: $server
serves() {
	"$@" >"$tmp/log" 2>&1 3>&- &
	server=$!
	until_true test -S "$socket"
}
ends() {
	kill -TERM "$server"
	wait "$server"
}
serves "$BUILD/snapcrash" -c "$conf" serve
listens() {
	crash status
	[ "$rc" -eq 0 ]
}
until_true listens
is "$rc $(head -1 "$tmp/out")" "0 cores are handled by snapcrash: at most 4 at once, \
16 waiting" "it serves"
is "$(stat -c %a "$socket")" 600 "nobody but root may connect"
timeout 20 "$BUILD/snapcrash" -c "$conf" serve >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" \
    "1 snapcrash: $socket: another process is already listening there" "it does so once"

falls "$targets/fall" overflow 3
"$BUILD/snapls" -cno PID,THREADS "$store/$id" >"$tmp/out" 2>&1
is "$? $(awk '{ print $1, $2 }' "$tmp/out")" "0 $pid 4" \
    "what crashes is taken"
crash list
is "$(awk 'NR == 2 { print $3, $4, $5, $8, $9 }' "$tmp/out")" \
    "$pid root SEGV fall $id" "with its signal"
told() {
	grep -q "process $pid (fall) of user 0 crashed: SIGSEGV \
(Segmentation fault) in deeper+[^ ]* < deeper+.*: $store/$id\$" "$tmp/log"
}
if [ -x "$BUILD/snapstack" ]; then
	until_true told
	try "the log tells where" told
else
	skip "the log tells where" "no snapstack"
fi

target unshare -pf "$targets/fall" segv 3
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken fall 2
crash list fall
is "$(awk '$8 == "fall" { n++ } END { print n, $5 }' "$tmp/out")" "2 SEGV" \
    "of another PID namespace, too"

falls setpriv --reuid 65534 --regid 65534 --clear-groups "$targets/fall" segv 0
if has_acls; then
	until_true readable
	try "who crashed may read it" readable
else
	skip "who crashed may read it" "this file system has no ACLs"
fi

# who connects himself is not believed
python3 - "$socket" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
try:
    s.sendall(b"\x7fELF" * 100)
    s.recv(1)
except OSError:
    pass
END
refused() {
	grep -q "connected, but is not dumping core" "$tmp/log"
}
until_true refused
try "who does not dump core is refused" refused

# Linux 6.16 has only this, which later ones have, too
echo "@$socket" >"$proc/core_pattern"
falls "$targets/fall" segv 300
is "$("$BUILD/snapls" -no THREADS -p fall "$store/$id" | tr -d ' ')" 301 \
    "cores that are sent unasked"
cat "$tmp/pattern" >"$proc/core_pattern"

ends
is "$? $(find "$socket" 2>/dev/null)" "0 " "it ends"

# who reads what strangers made is a user of his own, where there is one
mkdir "$tmp/own"
cp "$BUILD"/snap* "$tmp/own"
for p in snapcat snapstack; do
	[ -e "$tmp/own/$p" ] || continue
	mv "$tmp/own/$p" "$tmp/own/real-$p"
	cat >"$tmp/own/$p" <<-END
		#!/bin/sh
		grep -E '^(Uid|CapEff)' /proc/self/status >>"$tmp/who"
		exec "$tmp/own/real-$p" "\$@"
	END
	chmod 755 "$tmp/own/$p"
done
: >"$tmp/who"
chmod 666 "$tmp/who"
chmod 711 "$tmp/own"
{
	cat /etc/passwd
	echo "snapcrash:x:65531:65531::/:/bin/false"
} >"$tmp/passwd"
serves unshare -m sh -c "mount --bind '$tmp/passwd' /etc/passwd &&
    exec '$tmp/own/snapcrash' -c '$conf' serve"
falls "$targets/fall" overflow 3
said() {
	grep -q "process $pid (fall) of user 0 crashed: .*: $store/$id\$" \
	    "$tmp/log"
}
until_true said
try "as a user of its own: taken, and told of" said
is "$(tr -s '[:blank:]' ' ' <"$tmp/who" | sort -u)" "CapEff: 0000000000000000
Uid: 65531 65531 65531 65531" "as a user of its own: all who read it"
ends

# what snapcrash itself runs is not taken when it crashes
mkdir "$tmp/crashing"
cp "$BUILD/snapcrash" "$tmp/crashing"
cat >"$tmp/crashing/snap" <<'END'
#!/bin/sh
ulimit -c unlimited
kill -SEGV $$
END
chmod 755 "$tmp/crashing/snap"
serves "$tmp/crashing/snapcrash" -c "$conf" serve
n=$(find "$store" -name '*.snap.gz' | wc -l)
target "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
ours() {
	grep -q "it is a process of snapcrash itself" "$tmp/log" &&
	    grep -q "process $pid (fall) crashed: .*: snap exited with status 139" \
	    "$tmp/log"
}
until_true ours
is "$(grep -c "it is a process of snapcrash itself" "$tmp/log") $(
    find "$store" -name '*.snap.gz' | wc -l)" "1 $n" \
    "what snapcrash runs is not taken when it crashes" || diag <"$tmp/log"
# nor it
kill -SEGV "$server"
wait "$server" 2>/dev/null
is "$? $(find "$store" -name 'snapcrash.*')" "139 " "nor is it"

# a socket that was left behind, and one that is given
if command -v systemd-socket-activate >/dev/null; then
	rm "$socket"
	serves systemd-socket-activate -l "$socket" "$BUILD/snapcrash" \
	    -c "$conf" serve
else
	serves "$BUILD/snapcrash" -c "$conf" serve
	until_true listens
fi
falls "$targets/fall" segv 0
try "a socket of systemd's" "$BUILD/snapls" -c "$store/$id"
ends

# to a systemd that runs, which has started what serves
mkdir -p "$tmp/run/systemd/system" "$tmp/fake"
cat >"$tmp/fake/systemctl" <<END
#!/bin/sh
echo "\$*" >>"$tmp/asked"
END
chmod 755 "$tmp/fake/systemctl"
PATH=$tmp/fake:$PATH crash remove
is "$rc $err $(cat "$tmp/pattern" "$proc/core_pipe_limit" | tr '\n' ' ')" \
    "0  $was $waslimit " "removed: all is as before"
is "$(find "$tmp/sysctl" "$tmp/lib" "$tmp/units" -type f)" "" "no file is left"
if [ -d /etc/systemd/system ]; then
	is "$(cat "$tmp/asked")" "disable --now snapcrash.socket
stop snapcrash.service
daemon-reload --quiet" "systemd is asked to end all of it"
else
	skip "systemd is asked" "no systemd"
fi
put_back
finish 25
