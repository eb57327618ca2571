#!/usr/bin/env bash
# Of processes that are named, some are gone, or end while all are being
# stopped, or may not be taken: that is said, and the others are taken.
# beside: live
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

o=$tmp/snap
for flags in "" -l -n; do
	target "$targets/anon"
	first=$pid
	target "$targets/anon"
	snap -o "$o" ${flags:+"$flags"} "$first" 2147483647 "$pid"
	is "$rc $(grep -v 'nothing may be run' <<<"$err")" \
	    "1 snap: no such process: N" "snap $flags: one is gone"
	check "$o" "$first" "snap $flags: one before it is taken"
	check "$o" "$pid" "snap $flags: and one behind"
	unnoticed "$first" "snap $flags: the first did not notice"
	unnoticed "$pid" "snap $flags: nor did the last"
	rm -f "$o"
done

snap -o "$o" 2147483646 2147483647
is "$rc $err" "1 snap: no such process: N
snap: no such process: N
snap: nothing to take a snapshot of" "all are gone"
ok "$([ -e "$o" ] && echo 1 || echo 0)" "all are gone: no file"

# Killed when it is named already, one a round: it is told, or was taken.
target "$targets/anon"
bad=0
for ((i = 0; i < 12; i++)); do
	sleep 1000 &
	victim=$!
	(
		sleep "0.$(printf %03d $((i * 3)))"
		kill -KILL "$victim"
	) &
	killer=$!
	# another one that may have been held already
	snap -o "$o" "$victim" "$pid"
	wait "$killer" "$victim" 2>/dev/null
	case "$rc $err" in
	"0 " | "1 snap: process N exited: left out" | \
	    "1 snap: no such process: N" | "1 snap: process N is a zombie: "*)
		[ -e "$o" ] && "$BUILD/snapls" "$o" >/dev/null ;;
	# when its memory is being written
	"1 snap: "*"the process is gone" | "1 snap: "*"No such process")
		[ ! -e "$o" ] ;;
	*) false ;;
	esac || {
		bad=$((bad + 1))
		echo "# $rc $err"
	}
	rm -f "$o"
done
is "$bad" 0 "killed at any moment: that is told"
unnoticed "$pid" "killed at any moment: not noticed by another"

# Children that end as they are stopped: each has its memory and registers,
# or is a zombie.
for flags in -r -lr -nr; do
	for ((i = 0; i < 2; i++)); do
		target "$targets/dying" 60
		printf x >&"${ask_fd[$pid]}"
		snap "$flags" -o "$o" "$pid"
		python3 "$tests/live/dying.py" "$o" "$tmp/err" >"$tmp/try" 2>&1
		ok $? "snap $flags: who ended is a zombie" || diag <"$tmp/try"
		unnoticed "$pid" "snap $flags: their parent has them all"
	done
done

if is_root; then
	sleep 1000 &
	foreign=$!
	as_nobody
	target "$targets/anon"
	o=$tmp/pub/snap
	snap -o "$o" "$foreign" "$pid"
	is "$rc $err" "1 snap: process N belongs to root: run as root, or as that user: left out" \
	    "one is another user's"
	check "$o" "$pid" "one is another user's: the other is taken"
	rm -f "$o"
	snap -o "$o" "$foreign"
	is "$rc $err" "1 snap: process N belongs to root: run as root, or as that user: left out
snap: nothing to take a snapshot of" "another user's alone"
	ok "$([ -e "$o" ] && echo 1 || echo 0)" "another user's alone: no file"
	unnoticed "$pid" "one is another user's: the other did not notice"
else
	skip "one is another user's" "needs root" 5
fi
finish 36
