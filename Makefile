# snap: process snapshots for Linux.  Lists, then a few rules; the lists are
# those of mkfile, too (tests/lists.t compares them).  "make help" tells the
# targets.

VERSION := $(shell sed -n 's/^\#define SNAP_VERSION "\(.*\)"/\1/p' lib/snap.h)

PROGS = pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs snapgrep \
	snapload snapls snapstack vmtrace

# the rooms of the library, the lowest first: an object uses what is in its own
# room and below it (tests/rooms sees to that)
ROOMS = lib lib/io/gzip lib/io lib/confine lib/dedup lib/state \
	fmt/plan9 fmt/record fmt/snap6 fmt/elf fmt/core/write fmt/core/read \
	fmt/tar fmt/criu/img fmt/criu/read fmt/criu/facts fmt/criu/open \
	fmt/criu/namespace fmt/criu/make fmt/criu/write fmt/tree fmt/merge fmt \
	lib/linux/proxy lib/linux/proc lib/linux/machine \
	lib/linux/machine/amd64 lib/linux/machine/arm64 \
	lib/linux/machine/other lib/linux/set lib/linux/choose \
	lib/linux/file lib/linux/pages lib/linux/observe lib/linux/inject \
	lib/linux/stop lib/linux/restore/tell lib/linux/restore/socket \
	lib/linux/restore/open lib/linux/clone lib/linux/restore/namespace \
	lib/linux/take lib/linux

MAN3 = lib/libsnap.3
MAN6 = man6/snap.6

# what a packager sets; CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS as well
PKG_CONFIG ?= pkg-config
INSTALL ?= install
STRIP ?= strip

