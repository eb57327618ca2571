#!/usr/bin/env bash
# A hundred crashes at one moment: each is taken where all may wait, as many as
# may be where not, and nothing is left of those who took them.
# beside: nothing unsanitized
# shellcheck source=tests/tap.sh disable=SC2317 # called by until_true
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

handler_begin
snapcrash_begin

# flood: a hundred processes crash: their numbers are in $pids
flood() {
	local i

	pids=()
	for ((i = 0; i < 100; i++)); do
		sleep 1000 3>&- &
		pids+=($!)
	done
	# none is still the shell that was forked for it
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
# the numbers of those whose snapshots are there
numbers() {
	find "$store" -name 'sleep.*.snap.gz' | sed 's/.*sleep\.\([0-9]*\)\..*/\1/'
}
# how many of them are whole
whole() {
	local f n=0

	for f in "$store"/sleep.*.snap.gz; do
		! "$BUILD/snapls" -c "$f" >"$tmp/try" 2>&1 || n=$((n + 1))
	done
	echo "$n"
}
# what else lies in the directory, but for files that are locks
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
    "there is room for all to wait: each is taken, once"
is "$(whole) $(left)" "100 " "they are whole, and nothing else is left"
crash status
is "$(wc -l <"$tmp/out")" 2 "none was let go without"

rm "$store"/*.snap.gz
config "at-once 2" "waiting 8" "keep-count 1000"
crash install
flood
crash status
n=$(sed -n '3s/ .*//p' "$tmp/out")
taken=$(numbers | wc -l)
is "$(whole) $(left)" "$taken " "not all may wait: those that are taken are whole"
ok $((taken < 10 || n < 1 || n + taken > 100)) \
    "as many are taken as may be, and others counted" ||
    echo "$taken, $n" | diag
crash remove
is "$rc $err" "0 " "removed"
finish 7
