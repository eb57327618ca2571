#!/usr/bin/env bash
# Frames of Python code are those that Python itself reports, and the holder of
# the GIL is shown.  Each installed python3.11 to python3.13 is tested.
own_mounts=1
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
hide_debug
needs snapstack

# is_known PYTHON: succeed if its version is supported and not tested yet
declare -A tried
is_known() {
	v=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2]
	    if sys.implementation.name == "cpython" else "")' 2>/dev/null)
	case $v in
	3.11 | 3.12 | 3.13) [ -z "${tried[$v]-}" ] && tried[$v]=1 ;;
	*) return 1 ;;
	esac
}

ended() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

# gil: print what each thread does with the GIL, sorted
gil() {
	"$BUILD/snapstack" -j "$tmp/snap" |
	    jq -r '.gil // "none"' | sort | tr '\n' ' '
}

one_each() {
	"$BUILD/snap" -o "$tmp/snap" "$pid" &&
	    [ "$(gil)" = "held none none wanted " ]
}

# two threads in one function, at different lines
cat >"$tmp/lines.py" <<'END'
import threading

lock = threading.Lock()
lock.acquire()


def wait(first):
    if first:
        lock.acquire()
    lock.acquire()


for first in True, False:
    threading.Thread(target=wait, args=(first,), daemon=True).start()
print('ready', flush=True)
lock.acquire()
END
at_lines() {
	"$BUILD/snapstack" "$@" "$pid" |
	    sed -nE 's/.* wait \(.*(lines.py:[0-9]+)\), Python$/\1/p' | sort |
	    tr '\n' ' '
}
are_there() {
	[ "$(at_lines -a)" = "lines.py:10 lines.py:9 " ]
}

# the first thread sleeps uninterruptibly, in vfork(2): it has no registers
cat >"$tmp/vforks.py" <<'END'
import ctypes, os, threading, time

libc = ctypes.CDLL(None)


def wait():
    time.sleep(1000)


def vforks():
    if libc.vfork() == 0:
        libc.prctl(1, 9)    # PR_SET_PDEATHSIG
        print('ready', flush=True)
        os.read(0, 1)


threading.Thread(target=wait, daemon=True).start()
vforks()
END

line=$(sed -n '/time.sleep(10000)/{=;q}' "$tests/stack/pystacks.py")
n=0
for py in /usr/bin/python3 python3 python3.11 python3.12 python3.13; do
	is_known "$py" || continue
	n=$((n + 1))
	target "$py" "$tests/stack/pystacks.py" "$tmp/words" one
	try "$v: a snapshot" "$BUILD/snap" -o "$tmp/snap" "$pid"
	sort "$tmp/words" >"$tmp/want"
	is "$("$BUILD/snapstack" -j "$tmp/snap" |
	    python3 "$tests/stack/pyframes.py" | sort)" "$(cat "$tmp/want")" \
	    "$v: the frames that Python reports"
	is "$("$BUILD/snapstack" -j "$pid" |
	    python3 "$tests/stack/pyframes.py" | sort)" "$(cat "$tmp/want")" \
	    "$v: the same live"
	is "$(gil)" "held none none " "$v: who holds the GIL"
	"$BUILD/snapstack" "$tmp/snap" >"$tmp/out"
	is "$(grep -c _PyEval_EvalFrameDefault "$tmp/out") $(
	    grep -c " generated (.*pystacks.py:$line), Python$" "$tmp/out")" \
	    "0 1" "$v: Python frames replace the interpreter's" ||
	    diag <"$tmp/out"
	"$BUILD/snapstack" -a "$tmp/snap" | grep -q _PyEval_EvalFrameDefault
	ok $? "$v: -a: both are shown"
	is "$("$BUILD/snapstack" -f "$tmp/snap" |
	    grep -c ';sleeper;generated;.* 1$')" 1 "$v: -f"
	cat >"$tmp/want" <<'END'
