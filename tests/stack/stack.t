#!/usr/bin/env bash
# snapstack prints the stacks that gdb finds in a core of the same snapshot, in
# the form that its manual page describes.
own_mounts=1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/stack/stack.sh
. "$(dirname "$0")/stack.sh"

# plain: replace numbers of processes and addresses with N
plain() {
	sed 's/0x[0-9a-f]*/N/g;s/\<[0-9][0-9]*\>/N/g'
}

# named: remove frames of the C library that have no name: it may have functions
# of its own for its calls.
named() {
	grep -v '^  #N *N in libc'
}

for kind in threads signal leaf first vdso nowhere; do
	if [ "$kind" = nowhere ] && [ "$(uname -m)" != x86_64 ]; then
		skip "$kind: the frames of gdb" "only on amd64"
		continue
	fi
	taken "$kind" "$targets/stacks" "$kind"
	same "$kind: the frames of gdb" "$kind" "$targets/stacks"
	hide_debug
done

# 65 threads
"$BUILD/snapstack" "$tmp/threads.snap" >"$tmp/out"
is "$(grep -c -e ^thread -e threads: "$tmp/out")" 5 \
    "threads with the same stack are shown once"
is "$(grep -A 1 '^60 threads:' "$tmp/out" | grep -c .)" 2 "60 threads at once"
is "$("$BUILD/snapstack" -a "$tmp/threads.snap" | grep -c ^thread)" 65 \
    "-a: each thread"
grep -A 12 ' threads:' "$tmp/out" | grep -q '^  in futex, a mutex of thread [0-9]* (stacks)$'
ok $? "the owner of the mutex that threads wait for"
grep -q '^  in futex, for the end of thread [0-9]* (stacks)$' "$tmp/out"
ok $? "the thread that is waited for"
grep -q '^  in read of [0-9]* (pipe:\[[0-9]*\])$' "$tmp/out"
ok $? "the descriptor that is read"
tid=$(sed -n 's/.*the end of thread \([0-9]*\) .*/\1/p' "$tmp/out")
is "$("$BUILD/snapstack" -T "$tid" "$tmp/threads.snap" | plain | named |
    sed -n '2,4{s/\((\.\.\|in libc\).*//;p}')" 'thread N (stacks)
  in epoll_wait of N (anon_inode:[eventpoll])
  #N    epoll_wait+N ' "-T: one thread" ||
    "$BUILD/snapstack" -T "$tid" "$tmp/threads.snap" | diag
is "$("$BUILD/snapstack" -f "$tmp/threads.snap" | grep ';idle;' |
    grep -c '^stacks;.*;idle;.* 60$')" 1 "-f: folded lines"
"$BUILD/snapstack" -p 1 "$tmp/threads.snap" >"$tmp/out" 2>"$tmp/err"
is "$? $(sed "s,$tmp,TMP," "$tmp/err")" \
    "1 snapstack: -p: no process 1" \
    "-p: no such process"
is "$("$BUILD/snapcat" -z "$tmp/threads.snap" | frames | cksum)" \
    "$(frames "$tmp/threads.snap" | cksum)" "from a pipe, compressed"
is "$(frames "$tmp/threads.core" | cksum)" \
    "$(frames "$tmp/threads.snap" | cksum)" "from a core"

# a damaged megabyte, with code of the C library
"$BUILD/snapcat" -z -o "$tmp/damaged" "$tmp/threads.snap"
printf 'damaged!' | dd of="$tmp/damaged" bs=1 conv=notrunc \
    seek=$(($(stat -c %s "$tmp/damaged") / 2)) 2>"$tmp/err"
"$BUILD/snapstack" "$tmp/damaged" >"$tmp/out" 2>"$tmp/err"
is "$? $(grep -c ^process "$tmp/out") $(sed 's/.*: \(gzip member\).*/\1/' \
    "$tmp/err")" "1 1 gzip member" "damaged memory is reported once"

# live
target "$targets/stacks" threads
until_true asleep "$pid"
"$BUILD/snap" -o "$tmp/once.snap" "$pid"
frames "$pid" >"$tmp/ours"
is "$(cksum <"$tmp/ours")" "$(frames "$tmp/once.snap" | cksum)" \
    "a live process: the frames of a snapshot of it"
