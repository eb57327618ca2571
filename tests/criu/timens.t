#!/usr/bin/env bash
# A process in its own time namespace is restored with the same clocks:
# time_namespaces(7).
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

unshare --time --fork --monotonic 5000000 true 2>"$tmp/err" ||
    skip_all "no time namespaces: $(tail -n 1 "$tmp/err")"

# offset PID CLOCK: the offset of the clock in its namespace, in seconds
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
	    "5000000 7000000" "$kind: it has its own clocks"
	until_true longer 20
	dir=$tmp/there.$serial
	take "$dir" -r
	end_init "$outside"
	rm -f "$tmp/pidfile"
	restore "$dir" --pidfile "$tmp/pidfile"
	pid=$(cat "$tmp/pidfile")
	goes_on "$kind"
	# offsets change a little, so that the clocks go on
	ok "$((($(offset "$pid" monotonic) - 5000000) / 10000 != 0 ||
	    ($(offset "$pid" boottime) - 7000000) / 10000 != 0))" \
	    "$kind: it has the same clocks" || diag <"/proc/$pid/timens_offsets"
	kill -KILL "$pid"
	until_true gone "$pid"
done
finish 12
