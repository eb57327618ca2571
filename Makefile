# snap: process snapshots for Linux.  Lists come first, then a few rules.  mkfile
# has the same lists (tests/lists.t compares them).  "make help" lists the
# targets.  tests/rules.mk has the targets for tests.

VERSION := $(shell sed -n 's/^\#define SNAP_VERSION "\(.*\)"/\1/p' lib/snap/snap.h)

PROGS = pagestat procmap snap snapcat snapcore snapcrash snapdiff snapfs snapgrep \
	snapload snapls snapstack vmtrace

# manual pages other than those of programs
PAGES = $(wildcard lib/*.3 cmd/*/*.5 man6/*.6 cmd/*/*.7)
# Packagers set these, and CPPFLAGS, CFLAGS, LDFLAGS and LDLIBS.
PKG_CONFIG ?= pkg-config
INSTALL ?= install
STRIP ?= strip

PKGS = libbsd-overlay libelf libprotobuf-c libxxhash zlib
has = $(foreach l,$1,$(shell $(PKG_CONFIG) --exists $l 2>/dev/null && echo $l))
# optional: files that zstd(1) compressed, and images that criu compressed
ZSTD := $(call has,libzstd)
LZ4 := $(call has,liblz4)
# libraries that one program needs.  If pkg-config does not find one, the program
# is left out, and "make" prints a message.
snapfs_PKGS = fuse3
snapgrep_PKGS = libpcre2-8
snapstack_PKGS = libdw libseccomp
# libraries that pkg-config does not know, with a header
snapstack_LIBS = -liberty
snapstack_HEADER = libiberty/demangle.h
# optional libraries of a program: X_MAY.  Each one found defines a macro: HAVE_ and
# the letters and digits of its name.
snapgrep_MAY = yara
lacks = $(filter-out $(call has,$1),$1)
# a backslash before it stays there in a function of make 4.3 and newer
hash := \#
unread = $(foreach h,$1,$(shell echo '$(hash)include <$h>' | \
	$(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 || echo $h))
$(foreach p,$(PROGS),$(eval $p_LACKS := $(call lacks,$($p_PKGS)) \
	$(call unread,$($p_HEADER))) $(eval $p_HAS := $(call has,$($p_MAY))))
BUILT := $(foreach p,$(PROGS),$(if $(strip $($p_LACKS)),,$p))

# missing packages for the build; rules that compile begin with $(NEEDED)
LACKS := $(foreach c,$(firstword $(CC)) $(firstword $(PKG_CONFIG)) protoc-c, \
	$(shell command -v $c >/dev/null || echo $c)) $(call lacks,$(PKGS))
NEEDED = $(if $(strip $(LACKS)),$(error $(strip $(LACKS)): missing; \
	"tests/setup build" installs what is, or: $(shell tests/setup -n build)))

O = build
PREFIX = /usr/local
MANDIR = $(PREFIX)/share/man
LIBDIR = $(PREFIX)/lib
BASHDIR = $(PREFIX)/share/bash-completion/completions
ZSHDIR = $(PREFIX)/share/zsh/site-functions
# a directory below PREFIX in which python3 finds modules
PYTHONDIR = $(or $(shell python3 -c 'import site; print(next(d for d in \
	site.getsitepackages() if d.startswith("$(PREFIX)/lib/")))' 2>/dev/null), \
	$(PREFIX)/lib/python3/dist-packages)
# the name under which snap is installed; Debian uses psnap, for snapd has a snap
SNAP = snap
# the command that installs programs and the library; install-strip adds -s
INSTALLBIN = $(INSTALL)

# the shared library; programs need SONAME, which changes with the ABI
ABI = 1
SO = libsnap.so.$(VERSION)
SONAME = libsnap.so.$(ABI)
PUBLIC = lib/snap/snap.h lib/snap/snap_capture.h lib/snap/snap_write.h

CFLAGS ?= -O2 -g
CPPFLAGS ?= -D_FORTIFY_SOURCE=3
# 64-bit offsets and times on machines with a 32-bit long
WIDE := $(if $(filter 4,$(shell echo __SIZEOF_LONG__ | $(CC) -E -P - 2>/dev/null)), \
	-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64)
PKGFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) $(ZSTD) $(LZ4) 2>/dev/null)
CPP = $(CPPFLAGS) -D_GNU_SOURCE $(WIDE) -Ilib -Ifmt -Icmd -I$O/fmt \
	$(if $(ZSTD),-DZSTD) $(if $(LZ4),-DLZ4) $(PKGFLAGS)
WARN = $(WARN_AS) -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla
# -fPIC is for the shared library; it costs programs 200 bytes
HARDEN = -fstack-protector-strong -fPIC -fno-semantic-interposition \
	-ffunction-sections -fdata-sections
