#!/usr/bin/env bash
# Threads: registers and stacks, threads that come and go, a first thread
# that has ended.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/threads"
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "64 threads: taken"
check "$tmp/snap" "$pid" "64 threads: registers and stacks"
is "$("$BUILD/snapls" -no THREADS "$tmp/snap" | tr -d ' ')" 65 \
    "64 threads: listed"
let_go "$pid" "64 threads: let go"
for ((i = 0; i < 10; i++)); do
	snap -o "$tmp/snap" "$pid"
done
unnoticed "$pid" "64 threads: not noticed"

n=$(often 20)
target "$targets/churn"
bad=0
for ((i = 0; i < n; i++)); do
	snap -o "$tmp/snap" "$pid"
	if [ "$rc" -ne 0 ]; then
		bad=$((bad + 1))
		diag <"$tmp/err"
	fi
done
is "$bad" 0 "threads that come and go: taken"
check "$tmp/snap" "$pid" "threads that come and go: memory"
let_go "$pid" "threads that come and go: let go"
unnoticed "$pid" "threads that come and go: not noticed"

# What only a thread can tell is that of the stop: those that change it know in
# memory which it is.
target "$targets/altstack"
n=$(often 5)
bad=0
for ((i = 0; i < n; i++)); do
	flags=-s
	[ $((i % 5)) -eq 0 ] || flags=-r
	snap "$flags" -o "$tmp/snap" "$pid"
	diag <"$tmp/err"
	python3 "$tests/live/altstack.py" "$tmp/snap" "$pid" "$lines" \
	    >"$tmp/bad" || bad=$((bad + 1))
	diag <"$tmp/bad"
done
is "$bad" 0 "threads that change what they tell: as memory has it"
unnoticed "$pid" "threads that change what they tell: not noticed"

# nothing can be run in it
target "$targets/leader"
snap -n -o "$tmp/snap" "$pid"
is "$rc" 0 "the first thread has ended: taken"
check "$tmp/snap" "$pid" "the first thread has ended: memory"
unnoticed "$pid" "the first thread has ended: not noticed"

# What a thread did before it was stopped is in its status, on a busy machine as
# well.
asleep() {
	! grep -h '^State' "/proc/$pid/task"/*/status | grep -qv 'S (sleeping)'
}
target "$targets/blocked"
busy=()
for ((i = 0; i < 3 * $(nproc); i++)); do
	while :; do :; done &
	busy+=($!)
done
n=$(often 10)
for ((i = 0; i < n; i++)); do
	until_true asleep
	snap -o "$tmp/snap" "$pid"
	grep -aoE '(Running|Wakeme|Stopped) {5}( *[0-9]+){9}$' "$tmp/snap" |
	    cut -d' ' -f1
done | sort | uniq -c >"$tmp/said"
kill "${busy[@]}"
threads=("/proc/$pid/task"/*)
is "$(awk '{ print $1, $2 }' "$tmp/said")" "$((n * ${#threads[@]})) Wakeme" \
    "threads that sleep: their status says so"
unnoticed "$pid" "threads that sleep: not noticed"

# A thread's number stands for its process.
target "$targets/threads"
tid=$(sed -n 's/^regs \([0-9]*\).*/\1/p' "$lines" | head -1)
snap -o "$tmp/snap" "$tid"
check "$tmp/snap" "$pid" "by the number of a thread"
snap -o "$tmp/snap" "$tid" "$pid" "$pid"
"$BUILD/snapls" "$tmp/snap" >"$tmp/list"
is "$(awk '$1 == "total" { print $2 }' "$tmp/list")" 1 "asked for three times"
finish 18
