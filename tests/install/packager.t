#!/usr/bin/env bash
# "make" as those use it who make packages: what they set is used, beside what
# our sources need; what was installed is removed; and what is missing is named.
# beside: others unsanitized
# shellcheck source=tests/tap.sh disable=SC2016 # words of Makefile
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1
unset MAKEFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS

# what make would run, joined lines: plan WORD ...
plan() {
	make -n O="$tmp/o" "$@" 2>&1 | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' \
	    >"$tmp/plan"
}
# planned PATTERN HAVE: whether there are lines with the one, and all have the
# other
planned() {
	grep -E "$1" "$tmp/plan" | awk -v have="$2" \
	    '$0 ~ have { n++ } END { print (NR > 0 && n == NR ? "all" : NR - n) }'
}
mkdir "$tmp/bin" "$tmp/none"
PATH=$tmp/bin:$PATH
ln -s "$(type -P true)" "$tmp/bin/my-cc"
plan CC=my-cc CPPFLAGS=-DMINE CFLAGS=-Omine LDFLAGS=-Wl,-mine AR=my-ar
is "$(planned '^my-cc .* -c ' ' -DMINE .*-D_GNU_SOURCE.* -Omine ')" all \
    "CPPFLAGS and CFLAGS when it compiles"
is "$(planned '^my-cc .*-o .*(snap|libsnap.so.[0-9.]*)( |$)' \
    ' -Omine .*-Wl,-mine ')" all "CFLAGS and LDFLAGS when it links"
is "$(grep -cE '^(cc|gcc|ar) ' "$tmp/plan") $(grep -c '^my-ar ' "$tmp/plan")" \
    "0 2" "CC and AR"
plan CC=true install-strip INSTALL=my-install STRIP=my-strip
is "$(grep -cE '^install ' "$tmp/plan") $(grep -c \
    '^my-install -s --strip-program=my-strip ' "$tmp/plan")" "0 3" \
    "INSTALL and STRIP"

cat >"$tmp/none/pkg-config" <<END
#!/bin/sh
echo "\$@" >>"$tmp/asked"
exit 1
END
ln -s "$(type -P pkg-config)" "$tmp/bin/mine"
chmod 755 "$tmp/none/pkg-config"
PATH=$tmp/none:$PATH plan PKG_CONFIG=mine
is "$(cat "$tmp/asked" 2>&1)" "cat: $tmp/asked: No such file or directory" \
    "PKG_CONFIG"

PATH=$tmp/none:$PATH make O="$tmp/o" >"$tmp/out" 2>&1
is "$? $(grep -c 'libbsd-overlay .*: missing; "tests/setup build" installs '\
'what is, or: apt-get install .*libbsd-dev' "$tmp/out")" "2 1" \
    "without libraries it says what installs them" || diag <"$tmp/out"

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
    "no target of 32 bits where none runs"

mkdir "$tmp/tree"
cp -R Makefile cmd lib fmt "$tmp/tree"
: >"$tmp/tree/lib/gone.c"
built() {
	make -s -j4 -C "$tmp/tree" O="$tmp/o" CC="$tmp/bin/empty" \
	    "$tmp/o/libsnap.a" >"$tmp/out" 2>&1 || diag <"$tmp/out"
	ar t "$tmp/o/libsnap.a" | grep -cxE 'gone.o|snap.o'
}
is "$(built)" 2 "an object of each source"
rm "$tmp/tree/lib/gone.c"
is "$(built)" 1 "none of one that was deleted"

# objects with debug information, and an archive of them
for f in first "another place"; do
	mkdir "$tmp/$f"
	cp -R Makefile cmd lib fmt "$tmp/$f"
	CCACHE_DISABLE=1 make -s -C "$tmp/$f" O=o o/common.a >"$tmp/out" 2>&1 ||
	    diag <"$tmp/out"
done
try "two builds in different directories have the same bytes" \
    cmp "$tmp/first/o/common.a" "$tmp/another place/o/common.a"

d=$tmp/d
mkdir -p "$d/usr/share/man/man1"
echo another >"$d/usr/share/man/man1/snap.1"
try "it is installed, snap with another name" make -s install \
    O="$BUILD" DESTDIR="$d" PREFIX=/usr SNAP=psnap
is "$(cd "$d" && find . -name '*snap' ! -type d | sort | tr '\n' ' ')$(
    cat "$d/usr/share/man/man1/snap.1")" "./usr/bin/psnap \
./usr/share/bash-completion/completions/psnap \
./usr/share/zsh/site-functions/_psnap another" "all of it has that name"
is "$("$d/usr/bin/psnap" 999999999 2>&1 >/dev/null | sed "s,:.*,,;q")" psnap \
    "it calls itself so"
is "$(bash -c '. "$1"; complete -p psnap && ! complete -p snap' - \
    "$d/usr/share/bash-completion/completions/psnap" 2>&1 | head -n 1)" \
    "complete -F _psnap psnap" "bash completes it, and not snap"
is "$(head -n 1 "$d/usr/share/zsh/site-functions/_psnap" | tr ' ' '\n' |
    grep -cx 'p\{0,1\}snap')$(tail -n 1 \
    "$d/usr/share/zsh/site-functions/_psnap")" '1_psnap "$@"' "so does zsh"
is "$(sed -n 's/^\.Dt //p;/^\.Nm ./{p;q}' "$d/usr/share/man/man1/psnap.1")" \
    "PSNAP 1
.Nm psnap" "its manual page"
try "it is removed" make -s uninstall O="$BUILD" DESTDIR="$d" PREFIX=/usr \
    SNAP=psnap
is "$(cd "$d" && find . ! -type d)" "./usr/share/man/man1/snap.1" "all of it"
finish 18
