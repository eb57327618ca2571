#!/bin/sh
# Makefile and mkfile build the same programs from the same files, and all
# files there are.
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

for l in PROGS LIBSRC FMTSRC LINUXSRC PKGS pagestat_SRC procmap_SRC snapfs_SRC \
    snapfs_PKGS vmtrace_SRC; do
	check "$l is the same in both" "$(list Makefile $l)" "$(list mkfile $l)"
done
check 'LIBSRC is all of lib' "$(list Makefile LIBSRC)" "$(ls lib/*.c)"
check 'FMTSRC is all of fmt' "$(list Makefile FMTSRC)" "$(ls fmt/*.c)"
check 'LINUXSRC is all of lib/linux' "$(list Makefile LINUXSRC)" \
    "$(ls lib/linux/*.c)"
for p in $(list Makefile PROGS); do
	check "$p is all of cmd/$p" \
	    "$( (echo "cmd/$p/$p.c"; list Makefile "${p}_SRC") | sort)" \
	    "$(ls cmd/"$p"/*.c)"
done
check 'PROGS is all of cmd' "$(list Makefile PROGS)" "$(ls cmd)"
check 'libsnap(3) has each function of snap.h' \
    "$(sed -n 's/^[a-z][^\/]*[[:space:]*]\([a-z][a-z0-9_]*\)(.*/\1/p' lib/snap.h |
    while read -r f; do grep -q " Fn $f " lib/libsnap.3 || echo "$f"; done)" ""
echo "1..$n"