# Two builds in different directories have the same bytes.
HARDEN += -ffile-prefix-map='$(CURDIR)'=.
# --gc-sections removes functions that a program does not call
LINK = -Wl,-z,relro,-z,now,--gc-sections
LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) $(ZSTD) $(LZ4) 2>/dev/null) $(LDLIBS) -pthread

LIBOBJ := $(patsubst %.c,$O/%.o,$(sort $(shell find lib fmt -name '*.c')))
objects = $(sort $(patsubst %.c,$O/%.o,$(wildcard $(1:%=%/*.c))))
# code that programs share
COMMON = $(call objects,cmd/common)
# generated from criu.proto
PB = $O/fmt/criu/img/criu.pb-c

## all      build the programs and the library, in build
all: $(BUILT:%=$O/%) $O/$(SO)
	@$(foreach p,$(PROGS),$(if $(strip $($p_LACKS)), \
	    echo '$p is not built: $(strip $($p_LACKS)) is missing';)) :

# the objects of a program and of its folders
progobj = $(call objects,cmd/$1 cmd/$1/*)
pkgs = $(if $($1_PKGS)$($1_HAS),$(shell $(PKG_CONFIG) $2 $($1_PKGS) $($1_HAS)))
haves = $(foreach l,$($1_HAS),-DHAVE_$(shell echo $l | tr -cd a-zA-Z0-9))

$(foreach p,$(PROGS),$(eval $O/$p: $(call progobj,$p)))
$(PROGS:%=$O/%): $O/common.a $O/libsnap.a
	$(CC) $(CFLAGS) -pie -Wl,--as-needed $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	    $(filter %.a,$^) $(LIBS) $(call pkgs,$(@F),--libs) $($(@F)_LIBS)

# Programs without shared libraries.  Their libxxhash does not choose vector
# instructions at run time, so they are slower.
STATIC = snap snapcat snapcrash snapls
# -lz first: the libelf.a of elfutils 0.194 has a crc32() as well
STATICLIBS = -lz $(shell $(PKG_CONFIG) --static --libs $(PKGS) $(ZSTD) $(LZ4)) -pthread

## static   build programs without shared libraries, in build/static
static: $(STATIC:%=$O/static/%)
$(foreach p,$(STATIC),$(eval $O/static/$p: $(call progobj,$p)))
$(STATIC:%=$O/static/%): $(call objects,cmd/static) $O/common.a $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -static-pie -s $(LINK) $(LDFLAGS) -o $@ \
	    $(filter %.o,$^) $(filter %.a,$^) $(STATICLIBS)

$(foreach p,$(PROGS),$(eval $(call progobj,$p): \
    CPP += $$(call pkgs,$p,--cflags) $$(call haves,$p)))

# a list of all objects, written when an object is added or deleted
OBJECTS = $(sort $(LIBOBJ) $(COMMON) $(call progobj,*))
$O/objects: FORCE
	@mkdir -p $(@D)
	@echo $(OBJECTS:$O/%=%) | cmp -s - $@ || echo $(OBJECTS:$O/%=%) >$@

$O/libsnap.a: $(LIBOBJ) $(PB).o
$O/common.a: $(COMMON)
# Objects of two rooms may have the same name; the archive contains both.
$O/libsnap.a $O/common.a: $O/objects
	rm -f $@
	$(AR) qcsD $@ $(filter %.o,$^)

# The library exports the functions that libsnap(3) lists.  The headers declare the
# same functions (tests/lists.t).
$O/libsnap.map: lib/libsnap.3
	{ echo 'LIBSNAP_$(ABI) {'; echo 'global:'; \
	    sed -n 's/^\.It .* Fn \([a-z0-9_]*\) .*/	\1;/p' $<; \
	    echo 'local:'; echo '	*;'; echo '};'; } > $@

$O/$(SO): $O/libsnap.a $O/libsnap.map
	$(CC) $(CFLAGS) -shared -Wl,-soname,$(SONAME) $(LINK) $(LDFLAGS) -o $@ \
	    -Wl,--version-script=$O/libsnap.map \
	    -Wl,--whole-archive $< -Wl,--no-whole-archive $(LIBS)

$(LIBOBJ) $(COMMON): WARN += -Wconversion -Wsign-conversion
$(LIBOBJ): | $(PB).h

$(PB).c: fmt/criu/img/criu.proto
	@$(NEEDED)mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $<

$(PB).h: $(PB).c ;
$(PB).o: $(PB).c
	$(CC) -std=c11 $(CPP) $(HARDEN) $(CFLAGS) -pthread -c -o $@ $<

$O/%.o: %.c
	@$(NEEDED)mkdir -p $(@D)
	$(CC) -std=c11 $(CPP) $(WARN) $(HARDEN) $(CFLAGS) -pthread -MMD -MP -c -o $@ $<

# directories of an installation
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share/snap
INCLUDE = $(DESTDIR)$(PREFIX)/include/snap
LIB = $(DESTDIR)$(LIBDIR)
MAN = $(DESTDIR)$(MANDIR)
PYTHON = $(DESTDIR)$(PYTHONDIR)
COMPLETE = $(DESTDIR)$(BASHDIR)
FUNCTION = $(DESTDIR)$(ZSHDIR)/_$(SNAP)
# snap may have another name
OTHERS = $(filter-out snap,$(BUILT))
named = sed -e 's/\<snap\>/$(SNAP)/g' -e 's/\<_snap\>/_$(SNAP)/g'

## install  install below PREFIX (/usr/local) and DESTDIR; SNAP=psnap
##          installs snap under that name; install-strip removes symbols
install: all
	mkdir -p $(BIN) $(LIB)/pkgconfig $(INCLUDE) $(SHARE) $(COMPLETE) $(PYTHON) \
	    $(dir $(FUNCTION)) $(addprefix $(MAN)/man,1 3 5 6 7)
	$(INSTALLBIN) -m 755 $(OTHERS:%=$O/%) $(BIN)
	$(INSTALLBIN) -m 755 $O/snap $(BIN)/$(SNAP)
	$(INSTALL) -m 644 $O/libsnap.a $(LIB)
	$(INSTALLBIN) -m 644 $O/$(SO) $(LIB)
	ln -sf $(SO) $(LIB)/$(SONAME)
	ln -sf $(SONAME) $(LIB)/libsnap.so
	$(INSTALL) -m 644 $(PUBLIC) $(INCLUDE)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' -e 's|@MAY@|$(ZSTD) $(LZ4)|' \
	    lib/libsnap.pc.in >$(LIB)/pkgconfig/libsnap.pc
	$(INSTALL) -m 644 $(OTHERS:%=cmd/%/*.1) $(MAN)/man1
	sed -e '/^\.Dt /s/SNAP/\U$(SNAP)/' -e '/^\.Nm /s/snap/$(SNAP)/' \
	    cmd/snap/snap.1 >$(MAN)/man1/$(SNAP).1
	for f in $(PAGES); do $(INSTALL) -m 644 $$f $(MAN)/man$${f##*.}; done
	$(INSTALL) -m 644 lib/snap/snap.py $(PYTHON)
	$(INSTALL) -m 644 fmt/snap6/magic $(SHARE)
	$(named) cmd/common/complete.zsh >$(FUNCTION)
	$(named) cmd/common/complete.bash >$(COMPLETE)/$(SNAP)
	for p in $(OTHERS); do ln -sf $(SNAP) $(COMPLETE)/$$p; done
	@# update the cache of the dynamic linker
	@case '$(DESTDIR)$(PREFIX)' in /usr | /usr/local) ldconfig || :;; esac

install-strip:
	@$(MAKE) install INSTALLBIN='$(INSTALL) -s --strip-program=$(STRIP)'

## uninstall
##          remove the files; use the same PREFIX, DESTDIR and SNAP
NAMES = $(PROGS:snap=$(SNAP))
uninstall:
	rm -f $(NAMES:%=$(BIN)/%) $(NAMES:%=$(MAN)/man1/%.1) \
	    $(NAMES:%=$(COMPLETE)/%) $(FUNCTION) $(LIB)/libsnap.a \
	    $(LIB)/libsnap.so $(LIB)/$(SONAME) $(LIB)/$(SO) \
	    $(LIB)/pkgconfig/libsnap.pc $(SHARE)/magic $(PYTHON)/snap.py \
	    $(foreach f,$(PAGES),$(MAN)/man$(subst .,,$(suffix $f))/$(notdir $f)) \
	    $(PUBLIC:lib/snap/%=$(INCLUDE)/%)
	@rmdir $(INCLUDE) $(SHARE) 2>/dev/null || :
	@case '$(DESTDIR)$(PREFIX)' in /usr | /usr/local) ldconfig || :;; esac

## dist     pack the sources of the last commit: build/snap-VERSION.tar.gz
dist:
	@mkdir -p $O
	git archive --prefix=snap-$(VERSION)/ -o $O/snap-$(VERSION).tar.gz HEAD

# an archive of an OCI image; skopeo(1) copies it to a registry
IMAGE = localhost/snapcrash:$(VERSION)
## image    pack the static programs for Kubernetes: build/snapcrash-image.tar
image: static
	@tests/setup image
	cmd/snapcrash/kubernetes/image $O/static $(IMAGE) $O/snapcrash-image.tar

## deb      make Debian packages in build/deb
deb:
	@tests/setup deb
	@BUILD=$O .debian/build $(VERSION)

## clean    remove the build directories
clean:
	rm -rf $O $O-*

help:
	@sed -n 's/^## //p' Makefile tests/rules.mk

-include tests/rules.mk $(OBJECTS:.o=.d)

.PHONY: all static install install-strip uninstall dist image deb clean help FORCE