PKGS = libbsd-overlay libelf libprotobuf-c libxxhash zlib
# one more, where it is there: streams that zstd(1) compressed are read then
ZSTD := $(shell $(PKG_CONFIG) --exists libzstd 2>/dev/null && echo libzstd)
# of programs alone: their tables
CMDPKGS = smartcols
# libraries that a program needs beside those: where pkg-config does not find
# one, the program is left out, and "make" says so
snapfs_PKGS = fuse3
snapgrep_PKGS = libpcre2-8
snapstack_PKGS = libdw libseccomp
# and those that pkg-config does not know, with a header
snapstack_LIBS = -liberty
snapstack_HEADER = libiberty/demangle.h
# libraries that a program makes use of where they are: X_MAY; for each that is
# there, the macro HAVE_ and its name, letters and digits alone
snapgrep_MAY = yara
lacks = $(foreach l,$1,$(shell $(PKG_CONFIG) --exists $l 2>/dev/null || echo $l))
unread = $(foreach h,$1,$(shell echo '\#include <$h>' | \
	$(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 || echo $h))
$(foreach p,$(PROGS),$(eval $p_LACKS := $(call lacks,$($p_PKGS)) \
	$(call unread,$($p_HEADER))))
$(foreach p,$(PROGS),$(eval $p_HAS := $(foreach l,$($p_MAY),$(shell \
	$(PKG_CONFIG) --exists $l 2>/dev/null && echo $l))))
BUILT := $(foreach p,$(PROGS),$(if $(strip $($p_LACKS)),,$p))

# what building needs and is not there; $(NEEDED) is part of what compiles
LACKS := $(foreach c,$(firstword $(CC)) $(firstword $(PKG_CONFIG)) protoc-c, \
	$(shell command -v $c >/dev/null || echo $c)) $(call lacks,$(PKGS) $(CMDPKGS))
NEEDED = $(if $(strip $(LACKS)),$(error $(strip $(LACKS)): missing; \
	"tests/setup build" installs what is, or: $(shell tests/setup -n build)))

# Tests: unit tests and targets are one C file each.
UNIT = $(basename $(notdir $(wildcard tests/unit/t_*.c)))
TARGET = $(filter-out bits32 nolibc, \
	$(basename $(notdir $(wildcard tests/targets/*.c)))) $(BITS32) $(NOLIBC)
# two targets have no library, and are made where the compiler can: one is a
# 32-bit process, if the kernel runs such programs
ALONE = -static -nostdlib -ffreestanding -fno-pie -no-pie \
	-fno-stack-protector -fcf-protection=none
M32 = -m32 $(ALONE)
EXIT32 = void _start(void) { __asm__("int $$0x80" :: "a"(1), "b"(0)); }
BITS32 = $(shell f=$$(mktemp) && echo '$(EXIT32)' | $(CC) $(M32) -o $$f \
	-x c - 2>/dev/null && $$f 2>/dev/null && echo bits32; rm -f $$f)
NOLIBC = $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>&1)),nolibc)
FUZZ = snap6 linuxrec core criu native gzip trailer fstree sysroot space \
	pages merge elfsym salvage unload svg tar
FUZZTIME = 120
FRESH =
BENCH = bare copy floor heap pack pause shape timer
FAST = $(UNIT:%=$O/tests/unit/%) tests/*.t tests/snap6/*.t \
	tests/procmap/*.t
# of the others, most go along with each other: those of live not with those of
# criu, which restores processes with their numbers; first those that take long
PAIRED = $(wildcard tests/install/*.t tests/core/*.t tests/fs/*.t \
	tests/grep/*.t tests/criu/*.t tests/confine/*.t tests/stack/*.t)
# of those of live, which may go on at once, and first those that take long
LIVE = $(patsubst %,tests/live/%.t,threads memory inject turning travel \
	hostile java cores calls carried diff errors escape exclude faults forks gcore \
	gone growing gzip heaps hosts kill killed live many note older openfiles \
	output pending programs queues where)
# and of those that count processes of all, mean them by name or user, or trace the
# whole machine
APART = $(patsubst %,tests/live/%.t,alone atonce caps cgroup clone container \
	helpers names net ownthread procmap progress raced regsets \
	settings swap traced user vmtrace workers)
# the others go on alone: they have the core_pattern of the machine, or compare
# what is resident or how long it takes
SINGLE = $(filter-out $(LIVE) $(APART),$(wildcard tests/live/*.t))
# what tests/run is told, but for what is left out
RUN = $(filter-out $(LEAVE),-j $(FAST) $(PAIRED) -j $(LIVE) \
	-j $(APART) -- $(SINGLE))
LEAVE =
# with sanitizers: what compares the system calls of our programs (calls), or
# takes long to look at others than our programs, at
# targets that are stopped or crash, at debuggers, at servers that are restored,
# at what is installed
UNSANITIZED = tests/install/%.t tests/core/debuggers.t \
	$(patsubst %,tests/live/%.t,calls coresocket crash crashes crashflood fallen \
	fallenalone growing java killed snapcrash unnoticed) \
	$(patsubst %,tests/criu/%.t,moved port postgres runtimes server)

O = build
PREFIX = /usr/local
MANDIR = $(PREFIX)/share/man
LIBDIR = $(PREFIX)/lib
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
# the name that snap is installed by: psnap in Debian, where snap is snapd's
SNAP = snap
# how programs and the library are installed; install-strip adds -s
INSTALLBIN = $(INSTALL)

# the shared library: programs of one ABI ask for it by its name in the ELF file
ABI = 0
SO = libsnap.so.$(VERSION)
SONAME = libsnap.so.$(ABI)
PUBLIC = lib/snap.h lib/space.h lib/task.h lib/trace.h

CFLAGS ?= -O2 -g
CPPFLAGS ?= -D_FORTIFY_SOURCE=3
# offsets and times of 64 bits, where a long has 32
WIDE := $(if $(filter 4,$(shell echo __SIZEOF_LONG__ | $(CC) -E -P - 2>/dev/null)), \
	-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64)
PKGFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) $(ZSTD) 2>/dev/null)
CPP = $(CPPFLAGS) -D_GNU_SOURCE $(WIDE) -Ilib -Ifmt -Icmd -I$O/fmt \
	$(if $(ZSTD),-DZSTD) $(PKGFLAGS)
WARN = $(WARN_AS) -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla
LIBWARN = -Wconversion -Wsign-conversion
# -fPIC, of which the shared library is made, costs programs 200 bytes
HARDEN = -fstack-protector-strong -fPIC -fno-semantic-interposition \
	-ffunction-sections -fdata-sections
# what a program does not call it does not have
LINK = -pie -Wl,--as-needed -Wl,-z,relro,-z,now,--gc-sections
LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) $(ZSTD) 2>/dev/null) $(LDLIBS) -pthread
SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZFLAGS = $(SANITIZE) -fsanitize=fuzzer-no-link

objects = $(patsubst %.c,$O/%.o,$(wildcard $(1:%=%/*.c)))
LIBOBJ = $(call objects,$(ROOMS))
# what programs have in common
COMMON = $(call objects,cmd/common)
# made of criu.proto
PB = $O/fmt/criu/img/criu.pb-c

all: $(BUILT:%=$O/%) $O/$(SO)
	@$(foreach p,$(PROGS),$(if $(strip $($p_LACKS)), \
	    echo '$p is not built: $(strip $($p_LACKS)) is missing';)) :

# of a program, and of its folders
progobj = $(call objects,cmd/$1 cmd/$1/*)
pkgs = $(if $($1_PKGS)$($1_HAS),$(shell $(PKG_CONFIG) $2 $($1_PKGS) $($1_HAS)))
haves = $(foreach l,$($1_HAS),-DHAVE_$(shell echo $l | tr -cd a-zA-Z0-9))

$(foreach p,$(PROGS),$(eval $O/$p: $(call progobj,$p)))

$(PROGS:%=$O/%): $O/common.a $O/libsnap.a
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	    $(filter %.a,$^) \
	    $(LIBS) $(shell $(PKG_CONFIG) --libs $(CMDPKGS)) $(call pkgs,$(@F),--libs) \
	    $($(@F)_LIBS)

# Programs without shared libraries.  Those of libxxhash are not told the best
# vectors at run time, and reading memory is slower than the others, too.
STATIC = snap snapls
# -lz first: the libelf.a of elfutils 0.194 has a crc32() as well
STATICLIBS = -lz $(shell $(PKG_CONFIG) --static --libs $(PKGS) $(ZSTD)) -pthread \
	$(foreach f,64bits 64bits_update 64bits_withSecret, \
	-Wl,--defsym=XXH3_$f_dispatch=XXH3_$f)

static: $(STATIC:%=$O/static/%)

$(foreach p,$(STATIC),$(eval $O/static/$p: $(call progobj,$p)))

$(STATIC:%=$O/static/%): $(call objects,cmd/static) $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -static-pie -s -Wl,-z,relro,-z,now,--gc-sections \
	    $(LDFLAGS) -o $@ \
	    $(filter %.o,$^) $(filter %.a,$^) $(STATICLIBS)

$(foreach p,$(PROGS),$(eval $(call progobj,$p): \
    CPP += $$(call pkgs,$p,--cflags) $$(call haves,$p)))

# all objects: it is written when one was added or deleted
$O/objects: FORCE
	@mkdir -p $(@D)
	@echo $(sort $(LIBOBJ) $(COMMON) $(call progobj,*)) | cmp -s - $@ || \
	    echo $(sort $(LIBOBJ) $(COMMON) $(call progobj,*)) >$@

# files of two rooms may have one name, and are both in it
$O/libsnap.a: $(LIBOBJ) $(PB).o $O/objects
	rm -f $@
	$(AR) qcs $@ $(filter %.o,$^)

# its symbols are the functions of libsnap(3), which are those of the headers
# (tests/lists.t)
$O/libsnap.map: lib/libsnap.3
	{ echo 'LIBSNAP_$(ABI) {'; echo 'global:'; \
	    sed -n 's/^\.It .* Fn \([a-z0-9_]*\) .*/	\1;/p' $<; \
	    echo 'local:'; echo '	*;'; echo '};'; } > $@

$O/$(SO): $O/libsnap.a $O/libsnap.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=$O/libsnap.map \
	    -Wl,-z,relro,-z,now,--gc-sections $(LDFLAGS) -o $@ \
	    -Wl,--whole-archive $< -Wl,--no-whole-archive $(LIBS)

$O/common.a: $(COMMON) $O/objects
	rm -f $@
	$(AR) qcs $@ $(filter %.o,$^)

$(LIBOBJ) $(COMMON): WARN += $(LIBWARN)
$(LIBOBJ): | $(PB).h

$(PB).c: fmt/criu/img/criu.proto
	@$(NEEDED)mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $<

$(PB).h: $(PB).c ;

$(PB).o: $(PB).c
	$(CC) -std=c11 $(CPP) $(HARDEN) $(CFLAGS) -pthread -c -o $@ $<

$O/%.o: %.c
	@$(NEEDED)mkdir -p $(@D)
	$(CC) -std=c11 $(CPP) $(WARN) $(HARDEN) $(CFLAGS) \
	    -pthread -MMD -MP -c -o $@ $<

# a unit test tells in its head what else it is linked with
$O/tests/unit/%: tests/unit/%.c tests/unit/util.c tests/unit/util.h \
    $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPP) $(WARN) $(CFLAGS) -pthread -o $@ $< \
	    tests/unit/util.c $O/common.a $O/libsnap.a $(LIBS) -lcmocka \
	    $$(sed -n 's/^.*link with: //p' $<)

$O/tests/unit/t_collide: tests/unit/t_dedup.c

$O/tests/unit/t_inject $O/tests/targets/compute: tests/targets/spin.h

# a fuzz target without a fuzzer replays the files it is given
$O/tests/fuzz/%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) \
    $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPP) $(WARN) $(CFLAGS) $(FUZZER) -pthread -o $@ $< \
	    $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$O/tests/fuzz/space $O/tests/fuzz/svg: $(filter-out %/procmap.o, \
	$(call progobj,procmap))

$O/tests/targets/bits32: tests/targets/bits32.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(M32) -O1 -o $@ $<

$O/tests/targets/nolibc: tests/targets/nolibc.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(ALONE) -O1 -o $@ $<

$O/tests/targets/%: tests/targets/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O1 -g -pthread -o $@ $<

$O/tests/bench/pack: tests/bench/pack.c $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPP) $(WARN) $(CFLAGS) -o $@ $^ $(LIBS)

