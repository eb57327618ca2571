#!/usr/bin/env bash
# gdb prints the same for a mounted snapshot on a machine without the program
# and its libraries as for the process on its own machine.
#
# The other machine is a root directory in a mount namespace.  It has only gdb,
# the libraries of gdb under another name, and the mounted snapshot.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

[ -e /dev/fuse ] || skip_all "no /dev/fuse"
is_root || skip_all "only root may have a root directory of its own"
command -v gdb >/dev/null || skip_all "no gdb"
unshare -m true 2>/dev/null || skip_all "no mount namespaces"

ld=$(readlink -f "$(ldd "$(command -v gdb)" |
    awk '/ld-linux|ld-musl/ { print $1 }')")
libs=$(dirname "$(readlink -f "$(ldd "$(command -v gdb)" |
    awk '/libc\.so/ { print $3 }')")")
python=$(find /usr/lib -maxdepth 1 -name 'python3.[0-9]*' | head -n 1)

# there PROGRAM ARG ...: run a program of this machine in that root directory
cat >"$tmp/there" <<EOF
set -e
r=$tmp/root
mount -t tmpfs none "\$r"
mkdir -p "\$r/libs" "\$r/bin" "\$r$python" "\$r/usr/share/gdb" "\$r/mnt" \\
    "\$r/tmp" "\$r/dev" "\$r/usr/lib/locale"
mount --bind /usr/lib/locale "\$r/usr/lib/locale"
mount --bind "$libs" "\$r/libs"
[ -z "$python" ] || mount --bind "$python" "\$r$python"
[ ! -d /usr/share/gdb ] || mount --bind /usr/share/gdb "\$r/usr/share/gdb"
mount --rbind "$tmp/mnt" "\$r/mnt"
: >"\$r/bin/\$1" >"\$r/dev/null"
mount --bind "\$(command -v "\$1")" "\$r/bin/\$1"
mount --bind /dev/null "\$r/dev/null"
program=/bin/\$1
shift
cd /
LC_ALL=C.UTF-8 GCONV_PATH=/libs/gconv PYTHONHOME=/usr HOME=/tmp \\
    exec chroot "\$r" "/libs/${ld##*/}" \\
    --library-path /libs "\$program" "\$@"
EOF
mkdir "$tmp/root" "$tmp/mnt"
there() {
	timeout 120 unshare -m bash "$tmp/there" "$@" 2>"$tmp/err"
}

# of_process: print the backtraces of gdb without the path of the sysroot
of_process() {
	sed -nE '/^Thread/,${/^(Thread|#)/{s/ "[^"]*"\)/)/;s/process/LWP/
	    s|/mnt/[0-9]*/root||;p}}' | by_thread
}

# frames: print the addresses alone: eu-stack cannot be given the files that
# have the names of functions that are not exported
frames() {
	awk '/^TID/ { t = $2; next } /^#/ { print t, $1, $2 }' |
	    sort -s -n -k1,1 | sed 's/^[^#]*//'
}

same() {
	diff "$2" "$3" >"$tmp/diff"
	ok $? "$1" || head -n 20 "$tmp/diff" | diag
}

# elsewhere NAME: compare the process $pid with its snapshot on the other
# machine
elsewhere() {
	local what=$1

	kill -STOP "$pid"
	until_true is_stopped
	# separate debugging information exists on this machine only, and
	# ${gdb[@]} does not read it
	LC_ALL=C.UTF-8 timeout 120 "${gdb[@]}" -ex 'thread apply all bt' \
	    -p "$pid" 2>/dev/null |
	    of_process >"$tmp/live.bt"
	eu-stack -p "$pid" 2>/dev/null | frames >"$tmp/live.eu"
	snap -o "$tmp/snap" "$pid"
	kill -CONT "$pid"
	try "$what: it is mounted" "$BUILD/snapfs" "$tmp/snap" "$tmp/mnt"
	there gdb -nx -batch -iex 'set debuginfod enabled off' \
	    -iex "set sysroot /mnt/$pid/root" -ex 'thread apply all bt' \
	    "/mnt/$pid/text" "/mnt/$pid/core" | of_process >"$tmp/there.bt"
	ok "$((! $(grep -c '^#' "$tmp/there.bt")))" "$what: gdb prints frames"
	same "$what: gdb prints the same on the other machine" "$tmp/live.bt" \
	    "$tmp/there.bt"
	is "$(gdb_faults "$tmp/err")" "" \
	    "$what: gdb prints no warnings"
	there eu-stack "--core=/mnt/$pid/core" "--executable=/mnt/$pid/text" |
	    frames >"$tmp/there.eu"
	ok "$((! $(grep -c '^#' "$tmp/there.eu")))" "$what: eu-stack has frames"
	fusermount3 -u "$tmp/mnt"
}

target "$targets/threads" busy
elsewhere "C threads"
same "C threads: eu-stack prints the same there" "$tmp/live.eu" \
    "$tmp/there.eu"
kill "$pid"	# its threads are busy
target python3 -c '
import sys, threading
kept = {i: str(i) * 50 for i in range(5000)}
threading.Thread(target=lambda: threading.Event().wait(), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()'
elsewhere python
finish 11
