#!/usr/bin/env bash
# snap -l captures from clones what it would capture from the processes, and
# leaves nothing of the clones.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

children() {
	ps --ppid "$1" -o pid= | wc -l
}

no_children() {
	[ "$(children "$1")" -eq 0 ]
}

# pages FILE: print oracle.py's lines about text and memory
pages() {
	python3 "$tests/snap6/oracle.py" "$1" | grep -aE '^(text|mem) '
}

# on one processor: the kernel writes a thread's processor to memory, rseq(2)
as=(taskset -c "$(first_cpu)")
for what in anon shared sparse lacking; do
	target "$targets/$what"
	# the first snapshot may add a page to its stack
	snap -l -o "$tmp/live" "$pid"
	snap -o "$tmp/plain" "$pid"
	snap -l -o "$tmp/live" "$pid"
	is "$rc $err" "0 " "$what: taken"
	check "$tmp/live" "$pid" "$what: memory matches"
	pages "$tmp/plain" >"$tmp/1"
	pages "$tmp/live" >"$tmp/2"
	try "$what: the same memory" cmp "$tmp/1" "$tmp/2"
	is "$(children "$pid")" 0 "$what: no child is left"
	for ((i = 0; i < 4; i++)); do
		snap -l -o "$tmp/live" "$pid"
	done
	resident "$pid" >"$tmp/1"
	ls "/proc/$pid/fd" >"$tmp/fd1"
	for ((i = 0; i < 8; i++)); do
		snap -l -o "$tmp/live" "$pid"
	done
	resident "$pid" >"$tmp/2"
	ls "/proc/$pid/fd" >"$tmp/fd2"
	try "$what: uses no more memory" cmp "$tmp/1" "$tmp/2"
	try "$what: no descriptor is left" cmp "$tmp/fd1" "$tmp/fd2"
	let_go "$pid" "$what: released"
	unnoticed "$pid" "$what: not noticed"
done

as=(env)

# -v and the record have the length of the stop.
target "$targets/anon"
snap -lv -o "$tmp/live" "$pid"
took=$(sed -n 's/.*: stopped for \([0-9.]* [um]*s\).*/\1/p' "$tmp/err")
ok $((${#took} == 0)) "-v prints the pause" || diag <"$tmp/err"
is "$(python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
import check
us = int(check.record(check.load(sys.argv[2]), int(sys.argv[3]))["live"])
print("%d us" % us if us < 1000 else "%.*f ms" % (us < 9950, us / 1000) if
    us < 999500 else "%.*f s" % (us < 9950000, us / 1e6))' \
    "$tests/live" "$tmp/live" "$pid")" "$took" "the record has the pause"

# If snap is killed or interrupted at any moment, it leaves nothing behind.
for sig in KILL TERM; do
	for ((i = 0; i < 30; i++)); do
		"$BUILD/snap" -l -o "$tmp/killed" "$pid" 3>&- 2>/dev/null &
		sleep "0.0$((RANDOM % 40 + 10))"
		kill -$sig $! 2>/dev/null
		wait $! 2>/dev/null
	done
	try "SIG$sig: no child is left" until_true no_children "$pid"
	let_go "$pid" "SIG$sig: released"
done
echo q >&"${ask_fd[$pid]}"

# snap is killed at each call near the clone, while the process has almost no
# processor time and makes the clone long after that.
if strace -qq -e trace=none true 2>/dev/null; then
	as=(taskset -c "$(first_cpu)" chrt -i 0)
	target "$targets/anon"
	as=(env)
	strace -qq -o "$tmp/calls" -e trace=ptrace "$BUILD/snap" -l \
	    -o "$tmp/live" "$pid"
	at=$(grep -n -m 1 TRACECLONE "$tmp/calls" | cut -d : -f 1)
	taskset -c "$(first_cpu)" sh -c 'while :; do :; done' &
	hog=$!
	for ((i = at; i < at + 12; i++)); do
		strace -qq -o "$tmp/calls" -e trace=ptrace \
		    -e "inject=ptrace:signal=KILL:when=$((at + i % 6))" \
		    "$BUILD/snap" -l -o "$tmp/live" "$pid" 3>&- 2>/dev/null
	done 2>/dev/null
	kill "$hog"
	try "killed while it clones: no child is left" until_true \
	    no_children "$pid"
	let_go "$pid" "killed while it clones: released"
	unnoticed "$pid" "killed while it clones: not noticed"
else
	skip "killed while it clones" "no strace, or it may not trace" 3
fi

# If no clone can be made, snap works without.
if is_root; then
	as_nobody
	target "$targets/anon"
	"${as[@]}" prlimit --nproc=1 -p "$pid"
	snap -l -o "$tmp/pub/live" "$pid"
	is "$rc $err" "0 snap: process N cannot be cloned: user N is limited to N processes and threads, and has room for 0 more: all processes stay stopped until everything is written" \
	    "no more processes: taken, with a message"
	check "$tmp/pub/live" "$pid" "no more processes: memory matches"
	unnoticed "$pid" "no more processes: not noticed"
else
	skip "no more processes" "needs root" 3
fi
finish 44
