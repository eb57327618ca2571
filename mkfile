# snap, for mk(1).  The lists are those of Makefile; tests and everything
# else are there.

PROGS=pagestat procmap snap snapcat snapcore snapfs snapload snapls vmtrace

LIBSRC=lib/beneath.c lib/buf.c lib/builder.c lib/callfilter.c lib/carried.c \
	lib/clock.c lib/confine.c lib/count.c lib/dedup.c lib/errstr.c \
	lib/fetch.c lib/gunzip.c lib/gzip.c lib/gzipfile.c lib/gzipout.c \
	lib/gzipsource.c lib/gziptable.c lib/helper.c lib/helperjob.c \
	lib/image.c lib/imageread.c lib/index.c lib/input.c lib/judge.c \
	lib/landlock.c lib/name.c lib/newfile.c lib/nothing.c lib/outdir.c \
	lib/outname.c lib/output.c lib/pages.c lib/passfd.c lib/plan.c lib/program.c \
	lib/progress.c lib/regular.c lib/room.c lib/sharing.c lib/snap.c \
	lib/source.c lib/space.c lib/spool.c lib/sums.c lib/totals.c \
	lib/view.c lib/vma.c lib/vmaedit.c

FMTSRC=fmt/buildid.c fmt/compare.c fmt/core.c fmt/corearch.c fmt/corefacts.c \
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

LINUXSRC=lib/linux/anonfile.c lib/linux/byname.c lib/linux/carry.c \
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

PKGS=libbsd-overlay libelf libprotobuf-c libxxhash zlib
# what a program has beside NAME.c, and libraries beside those
pagestat_SRC=cmd/pagestat/flags.c cmd/pagestat/matrix.c cmd/pagestat/table.c
procmap_SRC=cmd/procmap/compare.c cmd/procmap/facts.c cmd/procmap/figure.c \
	cmd/procmap/picture.c cmd/procmap/reserve.c cmd/procmap/strip.c \
	cmd/procmap/styles.c cmd/procmap/svg.c
snapfs_SRC=cmd/snapfs/daemon.c cmd/snapfs/mount.c cmd/snapfs/serve.c \
	cmd/snapfs/stream.c
snapfs_PKGS=fuse3
vmtrace_SRC=cmd/vmtrace/calls.c cmd/vmtrace/command.c cmd/vmtrace/histogram.c \
	cmd/vmtrace/line.c cmd/vmtrace/slab.c cmd/vmtrace/stream.c \
	cmd/vmtrace/symbol.c cmd/vmtrace/tally.c cmd/vmtrace/task.c \
	cmd/vmtrace/total.c

O=build-mk
CC=cc
CFLAGS=-O2 -g
CPPFLAGS=-D_GNU_SOURCE -D_FORTIFY_SOURCE=3 -Ilib -I$O/fmt
WARN=-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wcast-qual -Wformat=2 -Wundef -Wvla
HARDEN=-fstack-protector-strong -fPIE
LINK=-pie -Wl,-z,relro,-z,now

SRC=$LIBSRC $FMTSRC $LINUXSRC
LIBOBJ=${SRC:%.c=$O/%.o}
PB=$O/fmt/criu.pb-c
BIN=${PROGS:%=$O/%}

all:V: $BIN

$O/&: $O/cmd/&/&.o $O/libsnap.a
	eval more=\$${stem}_PKGS
	$CC $CFLAGS $LINK -o $target $prereq $O/libsnap.a \
	    `pkg-config --libs $PKGS $more` -pthread

$O/pagestat: ${pagestat_SRC:%.c=$O/%.o}

$O/procmap: ${procmap_SRC:%.c=$O/%.o}

$O/snapfs: ${snapfs_SRC:%.c=$O/%.o}

$O/vmtrace: ${vmtrace_SRC:%.c=$O/%.o}

$O/libsnap.a: $LIBOBJ $PB.o
	rm -f $target
	ar rcs $target $prereq

$PB.c $PB.h: fmt/criu.proto
	mkdir -p $O/fmt
	protoc-c --proto_path=fmt --c_out=$O/fmt fmt/criu.proto

$PB.o: $PB.c
	$CC -std=c11 $CPPFLAGS $HARDEN $CFLAGS -pthread -c -o $target $PB.c

$O/%.o: %.c lib/snap.h lib/linux/task.h $PB.h
	mkdir -p `dirname $target`
	dir=`dirname $stem`
	eval more=\$${dir##*/}_PKGS
	$CC -std=c11 $CPPFLAGS `pkg-config --cflags $PKGS $more` $WARN \
	    $HARDEN $CFLAGS -pthread -c -o $target $stem.c

clean:V:
	rm -rf $O