number = -7
large = 1099511627776
half = 0.5
huge = <int of 101 bits>
wide = -18446744073709551615
wider = <int of 65 bits>
quoted = 'a"\'\t\n\\\x01\xad\u200b\ud800🙂'
long = 'üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü'...
data = b'ab\x00"\''
nothing = None
items = [1, 2.0, 'x', (True,), [], ... 7 in all]
table = <dict of 1>
some = <set of 2>
text = "it's süß"
END
	is "$("$BUILD/snapstack" -l "$tmp/snap" |
	    sed -n '/wartet/,/ waits /s/^           //p' |
	    grep -v -e '^self = <.*rger at 0x' -e '^inner = <function at 0x')" \
	    "$(cat "$tmp/want")" "$v: -l: local variables"
	ended
	target "$py" "$tests/stack/pystacks.py" "$tmp/words" two
	until_true one_each
	ok $? "$v: who waits for the GIL"
	ended
	target "$py" "$tests/stack/pystacks.py" "$tmp/words" collects
	"$BUILD/snap" -o "$tmp/snap" "$pid"
	is "$("$BUILD/snapstack" "$tmp/snap" |
	    grep -c '^  Python collects garbage$')" 1 \
	    "$v: a garbage collection is shown"
	ended
	target "$py" "$tests/stack/pyinterpreters.py" "$tmp/words"
	"$BUILD/snap" -o "$tmp/snap" "$pid"
	is "$("$BUILD/snapstack" -j "$tmp/snap" |
	    python3 "$tests/stack/pyframes.py" | sort)" "$(sort "$tmp/words")" \
	    "$v: several interpreters" || "$BUILD/snapstack" "$tmp/snap" | diag
	is "$("$BUILD/snapstack" -j "$pid" |
	    python3 "$tests/stack/pyframes.py" | sort)" "$(sort "$tmp/words")" \
	    "$v: several interpreters, live"
	is "$("$BUILD/snapstack" "$tmp/snap" |
	    sed -nE 's/^  [0-9]+ (runs interpreter|holds)/\1/p' | sort |
	    tr '\n' ' ')" "holds the GIL runs interpreter 1 runs interpreter 2 " \
	    "$v: the interpreter that a thread runs"
	ended
	target "$py" "$tmp/lines.py"
	until_true are_there
	is "$(at_lines)" "lines.py:10 lines.py:9 " \
	    "$v: stacks that differ only in the line are both shown"
	ended
	target "$py" "$tmp/vforks.py"
	is "$("$BUILD/snapstack" -l "$pid" 2>&1 |
	    sed -nE 's/^  #[0-9]+ +(vforks|wait) .*, Python$/\1/p
	    s/.*(no registers|no local variables)/\1/p')" \
	    "vforks
no registers (disk sleep)
wait" "$v: the first thread has no registers"
	ended
done

# a program that looks like another version
cat >"$tmp/other.c" <<'END'
#include <stdio.h>
#include <unistd.h>
const unsigned long Py_Version = 0x030a00f0;
char _PyRuntime[4096] = "3.10";
int
main(void)
{
	printf("ready\n");
	fflush(stdout);
	pause();
}
END
cc -rdynamic -o "$tmp/python3.10" "$tmp/other.c"
target "$tmp/python3.10"
want="1 snapstack: process $pid: no local variables: \
only 64-bit CPython 3.11 to 3.13 is supported"
"$BUILD/snap" -o "$tmp/snap" "$pid"
err=$("$BUILD/snapstack" -l "$tmp/snap" 2>&1 >"$tmp/out")
is "$? $err" "$want" "-l: an unknown version"
err=$("$BUILD/snapstack" -l "$pid" 2>&1 >"$tmp/out")
is "$? $err" "$want" "-l: an unknown version, live"
err=$("$BUILD/snapstack" "$tmp/snap" 2>&1 >"$tmp/out")
is "$? $err" "0 " "without -l nothing is missing"
ended
if [ "$n" -eq 0 ]; then
	skip "Python" "no python3 of 3.11 to 3.13"
	finish 4
fi
finish $((n * 15 + 3))
