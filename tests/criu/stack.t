#!/usr/bin/env bash
# Three dumps of a program, which goes on in between, become three directories
# of images, each with the previous one as --parent.  criu restores the last one
# and the images without a parent that snapload makes of it.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"
may_dump || skip_all "$undumped"

bytes() {
	du -sb "$1" | cut -f1
}

mkdir "$tmp/stack"
start counter
for i in 1 2 3; do
	until_true longer "$(($(lines) + 10))"
	more=(--leave-running)
	[ "$i" -lt 3 ] || more=()
	dump "$pid" "$tmp/dump$i" "${more[@]}"
	images "$tmp/dump$i" "$tmp/snap$i"
	upon=()
	[ "$i" -eq 1 ] || upon=(--parent "$tmp/stack/$((i - 1))")
	load "$tmp/snap$i" "$tmp/stack/$i" "${upon[@]}"
done
n=$(lines)
cp "$log" "$tmp/log.then"
is "$(readlink "$tmp/stack/2/parent") $(readlink "$tmp/stack/3/parent")" \
    "../1 ../2" "each has a link to its parent"
for i in 2 3; do
	ok "$(($(bytes "$tmp/stack/$i") * 4 >= $(bytes "$tmp/stack/1")))" \
	    "directory $i is less than a quarter of the first" ||
	    du -sb "$tmp"/dump? "$tmp"/stack/* | diag
done
try "the same images with a parent" same_images "$tmp/dump3" "$tmp/stack/3"

images "$tmp/stack/3" "$tmp/flat.snap"
for s in snap3 flat.snap; do
	"$BUILD/snapcore" -o "$tmp/$s.core" "$tmp/$s" || rm -f "$tmp/$s.core"
done
try "flattened: the same memory" cmp "$tmp/snap3.core" "$tmp/flat.snap.core"
load "$tmp/flat.snap" "$tmp/flat"
ok "$((! ($(bytes "$tmp/flat") * 10 > $(bytes "$tmp/dump3") * 9)))" \
    "flattened: it has all pages"
[ ! -e "$tmp/flat/parent" ]
ok $? "flattened: no parent"
# the flattened images need no parent
mv "$tmp/stack" "$tmp/moved"
restore "$tmp/flat"
counts_on "flattened" "$n"
end

# restore the stack as well, from the same log
cp "$tmp/log.then" "$log"
restore "$tmp/moved/3"
counts_on "the stack, moved" "$n"
end
finish 24
