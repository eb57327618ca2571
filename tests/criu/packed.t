#!/usr/bin/env bash
# snapload -z writes compressed images that keep each rule of criu and have the
# same memory as without -z (packed.py).  The images are made by hand; criu is
# not needed.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

load() {
	timeout 60 "$BUILD/snapload" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	err=$(sed 's/^snapload: //' "$tmp/err")
}

packed() {
	python3 "$tests/criu/packed.py" "$@"
}

case $(ldd "$BUILD/snapload") in
*liblz4*) ;;
*)
	load -z -D "$tmp/none" /dev/null
	is "$rc $err" "1 this program was built without LZ4" "-z is refused"
	finish 1
	;;
esac

packed make "$tmp/in"
load -u -D "$tmp/in" -o "$tmp/snap"
is "$rc $err" "0 " "images to a snapshot"
load -D "$tmp/plain" "$tmp/snap"
is "$rc $err" "0 " "to images that are not compressed"
load -z -D "$tmp/packed" "$tmp/snap"
is "$rc $err $(stat -c %a "$tmp/packed")" "0  700" "to compressed images"
# the pages and blocks of each entry; near the end those around huge pages: 4
# pages, huge pages, 4 pages, 4 pages of a plugin
packed check "$tmp/packed" "$tmp/plain" >"$tmp/kinds" 2>"$tmp/err"
is "$? $(tail -n 1 "$tmp/err")" "0 " "images keep each rule, memory is the same"
is "$(tr '\n' ',' <"$tmp/kinds")" "1 c,2 c,3 c,1 c,10 c,\
1 c,63 c,64 c,65 cc,129 zzz,1 raw,70 raw,65 rc at page,128 cr,130 zrc at page,\
64 c,64 c,64 c,64 raw,\
4 c,512 raw,4 c,4 raw,\
2 c,3 c,512 raw,512 raw," "the blocks of each entry"
"$BUILD/snapload" -z -D "$tmp/piped" <"$tmp/snap"
try "the same images from a pipe" diff -r "$tmp/packed" "$tmp/piped"

touch -r "$tmp/in/inventory.img" "$tmp/packed/inventory.img"
load -u -D "$tmp/packed" -o "$tmp/again"
is "$rc $err" "0 " "compressed images to a snapshot"
try "the snapshot is the same" cmp "$tmp/snap" "$tmp/again"
load -D "$tmp/flat" "$tmp/again"
try "uncompressed images are the same" diff -r "$tmp/plain" "$tmp/flat"

packed make "$tmp/later" 7
"$BUILD/snapload" -u -D "$tmp/later" -o "$tmp/later.snap"
load -D "$tmp/later.plain" "$tmp/later.snap"
for parent in plain packed; do
	load -z --parent "$tmp/$parent" -D "$tmp/on.$parent" "$tmp/later.snap"
	is "$rc $err" "0 " "with a $parent parent"
	packed check "$tmp/on.$parent" "$tmp/later.plain" >"$tmp/kinds" \
	    2>"$tmp/err"
	is "$? $(tail -n 1 "$tmp/err")" "0 " \
	    "$parent parent: each rule, and the memory"
	ok "$((! $(grep -c parent "$tmp/kinds") > 9))" \
	    "$parent parent: pages are in the parent"
done

# a terabyte of zeros would take minutes if it was read
packed zeros "$tmp/zeros" $((1 << 40))
load -z -D "$tmp/sparse" < <("$BUILD/snapload" -u -D "$tmp/zeros")
is "$rc $err $(cat "$tmp/sparse"/pages-* | wc -c)" "0  179" \
    "a terabyte of zeros takes 179 bytes"
packed zeros "$tmp/more" $((4 << 40))
load -z -D "$tmp/none" < <("$BUILD/snapload" -u -D "$tmp/more")
is "$rc $err $(ls "$tmp/none" 2>&1 | wc -l)" "1 pagemap-7.img: 4 TiB of pages \
or more cannot be compressed 1" "4 TiB are refused, no image is left"

# the disk has room for the pages, but not for compressed ones as well
mkdir "$tmp/mnt"
if mount -t tmpfs -o size=12m none "$tmp/mnt" 2>/dev/null; then
	load -z -D "$tmp/mnt/new" "$tmp/snap"
	is "$rc ${err/pages-?/pages-N} $(ls -A "$tmp/mnt")" \
	    "1 pages-N.img: No space left on device " \
	    "a full disk: nothing is left"
	umount "$tmp/mnt"
else
	skip "a full disk" "may not mount"
fi
load -z -c "$tmp/snap"
is "$rc" 2 "-z with -c"
load -z --receive
is "$rc" 2 "-z with --receive"
finish 20
