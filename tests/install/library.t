#!/usr/bin/env bash
# The installed library: shared and static, with pkg-config.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1

# the archive of a build with sanitizers or gcov needs their runtime
case $BUILD in
*asan) more=-fsanitize=address,undefined ;;
*cover) more=--coverage ;;
*) more= ;;
esac
try "make install succeeds" env -u MAKEFLAGS make -s install O="$BUILD" \
    PREFIX="$tmp"
lib=$tmp/lib/libsnap.so

is "$(readelf -d "$lib" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" \
    "$(readlink "$lib")" "the link libsnap.so leads to the SONAME"
# nm prints the version after @@, and the version itself as a symbol
is "$(nm -D --defined-only "$lib" | awk '$3 != "LIBSNAP_1" { print $3 }' |
    sort)" "$(sed -n \
    's/^[a-z][^\/(]*[[:space:]*]\([a-z][a-z0-9_]*\)(.*/\1@@LIBSNAP_1/p' \
    "$tmp"/include/snap/*.h | sort)" \
    "its symbols are the functions of the headers, versioned"

export PKG_CONFIG_PATH=$tmp/lib/pkgconfig
# the examples in libsnap(3)
sed -n '/^#include <snap.h>/,/^\.Ed/{/^\.Ed/!p;}' lib/libsnap.3 |
    sed 's/\\e/\\/g' >"$tmp/pc.c"
sed -n '/^#include <snap_capture.h>/,/^\.Ed/{/^\.Ed/!p;}' lib/libsnap.3 |
    sed 's/\\e/\\/g' >"$tmp/take.c"
# a process without inherited descriptors, which criu could not restore
(
	for fd in /proc/"$BASHPID"/fd/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || eval "exec $fd>&-"
	done
	exec setsid sleep 1000 </dev/null >/dev/null 2>&1
) &
sleeper=$!
until_true grep -q '^[0-9]' "/proc/$sleeper/syscall"
want="$sleeper sleep: pc $(awk '{ print $NF }' "/proc/$sleeper/syscall")"
example() {
	"$BUILD/snap" "$sleeper" | "$@" 2>&1 | sed 's/: [0-9a-f ]*$//'
}

# shellcheck disable=SC2046,SC2086 # words are meant
{
try "the example in libsnap(3) compiles" cc $more -o "$tmp/shared" \
    "$tmp/pc.c" $(pkg-config --cflags --libs libsnap)
is "$(LD_LIBRARY_PATH=$tmp/lib example "$tmp/shared")" "$want" \
    "the example runs with the shared library"
is "$(python3 tests/snap6/snapasm.py tests/snap6/good/9front-amd64.s |
    LD_LIBRARY_PATH=$tmp/lib "$tmp/shared" 2>&1)" "1042 rio: pc \
0x2020203234303175: address 2020203234303175 is not in the snapshot" \
    "the example reads registers of Plan 9"
is "$(readelf -d "$tmp/shared" | grep -c 'NEEDED.*libsnap\.so\.1')" 1 \
    "the example needs libsnap.so.1"

try "the example is linked with the static library" cc $more -o "$tmp/static" \
    "$tmp/pc.c" $(pkg-config --cflags --static --libs libsnap |
    sed 's/-lsnap/-l:libsnap.a/')
is "$(example "$tmp/static")" "$want" "it runs without the shared library"
if [ -z "$more" ]; then
	try "the example is linked with -static" cc -static -o "$tmp/alone" \
	    "$tmp/pc.c" $(pkg-config --cflags --static --libs libsnap)
	is "$(example "$tmp/alone")" "$want" "the static example runs"
else
	skip "linked with -static" "sanitizers need them" 2
fi

try "the example that captures a process compiles" cc $more -o "$tmp/take" \
    "$tmp/take.c" $(pkg-config --cflags --libs libsnap)
export LD_LIBRARY_PATH=$tmp/lib
try "it takes a snapshot" "$tmp/take" "$sleeper" "$tmp/take.snap"
is "$(gunzip -c "$tmp/take.snap" | "$tmp/shared" - |
    sed 's/: [0-9a-f ]*$//')" "$want" "the first example reads this snapshot"
is "$("$BUILD/snapls" -c "$tmp/take.snap" 2>&1 >/dev/null)" "" \
    "this snapshot is complete"
"$tmp/take" 1999999999 "$tmp/none.snap" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" \
    "1 $tmp/take: nothing to take a snapshot of" \
    "a process that does not exist is an error"
is "$(find "$tmp" -name none.snap)" "" "the error leaves no file"

try "a program uses all functions" cc $more -o "$tmp/all" -Wall -Wextra \
    -Werror tests/install/library.c $(pkg-config --cflags --libs libsnap)
try "it compiles as C++" g++ $more -o "$tmp/all++" -x c++ -Wall -Wextra \
    -Werror tests/install/library.c -x none $(pkg-config --cflags --libs libsnap)
}
"$BUILD/snap" -r -o "$tmp/it.snap" "$sleeper"
"$BUILD/snapcore" -o "$tmp/it.core" "$tmp/it.snap"
maps=$(wc -l <"/proc/$sleeper/maps")
for p in all all++; do
	is "$("$tmp/$p" "$tmp/it.snap" "$tmp/$p" 2>&1)" \
	    "process $sleeper sleep S, $maps mappings, 27 registers
text 7f454c46, 5 of 8 bytes at its end, none after it
environ $(tr '\0' '\n' <"/proc/$sleeper/environ" | wc -l) lines
no register of it: xyzzy: amd64 has no such register" "$p: it reads it all"
	try "$p: its core is that of snapcore" \
	    cmp "$tmp/it.core" "$tmp/$p.core"
	try "$p: its copy of the snapshot is the same" \
	    cmp "$tmp/it.snap" "$tmp/$p.snap"
	is "$(ls "$tmp/$p.images")" "$(mkdir "$tmp/images.$p" &&
	    "$BUILD/snapload" -D "$tmp/images.$p" "$tmp/it.snap" >/dev/null &&
	    ls "$tmp/images.$p")" "$p: it writes the same images as snapload"
done
is "$("$tmp/all" "$tmp/none" "$tmp/x" 2>&1)" \
    "$tmp/none: No such file or directory" "a missing file is reported"
kill "$sleeper"
finish 28
