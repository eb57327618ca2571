#!/usr/bin/env bash
# snap is killed, suspended or interrupted, or its target is killed: no process
# is left stopped, and no file is left.
# beside: live unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

# held ARG ...: snap writes to a pipe that nobody reads, and so waits
held() {
	# the shell has jobs in the background ignore SIGINT
	env --default-signal=INT "$BUILD/snap" -s "$@" 3>&- >"$tmp/fifo" 2>"$tmp/err" &
	taker=$!
}
mkfifo "$tmp/fifo"
exec 3<>"$tmp/fifo"
drain() {
	exec 3>&-
	rm "$tmp/fifo"
	mkfifo "$tmp/fifo"
	exec 3<>"$tmp/fifo"
}

# snap is killed while all are stopped.
target "$targets/cow"
all="$pid $(sed -n 's/^of //p' "$lines" | tr '\n' ' ')"
held -r "$pid"
try "held while it is written" until_true is_traced "$pid"
kill -KILL "$taker"
wait "$taker" 2>/dev/null
for p in $all; do
	let_go "$p" "killed: released"
done
drain
unnoticed "$pid" "killed: not noticed"

# snap is killed at any moment.
n=$(often 16)
target "$targets/threads"
target_threads=$pid
target "$targets/churn"
for ((i = 0; i < n; i++)); do
	held "$target_threads" "$pid"
	sleep "0.$(printf %03d $((i * 120 / n)))"
	kill -KILL "$taker" 2>/dev/null
	wait "$taker" 2>/dev/null
	drain
done
let_go "$pid" "killed at any moment: released"
let_go "$target_threads" "killed at any moment: threads released"

# The same without -s.
for ((i = 0; i < n; i++)); do
	"$BUILD/snap" -r "$target_threads" "$pid" 3>&- >"$tmp/fifo" 2>/dev/null &
	taker=$!
	sleep "0.$(printf %03d $((i * 120 / n)))"
	kill -KILL "$taker" 2>/dev/null
	wait "$taker" 2>/dev/null
	drain
done
let_go "$pid" "by default: released"
let_go "$target_threads" "by default: threads released"
unnoticed "$pid" "killed at any moment: not noticed"
unnoticed "$target_threads" "killed at any moment: threads not noticed"

# Several processes that run: calls are injected into all in the stop, at once.
several=()
for i in 1 2 3; do
	target "$targets/compute"
	several+=("$pid")
done
for ((i = 0; i < n; i++)); do
	"$BUILD/snap" -r -o /dev/null "${several[@]}" 2>/dev/null &
	taker=$!
	sleep "0.$(printf %03d $((i * 90 / n)))"
	kill -KILL "$taker" 2>/dev/null
	wait "$taker" 2>/dev/null
done
for pid in "${several[@]}"; do
	let_go "$pid" "killed with several: released"
	unnoticed "$pid" "killed with several: not noticed"
done

# If interrupted, snap leaves no file: by each signal, then at any moment.
target "$targets/anon"
for sig in INT TERM HUP; do
	held "$pid"
	until_true is_traced "$pid"
	kill -s "$sig" "$taker"
	wait "$taker" 2>/dev/null
	let_go "$pid" "SIG$sig: released"
	drain
done
mkdir "$tmp/dir"
for ((i = 0; i < n; i++)); do
	"$BUILD/snap" -o "$tmp/dir/snap" "$pid" 2>/dev/null &
	taker=$!
	sleep "0.$(printf %03d $((i * 60 / n)))"
	if kill -TERM "$taker" 2>/dev/null && ! wait "$taker" 2>/dev/null &&
	    [ -e "$tmp/dir/snap" ]; then
		"$BUILD/snapls" "$tmp/dir/snap" >/dev/null || break
	fi
	wait "$taker" 2>/dev/null
	rm -f "$tmp/dir/snap"
done
is "$i" "$n" "interrupted at any moment: a file is always whole"
is "$(ls -A "$tmp/dir")" "" "interrupted at any moment: nothing is left"
let_go "$pid" "interrupted at any moment: released"

# Suspended from the keyboard, snap keeps no process stopped.
held "$pid"
until_true is_traced "$pid"
for sig in TSTP TTOU TTIN; do
	kill -s "$sig" "$taker"
done
settled() {
	free_again "$pid" || [ "$(states "$taker")" != " 0 T " ]
}
sleep 0.2
try "suspended: no process stays stopped" settled
kill -CONT "$taker"
kill -KILL "$taker"
wait "$taker" 2>/dev/null
let_go "$pid" "suspended: released"
drain
unnoticed "$pid" "interrupted: not noticed"

# The target is killed after snap has begun to write: snap reports an error.  It
# has more memory than snap reads before it can write.
head -c 96000000 /dev/urandom >"$tmp/random"
for ((i = 0; i < 5; i++)); do
	# shellcheck disable=SC2016 # Perl's variables
	perl -e '$| = 1; $/ = undef; $x = <STDIN>; print "ready\n"; sleep 1000' \
	    <"$tmp/random" >"$tmp/out" 3>&- &
	pid=$!
	until_true grep -q ready "$tmp/out"
	held "$pid"
	head -c $((i * 1000000 + 1)) <&3 >/dev/null
	kill -KILL "$pid"
	cat <"$tmp/fifo" >/dev/null &
	cat=$!
	until_true gone "$taker"
	wait "$taker"
	rc=$?
	kill "$cat"
	wait "$cat" "$pid" 2>/dev/null
	drain
	is "$rc $(sed 's/[0-9][0-9]*/N/g' "$tmp/err")" \
	    "1 snap: memory of N: the process is gone" \
	    "the target is killed: a message"
done

# The first process of a container is killed, and with it all others and their
# clones, while nobody reads the snapshot.
what="the init of a container is killed"
if is_root; then
	cp "$targets/token" "$tmp/contained"
	target unshare --pid --fork "$tmp/contained" 4
	read -r pid <"/proc/$pid/task/$pid/children"
	"$BUILD/snap" -r "$pid" 3>&- >"$tmp/fifo" 2>"$tmp/err" &
	taker=$!
	head -c 1 <&3 >"$tmp/first"
	let_go "$pid" "$what: it was released"
	is "$(executing "$tmp/contained")" 10 \
	    "$what: it and its children have clones"
	kill -KILL "$pid"
	until_true [ ! -e "/proc/$pid" ]
	ok $? "$what: it is gone"
	left=$(executing "$tmp/contained")
	[ -n "$(readlink "/proc/$taker/exe")" ]
	ok $? "$what: snap waits for a reader"
	cat <"$tmp/fifo" >/dev/null &
	cat=$!
	wait "$taker"
	rc=$?
	kill "$cat"
	wait "$cat" 2>/dev/null
	drain
	is "$rc $left" "1 0" "$what: its children and all clones are gone"
	# the first one is small: it may be read before snap waits for the reader
	[ "$(grep -c ': its clone was killed$' "$tmp/err")" -ge 4 ]
	ok $? "$what: snap reports the clones" || diag <"$tmp/err"
else
	skip "$what" "needs root" 6
fi
finish 39
