#!/usr/bin/env bash
# Huge pages of hugetlbfs, private, shared and of memfds, are restored.  Huge
# pages that criu cannot create are refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# mappings that criu cannot create; huge pages need not be free for this
cat >"$tmp/none.py" <<'EOC'
import ctypes, os, sys, time
os.closerange(3, 1024)
os.setsid()
fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
os.unlink(sys.argv[2])
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_ssize_t
number = libc.shmget(0, 2 << 20, 0o14600)
at = libc.shmat(number, None, 0)
libc.shmctl(number, 0, None)
with open(sys.argv[1], 'w') as log:
    print('%d %x' % (fd, at), file=log)
time.sleep(1000)
EOC
mkdir "$tmp/mnt"
if mount -t hugetlbfs none "$tmp/mnt" 2>"$tmp/err"; then
	log=$tmp/none.log
	python3 "$tmp/none.py" "$log" "$tmp/mnt/gone" </dev/null >/dev/null 2>&1 &
	pid=$!
	disown
	until_true test -s "$log"
	read -r fd at <"$log"
	"$BUILD/snap" -r "$pid" | "$BUILD/snapload" -D "$tmp/no" 2>"$tmp/err"
	is "$(cat "$tmp/err")" "snapload: process $pid, descriptor $fd: it is \
deleted and was on a hugetlbfs, where criu cannot write: $tmp/mnt/gone: \
cannot be restored (-f deleted leaves it out)
snapload: process $pid: mapping at $at of /SYSV00000000 (deleted): huge pages of \
System V shared memory: cannot be restored (-f hugetlb leaves it out)
snapload: nothing is written (-f deleted,hugetlb writes the rest)" \
	    'System V, and a deleted file: refused'
	end
	umount "$tmp/mnt"
else
	skip 'System V, and a deleted file: refused' "$(tail -n 1 "$tmp/err")"
fi

free=$(awk '/^HugePages_Free:/ { print $2 }' /proc/meminfo)
if [ "${free:-0}" -lt 16 ] || [ ! -d /sys/kernel/mm/hugepages/hugepages-2048kB ]
then
	skip 'huge pages' 'fewer than 16 of 2 MB are free' 10
	finish 11
fi
for how in -r -sr; do
	start "$here/huge.py"
	until_true longer 30
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	moves "snap $how" "$tmp/there" "$how"
	end
	rm -rf "$tmp/there"
done
finish 11
