# Rules that build and run tests, measurements and fuzzing.  Makefile includes
# this file.

# unit tests and targets are one C file each
UNIT = $(patsubst %.c,$O/%,$(wildcard tests/unit/t_*.c))
TARGET = $(filter-out %/bits32 %/nolibc,$(patsubst %.c,$O/%, \
	$(wildcard tests/targets/*.c))) $(BITS32) $(NOLIBC)
# two targets without a library, built if the compiler can; one is 32-bit, built
# if the kernel runs 32-bit programs
ALONE = -std=gnu11 -w -O1 -static -nostdlib -ffreestanding -fno-pie -no-pie \
	-fno-stack-protector -fcf-protection=none
EXIT32 = void _start(void) { __asm__("int $$0x80" :: "a"(1), "b"(0)); }
BITS32 = $(shell f=$$(mktemp) && echo '$(EXIT32)' | $(CC) -m32 $(ALONE) -o $$f \
	-x c - 2>/dev/null && $$f 2>/dev/null && echo $O/tests/targets/bits32; \
	rm -f $$f)
NOLIBC = $(if $(filter x86_64%,$(shell $(CC) -dumpmachine 2>/dev/null)), \
	$O/tests/targets/nolibc)
FUZZ = $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZTIME = 120
MUTATIONS = 20
SEED = 1
BENCH = $(patsubst %.c,$O/%,$(wildcard tests/bench/*.c))
# tests of "make check", and the others; "make lint" runs musl.t.  The line
# "# beside:" of a test lists the tests that may run at the same time (tests/run)
FAST = $(UNIT) $(wildcard tests/*.t tests/snap6/*.t tests/procmap/*.t)
SLOW = $(filter-out $(FAST) tests/install/musl.t,$(wildcard tests/*/*.t))
HOWRUN = -j
RUN = $(HOWRUN) $(FAST) $(SLOW)
FRESH =
# architecture and kernel of the virtual machine
ARCH = amd64
KERNEL = 6.1
SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZFLAGS = $(SANITIZE) -fsanitize=fuzzer-no-link

# a program of one C file, built with HOW of its folder; OURS are our flags
OURS = $(CPP) $(CFLAGS)
WITH = $O/common.a $O/libsnap.a
$O/tests/unit/%: HOW = $(OURS) tests/unit/util.c $(WITH) $(LIBS) -lcmocka \
	$$(sed -n 's/^.*link with: //p' $<)
$O/tests/targets/%: HOW = -O1 -g
$O/tests/targets/bits32: HOW = -m32 $(ALONE)
$O/tests/targets/nolibc: HOW = $(ALONE)
$O/tests/bench/%: HOW = -O2
$O/tests/bench/pack $O/tests/snap6/dump: HOW = $(OURS) $(WITH) $(LIBS)
$(UNIT): tests/unit/util.c tests/unit/util.h
$(UNIT) $O/tests/bench/pack $O/tests/snap6/dump: $(WITH)
$(BENCH): tests/bench/bench.h
$O/tests/unit/t_collide: tests/unit/t_dedup.c
$O/tests/unit/t_tally: $(wildcard cmd/vmtrace/*.[ch])
$(filter $O/tests/unit/t_criu%,$(UNIT)): $(wildcard tests/unit/criu*.[ch])
$O/tests/unit/t_inject $O/tests/targets/compute: tests/targets/spin.h

$O/tests/%: tests/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -pthread -o $@ $< $(HOW)

# without a fuzzer, a fuzz target replays the files it is given
$O/tests/fuzz/%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) $(WITH)
	@mkdir -p $(@D)
	$(CC) -std=c11 $(OURS) $(WARN) $(FUZZER) -pthread -o $@ $< \
	    $(filter %.o,$^) $(WITH) $(LIBS)

$O/tests/fuzz/space $O/tests/fuzz/svg: $(filter-out %/procmap.o, \
	$(call progobj,procmap))

# preloaded by tests
PRELOADED = $O/tests/confine/probe.so $O/tests/live/late.so
$(PRELOADED): $O/%.so: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O1 -fPIC -shared -o $@ $< -ldl

## demo     install packages, build, and show snapshots of real processes
demo:
	@tests/setup build
	@$(MAKE) -s all
	@BUILD=$O tests/demo

## test     install packages, build, and run all tests: eight minutes on
##          two processors
test:
	@echo 'Every test, in about eight minutes; make check: the fast ones.'
	@echo 'One, when this has built them: tests/run tests/live/memory.t' \
	    '(tests/README)'
	@tests/setup test
	@$(MAKE) -s tests
	@$(MAKE) -s run

## check    run the fast tests
check: tests
	@BUILD=$O tests/run -j $(FAST)

## tests    build everything that tests need; then run one test:
##          tests/run tests/live/memory.t (tests/README)
tests: all $O/tests/snap6/dump $(PRELOADED) $(UNIT) \
	$(FUZZ:%=$O/tests/fuzz/%) $(TARGET)

# run the tests built by "make tests"
run:
	@BUILD=$O tests/run $(RUN)

## fresh    run the demo and some tests on a new Debian machine; all tests
##          with FRESH=-a; another release with SUITE=trixie
fresh:
	@BUILD=$O tests/fresh $(if $(SUITE),-s $(SUITE)) $(FRESH)

## vm       run some tests on a Debian kernel in a virtual machine:
##          ARCH=amd64 KERNEL=6.1; all tests with VM_ALL=1, which takes hours
##          if the machine is emulated
vm: tests
	@BUILD=$O $(if $(VM_ALL),VM_SECONDS=$${VM_SECONDS:-36000}) \
	    tests/vm/run -a $(ARCH) -k $(KERNEL) -- \
	    $(if $(VM_ALL),$(RUN:$O/%=build/%)) || [ $$? -eq 77 ]

## asan     run the tests with AddressSanitizer and UBSan
asan:
	@mkdir -p $O-asan
	@$(CC) $(SANITIZE) -fno-omit-frame-pointer -fPIC -c -o $O-asan/sanitize.o \
	    tests/sanitize.c
	@$(MAKE) -s O=$O-asan CFLAGS='$(SANITIZE)' \
	    LDLIBS=$(CURDIR)/$O-asan/sanitize.o tests
	@$(MAKE) -s O=$O-asan HOWRUN=-js run

## lint     check the sources without running them
lint: all
	@BUILD=$O tests/lint

## fuzz     run hostile input, FUZZTIME=120 seconds for each target;
##          some targets with FUZZ="fstree merge" (needs clang)
fuzz:
	@tests/setup fuzz
	@$(MAKE) -s O=$O-fuzz CC=clang WARN=-w CFLAGS='$(FUZZFLAGS)' \
	    FUZZER='-DLIBFUZZER -fsanitize=fuzzer' $(FUZZ:%=$O-fuzz/tests/fuzz/%)
	@BUILD=$O-fuzz FUZZTIME=$(FUZZTIME) tests/fuzz/run $(FUZZ)

## mutate   make MUTATIONS=20 random changes of the code (SEED=1), and print
##          those that no test detects
mutate:
	@tests/setup test
	@tests/mutate -n $(MUTATIONS) -s $(SEED)

## bench    measure the speed, and that of similar tools
bench:
	@tests/setup bench
	@$(MAKE) -s all $(BENCH) $O/tests/targets/faults $O/tests/targets/thp
	@BUILD=$O tests/bench/run

## corpus   write build/corpus to test another reader: valid and malformed
##          snapshots, and JSON files with the expected contents
corpus: all
	@rm -rf $O/corpus
	@BUILD=$(abspath $O) python3 tests/snap6/corpus.py $O/corpus

## cover    print how much of the library the tests reach
cover:
	@$(MAKE) -s O=$O-cover CFLAGS='-O0 -g --coverage -DUNCONFINED' tests
	@BUILD=$O-cover tests/run $(FAST:$O/%=$O-cover/%) $(SLOW)
	@gcov -n $(LIBOBJ:$O/%=$O-cover/%) $(COMMON:$O/%=$O-cover/%) 2>/dev/null | \
	    awk -F"'" '/^File/ { f = $$2 } /^Lines/ { print $$0, f }'

.PHONY: demo test check tests run fresh vm asan lint fuzz mutate bench cover \
	corpus
