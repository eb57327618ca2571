#!/bin/sh
# Makefile and mkfile build the same programs from the same rooms, and all
# rooms there are.
set -u

cd "$(dirname "$0")/.." || exit 1

# list FILE NAME: the words of a list, a line each
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

for l in PROGS ROOMS PKGS snapfs_PKGS; do
	check "$l is the same in both" "$(list Makefile $l)" "$(list mkfile $l)"
done
check 'ROOMS is all of lib and fmt' "$(list Makefile ROOMS)" \
    "$(git ls-files 'lib/*.c' 'fmt/*.c' | sed 's|/[^/]*$||' | sort -u)"
check 'PROGS is all of cmd' "$(list Makefile PROGS)" \
    "$(find cmd/* -prune ! -name common | sed 's|cmd/||' | sort)"
check 'libsnap(3) has each function of snap.h' \
    "$(sed -n 's/^[a-z][^\/]*[[:space:]*]\([a-z][a-z0-9_]*\)(.*/\1/p' lib/snap.h |
    while read -r f; do grep -q " Fn $f " lib/libsnap.3 || echo "$f"; done)" ""
echo "1..$n"