is "$(wc -l <"$tmp/ours")" 65 "a live process: all threads"
is "$("$BUILD/snapstack" "$pid" | grep -c 'a mutex of thread')" 1 \
    "a live process: the mutex that they wait for"
let_go "$pid" "a live process: it runs on"
"$BUILD/snapstack" "$pid" "$tmp/signal.snap" >"$tmp/out"
is "$(grep -c '^process' "$tmp/out")" 2 "a live process and a snapshot"
"$BUILD/snapstack" -T 1 "$pid" >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err")" "1 snapstack: no live process \
matches -p or -T" "-T: no such live thread"
"$BUILD/snapstack" -p "$pid" </dev/null >"$tmp/out"
is "$(head -n 1 "$tmp/out" | cut -d ' ' -f 1,2)" "process $pid" \
    "-p without a file: a live process"
{
	kill -KILL "$pid"
	wait "$pid"
} 2>/dev/null
"$BUILD/snapstack" 4194304 >"$tmp/out" 2>"$tmp/err"
is "$? $(cat "$tmp/out" "$tmp/err" | grep -c .)" "1 1" \
    "a missing process" || diag <"$tmp/err"

# many stacks that are followed by much memory, as in Go
target "$targets/stacks" close
until_true asleep "$pid"
"$BUILD/snapstack" -a "$pid" >"$tmp/out"
is "$(grep -c ' idle+' "$tmp/out") $(grep -c 'caller is not' "$tmp/out")" \
    "100 0" "a live process: long stacks of 100 threads"
{
	kill -KILL "$pid"
	wait "$pid"
} 2>/dev/null

# on an overlay of its own, whose layers may be those of a file server
mkdir "$tmp/layer" "$tmp/empty" "$tmp/mnt"
cp "$targets/stacks" "$tmp/layer"
over=(unshare -m sh -c "mount -t overlay -o \
    lowerdir=$tmp/layer:$tmp/empty overlay $tmp/mnt && exec \"\$@\"" sh)
if "${over[@]}" true 2>"$tmp/err"; then
	target "${over[@]}" "$tmp/mnt/stacks" signal
	until_true asleep "$pid"
	is "$("$BUILD/snapstack" "$pid" | grep -c ' on_signal+')" 1 \
	    "a live process on an overlay of its own: its symbols"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
else
	skip "a live process on an overlay" "an overlay cannot be mounted"
fi

# in a handler of a signal, on a stack of its own
target "$targets/stacks" signal
until_true asleep "$pid"
"$BUILD/snap" -o "$tmp/once.snap" "$pid"
is "$(frames "$pid")" "$(frames "$tmp/once.snap")" \
    "a live process on another stack: the frames of a snapshot of it"
stack=$(sed -n 's/ .*\[stack\]$//p' "/proc/$pid/maps")
"$BUILD/snap" -x "$stack" -o "$tmp/once.snap" "$pid" 2>"$tmp/err"
is "$("$BUILD/snapstack" "$tmp/once.snap" | sed -n '$p')" \
    "  the caller is not known: its stack is missing" \
    "an excluded stack"
kill -KILL "$pid"
wait "$pid" 2>/dev/null

# after a stop, the call continues as another system call
if [ "$(uname -m)" = x86_64 ]; then
	sleep 1000 &
	pid=$!
	until_true grep -qx sleep "/proc/$pid/comm"
	until_true asleep "$pid"
	"$BUILD/snapstack" "$pid" >"$tmp/out"
	until_true grep -q '^219 ' "/proc/$pid/syscall"
	"$BUILD/snap" -o "$tmp/once.snap" "$pid"
	is "$("$BUILD/snapstack" "$tmp/once.snap" "$pid" | grep '^  in ' |
	    sort -u)" "  in clock_nanosleep, for 1000.000 s" \
	    "a call that continues after a snapshot"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
else
	skip "a call that continues after a snapshot" "only on amd64"
fi

# the signal that ended a process
if command -v gdb >/dev/null; then
	echo f >"$tmp/f"
	"${gdb[@]}" -ex "run segv 2 <$tmp/f" -ex "gcore $tmp/fell.core" \
	    "$targets/fall" >"$tmp/err" 2>&1
	is "$("$BUILD/snapstack" -a "$tmp/fell.core" | grep ^thread | plain |
	    sort -u) $("$BUILD/snapstack" -j "$tmp/fell.core" |
	    jq -r '.signal + .fault' | tr '\n' ' ')" \
	    'thread N (fall)
