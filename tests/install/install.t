#!/usr/bin/env bash
# The files that "make install-strip" installs below DESTDIR.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1

d=$tmp/d
try "make install-strip succeeds" env -u MAKEFLAGS make -s install-strip \
    O="$BUILD" DESTDIR="$d" PREFIX=/usr \
    PYTHONDIR=/usr/lib/python3/dist-packages
progs='pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs snapgrep
snapload snapls snapstack vmtrace'
is "$(cd "$d" && find . ! -type d | LC_ALL=C sort)" "$({
	for p in $progs; do
		! left_out "$p" || continue
		echo "./usr/bin/$p"
		echo "./usr/share/bash-completion/completions/$p"
		echo "./usr/share/man/man1/$p.1"
	done
	for f in cmd/*/*.[57] man6/*.6; do
		echo "./usr/share/man/man${f##*.}/${f##*/}"
	done
	cat <<-END
	./usr/include/snap/snap.h
	./usr/include/snap/snap_capture.h
	./usr/include/snap/snap_write.h
	./usr/lib/libsnap.a
	./usr/lib/libsnap.so
	./usr/lib/libsnap.so.1
	./usr/lib/libsnap.so.$(sed -n \
	    's/^#define SNAP_VERSION "\(.*\)"/\1/p' lib/snap/snap.h)
	./usr/lib/pkgconfig/libsnap.pc
	./usr/lib/python3/dist-packages/snap.py
	./usr/share/man/man3/libsnap.3
	./usr/share/man/man3/snap-python.3
	./usr/share/snap/magic
	./usr/share/zsh/site-functions/_snap
	END
} | LC_ALL=C sort)" "all files are installed, and no others"
is "$(find "$d" -xtype l)" "" "no symbolic link is broken"
is "$(grep -rlF "$tmp" "$d")" "" "no file has the path of DESTDIR"
for f in "$d"/usr/bin/* "$d"/usr/lib/libsnap.so; do
	readelf -SW "$f" | grep -E '\.(symtab|debug)' && echo "$f"
done >"$tmp/symbols"
is "$(cat "$tmp/symbols")" "" "programs and shared library are stripped"
is "$("$d/usr/bin/snap" --version)" "$("$BUILD/snap" --version)" \
    "a stripped program runs"
finish 6
