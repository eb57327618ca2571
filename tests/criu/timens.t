#!/usr/bin/env bash
# Who is in a time namespace of its own is restored with the clocks that it saw
# there: time_namespaces(7).
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

unshare --time --fork --monotonic 5000000 true 2>"$tmp/err" ||
    skip_all "no time namespaces: $(tail -n 1 "$tmp/err")"

# offset PID CLOCK: of the namespace that a process is in, in seconds
offset() {
	awk -v clock="$2" '$1 == clock { print $2 }' \
	    "/proc/$1/timens_offsets"
}

for in in "unshare --fork --time" "unshare --fork --pid --time"; do
	read -ra in <<<"$in --monotonic 5000000 --boottime 7000000"
	start "$here/clocks.py"
	kind=$([ "${in[2]}" = --pid ] && echo 'an init' || echo 'no init')
	in=(env)
	outside=$pid
	pid=$(only_child "$pid")
	is "$(offset "$pid" monotonic) $(offset "$pid" boottime)" \
	    "5000000 7000000" "$kind, with clocks of its own"
	until_true longer 20
	dir=$tmp/there.$serial
	take "$dir" -r
	end_init "$outside"
	rm -f "$tmp/pidfile"
	restore "$dir" --pidfile "$tmp/pidfile"
	pid=$(cat "$tmp/pidfile")
	goes_on "$kind"
	# as it takes for the clocks to go on from where they were
	ok "$((($(offset "$pid" monotonic) - 5000000) / 10000 != 0 ||
	    ($(offset "$pid" boottime) - 7000000) / 10000 != 0))" \
	    "$kind, with these clocks" || diag <"/proc/$pid/timens_offsets"
	kill -KILL "$pid"
	until_true gone "$pid"
done
finish 12