$O/tests/bench/%: tests/bench/%.c tests/bench/bench.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O2 -pthread -o $@ $<

$O/tests/snap6/dump: tests/snap6/dump.c $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPP) $(WARN) $(CFLAGS) -o $@ $^ $(LIBS)

$O/tests/confine/probe.so: tests/confine/probe.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O1 -fPIC -shared -o $@ $< -ldl

tests: all $O/tests/snap6/dump $O/tests/confine/probe.so $(UNIT:%=$O/tests/unit/%) \
	$(FUZZ:%=$O/tests/fuzz/%) $(TARGET:%=$O/tests/targets/%)

# the targets of FUZZ under libFuzzer, one after the other
fuzz:
	@tests/setup fuzz
	@$(MAKE) -s O=$O-fuzz CC=clang WARN=-w CFLAGS='$(FUZZFLAGS)' \
	    FUZZER='-DLIBFUZZER -fsanitize=fuzzer' $(FUZZ:%=$O-fuzz/tests/fuzz/%)
	@BUILD=$O-fuzz FUZZTIME=$(FUZZTIME) tests/fuzz/run $(FUZZ)

demo:
	@tests/setup build
	@$(MAKE) -s all
	@BUILD=$O tests/demo

# told before they begin: set it to what they took
TAKES = about twelve minutes on two processors

