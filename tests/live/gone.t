#!/usr/bin/env bash
# Some of the named processes do not exist, end while others are stopped, or may
# not be captured.  snap reports that and captures the others.
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
	    "1 snap: no such process: N" "snap $flags: one is missing"
	check "$o" "$first" "snap $flags: the one before it is captured"
	check "$o" "$pid" "snap $flags: the one after it is captured"
	unnoticed "$first" "snap $flags: not noticed by the first"
	unnoticed "$pid" "snap $flags: not noticed by the last"
	rm -f "$o"
done

snap -o "$o" 2147483646 2147483647
is "$rc $err" "1 snap: no such process: N
snap: no such process: N
snap: nothing to take a snapshot of" "all are missing"
ok "$([ -e "$o" ] && echo 1 || echo 0)" "all are missing: no file"

# One process is killed at a different moment in each round.
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
	# $pid may have been stopped already
	snap -o "$o" "$victim" "$pid"
	wait "$killer" "$victim" 2>/dev/null
	case "$rc $err" in
	"0 " | "1 snap: process N exited: left out" | \
	    "1 snap: no such process: N" | "1 snap: process N is a zombie: "*)
		[ -e "$o" ] && "$BUILD/snapls" "$o" >/dev/null ;;
	# killed while its memory was written
	"1 snap: "*"the process is gone" | "1 snap: "*"No such process")
		[ ! -e "$o" ] ;;
	*) false ;;
	esac || {
		bad=$((bad + 1))
		echo "# $rc $err"
	}
	rm -f "$o"
done
is "$bad" 0 "killed at any moment: a message or a snapshot"
unnoticed "$pid" "killed at any moment: not noticed by the other"

# Children that end while they are stopped have registers, or are zombies.
for flags in -r -lr -nr; do
	for ((i = 0; i < 2; i++)); do
		target "$targets/dying" 60
		printf x >&"${ask_fd[$pid]}"
		snap "$flags" -o "$o" "$pid"
		python3 "$tests/live/dying.py" "$o" "$tmp/err" >"$tmp/try" 2>&1
		ok $? "snap $flags: the ended are zombies" || diag <"$tmp/try"
		unnoticed "$pid" "snap $flags: their parent waits for all"
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
	    "one is another user's: a message"
	check "$o" "$pid" "one is another user's: the other is taken"
	rm -f "$o"
	snap -o "$o" "$foreign"
	is "$rc $err" "1 snap: process N belongs to root: run as root, or as that user: left out
snap: nothing to take a snapshot of" "only another user's: a message"
	ok "$([ -e "$o" ] && echo 1 || echo 0)" "only another user's: no file"
	unnoticed "$pid" "one is another user's: not noticed by the other"
else
	skip "a process of another user" "needs root" 5
fi
finish 36
