#!/usr/bin/env bash
# What a target does to who looks at it: file servers of its own that do not
# answer, locks of the kernel that it has while it waits for these, and names
# that lead elsewhere the next moment.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

# What was said, of each process once.
said() {
	sed 's/.*: \([0-9]* kilobytes could not be read\).*/pages/
	    s/.*: no answer in 1 seconds: .*/no answer/
	    s/.* does not stop (it was .*/does not stop/
	    /cannot be cloned/d' \
	    "$tmp/err" | sort -u | tr '\n' ' '
}

# Has all ended that snap started in this test?
export HOSTILE_TEST=$tmp
none_behind() {
	local p

	for p in $(pgrep '^snap-'); do
		if grep -qzx "HOSTILE_TEST=$tmp" "/proc/$p/environ"; then
			return 1
		fi
	done
}

# hangs PID WHAT TARGET-OPTIONS SNAP-OPTIONS SAID: one that is taken beside it
# is whole, and both run on.
hangs() {
	local beside=$1 what=$2 server opts

	read -ra opts <<<"$4"
	mkdir "$tmp/mnt$serial"
	# shellcheck disable=SC2086 # words
	target "$targets/served" "$tmp/mnt$serial" $3
	server=$pid
	snap -t 1 "${opts[@]}" -o "$tmp/snap" "$beside" "$server"
	is "$rc $(said)" "$5" "$what: what is missing is said" ||
	    diag <"$tmp/err"
	check "$tmp/snap" "$beside" "$what: the other is taken"
	let_go "$beside" "$what: the other runs on"
	let_go "$server" "$what: and the one that is served"
	unnoticed "$server" "$what: which has noticed nothing"
	until_true none_behind
	ok $? "$what: no one is left behind"
}

# Is $pid inside execve(2)?
is_executing() {
	grep -q execve "/proc/$pid/stack"
}

# Does snap trace a process, which runs?
is_seized() {
	[[ $(states "$1") = *[1-9]*S* ]]
}

if is_root && [ -w /dev/fuse ]; then
	target "$targets/anon"
	anon=$pid
	answered=$tmp/mnt0
	mkdir "$answered"
	target "$targets/served" "$answered" ELF touch
	snap -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "served: a snapshot of who answers"
	check "$tmp/snap" "$pid" "served: it is whole" -a
	snap -r -o "$tmp/snap" "$pid"
	is "$rc $err" "0 " "served: with clones"
	check "$tmp/snap" "$pid" "served: with clones, it is whole" -a
	unnoticed "$pid" "served: it has noticed nothing"
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
	unnoticed "$anon" "the other has noticed nothing"
	# what snap closes nobody answers
	mkdir "$tmp/mntp"
	target "$targets/served" "$tmp/mntp" touch passed hang
	snap -t 1 -o "$tmp/snap" "$pid"
	is "$rc $(said)" '1 no answer ' 'passed: snap ends'
	unnoticed "$pid" 'passed: it has noticed nothing'
	# nobody may trace who is inside execve(2)
	target "$targets/anon"
	anon=$pid
	mkdir "$tmp/mntx"
	target "$targets/served" "$tmp/mntx" hang exec
	until_true is_executing
	snap -t 1 -o "$tmp/snap" "$anon" "$pid"
	is "$rc $err" \
	    "1 snap: process N does not stop: it is inside execve(N): left out" \
	    "execve: who does not leave it is left out"
	check "$tmp/snap" "$anon" "execve: the other is taken"
	let_go "$anon" "execve: the other runs on"
	let_go "$pid" "execve: and so does the one inside"
	"$BUILD/snap" -t 600 -o "$tmp/snap" "$anon" "$pid" &
	taker=$!
	until_true is_seized "$anon"
	ok $? "execve: who is waited for holds nobody up" ||
	    states "$anon" | diag
	# its server is its only child
	read -r server <"/proc/$pid/task/$pid/children"
	kill -KILL "$server"
	wait $taker
	is $? 0 "execve: who leaves it in time is taken"
	check "$tmp/snap" "$anon" "execve: and so is the other"
	unnoticed "$pid" "execve: who was inside has noticed nothing"
	unnoticed "$anon" "execve: nor has the other"
else
	skip "files that are served" "only root may serve one here" 83
fi

# As nobody: root opens what is mapped, not a name.
if is_root; then
	as_nobody
fi
mkdir -m 777 "$tmp/pub/swapped"
target "$targets/swapped" "$tmp/pub/swapped"
for i in 1 2 3 4; do
	snap -n -o "$tmp/pub/$i.snap" "$pid"
	is "$rc $err" "0 " "swapped: taken"
done
unnoticed "$pid" "swapped: what is no regular file is not opened"
finish 88