thread N (fall), SIGSEGV at N SIGSEGV10 null null ' "the fatal signal" ||
	    diag <"$tmp/err"
else
	skip "the fatal signal" "no gdb"
fi

# waiting for a child by its pidfd
if python3 -c 'import os; os.pidfd_open; os.P_PIDFD' 2>"$tmp/err"; then
	target python3 -c 'import os
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.close(w)
    os.read(r, 1)
    os._exit(0)
print("ready", flush=True)
os.waitid(os.P_PIDFD, os.pidfd_open(pid), os.WEXITED)'
	until_true asleep "$pid"
	"$BUILD/snapstack" "$pid" >"$tmp/out"
	grep -q '^  in waitid, for the child of [0-9]* (.*pidfd' "$tmp/out"
	ok $? "the pidfd of a child that is waited for" ||
	    diag <"$tmp/out"
	{
		kill -KILL "$pid"
		wait "$pid"
	} 2>/dev/null
else
	skip "the pidfd of a child that is waited for" "Python has no P_PIDFD"
fi

# waiting for a signal
"$BUILD/snapstack" "$tmp/signal.snap" >"$tmp/out"
is "$(plain <"$tmp/out" | named | sed -n '3,6s/ (\.\..*//;3,6s/ in libc.*//;3,6p')" \
'  in pause, for a signal
  #N    pause+N
  #N    wait_inlined (tests/targets/stacks.c:N), inlined
  #N    on_signal+N (tests/targets/stacks.c:N)' \
    "an inlined function, and its caller" || diag <"$tmp/out"
grep -q 'which called a signal handler$' "$tmp/out"
ok $? "a signal handler" || diag <"$tmp/out"

# A program without symbols, and other sources of symbols.
mkdir "$tmp/debug" "$tmp/wrong"
cp "$targets/stacks" "$tmp/stripped"
objcopy --only-keep-debug "$tmp/stripped" "$tmp/debug/stripped.debug"
strip "$tmp/stripped"
cp "$tmp/debug/stripped.debug" "$tmp/mini"
taken stripped "$tmp/stripped" signal
stripped() {
	"$BUILD/snapstack" "$@" "$tmp/stripped.snap" | grep -c -e on_signal+ \
	    -e wait_inlined
}
id=$(readelf -n "$tmp/stripped" | sed -n 's/.*Build ID: //p')
is "$(stripped)" 0 "no symbols" || diag <"$tmp/out"
is "$("$BUILD/snapstack" "$tmp/stripped.snap" | grep -c "in stripped \[$id\]$")" 1 \
    "the build ID is shown"
is "$(stripped -d "$tmp/debug")" 2 "-d: by its name and build id"
objcopy --add-gnu-debuglink="$tmp/debug/stripped.debug" "$tmp/stripped" \
    "$tmp/linked"
mkdir "$tmp/unstripped"
cp "$targets/stacks" "$tmp/unstripped/linked"
taken linked "$tmp/linked" signal
is "$("$BUILD/snapstack" -d "$tmp/unstripped" "$tmp/linked.snap" |
    grep -c -e on_signal+ -e wait_inlined)" 2 \
    "-d: by its name, although it has a debug link"
cp "$BUILD/snap" "$tmp/wrong/stripped.debug"
is "$(stripped -d "$tmp/wrong")" 0 "-d: not another file"
"$BUILD/snapstack" -d "$tmp/none" "$tmp/stripped.snap" >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" \
    "1 snapstack: -d: $tmp/none: No such file or directory" "-d: no such file"
