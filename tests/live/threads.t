#!/usr/bin/env bash
# Threads: registers and stacks, threads that come and go, a first thread
# that has ended.
# beside: live long
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

target "$targets/threads" busy
snap -o "$tmp/snap" "$pid"
is "$rc $err" "0 " "64 threads: taken"
let_go "$pid" "64 threads: released"
unnoticed "$pid" "64 threads: not noticed"
check "$tmp/snap" "$pid" "64 threads: registers and stacks"
is "$("$BUILD/snapls" -no THREADS "$tmp/snap" | tr -d ' ')" 65 \
    "64 threads: snapls counts them"
target "$targets/threads"
for ((i = 0; i < 10; i++)); do
	snap -o "$tmp/snap" "$pid"
done
unnoticed "$pid" "64 threads: not noticed ten times"

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
check "$tmp/snap" "$pid" "threads that come and go: memory matches"
let_go "$pid" "threads that come and go: released"
unnoticed "$pid" "threads that come and go: not noticed"

# State that only a thread itself can read is of the instant of the stop:
# threads that change it keep its value in memory.
target "$targets/altstack"
n=$(often 5)
for ((i = 0; i < n; i++)); do
	flags=-s
	[ $((i % 5)) -eq 0 ] || flags=-r
	snap "$flags" -o "$tmp/snap.$i" "$pid"
	diag <"$tmp/err"
done
unnoticed "$pid" "threads that change their state: not noticed"
try "threads that change their state: as in memory" \
    python3 "$tests/live/altstack.py" "$pid" "$lines" "$tmp/snap."*
rm "$tmp/snap."*

# no call can be injected into it
target "$targets/leader"
snap -n -o "$tmp/snap" "$pid"
is "$rc" 0 "the first thread has ended: taken"
check "$tmp/snap" "$pid" "the first thread has ended: memory matches"
unnoticed "$pid" "the first thread has ended: not noticed"

# The status of a thread is from before the stop, on a busy machine as well.
asleep() {
	! grep -h '^State' "/proc/$pid/task"/*/status | grep -qv 'S (sleeping)'
}
# The busy processes run with snap and the target on one processor, and are
# stopped between snapshots.
as=(taskset -c "$(first_cpu)")
target "$targets/blocked"
busy=()
for i in 1 2 3; do
	"${as[@]}" bash -c 'while :; do :; done' &
	busy+=($!)
done
n=$(often 5)
for ((i = 0; i < n; i++)); do
	kill -STOP "${busy[@]}"
	until_true asleep
	kill -CONT "${busy[@]}"
	snap -o "$tmp/snap" "$pid"
	grep -aoE '(Running|Wakeme|Stopped) {5}( *[0-9]+){9}$' "$tmp/snap" |
	    cut -d' ' -f1
done | sort | uniq -c >"$tmp/said"
kill "${busy[@]}"
as=(env)
threads=("/proc/$pid/task"/*)
is "$(awk '{ print $1, $2 }' "$tmp/said")" "$((n * ${#threads[@]})) Wakeme" \
    "threads that sleep: their status says so"
unnoticed "$pid" "threads that sleep: not noticed"

# A thread ID selects its process.
target "$targets/threads"
tid=$(sed -n 's/^regs \([0-9]*\).*/\1/p' "$lines" | head -1)
snap -o "$tmp/snap" "$tid"
check "$tmp/snap" "$pid" "by a thread ID: memory matches"
snap -o "$tmp/snap" "$tid" "$pid" "$pid"
"$BUILD/snapls" "$tmp/snap" >"$tmp/list"
is "$(awk '$1 == "total" { print $2 }' "$tmp/list")" 1 \
    "named three times: captured once"
finish 19
