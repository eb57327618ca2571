#!/usr/bin/env bash
# snapcrash serves a socket to which the kernel sends cores (Linux 6.16).
# beside: crash unsanitized
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
(without -s, the kernel runs snapcrash for each crash)" \
	    "refused on an older kernel"
	finish 1
	exit 0
fi

crash -s install
is "$rc $err" "1 snapcrash: no process is listening on $socket yet: start snapcrash serve now and at each boot
snapcrash: $proc/core_pattern: the kernel accepts a socket only from the initial mount namespace (run this there)" \
    "refused in another mount namespace"
cp "$proc/core_pattern" "$tmp/pattern"
crash -s install
is "$rc $err" "0 snapcrash: no process is listening on $socket yet: start snapcrash serve \
now and at each boot" "installed, with a warning"
pattern=$(cat "$tmp/pattern")
is "$pattern" "@@$socket" "core_pattern names the socket"
try "also after a reboot" grep -qxF "kernel.core_pattern=$pattern" \
    "$tmp/sysctl/50-snapcrash.conf"
# the configuration names another socket since
config "socket $socket.2"
crash remove
is "$rc $err $(cat "$tmp/pattern")" "0  $was" \
    "removed, although the configuration has another socket"
crash -s install
config "socket $socket" "readable-by user"
crash -s install
is "$rc $(head -n 1 "$tmp/lib/snapcrash.before")" "0 $was" \
    "installed with another socket: the handler before snapcrash is kept"
crash status
is "$rc $(head -1 "$tmp/out")" "1 cores are sent to the socket $socket, but \
no process is listening: start snapcrash serve" "status: nobody listens"
if [ -d /etc/systemd/system ] && command -v systemd-analyze >/dev/null; then
	# it checks other units as well: keep only messages about ours
	systemd-analyze verify "$tmp/units/snapcrash.socket" 2>&1 |
	    grep -F "$tmp/units" >"$tmp/out"
	is "$(cd "$tmp/units" && echo ./*) $(cat "$tmp/out")" \
	    "./snapcrash.service ./snapcrash.socket " "systemd takes the units"
else
	skip "systemd takes the units" "no systemd"
fi

echo "$pattern" >"$proc/core_pattern" 2>/dev/null || {
	echo "@$socket" >"$tmp/pattern"
	cat "$tmp/pattern" >"$proc/core_pattern"
}

# serves COMMAND ...: start a server, $server, and wait for its socket
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
16 waiting" "status: it listens"
is "$(stat -c %a "$socket")" 600 "only root may connect"
timeout 20 "$BUILD/snapcrash" -c "$conf" serve >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" \
    "1 snapcrash: $socket: another process is already listening there" \
    "a second server is refused"

falls "$targets/fall" overflow 3
"$BUILD/snapls" -cno PID,THREADS "$store/$id" >"$tmp/out" 2>&1
is "$? $(awk '{ print $1, $2 }' "$tmp/out")" "0 $pid 4" \
    "a crash is captured"
crash list
is "$(awk 'NR == 2 { print $3, $4, $5, $8, $9 }' "$tmp/out")" \
    "$pid root SEGV fall $id" "list shows its signal"
told() {
	grep -q "process $pid (fall) of user 0 crashed: SIGSEGV \
(Segmentation fault) in deeper+[^ ]* < deeper+.*: $store/$id\$" "$tmp/log"
}
if [ -x "$BUILD/snapstack" ]; then
	until_true told
	try "the log shows the stack" told
else
	skip "the log shows the stack" "no snapstack"
fi

target unshare -pf "$targets/fall" segv 3
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken fall 2
crash list fall
is "$(awk '$8 == "fall" { n++ } END { print n, $5 }' "$tmp/out")" "2 SEGV" \
    "a crash in another PID namespace is captured"

falls setpriv --reuid 65534 --regid 65534 --clear-groups "$targets/fall" segv 0
if has_acls; then
	until_true readable
	try "its user may read a crash" readable
