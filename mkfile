# snap, for mk(1).  The lists are those of Makefile; tests and everything
# else are there.

PROGS=snap snapcore snapls

LIBSRC=lib/buf.c lib/builder.c lib/carried.c lib/dedup.c lib/errstr.c \
	lib/fetch.c lib/image.c lib/index.c lib/input.c lib/judge.c \
	lib/nothing.c lib/output.c lib/plan.c lib/program.c lib/snap.c \
	lib/source.c lib/vma.c

FMTSRC=fmt/buildid.c fmt/core.c fmt/corearch.c fmt/corefacts.c \
	fmt/corefiles.c fmt/coreload.c fmt/coremach.c fmt/coremaps.c \
	fmt/coremem.c fmt/corenote.c fmt/coreparse.c fmt/coreread.c \
	fmt/coretask.c fmt/corethread.c fmt/linuxrec.c fmt/maps.c fmt/open.c \
	fmt/plan9.c fmt/plan9regs.c fmt/snap6read.c fmt/snap6seg.c \
	fmt/snap6write.c

LINUXSRC=lib/linux/carry.c lib/linux/freeze.c lib/linux/live.c \
	lib/linux/livesource.c lib/linux/memory.c lib/linux/pagemap.c \
	lib/linux/procfs.c lib/linux/readers.c lib/linux/regs.c \
	lib/linux/take.c lib/linux/task.c lib/linux/user.c lib/linux/vdso.c

PKGS=libbsd-overlay libelf libxxhash

O=build-mk
CC=cc
CFLAGS=-O2 -g
CPPFLAGS=-D_GNU_SOURCE -D_FORTIFY_SOURCE=3 -Ilib `pkg-config --cflags $PKGS`
WARN=-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla
HARDEN=-fstack-protector-strong -fPIE
LINK=-pie -Wl,-z,relro,-z,now

SRC=$LIBSRC $FMTSRC $LINUXSRC
LIBOBJ=${SRC:%.c=$O/%.o}
BIN=${PROGS:%=$O/%}

all:V: $BIN

$O/%: $O/cmd/%/%.o $O/libsnap.a
	$CC $CFLAGS $LINK -o $target $prereq `pkg-config --libs $PKGS` -pthread

$O/libsnap.a: $LIBOBJ
	rm -f $target
	ar rcs $target $LIBOBJ

$O/%.o: %.c lib/snap.h lib/linux/task.h
	mkdir -p `dirname $target`
	$CC -std=c11 $CPPFLAGS $WARN $HARDEN $CFLAGS -pthread -c -o $target $stem.c

clean:V:
	rm -rf $O