test:
	@echo 'Every test, in $(TAKES); make check: the fast ones.'
	@echo 'One, when this has built them: tests/run tests/live/memory.t' \
	    '(tests/README)'
	@tests/setup test
	@$(MAKE) -s tests
	@$(MAKE) -s run

# what "make tests" made
run:
	@BUILD=$O tests/run $(RUN)

check: tests
	@BUILD=$O tests/run -j $(FAST)

# some tests on a kernel of Debian's, in a virtual machine (tests/vm/run): all
# with VM_ALL=1, which takes some hours where it is emulated
ARCH = amd64
KERNEL = 6.1

vm: tests
	@BUILD=$O $(if $(VM_ALL),VM_SECONDS=$${VM_SECONDS:-36000}) \
	    tests/vm/run -a $(ARCH) -k $(KERNEL) -- \
	    $(if $(VM_ALL),$(RUN:$O/%=build/%)) || [ $$? -eq 77 ]

# demo and test on a machine that has nothing but make: make fresh FRESH=-a; of
# another suite of Debian: SUITE=trixie
fresh:
	@BUILD=$O tests/fresh $(if $(SUITE),-s $(SUITE)) $(FRESH)

asan:
	@$(MAKE) -s O=$O-asan CFLAGS='$(SANITIZE)' tests
	@SNAPSHOTS=50 $(MAKE) -s O=$O-asan CFLAGS='$(SANITIZE)' \
	    LEAVE='$(UNSANITIZED)' run

