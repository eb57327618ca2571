#!/usr/bin/env bash
# The sources compile without warnings with the headers of musl.  Declarations
# that musl before 1.2.5 lacks are added.  MUSL names the directory of the
# headers, if they are not those of Debian's musl-tools.
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
cd "$tests/.." || exit 1

headers=$(pkg-config --variable=includedir libbsd-overlay)
multi=$headers/$(cc -print-multiarch)
musl=${MUSL:-$headers/$(uname -m)-linux-musl}
lacks=
[ -e "$musl/stdlib.h" ] || lacks="no headers of musl here"
case $BUILD in
*-asan) lacks="sanitizers change nothing in it" ;;
esac
if [ -n "$lacks" ]; then
	skip "the sources compile with musl" "$lacks" 2
	finish 2
fi

# headers of the kernel and of libraries, but not those of glibc
mkdir "$tmp/beside"
for h in linux asm asm-generic gelf.h libelf.h xxhash.h zlib.h zconf.h zstd.h \
    lz4.h libiberty protobuf-c cmocka.h dwarf.h elfutils pcre2.h \
    seccomp.h seccomp-syscalls.h yara yara.h; do
	for d in "$multi" "$headers"; do
		[ ! -e "$d/$h" ] || ln -sfn "$d/$h" "$tmp/beside/$h"
	done
done
cp -R "$headers/bsd" "$tmp/bsd"		# searched first; includes those of musl
cat >"$tmp/older.h" <<'END'
#include <elf.h>
#include <sys/stat.h>
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif
#ifndef STATX_TYPE
#include <linux/stat.h>
int statx(int, const char *restrict, int, unsigned, struct statx *restrict);
#endif
END

# try_compile FLAGS FILE ...: print the messages of the compiler
try_compile() {
	local flags=$1

	shift
	# shellcheck disable=SC2046,SC2086 # flags
	printf '%s\n' "$@" | xargs -P "$(nproc)" -n 8 "${CC:-cc}" -nostdinc \
	    -isystem "$tmp/bsd" -isystem "$musl" \
	    -isystem "$(cc -print-file-name=include)" \
	    $(pkg-config --cflags fuse3 | sed 's/-I/-isystem /g') \
	    -idirafter "$tmp/beside" -include "$tmp/older.h" -fsyntax-only \
	    -std=c11 -D_GNU_SOURCE -DLIBBSD_OVERLAY -Ilib -Ifmt -Icmd \
	    -I"$BUILD/fmt" -Wall -Wextra -Wshadow -Wundef -Werror $flags 2>&1
}

# without: print arguments of find(1) that skip programs with missing libraries
without() {
	local p

	for p in snapgrep snapstack; do
		! left_out "$p" || echo "! -regex cmd/$p/.+"
	done
}

{
	# shellcheck disable=SC2046 # names without blanks
	try_compile '-Wconversion -Wsign-conversion' \
	    $(find lib fmt cmd/common -name '*.c')
	# shellcheck disable=SC2046 # names without blanks
	try_compile '' $(find cmd tests/unit tests/targets tests/snap6 \
	    tests/fuzz tests/confine -name '*.c' ! -path 'cmd/common/*' \
	    ! -path 'cmd/static/*' ! -name bits32.c $(without))
} >"$tmp/said"
is "$(cat "$tmp/said")" '' "all sources compile"

printf '#include <malloc.h>\nsize_t f(void); size_t f(void) { %s }\n' \
    'return mallinfo2().uordblks;' >"$tmp/x.c"
try=$(try_compile '' "$tmp/x.c")
case $try in
*mallinfo2*) ok 0 "a function that musl lacks is an error" ;;
*) ok 1 "a function that musl lacks is an error" ;;
esac
finish 2
