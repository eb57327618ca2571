# snap: process snapshots for Linux.  Lists, then a few rules; the lists are
# those of mkfile, too (tests/lists.t compares them).  "make help" tells the
# targets.

VERSION = 0.1

PROGS = pagestat procmap snap snapcat snapcore snapfs snapload snapls vmtrace

LIBSRC = lib/beneath.c lib/buf.c lib/builder.c lib/callfilter.c lib/carried.c \
	lib/clock.c lib/confine.c lib/count.c lib/dedup.c lib/errstr.c \
	lib/fetch.c lib/gunzip.c lib/gzip.c lib/gzipfile.c lib/gzipout.c \
	lib/gzipsource.c lib/gziptable.c lib/helper.c lib/helperjob.c \
	lib/image.c lib/imageread.c lib/index.c lib/input.c lib/judge.c \
	lib/landlock.c lib/name.c lib/newfile.c lib/nothing.c lib/outdir.c \
	lib/outname.c lib/output.c lib/pages.c lib/passfd.c lib/plan.c lib/program.c \
	lib/progress.c lib/regular.c lib/room.c lib/sharing.c lib/snap.c \
	lib/source.c lib/space.c lib/spool.c lib/sums.c lib/totals.c \
	lib/view.c lib/vma.c lib/vmaedit.c

FMTSRC = fmt/buildid.c fmt/compare.c fmt/core.c fmt/corearch.c fmt/corefacts.c \
	fmt/corefiles.c fmt/coreload.c fmt/coremach.c fmt/coremaps.c \
	fmt/coremem.c fmt/corenote.c fmt/coreparse.c fmt/coreread.c \
	fmt/coretask.c fmt/corethread.c fmt/criudir.c fmt/criuelf.c \
	fmt/criufiles.c fmt/criuimg.c fmt/criuload.c fmt/criumake.c \
	fmt/criumakecheck.c fmt/criumakecore.c fmt/criumakefd.c \
	fmt/criumakefile.c fmt/criumakefind.c fmt/criumakemem.c \
	fmt/criumakemm.c fmt/criumakeopen.c fmt/criumakereg.c \
	fmt/criumakeregs.c fmt/criumakesignal.c fmt/criumaketask.c \
	fmt/criumakethread.c fmt/criumaketree.c fmt/criumakewhy.c \
	fmt/criumaps.c fmt/criumem.c fmt/criupages.c fmt/criuread.c \
	fmt/criuregs.c fmt/criushm.c fmt/criustack.c fmt/criutask.c \
	fmt/criuwrite.c fmt/elfsym.c fmt/fsdir.c fmt/fsread.c fmt/fsspan.c \
	fmt/fstree.c fmt/imgdir.c fmt/linkmap.c fmt/linuxrec.c fmt/maps.c fmt/member.c \
	fmt/merge.c fmt/mergerec.c fmt/open.c fmt/paths.c fmt/plan9.c \
	fmt/plan9regs.c fmt/recapply.c fmt/recedit.c fmt/record.c \
	fmt/recwords.c fmt/salvage.c fmt/snap6index.c fmt/snap6num.c \
	fmt/snap6read.c fmt/snap6rec.c fmt/snap6run.c fmt/snap6seg.c \
	fmt/snap6write.c fmt/snappages.c fmt/snapspace.c fmt/summed.c \
	fmt/sysroot.c fmt/trailer.c fmt/trailread.c fmt/trailscan.c

LINUXSRC = lib/linux/anonfile.c lib/linux/byname.c lib/linux/carry.c \
	lib/linux/cgroup.c lib/linux/clone.c lib/linux/entries.c \
	lib/linux/farfile.c lib/linux/filekind.c lib/linux/findlink.c \
	lib/linux/frames.c lib/linux/freeze.c lib/linux/frozen.c \
	lib/linux/guard.c lib/linux/headroom.c lib/linux/inject.c \
	lib/linux/injectclone.c lib/linux/injectcode.c lib/linux/injectdead.c \
	lib/linux/injectframe.c lib/linux/injectrun.c lib/linux/injectstop.c \
	lib/linux/kallsyms.c lib/linux/keep.c lib/linux/kernspace.c \
	lib/linux/live.c lib/linux/livepages.c lib/linux/livesource.c \
	lib/linux/livespace.c lib/linux/memory.c lib/linux/mounts.c \
	lib/linux/openfile.c lib/linux/otherlink.c lib/linux/outside.c \
	lib/linux/pageflags.c lib/linux/pagemap.c lib/linux/pageuse.c \
	lib/linux/perfevent.c lib/linux/perforder.c lib/linux/perfrec.c \
	lib/linux/pipedata.c lib/linux/procfs.c lib/linux/proxy.c \
	lib/linux/proxyask.c lib/linux/proxymain.c lib/linux/readers.c \
	lib/linux/reaper.c lib/linux/regs.c lib/linux/seize.c \
	lib/linux/sharers.c lib/linux/served.c lib/linux/socket.c \
	lib/linux/state.c lib/linux/steps.c lib/linux/take.c lib/linux/targetfile.c \
	lib/linux/task.c lib/linux/thing.c lib/linux/threads.c \
	lib/linux/threadset.c lib/linux/touched.c lib/linux/tpflags.c \
	lib/linux/tracefs.c lib/linux/tracepoint.c lib/linux/tracer.c \
	lib/linux/treatment.c lib/linux/unixdiag.c lib/linux/unixqueue.c \
	lib/linux/unixsock.c lib/linux/user.c lib/linux/vdso.c