lint: all
	@BUILD=$O tests/lint

bench:
	@tests/setup bench
	@$(MAKE) -s all $(BENCH:%=$O/tests/bench/%) $O/tests/targets/faults \
	    $O/tests/targets/thp
	@BUILD=$O tests/bench/run

cover:
	@$(MAKE) -s O=$O-cover CFLAGS='-O0 -g --coverage -DUNCONFINED' tests
	@BUILD=$O-cover tests/run $(FAST) $(PAIRED) $(LIVE) \
	    $(APART) $(SINGLE)
	@gcov -n $(LIBOBJ:$O/%=$O-cover/%) $(COMMON:$O/%=$O-cover/%) 2>/dev/null | \
	    awk -F"'" '/^File/ { f = $$2 } /^Lines/ { print $$0, f }'

# where the files of an installation are
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share/snap
INCLUDE = $(DESTDIR)$(PREFIX)/include/snap
LIB = $(DESTDIR)$(LIBDIR)
MAN = $(DESTDIR)$(MANDIR)
COMPLETE = $(DESTDIR)$(BASHDIR)
FUNCTION = $(DESTDIR)$(ZSHDIR)/_$(SNAP)
# snap has another name, perhaps
OTHERS = $(filter-out snap,$(BUILT))
named = sed -e 's/\<snap\>/$(SNAP)/g' -e 's/\<_snap\>/_$(SNAP)/g'

