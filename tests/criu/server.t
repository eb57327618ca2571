#!/usr/bin/env bash
# HTTP servers on a UNIX socket, in Python and Node.js, are taken by snap, ended
# and restored: they answer as before.
# beside: others unsanitized
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# ask: send a request, and print the last line of the answer
ask() {
	timeout 20 python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(15)
s.connect(sys.argv[1])
s.sendall(b"GET / HTTP/1.0\r\n\r\n")
answer = b""
while True:
    part = s.recv(4096)
    if not part:
        break
    answer += part
print(answer.decode().splitlines()[-1])' "$tmp/socket"
}

# serve COMMAND ...: start a server that leads a session and has none of the
# descriptors that are open here
serve() {
	cat >"$tmp/serve" <<EOF
#!/usr/bin/env bash
for fd in /proc/\$\$/fd/*; do
	fd=\${fd##*/}
	[ "\$fd" -lt 3 ] || eval "exec \$fd<&-"
done
exec setsid $* "\$@"
EOF
	chmod 755 "$tmp/serve"
	rm -f "$tmp/socket"
	start "$tmp/serve" "$tmp/socket"
	until_true test -S "$tmp/socket"
}

# answers WHAT OPTIONS COMMAND ...
answers() {
	local what=$1 options=$2

	shift 2
	serve "$@"
	is "$(ask) $(ask)" "request 1 0 request 2 0" "$what: answers"
	until_true longer 15
	rm -rf "$tmp/there"
	take "$tmp/there" "$options"
	is "$(ask)" "request 3 0" "$what: answers after the snapshot"
	end_taken
	restore "$tmp/there"
	is "$(ask) $(ask)" "request 3 0 request 4 0" \
	    "$what: restored, it answers from the snapshot on"
	goes_on "$what"
	end
}

# sys.executable: pyenv and similar programs replace python3 with a script
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then
	for how in -r -lr; do
		answers "python, snap $how" $how "$python" "$here/serve.py"
	done
else
	skip 'python' 'no python3' 14
fi
if node=$(node -p process.execPath 2>/dev/null); then
	for how in -r -lr; do
		answers "node, snap $how" $how \
		    env UV_USE_IO_URING=0 "$node" "$here/serve.js"
	done
# with io_uring, if this node can use it
	serve env UV_USE_IO_URING=1 "$node" "$here/serve.js"
	if find "/proc/$pid/fd" -lname '*io_uring*' | grep -q .; then
		snap -r -o "$tmp/snap" "$pid"
		is "$rc $err" "0 " "io_uring: taken"
		is "$(ask)" "request 1 0" "io_uring: answers after the snapshot"
		timeout 60 "$BUILD/snapload" -D "$tmp/none" "$tmp/snap" 2>"$tmp/err"
		is "$? $(ls "$tmp/none" 2>/dev/null)" "1 " \
		    "io_uring: no images"
		fd=$(find "/proc/$pid/fd" -lname '*io_uring*' -printf '%f\n' |
		    sort -n | head -n 1)
		grep -qE "process $pid.*descriptor $fd\>.*io_uring" "$tmp/err"
		ok $? "io_uring: process and descriptor are named" ||
		    diag <"$tmp/err"
	else
		skip 'io_uring' 'node does not use it here' 4
	fi
	end
else
	skip 'node' 'no node' 18
fi
finish 32