MAN1 = $(foreach p,$(PROGS),cmd/$p/$p.1)
MAN3 = lib/libsnap.3
MAN6 = man6/snap.6

PKGS = libbsd-overlay libelf libprotobuf-c libxxhash zlib
# what a program has beside NAME.c, and libraries beside those
pagestat_SRC = cmd/pagestat/flags.c cmd/pagestat/matrix.c \
	cmd/pagestat/table.c
procmap_SRC = cmd/procmap/compare.c cmd/procmap/facts.c cmd/procmap/figure.c \
	cmd/procmap/picture.c cmd/procmap/reserve.c cmd/procmap/strip.c \
	cmd/procmap/styles.c cmd/procmap/svg.c
snapfs_SRC = cmd/snapfs/daemon.c cmd/snapfs/mount.c cmd/snapfs/serve.c \
	cmd/snapfs/stream.c
snapfs_PKGS = fuse3
vmtrace_SRC = cmd/vmtrace/calls.c cmd/vmtrace/command.c \
	cmd/vmtrace/histogram.c cmd/vmtrace/line.c cmd/vmtrace/slab.c \
	cmd/vmtrace/stream.c cmd/vmtrace/symbol.c cmd/vmtrace/tally.c \
	cmd/vmtrace/task.c cmd/vmtrace/total.c

