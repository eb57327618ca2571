#!/usr/bin/env bash
# snap takes programs while they run; snapload reads the snapshot from a pipe
# and writes images; when the programs have ended, criu restores them.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

# there_and_back WHAT OPTIONS PROGRAM ARG ...
there_and_back() {
	local what=$1 options=$2

	shift 2
	start "$@"
	until_true longer 150
	threads=$(count_threads)
	rm -rf "$tmp/there"
	take "$tmp/there" "$options"
	let_go "$pid" "$what: let go"
	end_taken
	restore "$tmp/there"
	goes_on "$what"
	is "$(count_threads)" "$threads" "$what: it has its threads"
}

# count_threads: the number of threads of each process of the session
count_threads() {
	local p

	for p in $(pgrep -s "$pid"); do
		find "/proc/$p/task" -mindepth 1 -maxdepth 1 | wc -l
	done | tr '\n' ' '
}

told() {
	[ "$(grep -cE '^(pending|own) ' "$log")" -ge 3 ]
}

# without the parts that older criu and kernels do not restore, in
# snap-restore(7)
lesser=()
{ criu_from 4.1 && may_dump; } || lesser=(lesser)
for how in -r -lr; do
	there_and_back "snap $how" $how carryon "${lesser[@]}"
	what="snap $how: timers that expire once, and no_new_privs"
	if [ "${#lesser[@]}" -eq 0 ]; then
		is "$(grep NoNew "/proc/$(pgrep -P "$pid")/status") $(
		    grep '^left' "$log" | grep -vc ' 0$')" "NoNewPrivs:	1 0" \
		    "$what"
	else
		skip "$what" "criu before 4.1 or Linux before 5.13"
	fi
	kill -USR1 "$pid"
	until_true told
	is "$(grep -E '^(pending|own) ' "$log" | sort)" "$(
	    printf '%s\n' 'own 1 0' 'pending 1 0' 'pending 2 0')" \
	    "snap $how: pending signals are delivered, in order"
	end
	there_and_back "snap $how, a family" $how family
	kill -USR1 "$pid"
	until_true grep -q '^zombie' "$log"
	is "$(grep '^zombie' "$log")" "zombie 7 0" \
	    "snap $how: the zombie has its status"
	end
done
there_and_back python -r "$here/counter.py"
end
finish 36
