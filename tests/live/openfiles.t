#!/usr/bin/env bash
# A record describes open files, their contents, sharing, and private pages.
# Files that exist nowhere else are embedded.  The processes keep all of it.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

if ! is_root; then
	skip "open files" "only root may open /proc/PID/map_files"
	finish 1
fi

# taken WHAT [COMMAND ...]: check a snapshot of a target with openfiles.py
taken() {
	local what=$1

	shift
	rm -rf "$tmp/dir"
	mkdir "$tmp/dir"
	target "$@" "$targets/openfiles" "$tmp/dir"
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "$what: taken"
	try "$what: as the target printed" python3 "$tests/live/openfiles.py" \
	    "$tmp/snap" "$pid" "$lines"
}

taken "open files"
"$BUILD/snapls" -l "$tmp/snap" >"$tmp/ls"
grep -q "K -  *$tmp/dir/gone (deleted)$" "$tmp/ls"
ok $? "snapls names an embedded file"
# the kernel shows an empty packet behind the first one only once
snap -r -o "$tmp/again" "$pid"
sed 's/330a6f6e65300a/330a6f6e65/' "$lines" >"$tmp/lines"
try "the same a second time" python3 "$tests/live/openfiles.py" \
    "$tmp/again" "$pid" "$tmp/lines"
unnoticed "$pid" "nothing was read, and nothing is left open"

taken "in a network namespace of its own" unshare -n
unnoticed "$pid" "nothing was read in that namespace"

# FIFOs of one inode number on two file systems, and the file of a socket.
cat >"$tmp/twins.py" <<'EOF'
import os, socket, sys
for mount in sys.argv[1:]:
    name = mount + '/fifo'
    os.mkfifo(name)
    os.write(os.open(name, os.O_RDWR), mount[-1].encode())
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX)
s.bind('near')
os.chmod('near', 0o711)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, b'\5' + bytes(15))
s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 3)
s.setsockopt(socket.SOL_SOCKET, 29, 1)          # SO_TIMESTAMP
print("ready", flush=True)
sys.stdin.read()
EOF
cat >"$tmp/told.py" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import check
record = check.record(check.load(sys.argv[2]), int(sys.argv[3]))
for name, data in record.items():
    lines = data.decode(errors='replace').splitlines()
    if name.startswith('pipe/'):
        print('data', *lines)
    if name.startswith('file/'):
        for line in lines:
            if line.split()[0] in ('why', 'timeouts') or 'near' in line \
                    or 'mode 140' in line or 'SO_PRIORITY' in line \
                    or 'SO_TIMESTAMP' in line:
                print(line)
EOF
mkdir "$tmp/mnt1" "$tmp/mnt2"
if mount -t tmpfs none "$tmp/mnt1" && mount -t tmpfs none "$tmp/mnt2"; then
	target python3 "$tmp/twins.py" "$tmp/mnt1" "$tmp/mnt2"
	snap -o "$tmp/snap" "$pid"
	is "$(python3 "$tmp/told.py" "$tests/live" "$tmp/snap" "$pid" | sort)" \
	    "$(printf '%s\n' 'data 1' 'mode 140711' \
	    'option SO_PRIORITY 3' 'option SO_TIMESTAMP 1' \
	    "path $tmp/mnt1/near" 'timeouts 0 5000000' \
	    'why a FIFO on another file system has the same inode number')" \
	    "FIFOs of one inode number, and a bound socket"
else
	skip "FIFOs of one inode number, and a bound socket" "may not mount"
fi

# A deleted file of a process in a chroot, which sees no mount of its device.
cat >"$tmp/jail.py" <<'EOF'
import os, sys
os.chroot(sys.argv[1])
os.chdir('/')
f = os.open('/gone', os.O_RDWR | os.O_CREAT)
os.write(f, b'kept' * 2000)
os.unlink('/gone')
print("ready", flush=True)
sys.stdin.read()
EOF
device=$(stat -c %Hd:%Ld "$tmp")
if grep -q "^[0-9]* [0-9]* $device " /proc/self/mountinfo /proc/1/mountinfo; then
	target python3 "$tmp/jail.py" "$tmp/pub"
	snap -o "$tmp/snap" "$pid"
	is "$rc $err $(python3 "$tmp/told.py" "$tests/live" "$tmp/snap" "$pid" |
	    grep why)" "0  " "a deleted file in a chroot: nothing is missing"
	"$BUILD/snapls" -l "$tmp/snap" | grep -q 'K -  *[^ ]*/gone (deleted)$'
	ok $? "a deleted file in a chroot: it is embedded"
else
	skip "a deleted file in a chroot" "no mount of $device is visible" 2
fi

# Two System V shared memory segments with one ID, in two IPC namespaces.
cat >"$tmp/sysv.py" <<'EOF'
import ctypes, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
addr = libc.shmat(libc.shmget(0, 4096, 0o1600), None, 0)
ctypes.memmove(addr, sys.argv[1].encode() * 4096, 4096)
print("at %#x" % addr)
print("ready", flush=True)
sys.stdin.read()
EOF
target unshare -i python3 "$tmp/sysv.py" A
one=$pid
target unshare -i python3 "$tmp/sysv.py" B
snap -o "$tmp/snap" "$one" "$pid"
got=
for p in "$one" "$pid"; do
	got="$got $(python3 "$tests/snap6/oracle.py" -x "$p" \
	    "$(sed -n 's/^at //p' "${lines_of[$p]}")" 4 "$tmp/snap")"
done
is "$got" " AAAA BBBB" "System V shared memory of two IPC namespaces"
finish 12
