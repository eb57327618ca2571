#!/usr/bin/env bash
# A crash that its user may read has nothing that the process could not read: no
# contents of files open for writing only, nothing from namespaces that others
# use as well, and no kernel stack.
# beside: crash
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config "readable-by user"
handle

# held: root opens and deletes files, and runs a command as another user that
# inherits them; each file has a line of its own
cat >"$tmp/held" <<'END'
import os, sys
folder = sys.argv[1]

def deleted(name, flags):
    path = os.path.join(folder, name)
    with open(path, 'w') as f:
        f.write('the line of ' + name)
    os.chmod(path, 0o600)
    fd = os.open(path, flags)
    os.unlink(path)
    return fd

kept = [deleted('readable', os.O_RDONLY), deleted('both', os.O_RDWR),
    deleted('log', os.O_WRONLY), deleted('path', os.O_PATH),
    deleted('ioctls', 3)]
m = os.memfd_create('shared', 0)
os.write(m, b'the line of memfd')
kept.append(os.open('/proc/self/fd/%d' % m, os.O_WRONLY))
os.close(m)
for fd in kept:
    os.set_inheritable(fd, True)
os.execvp('setpriv', ['setpriv', '--reuid', '65534', '--regid', '65534',
    '--clear-groups'] + sys.argv[2:])
END
# lines: print which of these lines the crash contains
lines() {
	zcat "$store/$id" | LC_ALL=C grep -ao 'the line of [a-z]*' |
	    sed 's/.* //' | sort -u | tr '\n' ' '
}
falls python3 "$tmp/held" "$disk" "$targets/fall" segv 0
is "$(lines)" "both readable " "only files open for reading have contents"
if has_acls; then
	until_true readable
	try "its user may read it" setpriv --reuid 65534 --regid 65534 \
	    --clear-groups cat "$store/$id"
else
	skip "its user may read it" "this file system has no ACLs"
fi

# the first process of a container whose namespaces root uses as well
cat >"$tmp/container" <<'END'
mount -t tmpfs none /mnt
(umask 077 && echo 'the line of tmpfs' >/mnt/secret)
python3 -c '
import ctypes
libc = ctypes.CDLL(None)
q = libc.msgget(7, 0o1600)
text = ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0the line of queue")
libc.msgsnd(q, text, 17, 0)'
exec python3 "$@"
END
target unshare -imnpf sh "$tmp/container" "$tmp/held" "$disk" \
    "$targets/fall" segv 0
printf f >&"${ask_fd[$pid]}"
wait "$pid" 2>/dev/null
until_true taken fall 2
id=$(cd "$store" && find . -name 'fall.*.gz' ! -name "$id" | sed 's/..//')
is "$(lines)" "both readable " "nothing of others in its namespaces"
mkdir "$tmp/mnt"
"$BUILD/snapcat" -o "$tmp/snap" "$store/$id"
if [ -c /dev/fuse ] && "$BUILD/snapfs" "$tmp/snap" "$tmp/mnt" 2>/dev/null; then
	is "$(cd "$tmp"/mnt/[0-9]*/linux && find . -name stack -o -path './net/*' \
	    -o -path './mounts/*' -o -path './cgroups/*' |
	    tr '\n' ' ')" "" "no kernel stack, network, mounts or cgroups"
else
	skip "no kernel stack, network, mounts or cgroups" "no FUSE"
fi
put_back

# a set-user-ID program may have read files with rights that it gave up later
cp "$targets/fall" "$disk/fall"
chmod 4755 "$disk/fall"
if findmnt -no OPTIONS -T "$disk" | grep -qw nosuid; then
	skip "set-user-ID" "$disk is mounted nosuid"
else
	echo "|$BUILD/snapcrash -c$conf take %P %I %s %d %u %F" \
	    >"$proc/core_pattern"
	falls setpriv --reuid 65534 --regid 65534 --clear-groups "$disk/fall" \
	    gaveup 0
	until_true none_runs
	readable
	is "$?" 1 "rights that were given up: only root may read it"
fi
finish 5
