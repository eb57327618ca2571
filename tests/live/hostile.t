#!/usr/bin/env bash
# Targets that hinder snap: their own file servers do not answer, they hold
# locks of the kernel while they wait for these servers, and their file names
# lead elsewhere the next moment.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# said: print the kinds of messages, each once
said() {
	sed 's/.*: \([0-9]* kilobytes could not be read\).*/pages/
	    s/.*: no answer in 1 seconds: .*/no answer/
	    s/.* does not stop (it was .*/does not stop/
	    /cannot be cloned/d' \
	    "$tmp/err" | sort -u | tr '\n' ' '
}

# Have all processes ended that snap started in this test?
export HOSTILE_TEST=$tmp
none_behind() {
	local p

	for p in $(pgrep '^snap-'); do
		if grep -qzx "HOSTILE_TEST=$tmp" "/proc/$p/environ"; then
			return 1
		fi
	done
}

# hangs PID WHAT TARGET-OPTIONS SNAP-OPTIONS SAID: snap reports a target whose
# server hangs as SAID, and captures process PID; both run on.
hangs() {
	local beside=$1 what=$2 server opts

	read -ra opts <<<"$4"
	mkdir "$tmp/mnt$serial"
	# shellcheck disable=SC2086 # words
	target "$targets/served" "$tmp/mnt$serial" $3
	server=$pid
	snap -t 1 "${opts[@]}" -o "$tmp/snap" "$beside" "$server"
	is "$rc $(said)" "$5" "$what: snap reports what is missing" ||
	    diag <"$tmp/err"
	check "$tmp/snap" "$beside" "$what: the other is captured"
	let_go "$beside" "$what: the other runs on"
	let_go "$server" "$what: the target runs on"
	unnoticed "$server" "$what: the target noticed nothing"
	until_true none_behind
	ok $? "$what: no process of snap is left"
}

# Is $pid inside execve(2)?
is_executing() {
	grep -q execve "/proc/$pid/stack"
}

# Is a process traced while it runs?
is_seized() {
	[[ $(states "$1") = *[1-9]*S* ]]
}

if is_root && [ -w /dev/fuse ]; then
	target "$targets/anon"
	anon=$pid
	answered=$tmp/mnt0
	mkdir "$answered"
	target "$targets/served" "$answered" ELF touch open
	snap -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "served: taken if the server answers"
	check "$tmp/snap" "$pid" "served: memory matches" -a
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "served: with clones"
	check "$tmp/snap" "$pid" "served: with clones, memory matches" -a
	unnoticed "$pid" "served: not noticed"
	for o in "" -r; do
		hangs "$anon" "a data file${o:+, $o}" hang "$o" "1 no answer "
		hangs "$anon" "code${o:+, $o}" "ELF hang" "$o" "1 no answer "
		hangs "$anon" "arguments${o:+, $o}" "ELF args hang" "$o" \
		    "1 no answer "
	done
	hangs "$anon" "a deleted directory" "dir hang" "" "1 no answer "
	for o in queue pipe epoll tcp; do
		hangs "$anon" "a lock of $o" "$o" "" \
		    "1 does not stop no answer "
	done
	unnoticed "$anon" "not noticed by the other"
	# nobody answers when snap closes a file
	mkdir "$tmp/mntp"
	target "$targets/served" "$tmp/mntp" touch passed hang
	snap -t 1 -o "$tmp/snap" "$pid"
	is "$rc $(said)" '1 no answer ' 'passed: snap ends'
	unnoticed "$pid" 'passed: not noticed'
	mkdir "$tmp/mnti"
	target "$targets/served" "$tmp/mnti" interrupt
	snap -n -t 1 -o "$tmp/snap" "$pid"
	unnoticed "$pid" 'a server that answers EINTR: pread(2) goes on'
	# a process inside execve(2) cannot be traced
	target "$targets/anon"
	anon=$pid
	mkdir "$tmp/mntx"
	target "$targets/served" "$tmp/mntx" hang exec
	until_true is_executing
	snap -t 1 -o "$tmp/snap" "$anon" "$pid"
	is "$rc $err" \
	    "1 snap: process N does not stop: it is inside execve(N): left out" \
	    "execve: a process that stays inside is left out"
	check "$tmp/snap" "$anon" "execve: the other is captured"
	let_go "$anon" "execve: the other runs on"
	let_go "$pid" "execve: the one inside runs on"
	"$BUILD/snap" -t 600 -o "$tmp/snap" "$anon" "$pid" &
	taker=$!
	until_true is_seized "$anon"
	ok $? "execve: the other runs on while snap waits" ||
	    states "$anon" | diag
	# its server is its only child
	read -r server <"/proc/$pid/task/$pid/children"
	kill -KILL "$server"
	wait $taker
	is $? 0 "execve: a process that leaves it is captured"
	check "$tmp/snap" "$anon" "execve: the other is captured"
	unnoticed "$pid" "execve: not noticed by the one inside"
	unnoticed "$anon" "execve: not noticed by the other"
	# execve(2) waits for the server to close a file: not even the stat of
	# the process can be read (no pgrep here), and nobody waits for it
	target "$targets/threads"
	beside=$pid
	for o in '' seized; do
		mkdir "$tmp/mntc$o"
		# shellcheck disable=SC2086 # a word or none
		target "$targets/served" "$tmp/mntc$o" closing $o
		read -r server <"/proc/$pid/task/$pid/children"
		# it may not see a tracer that comes and goes
		for _ in {1..20}; do
			snap -n -r -t 1 -o "$tmp/snap" "$pid" "$beside"
			[[ $o = seized && $err != *execve* ]] || break
		done
		is "$rc $err" "1 snap: process N does not stop: it is inside \
execve(N): left out" "closing a file${o:+, $o}: left out"
		check "$tmp/snap" "$beside" \
		    "closing a file${o:+, $o}: the other is captured"
		snap -n -r -t 1 -o "$tmp/snap" "$beside"
		is "$rc $err" '0 ' \
		    "closing a file${o:+, $o}: the other does not wait for it"
		snap -o "$tmp/snap" no-such-program
		is "$rc $err" '1 snap: no process is called "no-such-program"' \
		    "closing a file${o:+, $o}: a search for a name ends"
		kill -KILL "$server"
		unnoticed "$pid" "closing a file${o:+, $o}: not noticed"
	done
	unnoticed "$beside" "closing a file: not noticed by the other"
else
	skip "files of the target's server" "needs root and /dev/fuse" 95
fi

# Hundreds of seccomp(2) filters, which the kernel would count for each of them.
if is_root; then
	target python3 -c 'import ctypes, struct
zero = ctypes.c_ulong(0)
prctl = ctypes.CDLL(None).prctl
allow = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7fff0000))
program = struct.pack("@HP", 1, ctypes.addressof(allow))
prctl(38, ctypes.c_ulong(1), zero, zero, zero)
for i in range(600):
    if prctl(22, ctypes.c_ulong(2), program) != 0:
        raise OSError("no filter")
print("ready", flush=True)
input()
print("report none 0")'
	snap -n -o "$tmp/snap" "$pid"
	is "$rc $err" "1 snap: process N: seccomp-filters of thread N could \
not be read: Input/output error" "filters: not recorded, and snap says so"
	unnoticed "$pid" "filters: not noticed"
else
	skip "filters: not recorded" "needs root" 2
fi

# As nobody: root opens mapped files themselves, not names.
if is_root; then
	as_nobody
fi
mkdir -m 777 "$tmp/pub/swapped"
target "$targets/swapped" "$tmp/pub/swapped"
for i in 1 2 3 4; do
	snap -n -o "$tmp/pub/$i.snap" "$pid"
	is "$rc $err" "0 " "swapped: taken"
done
unnoticed "$pid" "swapped: only regular files are opened"
finish 102
