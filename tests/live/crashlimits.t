#!/usr/bin/env bash
# To make room, snapcrash removes crashes of the user who has the most.
# beside: crash
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin
config "keep-count 4"
handle
now=$(date +%s)
# kept: print the crashes that are left, without their suffix
kept() {
	find "$store" -name '*.snap.gz' -printf '%f\n' | sed 's/\.snap\.gz//' |
	    sort | tr '\n' ' '
}
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# by number
echo 1 >"$store/root.1.$((now - 100)).0.snap.gz"
for ((i = 0; i < 4; i++)); do
	falls "${nobody[@]}" "$targets/fall" segv 0
done
is "$(kept | sed 's/fall[^ ]*\.65534/nobody/g')" "nobody nobody nobody \
root.1.$((now - 100)).0 " "four crashes of one user remove none of another's"
falls "$targets/fall" segv 0
is "$(kept | sed 's/fall\.[^ ]*\.65534/nobody/g; s/fall\.[^ ]*\.0 /fall /' |
    tr ' ' '\n' | sort -r | tr '\n' ' ')" \
    "root.1.$((now - 100)).0 nobody nobody fall " \
    "the user with the most loses one"
rm "$store"/*.snap.gz

# by bytes: a new crash takes some 10 MiB
config "keep-bytes 40M"
head -c 4M /dev/urandom >"$store/root.1.$((now - 100)).0.snap.gz"
head -c 15M /dev/urandom >"$store/other.2.$((now - 90)).65534.snap.gz"
head -c 15M /dev/urandom >"$store/other.3.$((now - 80)).65534.snap.gz"
falls "$targets/fall" segv 0
is "$(kept | sed 's/fall\.[^ ]*/fall/')" "fall other.3.$((now -
    80)).65534 root.1.$((now - 100)).0 " "by bytes: the same"
rm "$store"/*.snap.gz

# crashes without a user in their name count as those of one more user
config "keep-count 2"
echo 1 >"$store/old.1.$((now - 100)).snap.gz"
echo 1 >"$store/old.2.$((now - 90)).snap.gz"
falls "$targets/fall" segv 0
is "$(kept | sed 's/fall\.[^ ]*/fall/')" "fall old.2.$((now - 90)) " \
    "the oldest one without a user in its name is removed"
rm "$store"/*.snap.gz

# files that are not named as crashes are
config "keep-count 1"
for f in keep keep.1 "keep.1.$((now - 100)).0.old" "keep.$((now - 90)).old"; do
	echo 1 >"$store/$f.snap.gz"
done
falls "$targets/fall" segv 0
is "$(kept | sed 's/fall\.[^ ]*/fall/')" "fall keep keep.1 keep.1.$((now -
    100)).0.old keep.$((now - 90)).old " "other files are kept"
is "$("$BUILD/snapcrash" -c "$conf" list | awk 'NR > 1 { print $9 }')" "$id" \
    "other files are not listed"
rm "$store"/*.snap.gz

# a user may have many user IDs in a user namespace
config
if unshare -U true 2>/dev/null; then
	cat >"$tmp/within" <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
r, w = os.pipe()
pid = os.getpid()
if os.fork() == 0:
    os.read(r, 1)
    for name in 'uid_map', 'gid_map':
        with open('/proc/%d/%s' % (pid, name), 'w') as f:
            f.write('0 100000 65536')
    os._exit(0)
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
libc.prctl(4, 1, 0, 0, 0)
if libc.unshare(0x10000000):
    raise OSError('unshare')
os.write(w, b'1')
os.wait()
os.setresgid(7, 7, 7)
os.setresuid(7, 7, 7)
os.execv(sys.argv[1], sys.argv[1:])
END
	falls python3 "$tmp/within" "$targets/fall" segv 0
	is "${id##*.}${id#fall.*.*.}" "gz65534.snap.gz" \
	    "a crash in a user namespace counts for its owner"
else
	skip "a crash in a user namespace" "cannot create one"
fi
rm -rf "$store"
finish 7
