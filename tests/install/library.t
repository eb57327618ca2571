#!/usr/bin/env bash
# The library as it is installed: shared and static, with pkg-config.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1

# an archive that needs a runtime is linked with it
case $BUILD in
*asan) more=-fsanitize=address,undefined ;;
*cover) more=--coverage ;;
*) more= ;;
esac
try "it is installed" env -u MAKEFLAGS make -s install O="$BUILD" \
    PREFIX="$tmp"
lib=$tmp/lib/libsnap.so

is "$(readelf -d "$lib" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" \
    "$(readlink "$lib")" "the name that programs ask for is that of the link"
# a version after the last word; that of the version itself is one, too
is "$(nm -D --defined-only "$lib" | awk '$3 != "LIBSNAP_1" { print $3 }' |
    sort)" "$(sed -n \
    's/^[a-z][^\/(]*[[:space:]*]\([a-z][a-z0-9_]*\)(.*/\1@@LIBSNAP_1/p' \
    "$tmp"/include/snap/*.h | sort)" \
    "its symbols are the functions of the headers, with a version"

export PKG_CONFIG_PATH=$tmp/lib/pkgconfig
# the examples of the page
sed -n '/^#include <snap.h>/,/^\.Ed/{/^\.Ed/!p;}' lib/libsnap.3 |
    sed 's/\\e/\\/g' >"$tmp/pc.c"
sed -n '/^#include <snap_capture.h>/,/^\.Ed/{/^\.Ed/!p;}' lib/libsnap.3 |
    sed 's/\\e/\\/g' >"$tmp/take.c"
# without descriptors of others, which cannot be restored
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
try "its example is compiled" cc $more -o "$tmp/shared" \
    "$tmp/pc.c" $(pkg-config --cflags --libs libsnap)
is "$(LD_LIBRARY_PATH=$tmp/lib example "$tmp/shared")" "$want" \
    "and runs with the shared library"
is "$(python3 tests/snap6/snapasm.py tests/snap6/good/9front-amd64.s |
    LD_LIBRARY_PATH=$tmp/lib "$tmp/shared" 2>&1)" "1042 rio: pc \
0x2020203234303175: address 2020203234303175 is not mapped" \
    "registers of Plan 9 are read as well"
is "$(readelf -d "$tmp/shared" | grep -c 'NEEDED.*libsnap\.so\.1')" 1 \
    "which it asks for"

try "it is linked with the static library" cc $more -o "$tmp/static" \
    "$tmp/pc.c" $(pkg-config --cflags --static --libs libsnap |
    sed 's/-lsnap/-l:libsnap.a/')
is "$(example "$tmp/static")" "$want" "and runs without the shared one"
if [ -z "$more" ]; then
	try "it is linked without shared libraries" cc -static -o "$tmp/alone" \
	    "$tmp/pc.c" $(pkg-config --cflags --static --libs libsnap)
	is "$(example "$tmp/alone")" "$want" "and runs without them"
else
	skip "without shared libraries" "sanitizers need them" 2
fi

try "the example of capturing is compiled" cc $more -o "$tmp/take" \
    "$tmp/take.c" $(pkg-config --cflags --libs libsnap)
export LD_LIBRARY_PATH=$tmp/lib
try "it takes a snapshot" "$tmp/take" "$sleeper" "$tmp/take.snap"
is "$(gunzip -c "$tmp/take.snap" | "$tmp/shared" - |
    sed 's/: [0-9a-f ]*$//')" "$want" "which the other one reads"
is "$("$BUILD/snapls" -c "$tmp/take.snap" 2>&1 >/dev/null)" "" \
    "and which is complete"
"$tmp/take" 1999999999 "$tmp/none.snap" 2>"$tmp/err"
is "$? $(cat "$tmp/err")" \
    "1 $tmp/take: nothing to take a snapshot of" \
    "a process that does not exist is an error"
is "$(find "$tmp" -name none.snap)" "" "after which there is no file"

try "a program uses all functions" cc $more -o "$tmp/all" -Wall -Wextra \
    -Werror tests/install/library.c $(pkg-config --cflags --libs libsnap)
try "a program in C++ does" g++ $more -o "$tmp/all++" -x c++ -Wall -Wextra \
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
no register of it: xyzzy: amd64 has no such register" "$p: it reads all of it"
	try "$p: its core is that of snapcore" \
	    cmp "$tmp/it.core" "$tmp/$p.core"
	try "$p: its copy is the same" \
	    cmp "$tmp/it.snap" "$tmp/$p.snap"
	is "$(ls "$tmp/$p.images")" "$(mkdir "$tmp/images.$p" &&
	    "$BUILD/snapload" -D "$tmp/images.$p" "$tmp/it.snap" >/dev/null &&
	    ls "$tmp/images.$p")" "$p: its images are those of snapload"
done
is "$("$tmp/all" "$tmp/none" "$tmp/x" 2>&1)" \
    "$tmp/none: No such file or directory" "an error is reported"
kill "$sleeper"
finish 28