# Tests: unit tests and targets are one C file each.
UNIT = $(basename $(notdir $(wildcard tests/unit/t_*.c)))
TARGET = $(filter-out bits32 nolibc, \
	$(basename $(notdir $(wildcard tests/targets/*.c)))) $(BITS32) $(NOLIBC)
# two targets have no library, and are made where the compiler can: one is a
# 32-bit process
ALONE = -static -nostdlib -ffreestanding -fno-pie -no-pie \
	-fno-stack-protector -fcf-protection=none
M32 = -m32 $(ALONE)
BITS32 = $(shell echo 'void _start(void) { }' | $(CC) $(M32) -o /dev/null \
	-x c - 2>/dev/null && echo bits32)
NOLIBC = $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),nolibc)
FUZZ = snap6 linuxrec core criu native gzip trailer fstree sysroot space \
	pages merge elfsym salvage unload svg
FUZZTIME = 120
FRESH =
BENCH = bare heap pack pause
FAST = $(UNIT:%=$O/tests/unit/%) tests/*.t tests/snap6/*.t \
	tests/procmap/*.t
SLOW = tests/live/*.t tests/core/*.t tests/fs/*.t tests/criu/*.t \
	tests/confine/*.t

O = build
PREFIX = /usr/local
MANDIR = $(PREFIX)/share/man

CFLAGS = -O2 -g
CPPFLAGS = -D_GNU_SOURCE -D_FORTIFY_SOURCE=3 -Ilib -I$O/fmt \
	$(shell pkg-config --cflags $(PKGS))
WARN = $(WARN_AS) -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla
LIBWARN = -Wconversion -Wsign-conversion
HARDEN = -fstack-protector-strong -fPIE
LINK = -pie -Wl,-z,relro,-z,now
LIBS = $(shell pkg-config --libs $(PKGS)) -pthread
SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZFLAGS = $(SANITIZE) -fsanitize=fuzzer-no-link

LIBOBJ = $(LIBSRC:%.c=$O/%.o) $(FMTSRC:%.c=$O/%.o) $(LINUXSRC:%.c=$O/%.o)
# made of fmt/criu.proto
PB = $O/fmt/criu.pb-c

all: $(PROGS:%=$O/%)

progobj = $(patsubst %.c,$O/%.o,cmd/$1/$1.c $($1_SRC))
pkgs = $(if $($1_PKGS),$(shell pkg-config $2 $($1_PKGS)))

$(foreach p,$(PROGS),$(eval $O/$p: $(call progobj,$p)))

$(PROGS:%=$O/%): $O/libsnap.a
	$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) $O/libsnap.a \
	    $(LIBS) $(call pkgs,$(@F),--libs)

$(foreach p,$(PROGS),$(eval $(call progobj,$p): \
    CPPFLAGS += $$(call pkgs,$p,--cflags)))

$O/libsnap.a: $(LIBOBJ) $(PB).o
	rm -f $@
	ar rcs $@ $^

$(LIBOBJ): WARN += $(LIBWARN)
$(LIBOBJ): | $(PB).h

$(PB).c: fmt/criu.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=fmt --c_out=$(@D) fmt/criu.proto

$(PB).h: $(PB).c ;

$(PB).o: $(PB).c
	$(CC) -std=c11 $(CPPFLAGS) $(HARDEN) $(CFLAGS) -pthread -c -o $@ $<

$O/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(WARN) $(HARDEN) $(CFLAGS) -pthread -MMD -c -o $@ $<

# a unit test tells in its head what else it is linked with
$O/tests/unit/%: tests/unit/%.c tests/unit/util.c tests/unit/util.h $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(WARN) $(CFLAGS) -pthread -o $@ $< \
	    tests/unit/util.c $O/libsnap.a $(LIBS) -lcmocka \
	    $$(sed -n 's/^.*link with: //p' $<)

$O/tests/unit/t_collide: tests/unit/t_dedup.c

# a fuzz target without a fuzzer replays the files it is given
$O/tests/fuzz/%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(WARN) $(CFLAGS) $(FUZZER) -pthread -o $@ $< \
	    $(filter %.o,$^) $O/libsnap.a $(LIBS)

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

$O/tests/bench/pack: tests/bench/pack.c $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(WARN) $(CFLAGS) -o $@ $< $O/libsnap.a $(LIBS)

$O/tests/bench/%: tests/bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O2 -o $@ $<

$O/tests/snap6/dump: tests/snap6/dump.c $O/libsnap.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(WARN) $(CFLAGS) -o $@ $< $O/libsnap.a $(LIBS)

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

test:
	@tests/setup test
	@$(MAKE) -s tests
	@$(MAKE) -s run

# what "make tests" made
run:
	@BUILD=$O tests/run $(FAST) $(SLOW)

check: tests
	@BUILD=$O tests/run -j $(FAST)

# demo and test on a machine that has nothing but make: make fresh FRESH=-a
fresh:
	@BUILD=$O tests/fresh $(FRESH)

asan:
	@$(MAKE) -s O=$O-asan CFLAGS='$(SANITIZE)' tests
	@SNAPSHOTS=50 $(MAKE) -s O=$O-asan CFLAGS='$(SANITIZE)' run

lint:
	@tests/lint

bench:
	@tests/setup bench
	@$(MAKE) -s all $(BENCH:%=$O/tests/bench/%) $O/tests/targets/faults
	@BUILD=$O tests/bench/run

cover:
	@$(MAKE) -s O=$O-cover CFLAGS='-O0 -g --coverage -DUNCONFINED' tests
	@BUILD=$O-cover tests/run $(FAST) $(SLOW)
	@gcov -n $(LIBOBJ:$O/%=$O-cover/%) 2>/dev/null | \
	    awk -F"'" '/^File/ { f = $$2 } /^Lines/ { print $$0, f }'

install: all
	mkdir -p $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig \
	    $(DESTDIR)$(PREFIX)/include/snap/linux \
	    $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man3 \
	    $(DESTDIR)$(MANDIR)/man6
	install -m 755 $(PROGS:%=$O/%) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $O/libsnap.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 lib/snap.h $(DESTDIR)$(PREFIX)/include/snap
	install -m 644 lib/linux/task.h $(DESTDIR)$(PREFIX)/include/snap/linux
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
	    lib/libsnap.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/libsnap.pc
	install -m 644 $(MAN1) $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(MAN3) $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(MAN6) $(DESTDIR)$(MANDIR)/man6

clean:
	rm -rf $O $O-*

help:
	@echo 'all      programs and library, in $O'
	@echo 'demo     set up, build, take a snapshot of real processes, show it'
	@echo 'test     set up, build, run every test'
	@echo 'check    the fast tests only'
	@echo 'fresh    demo and some of the tests on a fresh Debian; all: FRESH=-a'
	@echo 'asan     every test, with AddressSanitizer and UBSan'
	@echo 'lint     what can be said about the sources without running them'
	@echo 'fuzz     hostile input, FUZZTIME=$(FUZZTIME) seconds for each target;'
	@echo '         some only: FUZZ="fstree merge" (needs clang)'
	@echo 'bench    speed, beside that of others in the same run'
	@echo 'cover    how much of the library the tests reach'
	@echo 'install  to PREFIX ($(PREFIX)), below DESTDIR'
	@echo 'clean    remove what was built'

-include $(LIBOBJ:.o=.d) $(foreach p,$(PROGS),$(patsubst %.o,%.d,$(call progobj,$p)))

.PHONY: all tests demo test run check fresh asan lint fuzz bench cover install clean help
