#!/usr/bin/env bash
# "make" for packagers: it uses their variables together with our flags,
# uninstalls what it installed, and names missing libraries.
# beside: others unsanitized
# shellcheck source=tests/tap.sh disable=SC2016 # words of Makefile
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1
unset MAKEFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS

# plan ARG ...: write the commands that make would run to $tmp/plan, one a line
plan() {
	make -n O="$tmp/o" "$@" 2>&1 | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' \
	    >"$tmp/plan"
}
# planned PATTERN HAVE: print "all" if lines match PATTERN and all of them match
# HAVE, else the number of those that do not
planned() {
	grep -E "$1" "$tmp/plan" | awk -v have="$2" \
	    '$0 ~ have { n++ } END { print (NR > 0 && n == NR ? "all" : NR - n) }'
}
mkdir "$tmp/bin" "$tmp/none"
PATH=$tmp/bin:$PATH
ln -s "$(type -P true)" "$tmp/bin/my-cc"
plan CC=my-cc CPPFLAGS=-DMINE CFLAGS=-Omine LDFLAGS=-Wl,-mine AR=my-ar
is "$(planned '^my-cc .* -c ' ' -DMINE .*-D_GNU_SOURCE.* -Omine ')" all \
    "CPPFLAGS and CFLAGS are used to compile"
is "$(planned '^my-cc .*-o .*(snap|libsnap.so.[0-9.]*)( |$)' \
    ' -Omine .*-Wl,-mine ')" all "CFLAGS and LDFLAGS are used to link"
is "$(grep -cE '^(cc|gcc|ar) ' "$tmp/plan") $(grep -c '^my-ar ' "$tmp/plan")" \
    "0 2" "CC and AR are used"
plan CC=true install-strip INSTALL=my-install STRIP=my-strip
is "$(grep -cE '^install ' "$tmp/plan") $(grep -c \
    '^my-install -s --strip-program=my-strip ' "$tmp/plan")" "0 3" \
    "INSTALL and STRIP are used"

cat >"$tmp/none/pkg-config" <<END
#!/bin/sh
echo "\$@" >>"$tmp/asked"
exit 1
END
ln -s "$(type -P pkg-config)" "$tmp/bin/mine"
chmod 755 "$tmp/none/pkg-config"
PATH=$tmp/none:$PATH plan PKG_CONFIG=mine
is "$(cat "$tmp/asked" 2>&1)" "cat: $tmp/asked: No such file or directory" \
    "PKG_CONFIG is used"

PATH=$tmp/none:$PATH make O="$tmp/o" >"$tmp/out" 2>&1
is "$? $(grep -c 'libbsd-overlay .*: missing; "tests/setup build" installs '\
'what is, or: apt-get install .*libbsd-dev' "$tmp/out")" "2 1" \
    "make names missing libraries and their packages" || diag <"$tmp/out"

# a compiler that makes empty objects
cat >"$tmp/bin/empty" <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || : >"$2"
	shift
done
END
chmod 755 "$tmp/bin/empty"
plan CC="$tmp/bin/empty" tests
is "$(grep -c 'targets/anon\.c' "$tmp/plan") $(
    grep -c 'targets/bits32\.c' "$tmp/plan")" "1 0" \
    "no 32-bit target is built if 32-bit programs do not run"

mkdir "$tmp/tree"
cp -R Makefile cmd lib fmt "$tmp/tree"
: >"$tmp/tree/lib/gone.c"
built() {
	make -s -j4 -C "$tmp/tree" O="$tmp/o" CC="$tmp/bin/empty" \
	    "$tmp/o/libsnap.a" >"$tmp/out" 2>&1 || diag <"$tmp/out"
	ar t "$tmp/o/libsnap.a" | grep -cxE 'gone.o|snap.o'
}
is "$(built)" 2 "the archive has an object of each source"
rm "$tmp/tree/lib/gone.c"
is "$(built)" 1 "the archive loses the object of a deleted source"

# an archive of objects with debug information
for f in first "another place"; do
	mkdir "$tmp/$f"
	cp -R Makefile cmd lib fmt "$tmp/$f"
	# two objects show it
	rm "$tmp/$f"/cmd/common/[!ac]*.c
	CCACHE_DISABLE=1 make -s -C "$tmp/$f" O=o o/common.a >"$tmp/out" 2>&1 ||
	    diag <"$tmp/out"
done
try "two builds in different directories have the same bytes" \
    cmp "$tmp/first/o/common.a" "$tmp/another place/o/common.a"

d=$tmp/d
mkdir -p "$d/usr/share/man/man1"
echo another >"$d/usr/share/man/man1/snap.1"
try "SNAP=psnap: make install succeeds" make -s install \
    O="$BUILD" DESTDIR="$d" PREFIX=/usr SNAP=psnap
is "$(cd "$d" && find . -name '*snap' ! -type d | sort | tr '\n' ' ')$(
    cat "$d/usr/share/man/man1/snap.1")" "./usr/bin/psnap \
./usr/share/bash-completion/completions/psnap \
./usr/share/zsh/site-functions/_psnap another" "SNAP=psnap: the file names"
is "$("$d/usr/bin/psnap" 999999999 2>&1 >/dev/null | sed "s,:.*,,;q")" psnap \
    "SNAP=psnap: messages start with that name"
is "$(bash -c '. "$1"; complete -p psnap && ! complete -p snap' - \
    "$d/usr/share/bash-completion/completions/psnap" 2>&1 | head -n 1)" \
    "complete -F _psnap psnap" "SNAP=psnap: bash completes psnap, not snap"
is "$(head -n 1 "$d/usr/share/zsh/site-functions/_psnap" | tr ' ' '\n' |
    grep -cx 'p\{0,1\}snap')$(tail -n 1 \
    "$d/usr/share/zsh/site-functions/_psnap")" '1_psnap "$@"' "zsh completes it"
is "$(sed -n 's/^\.Dt //p;/^\.Nm ./{p;q}' "$d/usr/share/man/man1/psnap.1")" \
    "PSNAP 1
.Nm psnap" "SNAP=psnap: the manual page has that name"
try "it is removed" make -s uninstall O="$BUILD" DESTDIR="$d" PREFIX=/usr \
    SNAP=psnap
is "$(cd "$d" && find . ! -type d)" "./usr/share/man/man1/snap.1" \
    "make uninstall removes all files that it installed"
finish 18