install: all
	mkdir -p $(BIN) $(LIB)/pkgconfig $(INCLUDE) $(SHARE) $(COMPLETE) \
	    $(dir $(FUNCTION)) $(MAN)/man1 $(MAN)/man3 $(MAN)/man6
	$(INSTALLBIN) -m 755 $(OTHERS:%=$O/%) $(BIN)
	$(INSTALLBIN) -m 755 $O/snap $(BIN)/$(SNAP)
	$(INSTALL) -m 644 $O/libsnap.a $(LIB)
	$(INSTALLBIN) -m 644 $O/$(SO) $(LIB)
	ln -sf $(SO) $(LIB)/$(SONAME)
	ln -sf $(SONAME) $(LIB)/libsnap.so
	$(INSTALL) -m 644 $(PUBLIC) $(INCLUDE)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' -e 's|@ZSTD@|$(ZSTD)|' \
	    lib/libsnap.pc.in >$(LIB)/pkgconfig/libsnap.pc
	$(INSTALL) -m 644 $(OTHERS:%=cmd/%/*.1) $(MAN)/man1
	sed -e '/^\.Dt /s/SNAP/\U$(SNAP)/' -e '/^\.Nm /s/snap/$(SNAP)/' \
	    cmd/snap/snap.1 >$(MAN)/man1/$(SNAP).1
	$(INSTALL) -m 644 $(MAN3) $(MAN)/man3
	$(INSTALL) -m 644 $(MAN6) $(MAN)/man6
	$(INSTALL) -m 644 fmt/snap6/magic $(SHARE)
	$(named) cmd/common/complete.zsh >$(FUNCTION)
	$(named) cmd/common/complete.bash >$(COMPLETE)/$(SNAP)
	for p in $(OTHERS); do ln -sf $(SNAP) $(COMPLETE)/$$p; done
	@# where programs look for a library only if it was told
	@case '$(DESTDIR)$(PREFIX)' in /usr | /usr/local) ldconfig || :;; esac

install-strip:
	@$(MAKE) install INSTALLBIN='$(INSTALL) -s --strip-program=$(STRIP)'

# with the PREFIX, DESTDIR and SNAP of the installation
NAMES = $(PROGS:snap=$(SNAP))
uninstall:
	rm -f $(NAMES:%=$(BIN)/%) $(NAMES:%=$(MAN)/man1/%.1) \
	    $(NAMES:%=$(COMPLETE)/%) $(FUNCTION) $(LIB)/libsnap.a \
	    $(LIB)/libsnap.so $(LIB)/$(SONAME) $(LIB)/$(SO) \
	    $(LIB)/pkgconfig/libsnap.pc $(MAN3:lib/%=$(MAN)/man3/%) \
	    $(MAN6:man6/%=$(MAN)/man6/%) \
	    $(PUBLIC:lib/%=$(INCLUDE)/%) $(SHARE)/magic
	@rmdir $(INCLUDE) $(SHARE) 2>/dev/null || :
	@case '$(DESTDIR)$(PREFIX)' in /usr | /usr/local) ldconfig || :;; esac

# the sources of the last commit
DIST = $O/snap-$(VERSION).tar.gz

dist:
	@mkdir -p $(dir $(DIST))
	git archive --format=tar.gz --prefix=snap-$(VERSION)/ -o $(DIST) HEAD

# packages for Debian and its like, in $O/deb
deb:
	@tests/setup deb
	@BUILD=$O .debian/build $(VERSION)

clean:
	rm -rf $O $O-*

help:
	@echo 'all      programs and library, in $O'
	@echo 'demo     set up, build, take a snapshot of real processes, show it'
	@echo 'test     set up, build, run every test: $(TAKES)'
	@echo 'check    the fast tests only'
	@echo 'tests    what tests need; then one of them:'
	@echo '         tests/run tests/live/memory.t (tests/README)'
	@echo 'fresh    demo and some of the tests on a fresh Debian; all: FRESH=-a;'
	@echo '         on another suite than this one is of: SUITE=trixie'
	@echo 'vm       some of the tests on a kernel of Debian, in a machine that'
	@echo '         qemu emulates: ARCH=$(ARCH) KERNEL=$(KERNEL); all of them: VM_ALL=1'
	@echo 'asan     tests with AddressSanitizer and UBSan'
	@echo 'lint     what can be said about the sources without running them'
	@echo 'fuzz     hostile input, FUZZTIME=$(FUZZTIME) seconds for each target;'
	@echo '         some only: FUZZ="fstree merge" (needs clang)'
	@echo 'bench    speed, beside that of others in the same run'
	@echo 'cover    how much of the library the tests reach'
	@echo 'static   $(STATIC:%=$O/static/%): without shared libraries'
	@echo 'install  to PREFIX ($(PREFIX)), below DESTDIR; install-strip,'
	@echo '         without symbols'
	@echo '         and with another name of snap: SNAP=psnap'
	@echo 'uninstall'
	@echo '         what install with the same PREFIX, DESTDIR and SNAP did'
	@echo 'deb      packages for Debian, in $O/deb'
	@echo 'dist     the sources of the last commit, as $(DIST)'
	@echo 'clean    remove what was built'

-include $(LIBOBJ:.o=.d) $(COMMON:.o=.d) $(foreach p,$(PROGS),$(patsubst %.o,%.d,$(call progobj,$p)))

.PHONY: all static tests demo test run check vm fresh asan lint fuzz bench cover install install-strip uninstall dist deb clean help FORCE