mkdir -p "$tmp/debug/.build-id/${id%"${id#??}"}"
mv "$tmp/debug/stripped.debug" \
    "$tmp/debug/.build-id/${id%"${id#??}"}/${id#??}.debug"
is "$(stripped --debug="$tmp/debug")" 2 "-d: by its build id alone"
# from a server, which needs no file name
if command -v debuginfod >/dev/null; then
	port=$((20000 + RANDOM % 20000))
	debuginfod -F -p "$port" -d :memory: "$tmp/debug" >"$tmp/log" 2>&1 &
	server=$!
	export DEBUGINFOD_URLS=http://127.0.0.1:$port
	export DEBUGINFOD_CACHE_PATH=$tmp/cache
	served() {
		rm -rf "$tmp/cache"
		[ "$(stripped)" = 2 ]
	}
	until_true served
	ok $? "symbols of a debuginfod server" || tail -n 5 "$tmp/log" | diag
	kill "$server"
	wait "$server"
	unset DEBUGINFOD_URLS
else
	skip "symbols of a debuginfod server" "no debuginfod"
fi
is "$(stripped)" 0 "no server is asked unless named"
# the process that asks servers may die
mkdir "$tmp/lib"
if echo 'void _exit(int);
void *debuginfod_begin(void) { return (void *)1; }
int debuginfod_find_debuginfo(void) { _exit(1); return -1; }
int debuginfod_find_executable(void) { _exit(1); return -1; }' |
    cc -shared -fPIC -o "$tmp/lib/libdebuginfod.so.1" -x c - 2>"$tmp/cc"; then
	DEBUGINFOD_URLS=x LD_LIBRARY_PATH=$tmp/lib "$BUILD/snapstack" \
	    "$tmp/stripped.snap" "$tmp/stripped.snap" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c '^thread' "$tmp/out")" "0 2" \
	    "the library for servers fails" || diag <"$tmp/err"
else
	skip "the library for servers fails" "no compiler"
fi
# MiniDebugInfo: symbols of functions, compressed, in the file itself
strip -g "$tmp/mini"
xz "$tmp/mini"
cp "$tmp/stripped" "$tmp/minidebug"
objcopy --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/minidebug"
taken minidebug "$tmp/minidebug" signal
"$BUILD/snapstack" "$tmp/minidebug.snap" >"$tmp/out"
is "$(grep -c -e on_signal+ -e be_signalled+ "$tmp/out")" 2 \
    "symbols of .gnu_debugdata" || diag <"$tmp/out"

# Without unwind tables.
build() {
	local to=$1

	shift
	cc -std=c11 -D_GNU_SOURCE -O1 -g -pthread "$@" -o "$tmp/$to" \
	    "$tests/targets/stacks.c" 2>"$tmp/cc"
}
if ! command -v cc >/dev/null; then
	skip "without tables, static" "no compiler" 4
else
	build bare -fno-asynchronous-unwind-tables -fno-omit-frame-pointer \
	    -fcf-protection=none -Wl,--no-ld-generated-unwind-info
	strip -R .eh_frame -R .eh_frame_hdr "$tmp/bare"
	taken bare "$tmp/bare" signal
	"$BUILD/snapstack" -j "$tmp/bare.snap" |
	    jq -r '.frames[] | select(.module | endswith("bare")) | .guess' \
	    >"$tmp/out"
	is "$(tr '\n' ' ' <"$tmp/out")" "false false true false " \
	    "a frame found by the frame pointer is marked"
	build guess -fno-asynchronous-unwind-tables -fomit-frame-pointer \
	    -Wl,--no-ld-generated-unwind-info
	objcopy -R .eh_frame -R .eh_frame_hdr -R .debug_frame "$tmp/guess"
	taken guess "$tmp/guess" leaf
	"$BUILD/snapstack" "$tmp/guess.snap" >"$tmp/out"
	is "$(grep -c '^  #[0-9]* *? \(call\|main\)+' "$tmp/out")" 2 \
	    "guesses are marked" || diag <"$tmp/out"
	if build static -static; then
		taken static "$tmp/static" threads
		same "a static program: the frames of gdb" static \
		    "$tmp/static"
		is "$("$BUILD/snapstack" "$tmp/static.snap" |
		    grep -c 'a mutex of thread')" 1 "a static program: a mutex"
	else
		skip "a static program" "no static C library" 2
	fi
fi

narrow() {
	cc -m32 -static -nostdlib -ffreestanding -fno-pie -no-pie -O1 -g \
	    -fno-stack-protector -o "$@" "$tests/stack/bare32.c" 2>"$tmp/cc"
}
if narrow "$tmp/bare32" && narrow "$tmp/limited32" -DLIMITED; then
	taken bare32 "$tmp/bare32"
	same "32 bits: the frames of gdb" bare32 "$tmp/bare32"
	is "$("$BUILD/snapstack" "$tmp/bare32.snap" |
	    sed -n '3p;s/.*  \([a-z_]*\)+.*(.*/\1/p' | tr '\n' ' ')" \
	    "  in pause, for a signal wait_here middle begin " \
	    "32 bits: its functions and its system call"
	target "$tmp/limited32"
	until_true asleep "$pid"
	if release_from 5.11; then
		is "$("$BUILD/snapstack" "$pid" |
		    sed -n '/^  in/{s/.*, //;p;}')" "for 1000.500 s" \
		    "32 bits: a timeout of 64 bits"
	else
		skip "32 bits: a timeout of 64 bits" "no epoll_pwait2"
	fi
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
else
	skip "32 bits" "the compiler cannot make them" 3
