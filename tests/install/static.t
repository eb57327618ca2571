#!/usr/bin/env bash
# Programs without shared libraries, in a root directory that has nothing else.
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
    "they are made, and the linker has nothing to say"
for p in snap snapcat snapcrash snapls; do
	is "$(readelf -lW "$BUILD/static/$p" | grep -cE 'INTERP|NEEDED')" 0 \
	    "$p asks for no library"
	[ "$(stat -c %s "$BUILD/static/$p")" -lt 2097152 ]
	ok $? "$p is smaller than 2 MiB"
done

target "$targets/threads"
"$BUILD/static/snap" -z -o "$tmp/static.snap" "$pid"
ok $? "a snapshot is taken"
"$BUILD/snapls" -c "$tmp/static.snap" >"$tmp/list"
ok $? "and is whole, as another program sees it"
"$BUILD/static/snapls" -c "$tmp/static.snap" | diff "$tmp/list" - >"$tmp/diff"
ok $? "which lists the same" || diag <"$tmp/diff"
"$BUILD/snapcore" -o "$tmp/core" "$tmp/static.snap"
is "$("$BUILD/static/snapls" "$tmp/core" 2>&1)" \
    "$("$BUILD/snapls" "$tmp/core" 2>&1)" "and lists a core as that does"

if ! is_root; then
	skip "in an empty root directory" "not root" 5
	finish 18
fi
root=$tmp/root
mkdir "$root" "$root/proc"
cp "$BUILD/static/snap" "$BUILD/static/snapls" "$root"
# enter COMMAND ...: in the root directory, with /proc as it is here
# shellcheck disable=SC2016 # for the other shell
enter() {
	unshare -m sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' \
	    "$root" "$@"
}

target "$targets/anon"
enter /snap -o /x.snap "$pid" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" "0 " "in an empty root directory: one is taken"
check "$root/x.snap" "$pid" "it has what the process has"
unnoticed "$pid" "who did not notice"
is "$(enter /snapls -no NAME,USER /x.snap)" "anon 0" \
    "it is listed, with the number of a user whose name nobody knows"
mkdir "$root/etc"
echo 'owner:x:0:0::/:/snap' >"$root/etc/passwd"
target "$targets/anon"
enter /snap -o /x.snap "$pid"
is "$(enter /snapls -no NAME,USER /x.snap)" "anon owner" \
    "and with the name that is in /etc/passwd"
finish 18
