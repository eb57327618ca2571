# snap, for mk(1).  Makefile has the same lists, and the targets for tests and
# installation.

PROGS=pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs snapgrep \
	snapload snapls snapstack vmtrace

PKGS=libbsd-overlay libelf libprotobuf-c libxxhash zlib
ZSTD=`pkg-config --exists libzstd && echo libzstd`
LZ4=`pkg-config --exists liblz4 && echo liblz4`
# libraries that one program needs, and optional ones (NAME_MAY), as in Makefile
snapfs_PKGS=fuse3
snapgrep_PKGS=libpcre2-8
snapgrep_MAY=yara
snapstack_PKGS=libdw libseccomp
snapstack_LIBS=-liberty

O=build-mk
CC=cc
CFLAGS=-O2 -g
CPPFLAGS=-D_GNU_SOURCE -D_FORTIFY_SOURCE=3 -Ilib -Ifmt -Icmd -I$O/fmt ${ZSTD:%=-DZSTD} \
	${LZ4:%=-DLZ4}
WARN=-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla
HARDEN=-fstack-protector-strong -fPIC -fno-semantic-interposition \
	-ffunction-sections -fdata-sections
LINK=-Wl,-z,relro,-z,now,--gc-sections

SRC=`find lib fmt -name '*.c'`
LIBOBJ=${SRC:%.c=$O/%.o}
BUILT=`for p in $PROGS; do eval more=\$${p}_PKGS; [ -z "$more" ] || \
	pkg-config --exists $more || continue; echo $p; done`
CMDSRC=`for p in $BUILT common static; do find cmd/$p -name '*.c'; done`
CMDOBJ=${CMDSRC:%.c=$O/%.o}
HEADERS=`find lib fmt cmd -name '*.h'`
PB=$O/fmt/criu/img/criu.pb-c
BIN=${BUILT:%=$O/%}

all:VQ: $BIN
	for p in $PROGS; do
		case " $BUILT " in *" $p "*) continue ;; esac
		eval more=\$${p}_PKGS
		for l in $more; do
			pkg-config --exists $l || echo "$p is not built: $l is missing"
		done
	done

$O/&: $O/libsnap.a $CMDOBJ
	eval more=\$${stem}_PKGS may=\$${stem}_MAY libs=\$${stem}_LIBS
	for l in $may; do
		! pkg-config --exists $l || more="$more $l"
	done
	$CC $CFLAGS -pie -Wl,--as-needed $LINK -o $target `find $O/cmd/$stem -name '*.o'` $O/cmd/common/*.o \
	    $O/libsnap.a `pkg-config --libs $PKGS $ZSTD $LZ4 $more` \
	    $libs -pthread

$O/libsnap.a: $LIBOBJ $PB.o
	rm -f $target
	ar qcs $target $prereq

$PB.c $PB.h: fmt/criu/img/criu.proto
	mkdir -p $O/fmt/criu/img
	protoc-c --proto_path=fmt/criu/img --c_out=$O/fmt/criu/img \
	    fmt/criu/img/criu.proto

$PB.o: $PB.c
	$CC -std=c11 $CPPFLAGS $HARDEN $CFLAGS -pthread -c -o $target $PB.c

$O/%.o: %.c $HEADERS $PB.h
	mkdir -p `dirname $target`
	dir=`dirname $stem`
	eval more=\$${dir##*/}_PKGS may=\$${dir##*/}_MAY
	for l in $may; do
		! pkg-config --exists $l || more="$more $l" \
		    have="$have -DHAVE_`echo $l | tr -cd a-zA-Z0-9`"
	done
	$CC -std=c11 $CPPFLAGS $have `pkg-config --cflags $PKGS $ZSTD $LZ4 $more` $WARN \
	    $HARDEN $CFLAGS -pthread -c -o $target $stem.c

clean:V:
	rm -rf $O
