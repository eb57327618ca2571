#!/usr/bin/env bash
# Static programs run in a root directory that has nothing else.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

case $BUILD in
*asan | *cover)
	skip "static programs" "their objects need shared libraries" 18
	finish 18
	;;
esac
rm -rf "$BUILD/static"
is "$(env -u MAKEFLAGS make -s -C "$tests/.." static O="$BUILD" 2>&1)" "" \
    "make static succeeds without messages"
for p in snap snapcat snapcrash snapls; do
	is "$(readelf -lW "$BUILD/static/$p" | grep -cE 'INTERP|NEEDED')" 0 \
	    "$p needs no shared library"
	[ "$(stat -c %s "$BUILD/static/$p")" -lt 2097152 ]
	ok $? "$p is smaller than 2 MiB"
done

target "$targets/threads"
"$BUILD/static/snap" -z -o "$tmp/static.snap" "$pid"
ok $? "static snap takes a snapshot"
"$BUILD/snapls" -c "$tmp/static.snap" >"$tmp/list"
ok $? "snapls finds that snapshot complete"
"$BUILD/static/snapls" -c "$tmp/static.snap" | diff "$tmp/list" - >"$tmp/diff"
ok $? "static snapls lists the same" || diag <"$tmp/diff"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/static.snap"
is "$("$BUILD/static/snapls" "$tmp/core" 2>&1)" \
    "$("$BUILD/snapls" "$tmp/core" 2>&1)" "static snapls lists a core"

if ! is_root; then
	skip "in an empty root directory" "not root" 5
	finish 18
fi
root=$tmp/root
mkdir "$root" "$root/proc"
cp "$BUILD/static/snap" "$BUILD/static/snapls" "$root"
# enter COMMAND ...: run a command in the root directory, with our /proc
# shellcheck disable=SC2016 # for the other shell
enter() {
	unshare -m sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' \
	    "$root" "$@"
}

target "$targets/anon"
enter /snap -o /x.snap "$pid" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "in an empty root directory: snap works"
check "$root/x.snap" "$pid" "the snapshot agrees with the process"
unnoticed "$pid" "the process did not notice"
is "$(enter /snapls -no NAME,USER /x.snap)" "anon 0" \
    "without /etc/passwd snapls lists the number of the user"
mkdir "$root/etc"
echo 'owner:x:0:0::/:/snap' >"$root/etc/passwd"
target "$targets/anon"
enter /snap -o /x.snap "$pid"
is "$(enter /snapls -no NAME,USER /x.snap)" "anon owner" \
    "with /etc/passwd snapls lists the name of the user"
finish 18