fi

# a C library without unwind tables
case $(uname -m)-$(command -v musl-gcc) in
x86_64-?*)
	musl-gcc -std=gnu11 -O1 -g -o "$tmp/musl" "$tests/targets/stacks.c" \
	    2>"$tmp/cc"
	target "$tmp/musl" signal
	until_true asleep "$pid"
	is "$("$BUILD/snapstack" "$pid" | grep -o -e 'signal handler$' \
	    -e '\(on_signal\|be_signalled\|main\)+' | tr -d '+' |
	    tr '\n' ' ')" "on_signal signal handler be_signalled main " \
	    "a signal handler where the C library has no tables" ||
	    "$BUILD/snapstack" "$pid" | diag
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	;;
*) skip "where the C library has no tables" "no musl-gcc, or not known" ;;
esac

if cc -O1 -o "$tmp/names" "$tests/stack/names.c" 2>"$tmp/cc"; then
	taken names "$tmp/names"
	doubled=_Z1f1AIiiE
	for i in {0..9} {A..F}; do
		doubled+=S_IS${i}_S${i}_E
	done
	is "$("$BUILD/snapstack" -f "$tmp/names.snap" | tr ';' '\n' |
	    sed '1,/^main$/d;/pause/d;/^\[libc/d')" "$doubled"'
shapes::Square::area(int)
<a::B as core::fmt::Write>::write_str
_RNvNvNvC1a
_RINvC1a1bKB8_E
<core::panic::Foo<&[u8], (u32, str)> as core::panic::Bar>::call
a::b::<dyn c::Fn<(), Output = i32>>
std::thread::lifecycle::spawn_unchecked::<r::main::{closure#0}, u64>::{closure#1}::{closure#0}
<std::sys::thread::unix::Thread>::join' "names of C++ and Rust"
else
	skip "names of C++ and Rust" "no compiler"
fi

if cc -O1 -o "$tmp/crafted" "$tests/stack/crafted.c" 2>"$tmp/cc"; then
	taken crafted "$tmp/crafted"
	is "$(timeout 60 "$BUILD/snapstack" -f "$tmp/crafted.snap" |
	    grep -c ';main;wait_here;')" 1 \
	    "DWARF whose siblings are children is searched once"
else
	skip "DWARF whose siblings are children" "no compiler, or 32 bits"
fi

# another machine
xxd -r -p "$tests/stack/arm64.hex" "$tmp/arm64.gz"
is "$("$BUILD/snapstack" "$tmp/arm64.gz")" \
    'process 14875 (arm64), arm64, 1 thread
thread 14875 (arm64), SIGSEGV
  #0    fail+0x10 (arm64.c:18)
  #1    twice (arm64.c:24), inlined
  #2    middle+0x18 (arm64.c:31)
  #3    begin+0x10 (arm64.c:37)
  #4    _start+0x4 in arm64 [f63d0d029465c6f02c03ab83524c91faa8520159]' \
    "a snapshot of arm64"
python3 "$tests/stack/damage.py" "$BUILD/snapstack" "$tmp/arm64.gz" 40 \
    >"$tmp/out" 2>&1
is "$? $(cat "$tmp/out")" "0 " "damaged data is reported, or left out"

if command -v g++ >/dev/null; then
	g++ -O2 -g -o "$tmp/shapes" "$tests/stack/shapes.cc"
	taken shapes "$tmp/shapes"
	same "C++, in an exception: the frames of gdb" shapes "$tmp/shapes"
	"$BUILD/snapstack" "$tmp/shapes.snap" >"$tmp/out"
	grep -q ' shapes::wait_here (.*), inlined' "$tmp/out" &&
	    grep -q ' shapes::Square::area(std::vector<int.*> const&) const.*+0x' \
	    "$tmp/out"
	ok $? "names of C++" || diag <"$tmp/out"
else
	skip "C++" "no g++" 2
fi
finish 60
