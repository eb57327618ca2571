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
is "$(nm -D --defined-only "$lib" | awk '$3 != "LIBSNAP_0" { print $3 }' |
    sort)" "$(sed -n \
    's/^[a-z][^\/(]*[[:space:]*]\([a-z][a-z0-9_]*\)(.*/\1@@LIBSNAP_0/p' \
    "$tmp"/include/snap/*.h | sort)" \
    "its symbols are the functions of the headers, with a version"

export PKG_CONFIG_PATH=$tmp/lib/pkgconfig
sed -n '/^#include <snap.h>/,/^\.Ed/{/^\.Ed/!p;}' lib/libsnap.3 |
    sed -e 's/\\e/\\/g' -e '1s/.*/&\n#include <space.h>\n#include <task.h>\n#include <trace.h>/' \
    >"$tmp/pc.c"
pc='1042: pc 2020203234303175: address 2020203234303175 is not mapped'
example() {
	python3 tests/snap6/snapasm.py tests/snap6/good/9front-amd64.s |
	    "$@" 2>&1
}

# shellcheck disable=SC2046,SC2086 # words are meant
try "its example is compiled, with all headers" cc $more -o "$tmp/shared" \
    "$tmp/pc.c" $(pkg-config --cflags --libs libsnap)
is "$(LD_LIBRARY_PATH=$tmp/lib example "$tmp/shared")" "$pc" \
    "and runs with the shared library"
is "$(readelf -d "$tmp/shared" | grep -c 'NEEDED.*libsnap\.so\.0')" 1 \
    "which it asks for"

# shellcheck disable=SC2046,SC2086 # words are meant
try "it is linked with the static library" cc $more -o "$tmp/static" \
    "$tmp/pc.c" $(pkg-config --cflags --static --libs libsnap |
    sed 's/-lsnap/-l:libsnap.a/')
is "$(example "$tmp/static")" "$pc" "and runs without the shared one"
finish 8
