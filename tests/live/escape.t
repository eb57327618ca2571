#!/usr/bin/env bash
# A process that changes its code while snap injects system calls cannot use
# them to evade its seccomp(2) filter, and is not killed for them.
# beside: live
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true, try
. "$(dirname "$0")/../tap.sh"

if ! is_root || [ "$(uname -m)" != x86_64 ]; then
	skip "escape" "needs root and x86-64"
	finish 1
fi
unprivileged=(setpriv --reuid=65534 --regid=65534 --clear-groups)
cp "$targets/escape" "$tmp/pub"
chmod 755 "$tmp/pub/escape"

# the reason that snap prints
other='in a system call other than the injected one'

# catch TEXT ARG ...: take snapshots until snap prints TEXT: prints "caught",
# "not caught" or what is wrong, such as another reason
catch() {
	local i want=$1

	shift
	for ((i = 0; i < $(often 20); i++)); do
		snap "$@" -o "$tmp/snap" "$pid"
		cat "$tmp/err" >>"$tmp/told"
		if [ -e "$tmp/pub/escaped" ]; then
			echo "it escaped at $i"
		elif gone "$pid"; then
			echo "it was killed at $i"
		elif grep -q "$want" "$tmp/err"; then
			echo caught
		elif grep -v "$other" "$tmp/err" | grep 'cannot be'; then
			:
		else
			continue
		fi
		return
	done
	echo "not caught"
}

# caught WHAT TEXT ARG ...: test that; on some machines it is never caught
caught() {
	local got

	got=$(catch "${@:2}")
	if [ "$got" = "not caught" ]; then
		skip "$1" "it was never caught"
	else
		is "$got" caught "$1"
	fi
}

target "${unprivileged[@]}" "$tmp/pub/escape" "$tmp/pub/escaped"
caught "another call: not made" "cannot be restored: .*: $other" -s
let_go "$pid" "another call: released"
caught "another call: no clone is made" \
    "process \([0-9]*\) cannot be cloned: thread \1: $other" -l
# An older clone may stay if the code changes when snap injects the reaping.
[ "$(wc -w <"/proc/$pid/task/$pid/children")" -le \
    $((1 + $(grep -c "a clone could not be reaped" "$tmp/told"))) ]
ok $? "another call: no child but its own and reported ones"
unnoticed "$pid" "another call: runs on"

target "${unprivileged[@]}" "$tmp/pub/escape" "$tmp/pub/escaped" clone
caught "a clone's: not made" \
    "cannot be cloned: thread [0-9]*: $other: all processes stay stopped" -l
let_go "$pid" "a clone's: released"
unnoticed "$pid" "a clone's: runs on"

# If snap is killed, the process runs on under the filter, which may kill it.
for mode in "" clone; do
	pid=$$
	for ((i = 0; i < 10; i++)); do
		if [ "$pid" = $$ ] || gone "$pid"; then
			# shellcheck disable=SC2086 # no argument, or one
			target "${unprivileged[@]}" "$tmp/pub/escape" \
			    "$tmp/pub/escaped" $mode
		fi
		"$BUILD/snap" -l -o "$tmp/snap" "$pid" 2>/dev/null &
		sleep "0.0$(printf %02d $((RANDOM % 20)))"
		kill -KILL $!
		wait $!
	done 2>/dev/null
	[ ! -e "$tmp/pub/escaped" ]
	ok $? "killed $mode: it did not escape"
done
finish 10
