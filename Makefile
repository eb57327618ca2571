# snap: process snapshots for Linux.  Lists, then a few rules; the lists are
# those of mkfile, too (tests/lists.t compares them).  "make help" lists the
# targets; what is for tests alone is in tests/rules.mk.

VERSION := $(shell sed -n 's/^\#define SNAP_VERSION "\(.*\)"/\1/p' lib/snap.h)

PROGS = pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs snapgrep \
	snapload snapls snapstack vmtrace

MAN3 = lib/libsnap.3
MAN6 = man6/snap.6
MAN7 = $(wildcard cmd/*/*.7)
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

LIBOBJ := $(patsubst %.c,$O/%.o,$(sort $(shell find lib fmt -name '*.c')))
objects = $(patsubst %.c,$O/%.o,$(wildcard $(1:%=%/*.c)))
# what programs have in common
COMMON = $(call objects,cmd/common)
# made of criu.proto
PB = $O/fmt/criu/img/criu.pb-c

## all      programs and library, in build
all: $(BUILT:%=$O/%) $O/$(SO)
	@$(foreach p,$(PROGS),$(if $(strip $($p_LACKS)), \
	    echo '$p is not built: $(strip $($p_LACKS)) is missing';)) :

# of a program, and of its folders
progobj = $(call objects,cmd/$1 cmd/$1/*)
pkgs = $(if $($1_PKGS)$($1_HAS),$(shell $(PKG_CONFIG) $2 $($1_PKGS) $($1_HAS)))
haves = $(foreach l,$($1_HAS),-DHAVE_$(shell echo $l | tr -cd a-zA-Z0-9))

$(foreach p,$(PROGS),$(eval $O/$p: $(call progobj,$p)))
$(PROGS:%=$O/%): $O/common.a $O/libsnap.a
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
	    $(LIBS) $(shell $(PKG_CONFIG) --libs $(CMDPKGS)) $(call pkgs,$(@F),--libs) \
	    $($(@F)_LIBS)

# Programs without shared libraries.  Those of libxxhash are not told the best
# vectors at run time, and reading memory is slower than the others, too.
STATIC = snap snapls
# -lz first: the libelf.a of elfutils 0.194 has a crc32() as well
STATICLIBS = -lz $(shell $(PKG_CONFIG) --static --libs $(PKGS) $(ZSTD)) -pthread \
	$(foreach f,64bits 64bits_update 64bits_withSecret, \
	-Wl,--defsym=XXH3_$f_dispatch=XXH3_$f)

## static   snap and snapls without shared libraries, in build/static
static: $(STATIC:%=$O/static/%)
$(foreach p,$(STATIC),$(eval $O/static/$p: $(call progobj,$p)))
$(STATIC:%=$O/static/%): $(call objects,cmd/static) $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -static-pie -s -Wl,-z,relro,-z,now,--gc-sections \
	    $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(STATICLIBS)

$(foreach p,$(PROGS),$(eval $(call progobj,$p): \
    CPP += $$(call pkgs,$p,--cflags) $$(call haves,$p)))

# all objects: it is written when one was added or deleted
OBJECTS = $(sort $(LIBOBJ) $(COMMON) $(call progobj,*))
$O/objects: FORCE
	@mkdir -p $(@D)
	@echo $(OBJECTS) | cmp -s - $@ || echo $(OBJECTS) >$@

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

## install  to PREFIX (/usr/local), below DESTDIR; install-strip, without
##          symbols; and with another name of snap: SNAP=psnap
install: all
	mkdir -p $(BIN) $(LIB)/pkgconfig $(INCLUDE) $(SHARE) $(COMPLETE) \
	    $(dir $(FUNCTION)) $(MAN)/man1 $(MAN)/man3 $(MAN)/man6 $(MAN)/man7
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
	$(INSTALL) -m 644 $(MAN7) $(MAN)/man7
	$(INSTALL) -m 644 fmt/snap6/magic $(SHARE)
	$(named) cmd/common/complete.zsh >$(FUNCTION)
	$(named) cmd/common/complete.bash >$(COMPLETE)/$(SNAP)
	for p in $(OTHERS); do ln -sf $(SNAP) $(COMPLETE)/$$p; done
	@# where programs look for a library only if it was told
	@case '$(DESTDIR)$(PREFIX)' in /usr | /usr/local) ldconfig || :;; esac

install-strip:
	@$(MAKE) install INSTALLBIN='$(INSTALL) -s --strip-program=$(STRIP)'

## uninstall
##          what install with the same PREFIX, DESTDIR and SNAP did
NAMES = $(PROGS:snap=$(SNAP))
uninstall:
	rm -f $(NAMES:%=$(BIN)/%) $(NAMES:%=$(MAN)/man1/%.1) \
	    $(NAMES:%=$(COMPLETE)/%) $(FUNCTION) $(LIB)/libsnap.a \
	    $(LIB)/libsnap.so $(LIB)/$(SONAME) $(LIB)/$(SO) \
	    $(LIB)/pkgconfig/libsnap.pc $(MAN3:lib/%=$(MAN)/man3/%) \
	    $(MAN6:man6/%=$(MAN)/man6/%) $(addprefix $(MAN)/man7/,$(notdir $(MAN7))) \
	    $(PUBLIC:lib/%=$(INCLUDE)/%) $(SHARE)/magic
	@rmdir $(INCLUDE) $(SHARE) 2>/dev/null || :
	@case '$(DESTDIR)$(PREFIX)' in /usr | /usr/local) ldconfig || :;; esac

## dist     the sources of the last commit, as build/snap-VERSION.tar.gz
DIST = $O/snap-$(VERSION).tar.gz
dist:
	@mkdir -p $(dir $(DIST))
	git archive --format=tar.gz --prefix=snap-$(VERSION)/ -o $(DIST) HEAD

## deb      packages for Debian and its like, in build/deb
deb:
	@tests/setup deb
	@BUILD=$O .debian/build $(VERSION)

## clean    remove what was built
clean:
	rm -rf $O $O-*

help:
	@sed -n 's/^## //p' Makefile tests/rules.mk

-include tests/rules.mk

-include $(OBJECTS:.o=.d)

.PHONY: all static install install-strip uninstall dist deb clean help FORCE
