#!/usr/bin/env bash
# A hundred crashes at one moment.  If all may wait, each is captured; if not,
# some are captured and the others counted.  Nothing else is left.
# beside: crash unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin

# flood: crash a hundred processes; their IDs are in $pids
flood() {
	local i

	pids=()
	for ((i = 0; i < 100; i++)); do
		sleep 1000 3>&- &
		pids+=($!)
	done
	# wait until each one executes sleep(1)
	until_true begun
	kill -SEGV "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	TIMEFACTOR=$((6 * TIMEFACTOR)) until_true none_runs
}
begun() {
	local p

	for p in "${pids[@]}"; do
		read -r p <"/proc/$p/comm" && [ "$p" = sleep ] || return
	done
}
# numbers: print the process IDs of the snapshots
numbers() {
	find "$store" -name 'sleep.*.snap.gz' | sed 's/.*sleep\.\([0-9]*\)\..*/\1/'
}
# whole: print how many snapshots are complete
whole() {
	local f n=0

	for f in "$store"/sleep.*.snap.gz; do
		! "$BUILD/snapls" -c "$f" >"$tmp/try" 2>&1 || n=$((n + 1))
	done
	echo "$n"
}
# left: print the other files in the directory, except for locks
left() {
	find "$store" -mindepth 1 ! -name '*.snap.gz' ! -name '.place.*' \
	    ! -name '.taking.*' ! -name '.waiting.*' ! -name .lock \
	    ! -name .dropped
}

config "at-once 2" "waiting 100" "keep-count 1000"
crash install
is "$rc $err" "0 " "installed"
flood
is "$(numbers | sort -n)" "$(printf '%s\n' "${pids[@]}" | sort -n)" \
    "all may wait: each is captured once"
is "$(whole) $(left)" "100 " "all may wait: all whole, nothing else left"
crash status
is "$(wc -l <"$tmp/out")" 2 "all may wait: none is dropped"

rm "$store"/*.snap.gz
config "at-once 2" "waiting 8" "keep-count 1000"
crash install
flood
crash status
n=$(sed -n '3s/ .*//p' "$tmp/out")
taken=$(numbers | wc -l)
is "$(whole) $(left)" "$taken " "not all may wait: the snapshots are whole"
ok $((taken < 10 || n < 1 || n + taken > 100)) \
    "not all may wait: some are captured, others counted" ||
    echo "$taken, $n" | diag
crash remove
is "$rc $err" "0 " "removed"
finish 7
