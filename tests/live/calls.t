#!/usr/bin/env bash
# While a process is stopped, the process that traces it makes only the calls in
# the table in proxy.h.  None of them can sleep on something that a target, a
# file server or another machine controls.
# beside: live long unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

command -v strace >/dev/null || skip_all 'no strace'
strace -o "$tmp/calls" true 2>/dev/null || skip_all 'strace may not trace'

# calls WHAT OPTION ...: check the calls of snap while it captures $pid
calls() {
	local what=$1

	shift
	TMPDIR=/tmp strace -f -o "$tmp/calls" "$BUILD/snap" -o "$tmp/snap" "$@" "$pid" \
	    2>"$tmp/err"
	is "$? $(python3 "$tests/live/calls.py" "$tmp/calls" \
	    "$tests/../lib/linux/proxy/proxy.h")" "0 done" "$what" ||
	    diag <"$tmp/err"
}

both() {
	calls "$@"
	calls "$1, without clones" -s
}

target "$targets/openfiles" "$tmp/pub"
both "files of all kinds" -r
target "$targets/queues"
both "sockets with queued data" -r
target "$targets/threads"
both "threads" -r
kill "$pid"	# its threads are busy
if is_root && [ -w /dev/fuse ]; then
	mkdir "$tmp/mnt"
	target "$targets/served" "$tmp/mnt" ELF touch passed dir
	both "files of the target's own file system"
else
	skip "files of the target's own file system" "needs root and FUSE" 2
fi
finish 8