else
	skip "its user may read a crash" "this file system has no ACLs"
fi

# connect without dumping core
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
try "a process that does not dump core is refused" refused

# the only protocol of Linux 6.16; later kernels have it as well
echo "@$socket" >"$proc/core_pattern"
falls "$targets/fall" segv 300
is "$("$BUILD/snapls" -no THREADS -p fall "$store/$id" | tr -d ' ')" 301 \
    "cores that are sent without a request are captured"
cat "$tmp/pattern" >"$proc/core_pattern"

ends
is "$? $(find "$socket" 2>/dev/null)" "0 " "SIGTERM ends the server"

# programs that read snapshots run as the user snapcrash, if it exists
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
until_true listens
falls "$targets/fall" overflow 3
said() {
	grep -q "process $pid (fall) of user 0 crashed: .*: $store/$id\$" \
	    "$tmp/log"
}
until_true said
try "user snapcrash: the crash is captured and logged" said
is "$(tr -s '[:blank:]' ' ' <"$tmp/who" | sort -u)" "CapEff: 0000000000000000
Uid: 65531 65531 65531 65531" \
    "user snapcrash: all readers run as this user"
ends

# a crash of a program that snapcrash runs is not captured
mkdir "$tmp/crashing"
cp "$BUILD/snapcrash" "$tmp/crashing"
cat >"$tmp/crashing/snap" <<'END'
#!/bin/sh
ulimit -c unlimited
kill -SEGV $$
END
chmod 755 "$tmp/crashing/snap"
serves "$tmp/crashing/snapcrash" -c "$conf" serve
until_true listens
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
    "a crash of a program of snapcrash is not captured" || diag <"$tmp/log"
# a crash of snapcrash is not captured
kill -SEGV "$server"
wait "$server" 2>/dev/null
is "$? $(find "$store" -name 'snapcrash.*')" "139 " \
    "a crash of snapcrash is not captured"

# the socket was left behind, or systemd passes it
if command -v systemd-socket-activate >/dev/null; then
	rm "$socket"
	serves systemd-socket-activate -l "$socket" "$BUILD/snapcrash" \
	    -c "$conf" serve
else
	serves "$BUILD/snapcrash" -c "$conf" serve
	until_true listens
fi
falls "$targets/fall" segv 0
try "an old socket or systemd's is served" "$BUILD/snapls" -c "$store/$id"
ends

# systemd runs, and has started the server
mkdir -p "$tmp/run/systemd/system" "$tmp/fake"
cat >"$tmp/fake/systemctl" <<END
#!/bin/sh
echo "\$*" >>"$tmp/asked"
END
chmod 755 "$tmp/fake/systemctl"
# install again: the units may run with another configuration
if [ -d /etc/systemd/system ]; then
	config "socket $socket.2"
	PATH=$tmp/fake:$PATH crash -s install
	is "$rc $(grep -c 'no process is listening' "$tmp/err")
$(cat "$tmp/asked")" "0 1
daemon-reload --quiet
enable --quiet snapcrash.socket
stop --quiet snapcrash.service
restart --quiet snapcrash.socket" "installed again: the socket is started again"
	rm "$tmp/asked"
else
	skip "installed again: the socket is started again" "no systemd"
fi
PATH=$tmp/fake:$PATH crash remove
is "$rc $err $(cat "$tmp/pattern" "$proc/core_pipe_limit" | tr '\n' ' ')" \
    "0  $was $waslimit " "removed: the old settings are back"
is "$(find "$tmp/sysctl" "$tmp/lib" "$tmp/units" -type f)" "" "no file is left"
if [ -d /etc/systemd/system ]; then
	is "$(cat "$tmp/asked")" "disable --now snapcrash.socket
stop snapcrash.service
daemon-reload --quiet" "systemd is told to stop socket and server"
else
	skip "systemd is told to stop socket and server" "no systemd"
fi
put_back
finish 28
