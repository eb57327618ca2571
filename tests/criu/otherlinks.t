#!/usr/bin/env bash
# An open file whose name is deleted, but which has another name, is restored as
# the same file, by the other name.  If that is not found, it is refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

for how in -r -lr; do
	start otherlinks
	until_true longer 100
	is "$(awk '$3 != 0' "$log")" '' "snap $how: nothing is wrong before"
	rm -rf "$tmp/there"
	moves "snap $how" "$tmp/there" "$how"
	names=$(find "/proc/$pid/fd" -lname "$log.d/*" -printf '%l\n' | sort)
	is "$names" "$(find "$log.d" -type f | sort)" \
	    "snap $how: open by their other names"
	is "$(sed -n 's/.*: its deleted name becomes \(.*\) when it .*/\1/p' \
	    "$tmp/try" | sort)" "$(grep -v '(deleted)' <<<"$names")" \
	    "snap $how: the names are printed"
	end
	is "$(find "$log.d" -type f | wc -l)" 7 "snap $how: all names exist"
done

# The deleted name is kept if criu gets a descriptor that was opened by it.
start otherlinks
until_true longer 100
rm -rf "$tmp/there"
take "$tmp/there" -r
end_taken
ln "$log.d/a/mapped" "$log.d/a/old" && exec 9<"$log.d/a/old" &&
    rm "$log.d/a/old"
restore "$tmp/there" --inherit-fd "fd[9]:$log.d/a/mapped"
exec 9<&-
goes_on 'an inherited descriptor'
is "$(find "/proc/$pid/fd" -lname "$log.d/a/old (deleted)" | wc -l) \
$(grep -c "$log.d/a/old (deleted)" "/proc/$pid/maps")" '1 1' \
    'the deleted name of an open and mapped file is kept'
end

# a name that a mount covers is not found, and the file refused
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
finish 22
