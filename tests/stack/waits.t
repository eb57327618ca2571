#!/usr/bin/env bash
# snapstack shows what threads wait for, from call, arguments and record.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/stack/stack.sh
. "$(dirname "$0")/stack.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "other machines have other calls"
mkfifo "$tmp/fifo"
target "$targets/waits" "$tmp/fifo"
child=$(sed -n 's/^child //p' "$lines")
until_true asleep "$pid"
"$BUILD/snap" -o "$tmp/snap" "$pid"

# waits ARG ...: print what each thread waits for, without varying numbers
waits() {
	"$BUILD/snapstack" -j "$@" | jq -r '"\(.name)|\(.waits)"' |
	    sed -E "s/\<($pid|$child)\>/N/; s/thread [0-9]+ \(itself/thread N (itself/; s/\[[0-9]+\]/[N]/g
		s/\.1 [0-9]{4,5}\)/.1 N)/; s/in 99[0-9]\..*/in N s/" |
	    sort | uniq
}

cat >"$tmp/want" <<END
accept|accept of 6 (socket:[N], 127.0.0.1 N)
child|wait4, for any child
epoll|epoll_wait of 4 (anon_inode:[eventpoll]) of 3 (pipe:[N])
inherits|futex, a mutex of thread N (waits)
itself|futex, a mutex of thread N (itself)
many|poll of 3 (pipe:[N]), 3 (pipe:[N]), 3 (pipe:[N]), 3 (pipe:[N]) and more
nanosleep|clock_nanosleep, for 1000.000 s
normal|futex, a mutex of thread N (waits)
open|openat of $tmp/fifo
poll|poll of 3 (pipe:[N]), 3 (pipe:[N]), 3 (pipe:[N]), 3 (pipe:[N]) and 1 more, for 1000.000 s
robust|futex, a mutex of thread N (waits)
select|pselect6 of 3 (pipe:[N])
signal|pause, for a signal
timed|futex, a mutex of thread N (waits), until 4000000000.000 s
timers|poll of 5 (anon_inode:[timerfd]), in N s
timer|read of 5 (anon_inode:[timerfd]), in N s
waits|wait4, for child N
END
# the descriptors that threads open depend on which thread is first
numbers() {
	sed -E 's/^(accept|epoll|timers?)(.*) of [0-9]+/\1\2 of N/' | sed \
	    -E 's/ of [0-9]+ \((anon|socket)/ of N (\1/'
}
is "$(waits "$tmp/snap" | grep -v '^waits|clock' | numbers)" \
    "$(numbers <"$tmp/want")" "the waits of each thread"
is "$(waits "$pid" | grep -v '^waits|clock' | numbers)" \
    "$(numbers <"$tmp/want")" "the same live, after an earlier stop"

# a core has only the registers of a call
"$BUILD/snapcore" -o "$tmp/core" "$tmp/snap"
is "$("$BUILD/snapstack" -j "$tmp/core" | jq -r .waits |
    grep -c '^poll of .* 1 more')" 1 "a core: a call that continues after a stop"
"$BUILD/snapstack" "$tmp/snap" >"$tmp/out"
is "$(grep -A 2 '^9 threads:' "$tmp/out" | sed -n '/^  in/p')" \
    "  in clock_nanosleep" "one stack: times that differ are left out"
is "$(grep -A 2 '(timers)' "$tmp/out" | grep -c '^  [0-9]* in poll of ')" 2 \
    "one stack: descriptors that differ after a timer"
tid=$("$BUILD/snapstack" -j "$tmp/snap" | jq 'select(.name == "poll").tid')
is "$("$BUILD/snapstack" -T "$tid" "$tmp/snap" | head -n 1)
$("$BUILD/snapstack" -f -T "$tid" "$tmp/snap" | cut -d ';' -f 1)" \
    "$(head -n 1 "$tmp/out")
waits" "-T: the name of the process and the number of its threads"
let_go "$pid" "it runs on"
{
	kill -KILL "$pid"
	wait "$pid"
} 2>/dev/null

# A thread in an uninterruptible sleep has no registers, only the record.
cat >"$tmp/head.s" <<'END'
"process snapshot 1735689600 ann@gnot amd64 1 \"prog\"\n"
record 7 proc
data {
"linux amd64 1\n"
"status\n"
data "Name:\tprog\nState:\tD (disk sleep)\n"
"fd/3\n"
data "/srv/file"
END
# asleep_in SYSCALL [LINE]: print what a thread with this record waits for
asleep_in() {
	printf '%s\n' '"syscall\n"' "data \"$1\\n\"" "${2-}" '}' |
	    cat "$tmp/head.s" - | python3 "$tests/snap6/snapasm.py" \
	    >"$tmp/d.snap"
	"$BUILD/snapstack" "$tmp/d.snap" | sed 1,2d
}
is "$(asleep_in "0 0x3 0x7ffc0000 0x40 0x0 0x0 0x0 0x7ffc00001000 0x401000")" \
    "  in read of 3 (/srv/file)
  no registers (disk sleep)" "no registers: the call is in the record"
# AT_PHENT of a 32-bit program
is "$(asleep_in "3 0x3 0x0 0x0 0x0 0x0 0x0 0xff001000 0x8049000" \
    '"auxv\n"
    data "\x04\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0"')" \
    "  in read of 3 (/srv/file)
  no registers (disk sleep)" "no registers: the call of a 32-bit program"
is "$(asleep_in "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0")" \
    "  no registers (disk sleep)" "no registers: a kernel thread"
is "$(asleep_in running)" "  no registers (disk sleep)" \
    "no registers: a record without a call"
target "$targets/vforker"
"$BUILD/snap" -o "$tmp/v.snap" "$pid" 2>"$tmp/err"
is "$("$BUILD/snapstack" -j "$tmp/v.snap" | jq -r '"\(.state) \(.waits)"')
$("$BUILD/snapstack" -j "$pid" 2>"$tmp/err" | jq -r .waits)" \
    "disk sleep vfork
vfork" "a parent in vfork(2), and the same live"
let_go "$pid" "it runs on"
# the pipe is full, so snapstack waits for its reader
{
	head -c 65536 /dev/zero
	echo "$BASHPID" >"$tmp/stacks"
	exec "$BUILD/snapstack" "$pid" 2>/dev/null
} | {
	for i in {1..300}; do
		[ -e "$tmp/read" ] || sleep 0.1
	done
	cat >/dev/null
} &
in_pipe() {
	grep -q pipe_ "/proc/$(cat "$tmp/stacks")/wchan"
}
until_true in_pipe 2>/dev/null
unnoticed "$pid" "it runs on while snapstack waits for its reader"
touch "$tmp/read"
finish 14
