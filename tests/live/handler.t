#!/usr/bin/env bash
# Tests that set core_pattern restore it however they end, and are skipped if
# the kernel would not find their handler.
# beside: crash
# shellcheck source=tests/tap.sh disable=SC2016,SC2317 # for other shells
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/handler.sh
. "$tests/handler.sh"

why=$(handler_lacks)
[ -z "$why" ] || skip_all "$why"

# timeout(1) sends SIGTERM, and the kernel without memory SIGKILL
mkdir "$tmp/tests"
cp -r "$tests/tap.sh" "$tests/handler.sh" "$tests/slow" "$tmp/tests"
export TAP_BOUNDED=1	# by this test
cat >"$tmp/tests/sets.t" <<END
. "\$(dirname "\$0")/tap.sh"
. "\$tests/handler.sh"
handler_begin
echo 1 >"\$proc/core_pipe_limit"
echo "|\$tmp/handler" >"\$proc/core_pattern"
echo \$\$ >"$tmp/set"
sleep 1000
END
is_set() {
	[ -s "$tmp/set" ]
}
is_back() {
	[ "$(cat "$proc/core_pattern" "$proc/core_pipe_limit")" = \
	    "$was
$waslimit" ]
}
# ends_by SIGNAL: send it to the whole process group of the test
ends_by() {
	rm -f "$tmp/set"
	setsid bash "$tmp/tests/sets.t" >/dev/null 2>&1 3>&- &
	until_true is_set
	kill "-$1" -- "-$(ps -o pgid= -p "$(cat "$tmp/set")" | tr -d ' ')"
	until_true is_back
	ok $? "killed with $1: core_pattern is restored" ||
	    cat "$proc/core_pattern" | diag
	echo "$was" >"$proc/core_pattern"
	echo "$waslimit" >"$proc/core_pipe_limit"
}
ends_by TERM
ends_by KILL

# lacks COMMAND ...: print why tests that COMMAND runs are skipped, if they are
cat >"$tmp/tests/lacks.t" <<'END'
. "$(dirname "$0")/tap.sh"
. "$tests/handler.sh"
handler_lacks
END
lacks() {
	"$@" bash "$tmp/tests/lacks.t" 2>&1
}
elsewhere="the kernel runs handlers in the initial namespaces, where this \
test is not"
is "$(lacks env)" "" "where the kernel finds the handler, tests run"
is "$(lacks unshare -pf --mount-proc)" "$elsewhere" \
    "another PID namespace: skipped"
# hide only /var/tmp, not the tests
is "$(lacks unshare -m sh -c 'mount -t tmpfs none /var/tmp && exec "$@"' - \
    env TMPDIR=/var/tmp)" \
    "$elsewhere" "another mount namespace: skipped"
finish 5
