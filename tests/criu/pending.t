#!/usr/bin/env bash
# Signals that are pending in a process are pending after a restore, with their
# senders.  Signals that criu would lose are refused.
# shellcheck source=tests/criu/criu.sh
. "$(dirname "$0")/criu.sh"

waits() {
	python3 "$tests/live/pending.py" "$pid"
}
# stop_and SIGNAL ...: stop $pid, then send it signals
stop_and() {
	kill -STOP "$pid"
	until_true is_stopped
	for sig; do
		kill -s "$sig" "$pid"
	done
}
# refused WHAT REASON
refused() {
	"$BUILD/snap" -r -o "$tmp/snap" "$pid"
	"$BUILD/snapload" -D "$tmp/none" "$tmp/snap" >"$tmp/try" 2>&1
	is "$? $(sed 's/process [0-9]*/process N/' "$tmp/try" | sort -u)" \
	    "1 snapload: nothing is written
snapload: process N: $2: cannot be restored" "$1: refused"
	end
}

for all in cont stop; do
	start pending "$all"
	waits >"$tmp/before"
	is "$(wc -l <"$tmp/before")" \
	    "$([ "$all" = cont ] && echo 282 || echo 288)" \
	    "$all: all are pending"
	take "$tmp/$all" -r
	end_taken
	restore "$tmp/$all"
	waits >"$tmp/after"
	try "$all: the same after the restore" diff "$tmp/before" "$tmp/after"
	goes_on "$all"
	end
done

# Stop signals have no effect on a stopped process; criu would wait for it to go
# on.
start counter
stop_and STOP STOP TSTP TTIN CHLD
take "$tmp/stopped" -r
end_taken
restore "$tmp/stopped"
try "stopped: it is stopped" until_true is_stopped
kill -CONT "$pid"
goes_on stopped
end

start pending trap
refused SIGTRAP "signal 5 is pending: criu would take it for its own"
start pending chld
refused "SIGCHLD of a thread" "signal 17 is pending: criu loses it"
start counter
stop_and TERM
refused "stopped, and killed" \
    "signal 15 is pending: it would end the stopped process at once"
finish 20
