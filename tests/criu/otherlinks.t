#!/usr/bin/env bash
# Open files whose names are deleted and that have others: they are restored
# as what they are, under one of the others, or refused by name where the other is not to be found.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -lr; do
	start otherlinks
	until_true longer 100
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	rm -rf "$tmp/there"
	moves "snap $how" "$tmp/there" "$how"
	names=$(find "/proc/$pid/fd" -lname "$log.d/*" -printf '%l\n' | sort)
	is "$names" "$(find "$log.d" -type f | sort)" "snap $how: their names"
	is "$(sed -n 's/.*: its deleted name becomes \(.*\) when it .*/\1/p' \
	    "$tmp/try" | sort)" "$(grep -v '(deleted)' <<<"$names")" \
	    "snap $how: the names are told"
	end
	is "$(find "$log.d" -type f | wc -l)" 7 "snap $how: all names are there"
done

# What a mount covers is not found, and told.
start otherlinks
until_true longer 100
mkdir "$tmp/other"
mount --bind "$tmp/other" "$log.d/a/x"
"$BUILD/snap" -ro "$tmp/snap" "$pid"
"$BUILD/snapload" -D "$tmp/refused" "$tmp/snap" >"$tmp/err" 2>&1
is "$(sed -n 's/.*descriptor [0-9]*: //p' "$tmp/err" |
    sed "s,$log.d,D,;s/#[0-9]*/#N/" | sort -u)" "$(
    for file in '#N' gone/old old; do
	echo "it is deleted, and its other name was not found:" \
	    "D/a/$file: cannot be restored (-f deleted leaves it out)"
    done)" 'hidden names: refused'
umount "$log.d/a/x"
end
finish 17
