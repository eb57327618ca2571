#!/bin/sh
# Lists that must agree: Makefile and mkfile, tests/rooms and the folders,
# libsnap(3) and the headers, snap-linux(6) and the keys that are read of open
# files, the README files and the files that they name.
set -u

cd "$(dirname "$0")/.." || exit 1

# list FILE NAME: print the words of a list, one a line
list() {
	sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$1" |
	    sed -n "s/^$2 *= *//p" | tr -s ' \t' '\n\n' | sed '/^$/d' | sort
}

n=0
check() {
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n--- and\n%s\n' "$2" "$3" | sed 's/^/# /'
	fi
}

for l in PROGS PKGS CMDPKGS HARDEN LINK $(sed -n \
    's/^\([a-z]*_\(PKGS\|MAY\|LIBS\)\) *=.*/\1/p' Makefile mkfile | sort -u); do
	check "$l is the same in both" "$(list Makefile $l)" "$(list mkfile $l)"
done
check 'tests/rooms orders all of lib and fmt' \
    "$(list tests/rooms rooms | tr -d '"' | sort)" \
    "$(find lib fmt -name '*.[ch]' | sed 's|/[^/]*$||' | sort -u)"
# tests of live must not run beside tests of criu, which restore processes with
# their pids
check 'each test of live has a "beside" line' '' \
    "$(grep -L '^# beside: ' tests/live/*.t)"
check 'PROGS names all programs of cmd' "$(list Makefile PROGS)" \
    "$(find cmd/* -prune ! -name common ! -name static | sed 's|cmd/||' | sort)"
public='lib/snap/snap.h lib/snap/snap_capture.h lib/snap/snap_write.h'
library='lib/library.h lib/task.h lib/space.h lib/trace.h'
# shellcheck disable=SC2086 # words are meant
check 'libsnap(3) has each function of the public headers once, and no others' \
    "$(sed -n 's/^\.It .* Fn \([a-z0-9_]*\) .*/\1/p' lib/libsnap.3 | sort)" \
    "$(sed -n 's/^[a-z][^\/(]*[[:space:]*]\([a-z][a-z0-9_]*\)(.*/\1/p' \
    $public | sort)"
# shellcheck disable=SC2086
check 'the files that headers of the library name are there' '' \
    "$(sed -n '/^ \* /p' $library | grep -o '[a-z0-9/]*\.c\>' | sort -u |
    while read -r f; do
	[ -e "lib/$f" ] || [ -e "fmt/$f" ] || echo "$f"
    done)"

# keys of file/ID: those in the table of the reader, and those in the page
keys=$(sed -n '/^} keys\[\] = {/,/^};/s/.*{ "\([a-z]*\)", .*/\1/p' \
    fmt/criu/facts/keys.c | sort -u)
listed() {
	sed -n '/^\.Ss Keys of file/,/^\.Ss /p' man6/snap-linux.6 |
	    sed -n "s/^\.$1Cm //p" | sed 's/ \(Ar\|Pq\) .*//' |
	    tr ' ' '\n' |
	    grep '^[a-z]' | grep -vx -e type -e mtime | sort -u
}
check 'each key of file/ID that snap-linux(6) lists is read' '' \
    "$(listed 'It ' | grep -vxF "$keys")"
check 'snap-linux(6) names each key of file/ID that is read' '' \
    "$(echo "$keys" | grep -vxF "$(listed '\(It \)*')")"

check 'the table of keys in snap-linux(6) is what tests/keys.py prints' \
    "$(tests/keys.py)" \
    "$(sed -n '/^\.Sh TABLE OF KEYS/,/^\.Sh SEE/{/ Ta Sy /d; / Ta /p;}' \
    man6/snap-linux.6)"
# path and times list fewer types in the page, and termlockcc has no entry
check 'each key of file/ID in the list has the types that it applies to' \
    "$(tests/keys.py types | grep -vE '^(type|path|times|termlockcc) ')" \
    "$(sed -n '/^\.Ss Keys of file/,/^\.Ss Data/{
	s/^\.It Cm \([a-z]*\) .*Pq \(.*\)/\1 \2/p;}' man6/snap-linux.6 |
    grep -vE '^(path|times) ' | LC_ALL=C sort)"

# names FIRST LAST: print the names in the page between these sections
names() {
	sed -n "/^\.Sh $1/,/^\.Sh $2/s/^\.It Pa //p" man6/snap-linux.6 |
	    sed 's/ T[ao] .*//; s/ P[oq] t.*//; s/ : .*//; s/ Ns Ar .*/*/
		s/ , /\n/g' | grep -v -e '^regset/4' -e '^criu/.*-' -e ^ns/ipc |
	    sort -u
}
check 'the table of snap-linux(6) has each name' \
    "$(names 'FILES FROM' 'TABLE OF')" "$(names 'TABLE OF' 'SEE ALSO')"

# paths FILE: print the paths that it names, and the folders of its map
paths() {
	awk '/^\t[a-z]/ { base = $1; sub("/[^/]*$", "/", base) }
	    /^\t  [a-z]/ { for (i = 1; i <= NF && $i ~ "^[a-z0-9]*/$"; i++)
		print base $i }' "$1"
	grep -oE '\<(cmd|lib|fmt|man6|tests)/[A-Za-z0-9_./]*[a-z0-9/]' "$1"
}
for f in README lib/README tests/README .github/CONTRIBUTING.md; do
	check "the files that $f names are there" '' "$(paths "$f" | sort -u |
	    grep -v -e NAME -e /unit/t_ -e ^lib/x86 -e '^lib/process$' | while read -r p; do
		[ -e "$p" ] || echo "$p"
	    done)"
done
# lib/README has lines of FILE:FUNCTION, FUNCTION
check 'lib/README names functions where they are' '' "$(
    sed -n 's/^\t\([a-z0-9/]*\.c\):\([a-z0-9_, ]*\).*/\1 \2/p' lib/README |
    tr -d , | while read -r f names; do
	for fn in $names; do
		grep -qs "^$fn(" "$f" || echo "$f:$fn"
	done
    done)"
echo "1..$n"
