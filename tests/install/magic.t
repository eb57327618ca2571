#!/usr/bin/env bash
# What file(1) says of snapshots, with the entry for magic(5).
# beside: others unsanitized
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
magic=$tests/../fmt/snap6/magic

if ! command -v file >/dev/null; then
	skip "what file says" "no file(1)" 6
	finish 6
fi
says() {
	file -b -m "$magic" "$@"
}

target "$targets/anon"
"$BUILD/snap" -o "$tmp/x.snap" "$pid"
"$BUILD/snap" -z -o "$tmp/z.snap" "$pid"
gzip -c "$tmp/x.snap" >"$tmp/gzip.snap"
plain="Plan 9/Linux process snapshot of $(id -un)@$(uname -n), amd64"
[ "$(uname -m)" = x86_64 ] || plain=${plain%amd64}$(head -n 1 "$tmp/x.snap" |
    cut -d ' ' -f 5)

is "$(says "$tmp/x.snap")" "$plain" "a snapshot"
is "$(says "$tmp/z.snap")" \
    "Plan 9/Linux process snapshot, gzip compressed" "one of snap -z"
is "$(says -z "$tmp/z.snap")" \
    "$plain (Plan 9/Linux process snapshot, gzip compressed)" \
    "what is in it, with -z"
is "$(says -z "$tmp/gzip.snap")" "$plain (data)" \
    "one that gzip compressed, with -z"
python3 "$tests/snap6/snapasm.py" "$tests/snap6/good/9front-amd64.s" \
    >"$tmp/plan9.snap"
case $(says "$tmp/plan9.snap") in
"Plan 9/Linux process snapshot"*) ok 0 "one of Plan 9" ;;
*) ok 1 "one of Plan 9" || says "$tmp/plan9.snap" | diag ;;
esac
# who made it may be anyone
printf 'process snapshot 1 \033[31m@\007 amd64 1\n' >"$tmp/hostile.snap"
is "$(says "$tmp/hostile.snap" | tr -d '[:print:]\n')" "" \
    "of a hostile first line, nothing that a terminal obeys"
finish 6
