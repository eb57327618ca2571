#!/usr/bin/env bash
# A snapshot is debugged where neither the program nor any library of it is:
# gdb says the same there as of the process on its own machine.
#
# "There" is a root directory of its own, in a mount namespace, that has gdb,
# its libraries under another name, and the mounted snapshot.
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

# there PROGRAM ARG ...: run one of /usr/bin where nothing else is, in a shell
# of a mount namespace
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

# What gdb prints, without what is not of the process: the sysroot is not.
of_process() {
	sed -nE '/^Thread/,${/^(Thread|#)/{s/ "[^"]*"\)/)/;s/process/LWP/
	    s|/mnt/[0-9]*/root||;p}}' | by_thread
}

# Addresses alone: names of what is not exported are in files that eu-stack
# cannot be told of.
frames() {
	awk '/^TID/ { t = $2; next } /^#/ { print t, $1, $2 }' |
	    sort -s -n -k1,1 | sed 's/^[^#]*//'
}

same() {
	diff "$2" "$3" >"$tmp/diff"
	ok $? "$1" || head -n 20 "$tmp/diff" | diag
}

# elsewhere WHAT: of the process $pid
elsewhere() {
	local what=$1

	kill -STOP "$pid"
	until_true is_stopped
	# separate debugging information is of the machine, not of the process
	LC_ALL=C.UTF-8 timeout 120 gdb -nx -batch \
	    -iex 'set debuginfod enabled off' \
	    -iex 'set debug-file-directory /nowhere' -ex 'thread apply all bt' -p "$pid" 2>/dev/null |
	    of_process >"$tmp/live.bt"
	eu-stack -p "$pid" 2>/dev/null | frames >"$tmp/live.eu"
	snap -o "$tmp/snap" "$pid"
	kill -CONT "$pid"
	try "$what: mounted" "$BUILD/snapfs" "$tmp/snap" "$tmp/mnt"
	there gdb -nx -batch -iex 'set debuginfod enabled off' \
	    -iex "set sysroot /mnt/$pid/root" -ex 'thread apply all bt' \
	    "/mnt/$pid/text" "/mnt/$pid/core" | of_process >"$tmp/there.bt"
	ok "$((! $(grep -c '^#' "$tmp/there.bt")))" "$what: gdb has frames"
	same "$what: gdb says the same elsewhere" "$tmp/live.bt" \
	    "$tmp/there.bt"
	is "$(gdb_faults "$tmp/err")" "" \
	    "$what: gdb does not complain"
	there eu-stack "--core=/mnt/$pid/core" "--executable=/mnt/$pid/text" |
	    frames >"$tmp/there.eu"
	ok "$((! $(grep -c '^#' "$tmp/there.eu")))" "$what: eu-stack has frames"
	fusermount3 -u "$tmp/mnt"
}

target "$targets/threads"
elsewhere "C threads"
same "C threads: eu-stack says the same elsewhere" "$tmp/live.eu" \
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
